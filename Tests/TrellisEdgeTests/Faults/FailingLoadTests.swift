import Testing
import Trellis
import TrellisTestSupport

@Suite("Stores that fail while something is loaded") struct FailingLoadTests {
  /// What is told once, by the next fetch.
  private func expectReport(_ world: World) throws {
    #expect(world.place.problems.codes.contains(.loadFailed))
    let context = try #require(world.context)
    #expect(throws: ContextError.self) { try context.fetch(Shelf.all) }
  }

  /// The graph is as it was saved, here and in the store.
  private func expectWhole(_ world: World) throws {
    let context = try #require(world.context)
    try context.save()
    #expect(!context.hasChanges)
    #expect(world.shelf.name == "poetry" && world.shelf.rank == 7 && world.shelf.label === world.label)
    #expect(world.shelf.books.map(\.title) == ["one", "two"] && world.book.shelf === world.shelf)
    #expect(world.topic.shelves.objects == [world.shelf])
    #expect(try world.counts() == [1, 2, 1, 1])
  }

  @Test(
    "a value that cannot be loaded reads as before or as a placeholder, is not written, and the failure is told",
    arguments: StoreKind.inPlace)
  func attributes(kind: StoreKind) throws {
    let world = try World(kind)
    world.context?.refreshAll()
    world.place.interference.fails = true
    _ = world.shelf.name
    world.shelf.rank = 99
    #expect(world.shelf.isFault && !world.shelf.hasChanges)
    world.place.interference.fails = false
    try expectReport(world)
    try expectWhole(world)
  }

  private static let changes: [(name: String, change: @Sendable (World) throws -> Void)] = [
    ("read a to-one in a row", { #expect($0.book.shelf?.name ?? "" != "ignored") }),
    ("read a to-one at the other end", { #expect($0.shelf.label == nil) }),
    ("count", { #expect($0.shelf.books.isEmpty && $0.shelf.topics.count == 0) }),
    ("walk", { for book in $0.shelf.books { Issue.record("\(book)") } }),
    ("map", { #expect($0.shelf.books.map(\.title).isEmpty) }),
    ("first and last", { #expect($0.shelf.books.first == nil && $0.topic.shelves.last == nil) }),
    ("insert", { $0.shelf.books.insert($0.book, at: 0) }),
    ("move", { $0.shelf.books.move(from: 0, to: 1) }),
    ("remove at", { #expect($0.shelf.books.remove(at: 0) == nil) }),
    ("replace", { $0.shelf.books = [] }),
    ("replace pairs", { $0.topic.shelves = [] }),
    ("remove all", { $0.topic.shelves.removeAll() }),
    ("set nil at the other end", { $0.shelf.label = nil }),
  ]

  @Test(
    "a relationship that cannot be loaded reads empty, does not change, and the failure is told",
    arguments: StoreKind.inPlace, changes.indices)
  func relationships(kind: StoreKind, number: Int) throws {
    let world = try World(kind)
    world.context?.refreshAll()
    world.place.interference.fails = true
    try Self.changes[number].change(world)
    world.place.interference.fails = false
    try expectReport(world)
    try expectWhole(world)
  }

  enum Call: String, CaseIterable {
    case fetch, count, exists, delete, validateForDelete, refresh, validate, prefetch, snapshots, committedMembers

    func make(_ world: World, _ context: ManagedObjectContext) throws {
      switch self {
      case .fetch: _ = try context.fetch(Book.all)
      case .count: _ = try context.count(Book.where { $0.title == "x" })
      case .exists: _ = try context.exists(Book.all)
      case .delete: try context.delete(world.shelf)
      case .validateForDelete: try context.validateForDelete(world.shelf)
      case .refresh: try context.refresh(world.shelf)
      case .validate: try world.label.validate()
      case .prefetch: _ = try context.fetch(Shelf.all.prefetching { $0.books })
      case .snapshots: _ = try context.snapshots(of: Shelf.all)
      case .committedMembers: _ = try world.shelf.committedMembers(of: \.books)
      }
    }
  }

  @Test("what can throw throws at once, and has done nothing", arguments: StoreKind.inPlace, Call.allCases)
  func calls(kind: StoreKind, call: Call) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    context.refreshAll()
    world.place.interference.fails = true
    #expect(throws: (any Error).self) { try call.make(world, context) }
    world.place.interference.fails = false
    // A failure that is told twice is no harm.
    _ = try? context.fetch(Shelf.all)
    try expectWhole(world)
  }

  @Test("an undo that cannot load what it needs does nothing, and can be tried again", arguments: StoreKind.inPlace)
  func undo(kind: StoreKind) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    context.undo.enable()
    world.shelf.books.move(from: 0, to: 1)
    context.undo.endStep()
    try context.delete(world.book)
    try context.save()
    context.refreshAll()
    world.place.interference.fails = true
    #expect(throws: (any Error).self) { while try context.undo.undo() {} }
    world.place.interference.fails = false
    _ = try? context.fetch(Shelf.all)
    while try context.undo.undo() {}
    try context.save()
    try expectWhole(world)
  }

  @Test(
    "a member whose row cannot be loaded is stood in for, and nothing of that is saved", arguments: StoreKind.inPlace)
  func subscripts(kind: StoreKind) throws {
    let world = try World(kind)
    let books = world.shelf.books
    #expect(books.count == 2)
    world.context?.dropUnusedObjects()
    world.place.interference.fails = true
    let second = books[1]
    second.title = "ignored"
    #expect(second.title == "" && second.managedObjectContext == nil && !second.isDeleted)
    world.place.interference.fails = false
    try expectReport(world)
    try expectWhole(world)
  }
}
