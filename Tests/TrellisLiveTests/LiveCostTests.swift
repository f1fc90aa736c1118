import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

/// What fifty lists cost a save that changes one object. The count of objects comes from `TRELLIS_LIVE_OBJECTS`; a run with a
/// hundred thousand prints what Docs/Performance.md says.
@Suite("Fifty live requests and a save of one object") struct LiveCostTests {
  private static let objects =
    TestSettings.number("TRELLIS_LIVE_OBJECTS", or: 1000)

  @Test("each list is right afterwards, without being asked for again") func fifty() throws {
    let file = TemporaryFile()
    let entries = Locked<Int>(0)
    let log = QueryLog { entry in if entry.kind == .fetch || entry.kind == .keys { entries.withLock { $0 += 1 } } }
    let container = try PersistentContainer(
      model: .library, store: .sqlite(at: file.url, durability: .relaxed), log: log)
    let context = container.newContext()
    for number in 0..<Self.objects {
      let book = Book(in: context, title: "book \(number)")
      book.pages = Int64(number % 1000)
    }
    try context.save()
    let some = try #require(try context.first(Book.where { $0.pages == 500 }))
    let bare = try median(context, some)
    let lists = try (0..<50).map { list in
      try context.live(Book.where { $0.pages >= Int64(list * 20) }.sorted { $0.pages })
    }
    let before = entries.withLock { $0 }
    let watched = try median(context, some)
    #expect(entries.withLock { $0 } == before, "no request was run again")
    print(
      "\(Self.objects) objects, 50 live requests of \(lists.map(\.count).reduce(0, +)) results in all:"
        + " a save of one object \(bare) without, \(watched) with them")
    for (list, results) in lists.enumerated() {
      #expect(try results.ids == context.ids(of: Book.where { $0.pages >= Int64(list * 20) }.sorted { $0.pages }))
    }
  }

  private func median(_ context: ManagedObjectContext, _ book: Book) throws -> Duration {
    var times: [Duration] = []
    for round in 0..<21 {
      book.pages = Int64(round % 2 == 0 ? 501 : 500)
      times.append(try ContinuousClock().measure { try context.save() })
    }
    return times.sorted()[10]
  }
}
