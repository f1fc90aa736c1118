/// Who does the work.
struct Participant {
  let name: String
  let program: String
  /// The program of the first fetch.
  var firstFetchProgram: String?
  var environment: [String: String] = [:]
  /// Whether it leaves a file that another process can open.
  var hasFile = true

  /// In the order in which they take turns.
  static let all = [
    Participant(name: "sqlite", program: "bench-sqlite", firstFetchProgram: "first-sqlite"),
    Participant(name: "trellis", program: "bench-trellis", firstFetchProgram: "first-trellis"),
    Participant(name: "grdb", program: "bench-grdb", firstFetchProgram: "first-grdb"),
    Participant(name: "sqlite-bare", program: "bench-sqlite", environment: ["BENCH_BARE": "1"]),
    Participant(
      name: "trellis-memory", program: "bench-trellis", environment: ["BENCH_MEMORY_STORE": "1"], hasFile: false),
  ]
}
