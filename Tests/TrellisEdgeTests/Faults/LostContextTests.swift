import Testing
import Trellis
import TrellisTestSupport

@Suite("Objects whose context is gone or reset") struct LostContextTests {
  enum Loss: String, CaseIterable { case gone, reset, closed }

  private func lose(_ world: World, _ loss: Loss) {
    switch loss {
    case .gone: world.context = nil
    case .reset: world.context?.reset()
    case .closed: world.place.container.close()
    }
  }

  @Test(
    "loaded values stay, writes are ignored, relationships are empty, and nothing traps", arguments: StoreKind.inPlace,
    [Loss.gone, .reset])
  func access(kind: StoreKind, loss: Loss) throws {
    let world = try World(kind)
    let (shelf, book, topic, label) = (world.shelf, world.book, world.topic, world.label)
    let books = shelf.books
    let (count, first) = (books.count, books[0])
    shelf.rank = 8
    lose(world, loss)
    #expect(shelf.managedObjectContext == nil && !shelf.isDeleted)
    #expect(shelf.name == "poetry" && book.title == "one" && first.title == "one" && label.text == "P")
    shelf.name = "ignored"
    book.shelf = nil
    shelf.label = nil
    label.shelf = shelf
    #expect(shelf.name == "poetry")
    #expect(books.isEmpty && books.count == 0 && books.objects.isEmpty && Array(books).isEmpty && books.first == nil)
    for position in 0..<count { #expect(books[position].title == "" && books[position].managedObjectContext == nil) }
    books.append(book)
    books.insert(book, at: 0)
    books.move(from: 0, to: 1)
    #expect(books.remove(at: 0) == nil && !books.contains(book))
    books.remove(book)
    books.removeAll()
    shelf.books = [book]
    topic.shelves = [shelf]
    topic.shelves.append(shelf)
    #expect(shelf.books.isEmpty && topic.shelves.isEmpty && shelf.topics.isEmpty)
    try rest(shelf)
    #expect(try world.counts() == [1, 2, 1, 1])
  }

  /// Everything else that an object can be asked.
  private func rest(_ shelf: Shelf) throws {
    try shelf.validate()
    try shelf.rollback()
    try shelf.rollback(\.name)
    #expect(!shelf.hasChanges && shelf.changedProperties.isEmpty && !shelf.hasChanges(\.name))
    #expect(try shelf.committedMembers(of: \.books).isEmpty)
    #expect(shelf.snapshot.name == "poetry" && !shelf.description.isEmpty && shelf.objectID.key > 0)
  }

  @Test("unloaded values read as placeholders", arguments: StoreKind.inPlace)
  func placeholders(kind: StoreKind) throws {
    let world = try World(kind)
    world.context?.refreshAll()
    world.context = nil
    _ = world.shelf.name
    #expect(!world.shelf.isFault && world.shelf.label == nil && world.book.shelf == nil)
  }

  @Test("a context does not take objects of one that is gone, nor delete them", arguments: StoreKind.inPlace)
  func foreign(kind: StoreKind) throws {
    let world = try World(kind)
    let shelf = world.shelf
    world.context = nil
    let other = world.place.container.newContext()
    let book = try #require(try other.first(Book.all))
    book.shelf = shelf
    #expect(throws: ContextError.self) { try other.delete(shelf) }
    #expect(throws: ContextError.self) { try other.refresh(shelf) }
    other.undelete(shelf)
    #expect(!other.hasChanges && book.shelf?.objectID == shelf.objectID)
  }

  @Test(
    "after a close of the container what is loaded is readable, and what is not is an error that is told",
    arguments: StoreKind.inPlace)
  func closed(kind: StoreKind) throws {
    let world = try World(kind)
    let context = try #require(world.context)
    lose(world, .closed)
    #expect(world.shelf.name == "poetry" && world.shelf.books.isEmpty && world.shelf.label?.text ?? "" == "")
    world.shelf.books.append(world.book)
    world.shelf.rank = 9
    #expect(throws: (any Error).self) { try context.save() }
    #expect(throws: (any Error).self) { try context.fetch(Shelf.all) }
    #expect(throws: (any Error).self) { try context.count(Shelf.all) }
    #expect(world.shelf.rank == 9 && world.place.problems.codes.contains(.loadFailed))
  }
}
