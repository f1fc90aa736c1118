// What a history takes: bytes a change, the time to read changes, and to fetch the store as it was. All values are read.
import BenchModel
import Foundation
import HistoryModel
import Trellis
import TrellisModel

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 100_000
let folder = FileManager.default.temporaryDirectory.appending(
  path: "bench-history-\(ProcessInfo.processInfo.processIdentifier)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

func container(_ history: HistoryContent) throws -> PersistentContainer {
  try PersistentContainer(
    model: .bench(history), store: .sqlite(at: folder.appending(path: "\(history).db"), durability: .relaxed))
}

/// The fastest of some runs, in seconds.
func seconds(_ body: () throws -> Void) rethrows -> Double {
  var best = Double.infinity
  for _ in 0..<5 {
    let start = ContinuousClock.now
    try body()
    let time = ContinuousClock.now - start
    best = min(best, Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18)
  }
  return best
}

func line(_ what: String, _ value: Double, _ unit: String) {
  print(what.padding(toLength: 58, withPad: " ", startingAt: 0) + String(format: "%10.2f ", value) + unit)
}

/// Inserts tracks, changes one of their values, deletes every second one, and changes every tenth of the others, in saves
/// of some objects.
func work(_ container: PersistentContainer, batch: Int) throws -> [HistoryToken] {
  var tokens: [HistoryToken] = []
  let context = container.newContext()
  for start in stride(from: 0, to: count, by: batch) {
    for number in start..<min(start + batch, count) {
      _ = Track(in: context, title: "track \(number)", seconds: Int64(number % 600), genre: Int64(number % 10))
    }
    try context.save()
  }
  tokens.append(try container.historyToken())
  let keys = try context.fetch(Track.all).map(\.objectID)
  for start in stride(from: 0, to: keys.count, by: batch) {
    for id in keys[start..<min(start + batch, keys.count)] { try context.object(with: id)?.seconds += 1 }
    try context.save()
  }
  tokens.append(try container.historyToken())
  for start in stride(from: 0, to: keys.count, by: batch) {
    for number in stride(from: start, to: min(start + batch, keys.count), by: 2) {
      if let track = try context.object(with: keys[number]) { try context.delete(track) }
    }
    try context.save()
  }
  tokens.append(try container.historyToken())
  for number in stride(from: 1, to: keys.count, by: 20) { try context.object(with: keys[number])?.seconds += 1 }
  try context.save()
  return tokens
}

func sum(_ context: ManagedObjectContext) throws -> Int64 {
  try context.snapshots(of: Track.all).reduce(0) { $0 + $1.seconds + Int64($1.title.utf8.count) + $1.genre }
}

print("\(count) tracks inserted, changed, half of them deleted, and a tenth of the others changed")
for batch in [1_000, count] {
  let changes = try container(.changes)
  _ = try work(changes, batch: batch)
  var read = 0
  let time = try seconds {
    read = 0
    for transaction in try changes.history() {
      for change in transaction.changes(of: Track.self) {
        switch change {
        case .inserted(let id), .deleted(let id, _): read += id.key > 0 ? 1 : 0
        case .updated(let id, let properties): read += id.key > 0 && properties == ["seconds"] ? 1 : 0
        }
      }
    }
  }
  let size = try changes.historySizeForBenchmark(folder.appending(path: "changes.db"))
  line("saves of \(batch): bytes a change, in the file", Double(size) / Double(read), "bytes")
  line("saves of \(batch): changes read", Double(read) / time / 1e6, "million a second")
  changes.close()
  try FileManager.default.removeItem(at: folder.appending(path: "changes.db"))
}

let values = try container(.values)
let tokens = try work(values, batch: count)
let present = values.newContext()
nonisolated(unsafe) var checksum: Int64 = 0  // Sound because the program has one thread.
let now = try seconds { checksum = try sum(present) }
line("fetch of the present, \(count / 2) tracks", now / Double(count / 2) * 1e6, "µs a track")
let moments = [("before all were changed", count), ("before the deletes", count), ("after the deletes", count / 2)]
for (token, (name, shown)) in zip(tokens, moments) {
  let past = try values.newContext(asOf: token)
  let then = try seconds { checksum = try sum(past) }
  line("fetch as of \(name), \(shown) tracks", then / Double(shown) * 1e6, "µs a track")
  line("  divided by the present", then / now * Double(count / 2) / Double(shown), "×")
}
let past = try values.newContext(asOf: tokens[0])
let opening = try seconds { _ = try values.newContext(asOf: tokens[0]).count(Label.all) }
line("opening a context of the past", opening * 1e6, "µs")
let some = try present.fetch(Track.all.limit(1_000)).map(\.objectID)
func byID(_ context: ManagedObjectContext) throws {
  context.reset()
  for id in some { checksum += try context.object(with: id)?.seconds ?? 0 }
}
let presentByID = try seconds { try byID(present) }
let pastByID = try seconds { try byID(past) }
line("one object by its identifier, present", presentByID / Double(some.count) * 1e6, "µs")
line("one object by its identifier, past", pastByID / Double(some.count) * 1e6, "µs")
line("  divided by the present", pastByID / presentByID, "×")
