import Foundation
import Observation
import Synchronization
import Testing
import Trellis
import TrellisTestSupport

/// What a view compares, and what it is told of.
@Suite("Live results at one moment") struct SnapshotTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    container = try PersistentContainer(model: .library, store: .memory)
    context = container.newContext()
    for (title, genre) in [("a", Genre.novel), ("b", .poems), ("c", .novel), ("d", .travel)] {
      _ = Book(in: context, title: title, genre: genre)
    }
    try context.save()
  }

  /// Whether what `read` reads is announced as changed by a change.
  private func hears(_ read: () -> Void, _ change: () throws -> Void) throws -> Bool {
    final class Bell: Sendable { let count = Atomic(0) }
    let bell = Bell()
    withObservationTracking(read) { bell.count.add(1, ordering: .relaxed) }
    try change()
    return bell.count.load(ordering: .relaxed) > 0
  }

  @Test("keep their objects, order and sections while the results change", arguments: [0, 1])
  func snapshots(offset: Int) throws {
    let live = try context.live(Book.all.sorted { $0.title }.offset(offset))
    let sections = try context.live(Book.all.sorted { $0.title }, sectionedBy: { $0.genre })
    let (before, shelves) = (live.snapshot, sections.sections)
    let ids = live.ids
    for title in ["b", "d"] {
      try context.delete(try #require(try context.first(Book.where { $0.title == title })))
    }
    _ = Book(in: context, title: "A", genre: .travel)
    try context.save()
    #expect(live.count == 3 - offset && before.count == 4 - offset)
    #expect(before.ids(0..<before.count) == ids && before.indices.map { before.id(at: $0) } == ids)
    #expect(before.map(\.isDeleted) == ids.map { !live.ids.contains($0) })
    #expect(shelves.map(\.count).reduce(0, +) == 4 && shelves.flatMap { $0.map(\.isDeleted) }.count { $0 } == 2)
    #expect(live.snapshot.map(\.title) == live.map(\.title))
  }

  @Test("a reader of them is told of each change of the results") func observation() throws {
    let live = try context.live(Book.all.sorted { $0.title })
    #expect(try hears({ _ = live.snapshot }) { try save { _ = Book(in: $0, title: "e") } })
    #expect(try !hears({ _ = live.snapshot }) { try save { _ = Reader(in: $0, name: "Ada") } })
  }

  private func save(_ body: (ManagedObjectContext) throws -> Void) throws {
    try body(context)
    try context.save()
  }

  @Test("changes are taken one by one, without waiting") func takenChanges() throws {
    let live = try context.live(Book.all.sorted { $0.title })
    let changes = live.changes
    #expect(changes.takeChange() == nil)
    try save { _ = Book(in: $0, title: "e") }
    try save { _ = Book(in: $0, title: "f") }
    #expect(changes.takeChange()?.steps.count == 2)
    #expect(changes.takeChange() == nil)
  }

  @Test("whether an object is deleted is told when it is deleted, brought back, or deleted by others, and only then")
  func deletes() throws {
    context.isObserving = true
    let books = try context.fetch(Book.all.sorted { $0.title })
    let read = { _ = books[0].isDeleted }
    #expect(try !hears(read) { books[0].title = "z" })
    #expect(try hears(read) { try context.delete(books[0]) } && books[0].isDeleted)
    #expect(try hears(read) { context.undelete(books[0]) } && !books[0].isDeleted)
    try context.delete(books[0])
    #expect(try hears(read) { context.rollback() } && !books[0].isDeleted)
    let other = container.newContext()
    try other.delete(try #require(try other.object(with: books[0].objectID)))
    try other.save()
    #expect(try hears(read) { context.mergeChanges() } && books[0].isDeleted)
  }

  @Test("a reader of an object's value is told of its delete and of its return") func deletedValues() throws {
    context.isObserving = true
    let book = try #require(try context.first(Book.all))
    #expect(try hears({ _ = book.title }) { try context.delete(book) })
    #expect(try hears({ _ = book.title }) { context.undelete(book) })
  }

  // MARK: Requests

  @Test("requests are equal if they ask for the same in the same way") func equality() {
    let bound: PredicateFormat = "title == $word AND pages > $pages"
    func made(_ word: String, _ pages: Int64) -> [Book.FetchRequest] {
      [
        Book.all, Book.where { $0.title == word }, Book.where { $0.title == word && $0.pages > pages },
        Book.where { $0.title == word || $0.pages > pages }, Book.where { $0.title.contains(word) },
        Book.where("title == %@", word), Book.where("title == \(word)"),
        Book.where { $0.pages > pages }.where("title == %@", word),
        Book.where(bound.binding(["word": word, "pages": pages])),
        Book.all.sorted { $0.title }, Book.all.sorted { $0.title.descending }, Book.all.sorted(by: "title"),
        Book.all.limit(Int(pages)), Book.all.offset(Int(pages)), Book.all.prefetching { $0.readers },
        Book.all.withoutSubentities(), Book.all.storedOnly(), Book.all.lazyLoading(.forbidden),
      ]
    }
    let first = made("a", 1)
    for (place, request) in first.enumerated() {
      #expect(made("a", 1)[place] == request, "\(request)")
      for (other, strange) in first.enumerated() where other != place {
        #expect(strange != request, "\(request), \(strange)")
      }
    }
    let others = Array(zip(first, made("b", 2)).dropFirst())
    let fixed = [9, 10, 11, 14, 15, 16, 17]
    for (place, (left, right)) in others.enumerated() {
      #expect((left == right) == fixed.contains(place + 1), "\(left)")
    }
    let (composed, decomposed) = ("가", "가".decomposedStringWithCanonicalMapping)
    #expect(Book.where { $0.title == composed } != Book.where { $0.title == decomposed })
    #expect(Book.where("title == %@", composed) != Book.where("title == %@", decomposed))
  }
}
