import Foundation
import Testing
import Trellis
import TrellisTestSupport

@Suite("Containers that share a store in memory by its name") struct SharedMemoryTests {
  private let store = StoreConfiguration.memory(named: UUID().uuidString)

  @Test("merge each other's saves") func merging() throws {
    let containers = try (0..<2).map { _ in try PersistentContainer(model: .keys, store: store) { _ in } }
    let (context, other) = (containers[0].newContext(), containers[1].newContext())
    let item = Ware(in: context, code: "a")
    try context.save()
    let twin = try #require(try other.object(with: item.objectID))
    #expect(twin.code == "a")
    item.code = "b"
    try context.save()
    other.mergeChanges()
    #expect(twin.code == "b")
    try other.delete(twin)
    try other.save()
    context.mergeChanges()
    #expect(try context.fetch(Ware.all).isEmpty)
  }

  @Test("notice saves that come before one of their own") func between() throws {
    let containers = try (0..<2).map { _ in try PersistentContainer(model: .keys, store: store) { _ in } }
    let (context, other) = (containers[0].newContext(), containers[1].newContext())
    let items = [Ware(in: context, code: "a"), Ware(in: context, code: "b")]
    try context.save()
    let twins = try items.map { try #require(try other.object(with: $0.objectID)) }
    #expect(twins.map(\.code) == ["a", "b"])
    items[0].code = "c"
    try context.save()
    twins[1].code = "d"
    try other.save()
    #expect(twins.map(\.code) == ["c", "d"])
  }
}
