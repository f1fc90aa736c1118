import Foundation
import Observation
import Testing
import Trellis

// The samples of Docs/LiveResults.md, block by block, each with what it is said to do.
@Suite("The guide to live results") struct LiveGuideTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .library, store: .memory)
    context = container.newContext()
    let novel = Book(in: context, title: "novel")
    novel.pages = 200
    let poems = Book(in: context, title: "poems")
    poems.pages = 150
    poems.genre = .poems
    try context.save()
  }

  @Test("what was saved") func saves() async throws {
    var index: [ObjectID<Book>] = []
    let saves = container.saves
    let third = Book(in: context, title: "third")
    try context.save()
    for await changes in saves {
      for id in changes.inserted(of: Book.self) { index.append(id) }
      break
    }
    #expect(index == [third.objectID])
  }

  @Test("live results") func live() async throws {
    let live = try context.live(Book.where { $0.pages > 100 }.sorted { $0.title })
    var rows = live.map(\.title)
    let changes = live.changes
    Book(in: context, title: "atlas").pages = 300
    try context.save()
    for await change in changes {
      for step in change.steps { rows.apply(step) { id in context.registeredObject(with: id)?.title ?? "" } }
      break
    }
    #expect(rows == ["atlas", "novel", "poems"])
  }

  @Test("sections") func sections() throws {
    let shelves = try context.live(Book.all.sorted { $0.title }, sectionedBy: { $0.genre })
    #expect(shelves.sections.map { section in "\(section.value): \(section.count)" } == ["novel: 1", "poems: 1"])
    let index = try context.live(Book.all, sectionedBy: { $0.title.initial(in: Locale(identifier: "ko")) })
    #expect(index.sections.map(\.value).allSatisfy { $0 != nil })
  }

  @Test("one moment") func moment() throws {
    try container.newContext().pinned { context in
      let count = try context.count(Book.all)
      var written = 0
      try context.stream(Book.all) { _ in written += 1 }
      #expect(written == count)
    }
  }
}
