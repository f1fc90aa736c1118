import Foundation

/// One turn of every participant.
struct Round {
  let options: Options
  let count: Int
  /// Where the files of the participants lie.
  let folder: URL

  /// Whatever the participants print, line by line.
  func run(_ note: (Data) throws -> Void) throws {
    for participant in Participant.all where options.wants(participant: participant.name) {
      try runFresh(participant, note)
      try runReopened(participant, note)
      try runFirstFetch(participant, note)
    }
  }

  /// Workloads that need a process that has done nothing before, on the file that the others have left.
  private static let reopening = ["fetchAllCold", "bytesPerObject", "smallSavesDurable"]
  static let firstFetch = "firstFetch"

  private func runFresh(_ participant: Participant, _ note: (Data) throws -> Void) throws {
    let wanted = options.workloads.filter { !Self.reopening.contains($0) && $0 != Self.firstFetch }
    let needsFileOnly = wanted.isEmpty && !options.workloads.isEmpty
    if needsFileOnly && !Self.reopening.contains(where: { options.wants($0) }) { return }
    try run(participant, [String(count)] + (needsFileOnly ? ["nothing"] : wanted), note)
  }

  private func runReopened(_ participant: Participant, _ note: (Data) throws -> Void) throws {
    for workload in Self.reopening where options.wants(workload) {
      guard participant.hasFile || workload == "bytesPerObject" else { continue }
      let arguments = [String(count), "--reopen", workload, "peakOfFetch"]
      try run(participant, arguments, isDurable: workload.hasSuffix("Durable"), note)
    }
  }

  private func runFirstFetch(_ participant: Participant, _ note: (Data) throws -> Void) throws {
    guard Self.canFetchFirst(options), let program = participant.firstFetchProgram else { return }
    let environment = ["BENCH_DIR": folder.path]
    // The file is the same for all: Trellis makes it.
    if !FileManager.default.fileExists(atPath: folder.path + "/first.db") {
      _ = try Program(name: "first-trellis").run(["1"], environment)
    }
    try note(Program(name: program).run(["1", "--reopen"], environment))
  }

  /// Whether the first fetch is wanted and all its programs are built.
  static func canFetchFirst(_ options: Options) -> Bool {
    options.wants(firstFetch)
      && Participant.all.compactMap(\.firstFetchProgram).allSatisfy { Program(name: $0).isThere }
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
