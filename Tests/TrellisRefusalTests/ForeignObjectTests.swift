import Testing
import Trellis
import TrellisTestSupport

@Suite("Objects of another context") struct ForeignObjectTests {
  /// What another context's object may not be given to.
  static let calls: [(name: String, call: @Sendable (ManagedObjectContext, Book) throws -> Void)] = [
    ("delete", { try $0.delete($1) }),
    ("validateForDelete", { try $0.validateForDelete($1) }),
    ("refresh", { try $0.refresh($1) }),
  ]

  @Test("deleting, asking whether one could, and refreshing them is refused", arguments: calls.indices)
  func refused(_ number: Int) throws {
    let place = try TestContainer(.library)
    let elsewhere = try TestContainer(.library)
    let (context, other) = (place.container.newContext(), place.container.newContext())
    let child = context.newChildContext()
    let third = elsewhere.container.newContext()
    let strays = [
      ("another context", Book(in: other)), ("another context", Book(in: child)),
      ("another container", Book(in: third)),
    ]
    for (place, book) in strays {
      let problem = try #require(throws: ContextError.self) { try Self.calls[number].call(context, book) }
      #expect(problem.code == .foreignObject && problem.message.contains(place), "\(problem.message)")
      #expect(book.isInserted)
    }
    #expect(place.errors.messages == [])
  }

  @Test("a deleted object may be deleted again")
  func again() throws {
    let context = try TestContainer(.library).container.newContext()
    let book = Book(in: context)
    try context.save()
    try context.delete(book)
    try context.delete(book)
    try context.save()
    try context.delete(book)
    #expect(try context.count(Book.all) == 0)
  }

  @Test("an object of another container is kept out of relationships, and it is said whose it is")
  func relationships() throws {
    let (place, elsewhere) = (try TestContainer(.library), try TestContainer(.library))
    let (context, other) = (place.container.newContext(), elsewhere.container.newContext())
    let (book, stray) = (Book(in: context), Author(in: other))
    book.author = stray
    #expect(book.author == nil && stray.books.isEmpty)
    #expect(place.errors.codes == [.foreignObject] && place.errors.messages[0].contains("another container"))
  }

  @Test("what is set when the context is gone is reported once for each object", arguments: StoreKind.allCases)
  func contextGone(_ kind: StoreKind) throws {
    let place = try TestContainer(.library, kind)
    var context: ManagedObjectContext? = place.container.newContext()
    let (book, author) = try (Book(in: #require(context), title: "a"), Author(in: #require(context), name: "b"))
    try context?.save()
    context = nil
    #expect(book.title == "a" && place.errors.messages == [])
    for number in 0..<3 {
      book.title = "c"
      book.pages = Int64(number)
      book.author = author
    }
    author.books.append(book)
    author.books = [book]
    #expect(book.title == "a" && book.pages == 0 && book.author == nil)
    #expect(place.errors.codes == [.ignoredWrite, .ignoredWrite])
    #expect(
      place.errors.messages == [
        "A value set to Book.title was ignored, since the object's context is gone.",
        "A value set to Author.books was ignored, since the object's context is gone.",
      ])
  }

  @Test("what is read when it was not loaded and the context is gone is reported once for each object")
  func unloaded() throws {
    let place = try TestContainer(.library)
    var context: ManagedObjectContext? = place.container.newContext()
    let book = try Book(in: #require(context), title: "a")
    let author = try Author(in: #require(context), name: "b")
    book.author = author
    try context?.save()
    context?.refreshAll()
    context = nil
    // What a fault held before is still there.
    #expect(book.title == "a" && book.pages == 0 && book.author == nil)
    #expect(author.books.isEmpty && author.books.count == 0)
    #expect(place.errors.codes == [.loadFailed, .loadFailed])
  }
}
