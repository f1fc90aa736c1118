import Testing
import Trellis
import TrellisTestSupport

@Suite("Rows that somebody else deleted") struct DeletedElsewhereTests {
  @Test(
    "an object whose row is gone is deleted, its values stay, writes are ignored", arguments: StoreKind.inPlace,
    [false, true])
  func attributes(kind: StoreKind, isFault: Bool) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    if isFault { context.refreshAll() }
    try world.deleteElsewhere(Book.where { $0.title == "one" })
    if !isFault { context.mergeChanges() }
    #expect(world.book.title == "one" && world.book.isDeleted)
    world.book.title = "ignored"
    world.book.shelf = nil
    #expect(world.book.title == "one" && !context.hasChanges && !world.book.isFault)
    try context.delete(world.book)
    try context.refresh(world.book)
    try world.book.validate()
    try world.book.rollback()
    try context.save()
    #expect(try context.fetch(Book.all).map(\.title) == ["two"])
    #expect(world.place.problems.codes.contains(.ignoredWrite))
  }

  @Test("a to-one to a row that is gone reads nil", arguments: StoreKind.inPlace, [false, true])
  func toOne(kind: StoreKind, isLoaded: Bool) throws {
    let world = try World(kind)
    if isLoaded { #expect(world.book.shelf === world.shelf && world.shelf.label === world.label) }
    try world.deleteElsewhere(Shelf.all)
    world.context?.mergeChanges()
    #expect(world.book.shelf == nil && world.label.isDeleted && world.shelf.isDeleted)
    #expect(world.shelf.label == nil || world.shelf.label === world.label)
    try world.context?.save()
    #expect(try world.counts() == [0, 2, 1, 0])
  }

  @Test("a to-many shows who is left, however it is asked", arguments: StoreKind.inPlace, [false, true])
  func toMany(kind: StoreKind, isLoaded: Bool) throws {
    let world = try World(kind)
    let books = world.shelf.books
    // The keys are known, the rows of the members are not.
    if isLoaded { #expect(books.count == 2) }
    world.context?.dropUnusedObjects()
    try world.deleteElsewhere(Book.where { $0.title == "two" })
    for book in books { _ = book.title }
    for position in books.indices { _ = books[position].title }
    world.context?.mergeChanges()
    #expect(books.count == 1 && books.map(\.title) == ["one"] && books.last?.title == "one")
    books.append(world.book)
    books.append(Book(in: try #require(world.context), title: "three"))
    try world.context?.save()
    #expect(try world.counts() == [1, 2, 1, 1])
  }

  @Test(
    "an edit of a row that is gone is a conflict, which a rollback or a refresh settles", arguments: StoreKind.inPlace,
    [false, true])
  func editing(kind: StoreKind, refreshes: Bool) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    world.book.title = "edited"
    world.shelf.rank = 8
    try world.deleteElsewhere(Book.where { $0.title == "one" })
    #expect(throws: SaveConflict.self) { try context.save() }
    #expect(world.book.title == "edited" && world.shelf.rank == 8)
    if refreshes { try context.refresh(world.book) } else { context.rollback() }
    if !refreshes { _ = try context.fetch(Book.all) }
    try context.save()
    #expect(try world.counts() == [1, 1, 1, 1])
  }

  @Test(
    "undo of a change to a row that is gone meanwhile does not trap, and can be saved", arguments: StoreKind.inPlace)
  func undo(kind: StoreKind) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    context.undo.enable()
    world.book.title = "edited"
    context.undo.endStep()
    world.book.shelf = nil
    context.undo.endStep()
    world.topic.shelves.removeAll()
    try context.save()
    try world.deleteElsewhere(Shelf.all)
    try world.deleteElsewhere(Book.where { $0.title == "edited" })
    context.mergeChanges()
    while try context.undo.undo() {}
    #expect(world.book.isDeleted && world.topic.shelves.isEmpty)
    try context.save()
    while try context.undo.redo() {}
    try context.save()
    #expect(try world.counts() == [0, 1, 1, 0])
  }

  @Test("prefetching leaves out who is gone", arguments: StoreKind.inPlace)
  func prefetching(kind: StoreKind) throws {
    let world = try World(kind)
    try world.deleteElsewhere(Book.where { $0.title == "one" })
    let request = Shelf.all.prefetching { $0.books }.prefetching { $0.label }
    #expect(try world.context?.fetch(request).first?.books.map(\.title) == ["two"])
  }
}
