import Testing
import TrellisModel
import TrellisTestSupport

@testable import Trellis
@testable import TrellisRuntime
@testable import TrellisStorage

/// A save that has not heard yet that another program has deleted a member of a list which it orders.
@Suite("Members that are gone in histories") struct GoneMemberTests {
  @Test("a position for a row that is gone is no update of it", arguments: StoreKind.withHistory)
  func places(kind: StoreKind) throws {
    let folder = try TestFolder()
    let container = try PersistentContainer(
      model: .notebook, store: kind.configuration(in: folder, durability: .durable))
    let context = container.newContext()
    let notes = ["a", "b"].map { Note(in: context, text: $0) }
    try context.save()
    let (here, gone) = (notes[0].objectID.key, notes[1].objectID.key)
    try context.delete(notes[1])
    try context.save()
    try container.settle()
    let start = try container.historyToken()

    let entity = try #require(context.graph.runtime.model.entities.first { $0.name == "Note" })
    let column = try #require(entity.columns.firstIndex { if case .order = $0.content { true } else { false } })
    for keys in [[gone, here], [gone]] {
      let request = SaveRequest()
      request.places = [
        SaveRequest.Places(entity: entity.index, column: column, keys: keys, places: [5, 6].prefix(keys.count) + [])
      ]
      try context.graph.connection().save(request)
    }
    try container.settle()
    let changes = try container.history(since: start).flatMap(\.changes)
    #expect(!changes.contains { $0.id.key == gone }, "\(changes)")
    #expect(changes.allSatisfy { $0.id.key == here }, "\(changes)")
  }
}
