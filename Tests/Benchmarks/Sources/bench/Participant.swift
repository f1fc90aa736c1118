/// A program that does the work.
struct Participant {
  let name: String
  let program: String
  /// The program of the first fetch with so many entities.
  var firstFetchProgram: @Sendable (_ entities: Int) -> String? = { _ in nil }
  var environment: [String: String] = [:]

  /// In the order in which they take turns.
  static let all = [
    Participant(name: "sqlite", program: "bench-sqlite") { _ in "first-sqlite" },
    Participant(name: "trellis", program: "bench-trellis") { "first-trellis-\($0)" },
    Participant(name: "grdb", program: "bench-grdb") { _ in "first-grdb" },
    Participant(name: "sqlite-bare", program: "bench-sqlite", environment: ["BENCH_BARE": "1"]),
    Participant(name: "trellis-memory", program: "bench-trellis", environment: ["BENCH_MEMORY_STORE": "1"]),
  ]

  /// The one that makes the store that all open in their first fetch.
  static let makerOfFirstStore = all[1]
}
