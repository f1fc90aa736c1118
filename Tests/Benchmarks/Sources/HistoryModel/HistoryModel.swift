import BenchModel
public import Trellis
public import TrellisModel
@_spi(Generated) import TrellisRuntime

extension ObjectModel {
  /// The model of the benchmark, with a history of all entities.
  public static func bench(_ history: HistoryContent) -> ObjectModel {
    var description = ObjectModel.bench.description
    description.history = history
    return ObjectModel(
      description, objects: ObjectModel.bench.types, checksum: description.checksum, generatedCode: .version2)
  }
}
