// What a fetch of a repeated shape costs where SQLite has next to nothing to do: the table is empty. So each figure is an upper
// bound of what comes before and after SQLite.
//
//   swift run -c release --package-path Tests/Benchmarks fetch-overhead
import BenchModel
import Foundation
import Trellis

let folder = FileManager.default.temporaryDirectory.appending(path: "trellis-overhead-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let file = folder.appending(path: "overhead.db")
let container = try PersistentContainer(model: .bench, store: .sqlite(at: file, durability: .relaxed))
let context = container.newContext()
let rounds = 100_000

/// The least of five means of 100,000 calls each: what the machine does beside it only adds.
func measure(_ name: String, _ body: () throws -> Void) throws {
  for _ in 0..<1_000 { try body() }
  var best = Duration.seconds(1_000)
  for _ in 0..<5 {
    let clock = ContinuousClock()
    let start = clock.now
    for _ in 0..<rounds { try body() }
    best = min(best, (clock.now - start) / rounds)
  }
  let (_, attoseconds) = best.components
  print("\(name): \(Double(attoseconds / 1_000_000_000) / 1_000) µs")
}

func request(_ text: String) -> FetchRequest<Diary.Columns> {
  Diary.where {
    $0.content == text
    $0.content.hasPrefix("a")
    $0.content != "b"
  }.sorted { $0.content.descending }.limit(20)
}

let kept = request("text")
try measure("a kept request, three terms, a sort and a limit") { _ = try context.fetch(kept) }
try measure("the same, made anew each time") { _ = try context.fetch(request("text")) }
try measure("count of a kept request") { _ = try context.count(kept) }

/// The same conditions as text. What was read once is looked up by the text and the types of the arguments.
func format(_ text: String) -> FetchRequest<Diary.Columns> {
  Diary.where("content == %@ AND content BEGINSWITH %@ AND content != %@", text, "a", "b")
    .sorted { $0.content.descending }.limit(20)
}

let keptFormat = format("text")
try measure("a kept format, three terms, a sort and a limit") { _ = try context.fetch(keptFormat) }
try measure("the same, made anew each time") { _ = try context.fetch(format("text")) }
