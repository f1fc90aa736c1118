import Foundation

/// What a participant is asked to do: `program COUNT [--reopen] [WORKLOAD…]`, and the environment.
public struct Settings {
  /// How many diaries.
  public let count: Int
  /// Whether to open the file that an earlier run has left.
  public let isReopening: Bool
  /// The workloads asked for; all when empty.
  public let workloads: Set<String>
  /// Whether every commit reaches the disk: `BENCH_DURABLE=1`.
  public let isDurable: Bool
  private let environment: [String: String]

  public init() {
    var words = CommandLine.arguments.dropFirst()
    count = words.popFirst().flatMap { Int($0) } ?? 100_000
    isReopening = words.contains("--reopen")
    workloads = Set(words.filter { !$0.hasPrefix("--") })
    environment = ProcessInfo.processInfo.environment
    isDurable = environment["BENCH_DURABLE"] == "1"
  }

  /// Whether a switch of the environment is on.
  public func isOn(_ name: String) -> Bool { environment[name] == "1" }

  public func wants(_ workload: String) -> Bool { workloads.isEmpty || workloads.contains(workload) }

  /// The value of SQLite's `synchronous`.
  public var synchronous: String { isDurable ? "FULL" : "NORMAL" }

  /// How many saves of one object each.
  public var smallSaves: Int { max(1, min(count / 100, 1_000)) }

  /// How many questions for the latest diary of an emotion.
  public var latestQueries: Int { min(count / 10, 10_000) }

  /// Where a participant keeps its file, in `BENCH_DIR` or the temporary folder; what lies there from earlier goes.
  public func databasePath(_ name: String) -> String {
    let path = (environment["BENCH_DIR"] ?? NSTemporaryDirectory()) + "/" + name
    if !isReopening {
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
    return path
  }
}
