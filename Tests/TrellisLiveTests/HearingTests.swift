import Foundation
import Observation
import Synchronization
import Testing
import Trellis
import TrellisTestSupport

@_spi(Generated) @testable import TrellisRuntime

@Suite("Who hears what of changes") struct HearingTests {
  @Test("a save tells identities by entity, changed properties and author") func saves() async throws {
    let container = try PersistentContainer(model: .library, store: .memory)
    let context = container.newContext()
    context.author = "import"
    let gone = Book(in: context, title: "gone")
    let book = Book(in: context, title: "kept")
    try context.save()
    var news = container.saves.makeAsyncIterator()
    let reader = Reader(in: context, name: "Ada")
    book.pages = 12
    reader.books.append(book)
    try context.delete(gone)
    try context.save()
    let changes = try #require(await news.next())
    #expect(changes.author == "import" && changes.isComplete)
    #expect(changes.inserted(of: Reader.self) == [reader.objectID])
    #expect(changes.updated(of: Book.self) == [book.objectID])
    #expect(changes.deleted(of: Book.self) == [gone.objectID] && changes.contains(deleted: gone.objectID))
    let id = try #require(changes.updated.first { $0.entity == "Book" })
    #expect(changes.changedProperties(of: id) == ["pages", "readers"])
    #expect("\(changes)" == "import: inserted \(reader.objectID); updated \(id); deleted \(gone.objectID)")
    container.close()
    #expect(await news.next() == nil)
  }

  @Test("what another program writes is noticed at the next use, and by who waits", .timeLimit(.minutes(60)))
  func externalChanges() async throws {
    let file = TemporaryFile()
    let ours = try PersistentContainer(model: .library, store: .sqlite(at: file.url, durability: .relaxed))
    let theirs = try PersistentContainer(model: .library, store: .sqlite(at: file.url, durability: .relaxed))
    let context = ours.newContext()
    let book = Book(in: context, title: "old")
    try context.save()
    let live = try context.live(Book.all.sorted { $0.title })
    let stranger = theirs.newContext()
    try #require(try stranger.object(with: book.objectID)).title = "new"
    _ = Book(in: stranger, title: "more")
    try stranger.save()
    #expect(try context.count(Book.all) == 2)
    #expect(live.map(\.title) == ["more", "new"])
    #expect(book.title == "new")
    var news = ours.saves.makeAsyncIterator()
    _ = Book(in: stranger, title: "third")
    try stranger.save()
    #expect(await news.next()?.isComplete == false)
  }

  @Test("one's own saves are no stranger's, whichever context makes them") func ownSaves() throws {
    let file = TemporaryFile()
    let container = try PersistentContainer(model: .library, store: .sqlite(at: file.url, durability: .relaxed))
    let first = container.newContext()
    let second = container.newContext()
    var known: [Bool] = []
    for round in 0..<50 {
      let book = Book(in: round % 2 == 0 ? first : second, title: "\(round)")
      try book.managedObjectContext?.save()
      known.append(try first.graph.connection().hasExternalChanges())
      known.append(try second.graph.connection().hasExternalChanges())
    }
    #expect(!known.contains(true))
  }

  @Test("edits stay when somebody else's save is taken over") func editsStay() throws {
    let container = try PersistentContainer(model: .library, store: .memory)
    let (context, other) = (container.newContext(), container.newContext())
    let (mine, untouched) = (Book(in: context, title: "a"), Book(in: context, title: "b"))
    try context.save()
    mine.title = "edited"
    try #require(try other.object(with: mine.objectID)).pages = 3
    try #require(try other.object(with: untouched.objectID)).pages = 3
    try other.save()
    context.mergeChanges()
    #expect(mine.title == "edited" && untouched.pages == 3)
  }

  @Test("a reference that others' delete has cleared is cleared in memory, too") func clearedReference() throws {
    let container = try PersistentContainer(model: .library, store: .memory)
    let (context, other) = (container.newContext(), container.newContext())
    let reader = Reader(in: context, name: "Ada")
    let book = Book(in: context)
    reader.favourite = book
    try context.save()
    try other.delete(#require(try other.object(with: book.objectID)))
    try other.save()
    context.mergeChanges()
    #expect(reader.snapshot.favourite == nil)
  }

  @Test("a pinned context reads one moment while others write", arguments: StoreKind.inPlace)
  func pinned(_ kind: StoreKind) throws {
    let file = TemporaryFile()
    let store: StoreConfiguration = kind == .memory ? .memory : .sqlite(at: file.url, durability: .relaxed)
    let container = try PersistentContainer(model: .library, store: store)
    let other = container.newContext()
    _ = Book(in: other, title: "first")
    try other.save()
    let context = container.newContext()
    try context.pinned { context in
      _ = Book(in: other, title: "second")
      try other.save()
      #expect(try context.count(Book.all) == 1)
      #expect(try context.fetch(Book.all).map(\.title) == ["first"])
      _ = Book(in: context, title: "mine")
      #expect(throws: StoreError.self) { try context.save() }
    }
    try context.save()
    #expect(try context.count(Book.all) == 3)
  }

  @Test("live changes come to who waits for them, and end with the task", .timeLimit(.minutes(60)))
  @MainActor func changes() async throws {
    let container = try PersistentContainer(model: .library, store: .memory)
    let context = container.mainContext
    let live = try context.live(Book.all.sorted { $0.title })
    var rows: [ObjectID<Book>] = []
    let changes = live.changes
    let watching = Task { @MainActor in
      for await change in changes {
        for step in change.steps { rows.apply(step) { $0 } }
        if rows.count == 20 { break }
      }
    }
    for number in 0..<20 {
      try await container.perform { context in
        _ = Book(in: context, title: "book \(number)")
        try context.save()
      }
    }
    await watching.value
    #expect(rows == live.ids && live.count == 20)
    let endless = Task { @MainActor in for await _ in live.changes {} }
    await Task.yield()
    endless.cancel()
    await endless.value
  }
}

/// How often something was told.
private final class Counter: Sendable {
  let count = Atomic(0)
  func add() { count.add(1, ordering: .relaxed) }
  var value: Int { count.load(ordering: .relaxed) }
}

@Suite("Objects of an observing context work with Observation") struct ObservingTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .library, store: .memory)
    context = container.newContext()
    context.isObserving = true
  }

  /// How often `read` is told of what `change` does: 0 or 1.
  private func notices(_ read: () -> Void, _ change: () throws -> Void) rethrows -> Int {
    let counter = Counter()
    withObservationTracking(read) { counter.add() }
    try change()
    return counter.value
  }

  @Test("a form that edits one object hears of each property that it shows, and of no other") func form() throws {
    let book = Book(in: context, title: "draft")
    #expect(notices({ _ = book.title }) { book.title = "final" } == 1)
    #expect(notices({ _ = book.title }) { book.pages = 3 } == 0)
    #expect(notices({ _ = book.snapshot }) { book.pages = 4 } == 1)
    try context.save()
    book.title = "typo"
    #expect(notices({ _ = book.title }) { context.rollback() } == 1)
    #expect(book.title == "final")
  }

  @Test("both ends of a relationship are told") func relationships() throws {
    let shelf = Shelf(in: context)
    let book = Book(in: context)
    #expect(notices({ _ = shelf.books.count }) { book.shelf = shelf } == 1)
    #expect(notices({ _ = book.shelf }) { shelf.books.remove(book) } == 1)
    try context.save()
  }

  @Test("somebody else's save is told when it is taken over") func others() throws {
    let book = Book(in: context, title: "a")
    try context.save()
    let other = container.newContext()
    try #require(try other.object(with: book.objectID)).title = "b"
    try other.save()
    #expect(notices({ _ = book.title }) { context.mergeChanges() } == 1)
    #expect(book.title == "b")
  }

  @Test("nothing is noted in a context that does not observe") func silent() throws {
    context.isObserving = false
    let book = Book(in: context, title: "a")
    #expect(book.accessFlags.isClear)
    #expect(notices({ _ = book.title }) { book.title = "b" } == 0)
  }
}
