import TrellisModel
import TrellisModelFile
import TrellisStorage

/// `trellis migrate`: brings a store to a newer version of its model.
enum Migrate {
  static func run(
    _ path: String, to model: String, onlyPlans: Bool, mayLose: Bool
  ) throws(ToolFailure) -> ExitStatus {
    let file = try StoreFile(path)
    let result = ModelFile.parse(try InputFile.read(model), path: model)
    guard let description = result.description else { throw ToolFailure(.failure, result.rendered()) }
    guard result.migrates.isEmpty else {
      throw ToolFailure(
        .failure,
        "error: \(model) lists steps in \"migrates\", which are code of the program. Open the store with the program.")
    }
    let current: Model
    do throws(SchemaError) { current = try Model(description) } catch {
      throw ToolFailure(.failure, "\(model):1:1: error: \(error.description)")
    }
    let report = try StorePlan.report(path, to: current)
    Console.print("\(path) → \(model)\n\(report.text)")
    if onlyPlans || report.outcome == .asks && !mayLose { return report.outcome.status }
    do {
      let policy = mayLose ? MigrationPolicy.allowingDataLoss : .automatic
      let store =
        switch file.kind {
        case .sqlite: try StoreConfiguration.sqlite(at: file.url, migration: policy).open(current)
        case .document: try StoreConfiguration.json(at: file.url, migration: policy).open(current)
        }
      store.close()
    } catch {
      throw ToolFailure(store: error, path)
    }
    return .success
  }
}
