import Foundation
import Observation
import Synchronization
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisRuntime

/// Views read in `withObservationTracking` and run no task: they have to be told of saves by others all the same.
@MainActor @Suite("Observers without a task hear of the saves of others", .timeLimit(.minutes(60)))
struct ObservedSavesTests {
  private final class Bell: Sendable {
    private let count = Atomic(0)
    func ring() { count.add(1, ordering: .relaxed) }
    var hasRung: Bool { count.load(ordering: .relaxed) > 0 }
  }

  /// A store with two books, a container that observes it, and another container that writes it.
  private struct Stage {
    let folder: TestFolder
    let ours: PersistentContainer
    let theirs: PersistentContainer

    init(_ kind: StoreKind) throws {
      folder = try TestFolder()
      ours = try PersistentContainer(model: .library, store: kind.configuration(in: folder))
      theirs = try PersistentContainer(model: .library, store: kind.configuration(in: folder))
      let context = theirs.newContext()
      for title in ["b", "d"] { _ = Book(in: context, title: title, genre: .novel) }
      try context.save()
    }

    @MainActor var isWatching: Bool { ours.core.externalChanges.isWatching }

    /// Saves a change of the other container.
    func elsewhere(_ change: (ManagedObjectContext) throws -> Void) throws {
      let context = theirs.newContext()
      try change(context)
      try context.save()
    }
  }

  /// Whether what `read` reads is announced as changed soon after a change by others.
  private func hears(_ read: () -> Void, _ change: () throws -> Void) async throws -> Bool {
    let bell = Bell()
    withObservationTracking(read) { bell.ring() }
    try change()
    // Half a second is what is promised. A busy machine gets more.
    for _ in 0..<1000 where !bell.hasRung { try await Task.sleep(for: .milliseconds(10)) }
    return bell.hasRung
  }

  nonisolated private static let shared: [StoreKind] = StoreKind.inPlace.filter { $0 != .memory }

  @Test("a list, its count, its identifiers, and whether it is empty", arguments: shared)
  func lists(kind: StoreKind) async throws {
    let stage = try Stage(kind)
    let live = try stage.ours.mainContext.live(Book.all.sorted { $0.title })
    let reads: [(LiveResults<Book.Columns>) -> Void] = [
      { _ = $0.map(\.title) }, { _ = $0.count }, { _ = $0.ids }, { _ = $0.isEmpty }, { _ = $0.first },
    ]
    for (number, read) in reads.enumerated() {
      #expect(try await hears({ read(live) }) { try stage.elsewhere { _ = Book(in: $0, title: "\(number)") } })
      #expect(live.count == 3 + number)
    }
    #expect(live.first?.title == "0")
  }

  @Test("a list of which only a value has changed", arguments: shared, [false, true])
  func values(kind: StoreKind, isSorted: Bool) async throws {
    let stage = try Stage(kind)
    let live = try stage.ours.mainContext.live(isSorted ? Book.all.sorted { $0.title } : Book.all)
    let heard = try await hears({ _ = live.map(\.pages) }) {
      try stage.elsewhere { try #require(try $0.first(Book.all.sorted { $0.title })).pages = 77 }
    }
    #expect(heard && live.map(\.pages).sorted() == [0, 77])
  }

  @Test("a list in sections", arguments: shared) func sections(kind: StoreKind) async throws {
    let stage = try Stage(kind)
    let live = try stage.ours.mainContext.live(Book.all.sorted { $0.title }, sectionedBy: { $0.genre })
    let heard = try await hears({ _ = live.sections.count }) {
      try stage.elsewhere { _ = Book(in: $0, title: "c", genre: .travel) }
    }
    #expect(heard && live.sections.count == 2)
  }

  @Test("an object, its value and its members", arguments: shared, [false, true])
  func objects(kind: StoreKind, isChild: Bool) async throws {
    let stage = try Stage(kind)
    let main = stage.ours.mainContext
    let context = isChild ? main.newChildContext() : main
    context.isObserving = true
    let book = try #require(try context.first(Book.all.sorted { $0.title }))
    func theirs(_ context: ManagedObjectContext) throws -> Book {
      try #require(try context.object(with: book.objectID))
    }
    #expect(try await hears({ _ = book.title }) { try stage.elsewhere { try theirs($0).title = "a" } })
    #expect(book.title == "a")
    #expect(
      try await hears({ _ = book.readers.count }) {
        try stage.elsewhere { try theirs($0).readers.append(Reader(in: $0, name: "Ada")) }
      })
    #expect(book.readers.map(\.name) == ["Ada"])
    #expect(
      try await hears({ _ = book.isDeleted || book.title.isEmpty }) {
        try stage.elsewhere { try $0.delete(try theirs($0)) }
      })
    // What is gone is known once it is read.
    #expect(book.title == "a" && book.isDeleted)
  }

  @Test("a list in a child of the main context, and in its child", arguments: 1...2)
  func children(levels: Int) async throws {
    let stage = try Stage(.sqlite)
    let context = (0..<levels).reduce(stage.ours.mainContext) { parent, _ in parent.newChildContext() }
    let live = try context.live(Book.all.sorted { $0.title })
    let heard = try await hears({ _ = live.count }) { try stage.elsewhere { _ = Book(in: $0, title: "c") } }
    #expect(heard && live.map(\.title) == ["b", "c", "d"])
  }

  @Test("a list in a child of the main context hears of the container's other contexts") func childOfMain() async throws
  {
    let container = try PersistentContainer(model: .library, store: .memory)
    let child = container.mainContext.newChildContext()
    let live = try child.live(Book.all)
    let heard = try await hears({ _ = live.count }) {
      let other = container.newContext()
      _ = Book(in: other)
      try other.save()
    }
    #expect(heard && live.count == 1)
  }

  @Test("a list in a child of the main context hears of a save of its parent") func parentSaves() async throws {
    let container = try PersistentContainer(model: .library, store: .memory)
    let main = container.mainContext
    let child = main.newChildContext()
    let live = try child.live(Book.all)
    let heard = try await hears({ _ = live.count }) {
      _ = Book(in: main)
      try main.save()
    }
    #expect(heard && live.count == 1)
  }

  @Test("unsaved edits stay when the list is brought up to date") func edits() async throws {
    let stage = try Stage(.sqlite)
    let main = stage.ours.mainContext
    let child = main.newChildContext()
    let live = try child.live(Book.all.sorted { $0.title })
    live[0].pages = 5
    try #require(try main.object(with: live[1].objectID)).pages = 6
    let heard = try await hears({ _ = live.count }) {
      try stage.elsewhere { context in
        for book in try context.fetch(Book.all) { book.title += "!" }
        _ = Book(in: context, title: "c")
      }
    }
    #expect(heard && live.map(\.title) == ["b!", "c", "d!"])
    #expect(live[0].pages == 5 && main.hasChanges && child.hasChanges)
  }

  // MARK: When the store is watched

  @Test("the store is watched while something observes it, and never otherwise") func watching() async throws {
    let stage = try Stage(.sqlite)
    let main = stage.ours.mainContext
    _ = try main.fetch(Book.all)
    let own = stage.ours.newContext()
    own.isObserving = true
    let ownLive = try own.live(Book.all)
    // A context of one's own merges when it is used, so nothing could be told.
    #expect(!stage.isWatching && ownLive.count == 2)
    var live: LiveResults<Book.Columns>? = try main.live(Book.all)
    #expect(stage.isWatching && live?.count == 2)
    var second: LiveResults<Book.Columns>? = try main.live(Book.all)
    live = nil
    #expect(stage.isWatching && second?.count == 2)
    second = nil
    #expect(!stage.isWatching)
    main.isObserving = true
    #expect(stage.isWatching)
    main.isObserving = false
    #expect(!stage.isWatching)
    var child: ManagedObjectContext? = main.newChildContext()
    child?.isObserving = true
    #expect(stage.isWatching)
    child = nil
    #expect(!stage.isWatching)
    var changes: LiveChanges<Book.Columns>.Iterator? = ownLive.changes.makeAsyncIterator()
    #expect(stage.isWatching && changes != nil)
    changes = nil
    #expect(!stage.isWatching)
  }

  @Test("a closed container watches nothing, whatever is still held") func closed() throws {
    let stage = try Stage(.sqlite)
    let live = try stage.ours.mainContext.live(Book.all)
    stage.ours.mainContext.isObserving = true
    stage.ours.close()
    #expect(!stage.isWatching && live.count == 2)
    let stream = stage.ours.saves
    #expect(!stage.isWatching)
    _ = stream
  }

  @Test("a released container is closed, and its timer ends") func released() async throws {
    let stage = try Stage(.sqlite)
    weak var core: ContainerCore?
    do {
      let container = try PersistentContainer(model: .library, store: StoreKind.sqlite.configuration(in: stage.folder))
      let live = try container.mainContext.live(Book.all)
      core = container.core
      #expect(live.count == 2 && core?.externalChanges.isWatching == true)
    }
    // The timer's handler may be running.
    for _ in 0..<500 where core != nil { try await Task.sleep(for: .milliseconds(10)) }
    #expect(core == nil)
  }

  @Test("steps of a list name every result as changed after a save whose changes are not known") func steps()
    async throws
  {
    let stage = try Stage(.sqlite)
    let context = stage.ours.newContext()
    let live = try context.live(Book.all.sorted { $0.title })
    var changes = live.changes.makeAsyncIterator()
    try stage.elsewhere { try #require(try $0.first(Book.all)).pages = 3 }
    context.mergeChanges()
    let change = await changes.next()
    #expect(change?.steps == [.update(live.ids[0], at: 0), .update(live.ids[1], at: 1)])
  }
}
