import Foundation
import Workload

/// One turn of every participant.
struct Round {
  let options: Options
  let count: Int
  let workloads: [Workload]
  /// Where the files of the participants lie.
  let folder: URL

  /// Whatever the participants print, line by line.
  func run(_ note: (Data) throws -> Void) throws {
    for participant in Participant.all where options.wants(participant: participant.name) {
      try runShared(participant, note)
      for workload in workloads {
        switch workload.plan.process {
        case .shared: break
        case .reopened: try runReopened(workload, participant, note)
        case .firstFetch(let entities): try runFirstFetch(workload, entities, participant, note)
        }
      }
    }
  }

  private func runShared(_ participant: Participant, _ note: (Data) throws -> Void) throws {
    let shared = workloads.filter { if case .shared = $0.plan.process { true } else { false } }
    // The others start from the file of these.
    let origins = workloads.filter { if case .reopened = $0.plan.process { true } else { false } }.map(\.origin)
    let names = Set((shared + origins).map(\.rawValue))
    if names.isEmpty { return }
    try run(participant, [String(count)] + names.sorted(), note)
  }

  private func runReopened(
    _ workload: Workload, _ participant: Participant, _ note: (Data) throws -> Void
  ) throws {
    let isDurable = workload == .smallSavesDurable
    try run(participant, [String(count), "--reopen", workload.rawValue], isDurable: isDurable, note)
  }

  private func runFirstFetch(
    _ workload: Workload, _ entities: Int, _ participant: Participant, _ note: (Data) throws -> Void
  ) throws {
    guard Self.canFetchFirst(entities), let program = participant.firstFetchProgram(entities) else { return }
    let environment = ["BENCH_DIR": folder.path]
    if !FileManager.default.fileExists(atPath: "\(folder.path)/\(workload.rawValue)"),
      let maker = Participant.makerOfFirstStore.firstFetchProgram(entities)
    {
      _ = try Program(name: maker).run(["1", workload.rawValue], environment)
    }
    try note(Program(name: program).run(["1", "--reopen", workload.rawValue], environment))
  }

  /// Whether all programs of a first fetch are built.
  static func canFetchFirst(_ entities: Int) -> Bool {
    Participant.all.compactMap { $0.firstFetchProgram(entities) }.allSatisfy { Program(name: $0).isThere }
  }

  private func run(
    _ participant: Participant, _ arguments: [String], isDurable: Bool = false, _ note: (Data) throws -> Void
  ) throws {
    var environment = participant.environment
    environment["BENCH_DIR"] = folder.path
    environment["BENCH_DURABLE"] = options.isDurable || isDurable ? "1" : "0"
    try note(Program(name: participant.program).run(arguments, environment))
  }
}
