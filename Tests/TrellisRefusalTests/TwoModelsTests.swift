import Testing
import Trellis
@_spi(Generated) import TrellisRuntime
import TrellisTestSupport

@Suite("Models in one program are told apart") struct TwoModelsTests {
  /// Every call that answers a request, asked for a class of another model.
  static let requests: [(name: String, ask: @Sendable (ManagedObjectContext) throws -> Void)] = [
    ("fetch", { _ = try $0.fetch(Book.all) }),
    ("fetch beyond", { _ = try $0.fetch(Seed.all) }),
    ("first", { _ = try $0.first(Book.where { $0.title == "" }) }),
    ("count", { _ = try $0.count(Book.all) }),
    ("count beyond", { _ = try $0.count(Seed.all) }),
    ("exists", { _ = try $0.exists(Book.all) }),
    ("ids", { _ = try $0.ids(of: Book.all) }),
    ("snapshots", { _ = try $0.snapshots(of: Book.all) }),
    ("values", { _ = try $0.values(of: Book.all) { $0.title } }),
    ("aggregate", { _ = try $0.aggregate(Book.all) { $0.pages.sum } }),
    ("grouped", { _ = try $0.grouped(Book.all, by: { $0.title }, { $0.count }) }),
    ("stream", { try $0.stream(Book.all) { _ in } }),
    ("streamSnapshots", { try $0.streamSnapshots(of: Book.all) { _ in } }),
    ("live", { _ = try $0.live(Book.all) }),
    ("live in sections", { _ = try $0.live(Book.all, sectionedBy: { $0.title }) }),
    ("updateAll", { try $0.updateAll(Book.all) { $0.pages.set(1) } }),
    ("deleteAll", { try $0.deleteAll(Book.all) }),
    ("explain", { _ = try $0.explain(Book.all) }),
    ("a format", { _ = try $0.fetch(Book.where("title == 'a'")) }),
    ("prefetching", { _ = try $0.fetch(Book.all.prefetching { $0.author }) }),
    ("object(with:)", { _ = try $0.object(with: ObjectID<Book>(1)) }),
  ]

  @Test("a request for a class of another model is refused by name", arguments: requests.indices, StoreKind.allCases)
  func refused(_ number: Int, _ kind: StoreKind) throws {
    let (name, ask) = Self.requests[number]
    // A class beyond the end of a model's list, and one within, need the smaller and the larger model.
    let isBeyond = name.hasSuffix("beyond")
    let place = try TestContainer(isBeyond ? .library : .fruits, kind)
    let context = place.container.newContext()
    if !isBeyond { _ = Apple(in: context, weight: 5, sort: "red") }
    try context.save()
    let problem = try #require(throws: ContextError.self, "\(name)") { try ask(context) }
    #expect(problem.code == .foreignModel)
    let (own, foreign) = isBeyond ? ("Library", "Fruits") : ("Fruits", "Library")
    #expect(problem.message.contains("'\(own)'") && problem.message.contains("'\(foreign)'"), "\(problem.message)")
    #expect(!context.hasChanges)
    if !isBeyond { #expect(try context.fetch(Apple.all).map(\.weight) == [5]) }
  }

  @Test("the same holds in a child context, and with unsaved changes", arguments: requests.indices)
  func refusedInChild(_ number: Int) throws {
    let (name, ask) = Self.requests[number]
    let place = try TestContainer(name.hasSuffix("beyond") ? .library : .fruits)
    let parent = place.container.newContext()
    if !name.hasSuffix("beyond") { _ = Apple(in: parent, weight: 5) }
    let child = parent.newChildContext()
    // updateAll and deleteAll are for contexts without a parent at all.
    let context = name.hasSuffix("All") ? parent : child
    let problem = try #require(throws: ContextError.self, "\(name)") { try ask(context) }
    #expect(problem.code == .foreignModel)
  }

  @Test("an object of another model's class is of no context; that is reported, and the next save throws it")
  func making() throws {
    let place = try TestContainer(.fruits)
    let context = place.container.newContext()
    let author = Author(in: context, name: "nobody")
    let book = Book(in: context, title: "stray", author: author)
    #expect(book.managedObjectContext == nil && !book.isInserted && !book.hasChanges && !book.isDeleted)
    #expect(book.title == "stray" && book.author == nil)
    book.title = "still"
    book.author = author
    author.books.append(book)
    #expect(book.title == "stray" && author.books.isEmpty)
    #expect(place.errors.codes == [.foreignModel, .foreignModel])
    #expect(!context.hasChanges && context.insertedObjects.isEmpty)
    _ = Apple(in: context, weight: 1)
    let thrown = try #require(throws: ContextError.self) { try context.save() }
    #expect(thrown.code == .foreignModel && thrown.message == place.errors.messages[0])
    try context.save()
    #expect(try context.fetch(Apple.all).map(\.weight) == [1] && context.count(Basket.all) == 0)
  }

  @Test("making an object in a child context of another model is refused as well")
  func makingInChild() throws {
    let place = try TestContainer(.fruits)
    let child = place.container.newContext().newChildContext()
    let book = Book(in: child, title: "stray")
    #expect(book.managedObjectContext == nil)
    #expect(throws: ContextError.self) { try child.save() }
    #expect(place.errors.codes == [.foreignModel])
  }

  @Test("identities know their model")
  func identities() throws {
    let (fruits, library) = (try TestContainer(.fruits), try TestContainer(.library))
    let context = fruits.container.newContext()
    let apple = Apple(in: context, weight: 1)
    let other = library.container.newContext()
    let book = Book(in: other, title: "a")
    #expect(try context.object(with: AnyObjectID(apple)) === apple)
    let problem = try #require(throws: ContextError.self) { try context.object(with: AnyObjectID(book)) }
    #expect(problem.code == .foreignModel && problem.message.contains("Library"))
    #expect(throws: ContextError.self) { try context.object(with: ObjectID<Book>(apple.objectID.key)) }
    #expect(context.registeredObject(with: ObjectID<Book>(apple.objectID.key)) == nil)
    #expect(try context.object(with: ObjectID<ManagedObject>(apple.objectID.key)) === apple)
    #expect(AnyObjectID(book).entity == "Book" && "\(AnyObjectID(apple))" == "Apple#\(apple.objectID.key)")
  }

  @Test("an object of another model is no value for a format")
  func arguments() throws {
    let (fruits, library) = (try TestContainer(.fruits), try TestContainer(.library))
    let context = fruits.container.newContext()
    let basket = Basket(in: context)
    let stray = Author(in: library.container.newContext())
    #expect(try context.count(Apple.where("basket == %@", basket)) == 0)
    let formats: [PredicateFormat] = [
      "basket == \(stray)", "basket == \(stray.objectID)", "basket IN \([stray])",
      PredicateFormat(verbatim: "basket == %@", stray), PredicateFormat(verbatim: "basket == %@", Optional(stray)),
      PredicateFormat(verbatim: "basket == $b").binding(["b": stray]),
    ]
    for format in formats {
      let problem = try #require(throws: ContextError.self) { try context.fetch(Apple.where(format)) }
      #expect(problem.code == .foreignModel)
    }
    #expect(throws: ContextError.self) { try context.fetch(Apple.where("basket == %@", AnyObjectID(stray))) }
  }

  @Test("two models of one name are told apart")
  func sameName() throws {
    var description = ObjectModel.library.description
    description.name = "Fruits"
    let namesake = ObjectModel(
      description, objects: [Book.self, Author.self], checksum: "namesake", generatedCode: .version2)
    let place = try TestContainer(namesake)
    let context = place.container.newContext()
    _ = Book(in: context, title: "mine")
    let problem = try #require(throws: ContextError.self) { try context.fetch(Apple.all) }
    #expect(problem.code == .foreignModel && problem.message.contains("another model of that name"))
    #expect(try context.count(Book.all) == 1)
  }

  @Test("classes that are not in their entities' order are no model's")
  func mixedUpClasses() {
    let mixed = ObjectModel(
      ObjectModel.library.description, objects: [Author.self, Book.self], checksum: "mixed", generatedCode: .version2)
    #expect(throws: (any Error).self) { try PersistentContainer(model: mixed, store: .memory) }
  }

  @Test("what a save changed is nothing of another model's", .ends)
  func saves() async throws {
    let place = try TestContainer(.fruits)
    var saves = place.container.saves.makeAsyncIterator()
    let context = place.container.newContext()
    let (apple, gone) = (Apple(in: context, weight: 1), Apple(in: context, weight: 2))
    try context.save()
    let inserted = try #require(await saves.next())
    #expect(inserted.inserted(of: Apple.self).count == 2 && inserted.inserted(of: Book.self).isEmpty)
    apple.weight = 3
    try context.delete(gone)
    try context.save()
    let changed = try #require(await saves.next())
    let stray = AnyObjectID(Book(in: try TestContainer(.library).container.newContext()))
    #expect(
      changed.changedProperties(of: AnyObjectID(apple)) == ["weight"] && changed.changedProperties(of: stray) == [])
    #expect(changed.contains(deleted: gone.objectID) && !changed.contains(deleted: ObjectID<Book>(gone.objectID.key)))
  }

  @Test("a conflict shows no snapshot of another model's class")
  func conflicts() throws {
    let place = try TestContainer(.fruits)
    let (context, other) = (place.container.newContext(), place.container.newContext())
    let apple = Apple(in: context, weight: 1)
    try context.save()
    try #require(try other.object(with: apple.objectID)).weight = 2
    apple.weight = 3
    try context.save()
    let conflict = try #require(throws: SaveConflict.self) { try other.save() }
    #expect(conflict.rows.first?.theirs(Apple.Snapshot.self)?.weight == 3)
    #expect(conflict.rows.first?.theirs(Book.Snapshot.self) == nil)
  }

  @Test("two models work side by side, children and live results too", arguments: StoreKind.allCases)
  func sideBySide(_ kind: StoreKind) throws {
    let (fruits, library) = (try TestContainer(.fruits, kind), try TestContainer(.library, kind))
    let (apples, books) = (fruits.container.newContext(), library.container.newContext())
    let (heavy, long) = (try apples.live(Apple.where { $0.weight > 1 }), try books.live(Book.where { $0.title != "a" }))
    let (orchard, desk) = (apples.newChildContext(), books.newChildContext())
    let basket = Basket(in: orchard, number: 7)
    for weight in 1...3 { _ = Apple(in: orchard, weight: Int64(weight), basket: basket) }
    for title in ["a", "b", "c"] { _ = Book(in: desk, title: title, author: Author(in: desk, name: title)) }
    for context in [orchard, apples, desk, books] { try context.save() }
    #expect(heavy.map(\.weight) == [2, 3] && long.map(\.title) == ["b", "c"])
    #expect(long.map { $0.author?.name } == ["b", "c"] && heavy.allSatisfy { $0.basket?.number == 7 })
    #expect(try apples.count(Apple.all) == 3 && books.count(Book.all) == 3)
    #expect(fruits.errors.messages == [] && library.errors.messages == [])
  }
}
