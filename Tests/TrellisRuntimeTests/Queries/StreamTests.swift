import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisRuntime

@Suite("Streaming", .serialized) struct StreamTests {
  /// More by the environment variable TRELLIS_STREAM.
  private static let count = TestSettings.number("TRELLIS_STREAM", or: 5_000)

  private func container(_ store: AnsweringStore, _ file: TemporaryFile) throws -> PersistentContainer {
    let container = try PersistentContainer(
      model: .shapes, store: store == .memory ? .memory : .sqlite(at: file.url, durability: .relaxed))
    let context = container.newContext()
    for rank in 0..<Self.count { _ = Node(in: context, name: "n", rank: Int64(rank)) }
    try context.save()
    return container
  }

  @Test("every object comes once, in order, and few are in memory at a time", arguments: AnsweringStore.allCases)
  func bounded(_ store: AnsweringStore) throws {
    let file = TemporaryFile()
    let context = try container(store, file).newContext()
    var (next, most) = (Int64(Self.count), 0)
    try context.stream(Node.all.sorted { $0.rank.descending }, batchSize: 100) { node in
      next -= 1
      #expect(node.rank == next)
      most = max(most, context.graph.map.count)
    }
    #expect(next == 0 && most <= 300)
    var sum: Int64 = 0
    try context.streamSnapshots(of: Node.all, batchSize: 0) { sum += $0.rank }
    #expect(sum == Int64(Self.count * (Self.count - 1) / 2))
  }

  @Test(
    "changed objects stay until they are saved, those that are deleted on the way do not come",
    arguments: AnsweringStore.allCases)
  func changing(_ store: AnsweringStore) throws {
    let file = TemporaryFile()
    let context = try container(store, file).newContext()
    var seen = 0
    try context.stream(Node.where { $0.rank < 1000 }, batchSize: 100) { node in
      seen += 1
      if node.rank < 250 { node.name = "changed" }
      if node.rank == 0, let later = try context.first(Node.where { $0.rank == 900 }) { try context.delete(later) }
      if node.rank == 500 { try context.save() }
    }
    #expect(seen == 999)
    #expect(try context.count(Node.where { $0.name == "changed" }) == 250)
    var names = 0
    _ = Node(in: context, name: "unsaved")
    try context.streamSnapshots(of: Node.where { $0.name == "unsaved" }) { _ in names += 1 }
    #expect(names == 1)
  }
}
