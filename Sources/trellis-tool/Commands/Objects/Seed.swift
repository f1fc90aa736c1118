import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisTesting

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
    let target = try NewStore(operands[1])
    var report = SeedReport()
    let outcome = try target.fill(keepsBroken: false) { () throws(ToolFailure) in
      report = try ToolFailure.catching(target.path) { try fill(target, model, count, seed) }
    }
    show(report)
    return report.notes.isEmpty && report.discarded.isEmpty ? outcome : .asks
  }

  private static func fill(_ target: NewStore, _ model: Model, _ count: Int, _ seed: UInt64) throws -> SeedReport {
    let container = try PersistentContainer(
      model: ObjectModel(dynamic: model.description), store: target.configuration, log: nil)
    defer { container.close() }
    return try container.newContext().seed(count, seed: seed)
  }

  private static func show(_ report: SeedReport) {
    let rows = [["entity", "objects"]] + report.counts.map { [$0.entity, "\($0.count)"] }
    Console.print(TextTable(rows, numbers: [1]).text)
    for note in report.notes { Console.complain("\(note)\n") }
    for change in report.discarded {
      for failure in change.failures { Console.complain("An object was left out: \(failure)\n") }
    }
  }
}

// MARK: - Command

extension Seed {
  static let command = Command(
    operands: "MODEL STORE N", needed: "a MODEL, a STORE and a number", count: 3...3,
    options: [.init(name: "seed", value: "S", summary: "other objects than those of seed 1")],
    summary: "fill a new store with random objects that the model allows",
    details: """
      About N objects of each entity are made, and more where the rules ask for partners. The same seed makes the same
      objects. STORE is a JSON document if its name ends in .json, a new schema of a server, otherwise a SQLite file. Exit 2 if something that
      the model asks for could not be met, which is then told.
      """
  ) { arguments throws(ToolFailure) in try run(arguments) }
}
