// Runs the participants in turn, several rounds, and prints the medians side by side.
import Foundation

struct Line: Decodable {
  var participant: String
  var workload: String
  var items: Int?
  var seconds: Double?
  var value: Double?
  var checksum: Int?
}

struct Options {
  var items = 100_000
  var rounds = 5
  var isDurable = false
  var jsonFile: String?

  init(_ arguments: [String]) {
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--quick":
        items = 2_000
        rounds = 1
      case "--n": items = rest.popFirst().flatMap(Int.init) ?? items
      case "--rounds": rounds = rest.popFirst().flatMap(Int.init) ?? rounds
      case "--durable": isDurable = true
      case "--json": jsonFile = rest.popFirst()
      default:
        print("usage: bench [--quick] [--n COUNT] [--rounds COUNT] [--durable] [--json FILE]")
        exit(64)
      }
    }
  }
}

let options = Options(Array(CommandLine.arguments.dropFirst()))
let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
let participants: [(name: String, program: String, environment: [String: String])] = [
  ("sqlite", "bench-sqlite", [:]),
  ("trellis", "bench-trellis", [:]),
  ("grdb", "bench-grdb", [:]),
  ("sqlite-bare", "bench-sqlite", ["BENCH_BARE": "1"]),
  ("trellis-memory", "bench-trellis", ["BENCH_STORE": "memory"]),
]

func run(_ program: String, _ environment: [String: String]) throws -> [Line] {
  let process = Process()
  process.executableURL = folder.appendingPathComponent(program)
  process.arguments = [String(options.items)]
  process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    .merging(options.isDurable ? ["BENCH_DURABLE": "1"] : [:]) { $1 }
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else {
    print("\(program) ended with \(process.terminationStatus)")
    exit(1)
  }
  if let file = options.jsonFile, let handle = FileHandle(forWritingAtPath: file) {
    handle.seekToEndOfFile()
    handle.write(data)
  }
  return try data.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Line.self, from: Data($0)) }
}

if let file = options.jsonFile { FileManager.default.createFile(atPath: file, contents: nil) }
var figures: [String: [String: [Double]]] = [:]
var checksums: [String: [String: Int]] = [:]
var order: [String] = []
for _ in 0..<options.rounds {
  for participant in participants {
    for line in try run(participant.program, participant.environment) {
      if !order.contains(line.workload) { order.append(line.workload) }
      guard let figure = line.seconds ?? line.value else { continue }
      figures[line.workload, default: [:]][line.participant, default: []].append(figure)
      if let checksum = line.checksum { checksums[line.workload, default: [:]][line.participant] = checksum }
    }
  }
}

func median(_ values: [Double]?) -> Double? {
  guard let sorted = values?.sorted(), !sorted.isEmpty else { return nil }
  return sorted.count % 2 == 1
    ? sorted[sorted.count / 2] : (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
}

func cell(_ value: Double?, _ digits: Int, _ width: Int) -> String {
  let text = value.map { String(format: "%.\(digits)f", $0) } ?? "-"
  return String(repeating: " ", count: max(1, width - text.count)) + text
}

func padded(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(1, width - text.count)) }

print(
  "N = \(options.items), \(options.rounds) rounds in turn, WAL, synchronous \(options.isDurable ? "FULL (durable)" : "NORMAL (relaxed)"), medians in ms"
)
print(padded("workload", 20) + "   sqlite  trellis   spread     grdb  ÷sqlite    ÷grdb   bare  memory")
for workload in order {
  let row = figures[workload] ?? [:]
  let isTime = checksums[workload] != nil
  let scale = isTime ? 1000.0 : 1
  let floor = median(row["sqlite"]), trellis = median(row["trellis"]), grdb = median(row["grdb"])
  let spread = row["trellis"].flatMap { values in
    trellis.map { ((values.max() ?? $0) - (values.min() ?? $0)) / $0 * 100 }
  }
  print(
    padded(workload, 20) + cell(floor.map { $0 * scale }, 1, 9) + cell(trellis.map { $0 * scale }, 1, 9)
      + cell(spread, 0, 8) + "%" + cell(grdb.map { $0 * scale }, 1, 9)
      + cell(trellis.flatMap { t in floor.map { t / $0 } }, 2, 9)
      + cell(trellis.flatMap { t in grdb.map { t / $0 } }, 2, 9)
      + cell(median(row["sqlite-bare"]).map { $0 * scale }, 1, 9)
      + cell(median(row["trellis-memory"]).map { $0 * scale }, 1, 9))
}

var hasDifference = false
for workload in order {
  let sums = checksums[workload] ?? [:]
  if Set(sums.values).count > 1 {
    hasDifference = true
    print(
      "checksums differ in \(workload): \(sums.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
    )
  }
}
if !hasDifference { print("all checksums are equal") }
exit(hasDifference ? 1 : 0)
