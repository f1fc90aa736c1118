import Foundation

/// What a participant is asked to do: `program COUNT [--reopen] [WORKLOAD…]`, and the environment.
public struct Settings {
  /// How many diaries, tracks or nodes.
  public let count: Int
  /// Whether to open the file that an earlier run has left.
  public let isReopening: Bool
  /// The workloads asked for; all when empty.
  private let workloads: Set<String>
  /// Whether every commit reaches the disk: `BENCH_DURABLE=1`.
  public let isDurable: Bool
  private let environment: [String: String]

  /// Prints the workloads instead and exits if it is asked to: `program --list`.
  public init() {
    var words = CommandLine.arguments.dropFirst()
    if words.first == "--list" {
      Workload.printAll()
      exit(0)
    }
    count = words.popFirst().flatMap { Int($0) } ?? 100_000
    isReopening = words.contains("--reopen")
    workloads = Set(words.filter { !$0.hasPrefix("--") })
    environment = ProcessInfo.processInfo.environment
    isDurable = environment["BENCH_DURABLE"] == "1"
    for name in workloads where Workload(rawValue: name) == nil {
      print("\(name) is no workload; --list prints all")
      exit(64)
    }
  }

  /// Whether a switch of the environment is on.
  public func isOn(_ name: String) -> Bool { environment[name] == "1" }

  /// What a variable of the environment says.
  public func word(_ name: String) -> String? { environment[name] }

  func wants(_ workload: Workload) -> Bool { workloads.isEmpty || workloads.contains(workload.rawValue) }

  /// Whether the plan fits this process.
  func canRun(_ plan: Plan) -> Bool {
    switch plan.process {
    case .shared: !isReopening
    case .reopened: isReopening
    case .firstFetch: false
    }
  }

  /// The first fetches that are asked for by name: each needs a process that has done nothing before.
  public var firstFetches: [Workload] {
    Workload.allCases.filter { workload in
      guard case .firstFetch = workload.plan.process else { return false }
      return workloads.contains(workload.rawValue)
    }
  }

  /// How many items a workload has.
  public func items(_ workload: Workload) -> Int { workload.plan.items(count) }

  /// The value of SQLite's `synchronous`.
  public var synchronous: String { isDurable ? "FULL" : "NORMAL" }

  /// Where a participant keeps its files, in `BENCH_DIR` or the temporary folder; what lies there from earlier goes if it begins
  /// anew.
  public func path(_ name: String, isNew: Bool) -> String {
    let path = (environment["BENCH_DIR"] ?? NSTemporaryDirectory()) + "/" + name
    if isNew {
      for suffix in ["", "-wal", "-shm", ".external"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
    return path
  }
}

extension Workload {
  /// One line of JSON for each, for programs that start others.
  fileprivate static func printAll() {
    for workload in allCases {
      let plan = workload.plan
      var line: [String: Any] = [
        "workload": workload.rawValue, "isFigure": plan.isFigure, "isCounted": plan.isCounted && !plan.isFigure,
        "origin": workload.origin.rawValue,
      ]
      switch plan.process {
      case .shared: line["process"] = "shared"
      case .reopened: line["process"] = "reopened"
      case .firstFetch(let entities): line["process"] = "first\(entities)"
      }
      let data = try? JSONSerialization.data(withJSONObject: line, options: .sortedKeys)
      print(String(decoding: data ?? Data(), as: UTF8.self))
    }
  }
}
