import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Many rows", .serialized) struct ManyRowsTests {
  /// More by the environment variable TRELLIS_ROWS.
  private static let count = TestSettings.number("TRELLIS_ROWS", or: 3_000)
  private static let batch = min(1000, count / 10)

  private func fill(_ world: World) throws {
    for start in stride(from: 0, to: Self.count, by: 10_000) {
      let context = world.container.newContext()
      for number in start..<min(start + 10_000, Self.count) { Item(in: context).count = Int64(number) }
      try context.save()
    }
  }

  @Test("a loop over all objects, and one that changes and saves them, needs the memory of a few batches")
  func loops() throws {
    let world = try World(.sqlite)
    try fill(world)
    let context = world.container.newContext()
    let before = residentBytes()
    var (sum, most, mostBytes) = (Int64(0), 0, before)
    try context.stream(Item.all, batchSize: Self.batch) { item in
      sum += item.count
      most = max(most, context.registeredCount)
      if item.count % 10_000 == 0 { mostBytes = max(mostBytes, residentBytes()) }
    }
    let total = Int64(Self.count)
    #expect(sum == total * (total - 1) / 2 && most <= 3 * Self.batch)
    let readBytes = mostBytes - before
    most = 0
    var seen = 0
    try context.stream(Item.all, batchSize: Self.batch) { item in
      item.seen = true
      seen += 1
      most = max(most, context.registeredCount)
      if seen % Self.batch == 0 { try context.save() }
      if item.count % 10_000 == 0 { mostBytes = max(mostBytes, residentBytes()) }
    }
    try context.save()
    #expect(try context.count(Item.where { $0.seen }) == Self.count && most <= 4 * Self.batch)
    print(
      "\(Self.count) rows in batches of \(Self.batch): at most \(most) objects in memory; resident memory grew by",
      "\(readBytes / 1024) KiB while reading, \((mostBytes - before) / 1024) KiB with changing")
  }

  @Test("all of them are changed and deleted in one statement each")
  func sets() throws {
    let world = try World(.sqlite)
    try fill(world)
    let context = world.container.newContext()
    let before = residentBytes()
    let clock = ContinuousClock()
    let start = clock.now
    let changed = try context.updateAll(Item.all) { $0.count.increase(by: 1) }
    let updating = clock.now - start
    #expect(try changed == Self.count && context.registeredCount == 0 && context.first(Item.all)?.count == 1)
    let middle = residentBytes()
    let next = clock.now
    let deleted = try context.deleteAll(Item.all)
    let deleting = clock.now - next
    #expect(deleted == Self.count)
    print(
      "\(Self.count) rows: updateAll \(updating), deleteAll \(deleting); resident memory grew by \((middle - before) / 1024)",
      "and \((residentBytes() - before) / 1024) KiB")
    #expect(try context.count(Item.all) == 0)
  }
}

/// The memory of the process that lies in the machine's, where the system tells it in a file; 0 elsewhere.
private func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}
