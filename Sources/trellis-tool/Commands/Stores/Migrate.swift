import TrellisModel
import TrellisModelFile
import TrellisStorage

/// `trellis migrate`: brings a store to a newer version of its model.
enum Migrate {
  static func run(
    _ path: String, to model: String, onlyPlans: Bool, mayLose: Bool, stopsFormer: Bool
  ) throws(ToolFailure) -> ExitStatus {
    let file = try StoreOperand(path)
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
    Console.print("\(file.name) → \(model)\n\(report.text)")
    if onlyPlans || report.outcome == .asks && !mayLose { return report.outcome.status }
    do {
      let policy = mayLose ? MigrationPolicy.allowingDataLoss : .automatic
      try StoreConfiguration(
        path, file.kind, key: file.key, migration: stopsFormer ? policy.stoppingFormerPrograms() : policy
      ).open(current).close()
    } catch {
      throw ToolFailure(store: error, file.name)
    }
    return .success
  }
}

// MARK: - Command

extension Migrate {
  static let command = Command(
    operands: "STORE MODEL", needed: "a STORE and a MODEL", count: 2...2,
    options: [
      .init(name: "plan", value: nil, summary: "only say what would be done"),
      .init(
        name: "allow-loss", value: nil, summary: "delete what MODEL does not account for; a copy is written before"),
      .init(
        name: "stop-former", value: nil, summary: "on a server, migrate although programs with a former model are open"),
    ], summary: "bring a store to a newer version of its model",
    details: """
      MODEL is the model file of the program. The plan is printed first. Steps in Swift are part of the program, so a
      model with such steps is refused. Exit 0 if the store has the model now, 2 if the plan has open questions; with
      --plan as `diff`.
      """
  ) { arguments throws(ToolFailure) in
    try run(
      arguments.operands[0], to: arguments.operands[1], onlyPlans: arguments.has("plan"),
      mayLose: arguments.has("allow-loss"), stopsFormer: arguments.has("stop-former"))
  }
}
