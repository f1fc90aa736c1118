import Foundation
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// `trellis seed`: a new store with random objects that the model allows.
enum Seed {
  private static let mostObjects = 1_000_000

  static func run(_ arguments: ParsedArguments) throws(ToolFailure) -> ExitStatus {
    let operands = arguments.operands
    guard let count = Int(operands[2]), (0...mostObjects).contains(count) else {
      throw .usage("\(operands[2].inMessage) is no number of objects from 0 to \(mostObjects).", of: .seed)
    }
    let seedText = arguments.value(of: "seed") ?? "1"
    guard let seed = UInt64(seedText) else {
      throw .usage("\(seedText.inMessage) is no seed: that is a whole number from 0 on.", of: .seed)
    }
    let model = try ModelInput(operands[0]).model
    let path = operands[1]
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ToolFailure(.failure, "error: \(path) exists already. Choose another name, or remove it.")
    }
    let report = try ToolFailure.catching(path) { try fill(path, model, count, seed) }
    show(report)
    return report.notes.isEmpty && report.discarded.isEmpty ? .success : .asks
  }

  /// A store that could not be filled is removed.
  private static func fill(_ path: String, _ model: Model, _ count: Int, _ seed: UInt64) throws -> Seeder.Report {
    let url = URL(fileURLWithPath: path)
    let isDocument = path.lowercased().hasSuffix(".json")
    let container = try PersistentContainer(
      model: ObjectModel(dynamic: model.description), store: isDocument ? .json(at: url) : .sqlite(at: url), log: nil)
    defer { container.close() }
    return try Seeder.fill(container.newContext(), count, seed: seed)
  }

  private static func show(_ report: Seeder.Report) {
    var table = TextTable([.init(title: "entity"), .init(title: "objects", isNumber: true)])
    for (entity, count) in report.counts { table.add([entity, "\(count)"]) }
    Console.print(table.text())
    for note in report.notes { Console.complain("\(note)\n") }
    for change in report.discarded {
      for failure in change.failures { Console.complain("An object was left out: \(failure)\n") }
    }
  }
}
