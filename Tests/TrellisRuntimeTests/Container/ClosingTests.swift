import Foundation
import Testing
import Trellis
import TrellisTestSupport

/// A store in a folder of its own, which goes with it.
final class StoreFile {
  private let folder: TestFolder
  var url: URL { folder.file("store.db") }
  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []).sorted() }

  init() throws { folder = try TestFolder() }

  func open() throws -> PersistentContainer {
    try PersistentContainer(model: .shapes, store: .sqlite(at: url)) { _ in }
  }
}

@Suite("Closing a container") struct ClosingTests {
  enum Kind: CaseIterable { case memory, sqlite }

  private func open(_ kind: Kind, _ file: StoreFile) throws -> PersistentContainer {
    kind == .memory ? try makeContainer() : try file.open()
  }

  private func expectClosed(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    let error = #expect(throws: StoreError.self, sourceLocation: location, performing: body)
    #expect(error?.code == .closed, sourceLocation: location)
  }

  @Test("whatever needs a closed store throws, and what was loaded stays readable", arguments: Kind.allCases)
  func laterUse(_ kind: Kind) throws {
    let file = try StoreFile()
    let container = try open(kind, file)
    let (context, unused) = (container.newContext(), container.newContext())
    let node = Node(in: context, name: "a")
    try context.save()
    container.close()
    container.close()
    #expect(node.name == "a")
    node.name = "b"
    expectClosed { try context.save() }
    expectClosed { _ = try context.fetch(Node.all) }
    expectClosed { _ = try unused.count(Node.all) }
    expectClosed { _ = try container.newContext().fetch(Node.all) }
  }

  @Test("loaded members stay readable after the store is closed, unloaded ones are reported and read as none")
  func members() throws {
    let problems = ReportedErrors()
    let container = try PersistentContainer(model: .shapes, store: .memory) { problems.add($0) }
    let context = container.newContext()
    let parent = Node(in: context)
    parent.children = [Node(in: context, name: "a"), Node(in: context, name: "b")]
    try context.save()
    let other = container.newContext()
    let (loaded, unloaded) = (container.newContext(), other)
    let first = try #require(try loaded.object(with: parent.objectID))
    #expect(first.children.map(\.name) == ["a", "b"])
    let second = try #require(try unloaded.object(with: parent.objectID))
    let live = try loaded.live(Node.all)
    #expect(live.count == 3)
    container.close()
    #expect(first.children.map(\.name) == ["a", "b"] && live.count == 3 && problems.messages == [])
    #expect(second.children.isEmpty && problems.messages.count == 1)
  }

  @Test("new objects of a closed container are reported and never saved", arguments: Kind.allCases)
  func insertingLater(_ kind: Kind) throws {
    let file = try StoreFile()
    let container = try open(kind, file)
    let context = container.newContext()
    container.close()
    _ = Node(in: context)
    #expect(throws: (any Error).self) { try context.save() }
    expectClosed { try context.save() }
  }

  @Test("a closed file is complete, and stands alone once no context uses it")
  func fileAlone() throws {
    let file = try StoreFile()
    let container = try file.open()
    do {
      let context = container.newContext()
      _ = Node(in: context, name: "a")
      try context.save()
    }
    #expect(file.names.count == 3)
    container.close()
    #expect(file.names == ["store.db"])
    #expect(try file.open().newContext().fetch(Node.all).map(\.name) == ["a"])
  }

  @Test("a context that is still held keeps an empty log, and nothing is lost")
  func heldContext() throws {
    let file = try StoreFile()
    let container = try file.open()
    let context = container.newContext()
    let node = Node(in: context, name: "a")
    try context.save()
    let idle = container.newContext()
    _ = try idle.fetch(Node.all)
    container.close()
    #expect(try file.open().newContext().fetch(Node.all).map(\.objectID) == [node.objectID])
    expectClosed { _ = try idle.fetch(Node.all) }
    expectClosed { _ = try context.fetch(Node.all) }
    #expect(file.names == ["store.db"])
  }

  @Test("closing gives back the keys that were not used")
  func keys() throws {
    let file = try StoreFile()
    var keys: [Int64] = []
    for _ in 0..<3 {
      let container = try file.open()
      let context = container.newContext()
      keys.append(Node(in: context).objectID.key)
      container.close()
    }
    #expect(keys == [1, 2, 3])
  }
}
