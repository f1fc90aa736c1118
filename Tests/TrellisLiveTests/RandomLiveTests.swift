import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisRuntime

@Suite("Live results are what a fresh fetch finds") struct RandomLiveTests {
  /// How many saves one run makes; a long run says so.
  private static let saves = TestSettings.number("TRELLIS_LIVE_SAVES", or: 400)

  @Test("after each of many random saves, by this context or another", arguments: [StoreKind.memory, .sqlite])
  func randomSaves(_ kind: StoreKind) throws {
    let seed = TestSettings.seed()
    let file = TemporaryFile()
    let store: StoreConfiguration = kind == .memory ? .memory : .sqlite(at: file.url, durability: .relaxed)
    let container = try PersistentContainer(model: .library, store: store) { _ in }
    let context = container.newContext()
    let other = container.newContext()
    let fresh = container.newContext()
    let books = try bookRequests.map { try Follower($0, context) }
    let readers = try readerRequests.map { try Follower($0, context) }
    let sections = try context.live(Book.all.sorted { $0.title.descending }, sectionedBy: { $0.genre })
    var mine = RandomLibrary(seed: seed, context)
    var theirs = RandomLibrary(seed: seed &+ 1, other)
    for save in 1...Self.saves {
      if mine.number(2) == 0 { try mine.saveSomething() } else { try theirs.saveSomething() }
      if mine.number(4) == 0 { continue }  // several saves come together
      context.mergeChanges()
      fresh.mergeChanges()
      for (place, follower) in books.enumerated() {
        try #require(try follower.check(fresh), "seed \(seed), save \(save), book request \(place)")
      }
      for (place, follower) in readers.enumerated() {
        try #require(try follower.check(fresh), "seed \(seed), save \(save), reader request \(place)")
      }
      try #require(try sections.matches(fresh), "seed \(seed), save \(save), sections")
    }
    #expect(books.allSatisfy { $0.steps > 0 }, "seed \(seed): each request has seen changes")
  }

  private var bookRequests: [FetchRequest<Book.Columns>] {
    [
      Book.all,
      Book.all.withoutSubentities().sorted { $0.pages.descending },
      Book.where { $0.pages > 8 }.sorted {
        $0.genre
        $0.title.descending
      },
      Book.where { $0.rating == nil },
      Book.all.sorted { $0.rating }.limit(5),
      Book.where { $0.genre == .novel }.sorted { $0.pages }.limit(3),
      Book.all.sorted { $0.pages.descending }.offset(2).limit(4),
      Book.all.sorted { $0.title }.offset(3),
      Book.where { $0.shelf.height > 1 }.sorted { $0.pages },
      Book.all.sorted {
        $0.shelf.height
        $0.pages
      }.limit(10),
      Book.where { $0.readers.any { $0.name.hasPrefix("reader") } },
      Book.where { $0.shelf == nil }.sorted { $0.pages },
    ]

  }

  private var readerRequests: [FetchRequest<Reader.Columns>] {
    [
      Reader.all.sorted { $0.name },
      Reader.where { $0.favourite == nil },
      Reader.where { $0.books.count > 1 },
      Reader.where { $0.favourite.pages > 5 },
    ]
  }

  @Test("several saves before the observer asks update an object once, and one that is gone not at all")
  @MainActor func combined() async throws {
    let container = try PersistentContainer(model: .library, store: .memory)
    let context = container.newContext()
    let books = (0..<3).map { Book(in: context, title: "book \($0)") }
    try context.save()
    let live = try context.live(Book.all.sorted { $0.title })
    let ids = live.ids
    var changes = live.changes.makeAsyncIterator()
    for pages in 1...3 {
      books[0].pages = Int64(pages)
      books[1].pages = Int64(pages)
      try context.save()
    }
    try context.delete(books[0])
    try context.save()
    books[2].pages = 9
    try context.save()
    let change = await changes.next()
    #expect(change?.steps == [.update(ids[1], at: 1), .delete(ids[0], at: 0), .update(ids[2], at: 1)])
  }

  @Test("the steps from any list to any other make the one of the other") func differences() {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let all = Array(1...Int64.random(in: 1...40, using: &random))
      let old = Array(all.shuffled(using: &random).prefix(Int.random(in: 0...all.count, using: &random)))
      let new = Array(all.shuffled(using: &random).prefix(Int.random(in: 0...all.count, using: &random)))
      var list = old
      for step in LiveDifference.steps(from: old, to: new) {
        let typed: LiveStep<Book> = step.typed()
        list.apply(typed) { $0.key }
      }
      #expect(list == new, "seed \(seed): \(old) to \(new)")
    }
  }
}

extension LiveSections<Book.Columns, Genre> {
  /// Whether the sections are those of a fresh fetch.
  fileprivate func matches(_ context: ManagedObjectContext) throws -> Bool {
    let fresh = try context.fetch(
      Book.all.sorted {
        $0.genre
        $0.title.descending
      })
    let expected = fresh.map(\.genre).reduce(into: [Genre]()) { if $0.last != $1 { $0.append($1) } }
    return sections.map(\.value) == expected
      && sections.flatMap { section in section.map { $0.genre == section.value } }.allSatisfy { $0 }
      && results.ids == fresh.map(\.objectID)
  }
}
