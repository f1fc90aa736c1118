import Foundation
import Testing
import TrellisTestSupport

@testable import Trellis

@Suite("Transactions of a history") struct TransactionTests {
  @Test("A save is one transaction with its author and its changes", arguments: StoreKind.withHistory) func save(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    let start = try notebook.container.historyToken()
    let (note, label) = try notebook.save(by: "editor") { context in
      let note = Note(in: context, text: "a")
      let label = Label(in: context, name: "red")
      note.labels.append(label)
      return (note.objectID, label.objectID)
    }
    try notebook.save(by: "importer") { context in
      let note = try #require(try context.object(with: note))
      note.text = "b"
      note.number = 3
      note.labels.removeAll()
    }
    try notebook.save { context in try context.delete(try #require(try context.object(with: note))) }
    let news = try notebook.news(since: start)
    #expect(news.map(\.author) == ["editor", "importer", nil])
    #expect(
      news.map(\.lines) == [
        ["inserted \(note)", "inserted \(label)"],
        ["updated \(note) [labels number text]", "updated \(label) [notes]"],
        ["deleted \(note) {remoteID: nil}"],
      ])
    #expect(news.allSatisfy { $0.isComplete && $0.isOwn && !$0.hasUnknownChanges })
    #expect(news[1].changes(of: Label.self).map(line) == ["updated \(label) [notes]"])
    #expect(abs(news[0].date.timeIntervalSinceNow) < 600)
    #expect(try notebook.news(since: news[1].token).map(\.token) == [news[2].token])
    #expect(try notebook.news(since: news[2].token).isEmpty)
    #expect(try notebook.container.historyToken() == news[2].token)
  }

  @Test("A transaction prints its number, author and counts, a version and a tombstone no values")
  func descriptions() throws {
    let notebook = try Notebook(.notebook, .sqlite)
    let start = try notebook.container.historyToken()
    let note = try notebook.save(by: "editor") { context in
      _ = Label(in: context, name: "red")
      return Note(in: context, text: "secret").objectID
    }
    try notebook.save { context in try context.delete(try #require(try context.object(with: note))) }
    let news = try notebook.news(since: start)
    let (first, last) = (try #require(news.first), try #require(news.last))
    #expect("\(first)" == "transaction \(first.token.transaction) at \(first.date) by editor: 2 inserted")
    #expect("\(last)" == "transaction \(last.token.transaction) at \(last.date): 1 deleted")
    guard case .deleted(_, let tombstone)? = last.changes.first else { throw CancellationError() }
    #expect("\(tombstone)" == "tombstone with remoteID")
    let versions = try notebook.container.history(of: note).map(\.description)
    #expect(
      versions == [
        "version of transaction \(first.token.transaction) by editor",
        "version of transaction \(last.token.transaction): deleted",
      ])
  }

  @Test("A refused save leaves no transaction", arguments: StoreKind.withHistory) func refused(_ kind: StoreKind) throws
  {
    let notebook = try Notebook(.notebook, kind)
    try notebook.save { _ = Label(in: $0, name: "red") }
    let start = try notebook.container.historyToken()
    #expect(throws: (any Error).self) { try notebook.save { _ = Label(in: $0, name: "red") } }
    try notebook.save { _ in }
    #expect(try notebook.news(since: start).isEmpty)
  }

  @Test("An object that is inserted and deleted in one save does not appear", arguments: StoreKind.withHistory)
  func passing(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let start = try notebook.container.historyToken()
    let kept = try notebook.save { context in
      try context.delete(Note(in: context, text: "passing"))
      return Note(in: context, text: "kept").objectID
    }
    #expect(try notebook.news(since: start).map(\.lines) == [["inserted \(kept)"]])
  }

  @Test("Cascades, cleared references and changes of order are listed", arguments: StoreKind.withHistory) func effects(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    let (outer, inner, first, second, other) = try notebook.save { context in
      let outer = Folder(in: context, title: "outer")
      let inner = Folder(in: context, title: "inner")
      inner.parent = outer
      let first = Note(in: context, text: "1")
      first.remoteID = "r1"
      let second = Task(in: context, text: "2")
      second.remoteID = "r2"
      inner.notes.append(first)
      inner.notes.append(second)
      let other = Folder(in: context, title: "other")
      other.cover = first
      return (outer.objectID, inner.objectID, first.objectID, second.objectID, other.objectID)
    }
    let start = try notebook.container.historyToken()
    try notebook.save { context in
      let inner = try #require(try context.object(with: inner))
      inner.notes.move(from: 0, to: 1)
    }
    try notebook.save { context in try context.delete(try #require(try context.object(with: outer))) }
    let news = try notebook.news(since: start)
    #expect(news.count == 2)
    #expect(news[0].lines.allSatisfy { $0.hasPrefix("updated ") && $0.hasSuffix("[folder]") })
    #expect(
      Set(news[1].lines) == [
        "deleted \(outer) {title: outer}", "deleted \(inner) {title: inner}", "deleted \(first) {remoteID: r1}",
        "deleted \(second) {due: nil, remoteID: r2}", "updated \(other) [cover]",
      ])
  }

  @Test("Changes of many objects at once are transactions", arguments: StoreKind.withHistory) func batches(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    let keys = try notebook.save { context in
      (0..<5).map { number in
        let label = Label(in: context, name: "label \(number)")
        label.color = Int64(number)
        return label.objectID
      }
    }
    let start = try notebook.container.historyToken()
    let context = notebook.container.newContext()
    context.author = "batch"
    _ = try context.updateAll(Label.where { $0.color < 2 }) { $0.color.set(9) }
    _ = try context.deleteAll(Label.where { $0.color > 3 })
    let news = try notebook.news(since: start)
    #expect(news.map(\.author) == ["batch", "batch"])
    #expect(news[0].lines == ["updated \(keys[0]) [color]", "updated \(keys[1]) [color]"])
    #expect(Set(news[1].lines) == Set([0, 1, 4].map { "deleted \(keys[$0]) {name: label \($0)}" }))
  }

  @Test("Writes of other programs are marked as unknown, and come again when there are more") func foreign() throws {
    let notebook = try Notebook()
    let label = try notebook.save { Label(in: $0, name: "red").objectID }
    let start = try notebook.container.historyToken()
    try notebook.other.run("UPDATE \"Label\" SET \"color\" = 1")
    try notebook.other.run("UPDATE \"Label\" SET \"color\" = 2")
    let news = try notebook.news(since: start)
    #expect(news.count == 1)
    #expect(!news[0].isComplete && news[0].hasUnknownChanges && !news[0].isOwn && news[0].changes.isEmpty)
    #expect(try notebook.news(since: news[0].token).isEmpty)
    try notebook.other.run("UPDATE \"Label\" SET \"color\" = 3")
    let more = try notebook.news(since: news[0].token)
    #expect(more.count == 1 && more[0].token != news[0].token)
    try notebook.save { context in try #require(try context.object(with: label)).color = 4 }
    #expect(try notebook.news(since: news[0].token).map(\.isComplete) == [false, true])
    #expect(try notebook.news(since: more[0].token).map(\.isComplete) == [true])
  }

  @Test("A token survives as text and across openings") func tokens() throws {
    let folder = try TestFolder()
    let text: String
    do {
      let notebook = try Notebook(folder: folder)
      try notebook.save { _ = Label(in: $0, name: "red") }
      text = try notebook.container.historyToken().description
      try notebook.save { _ = Label(in: $0, name: "blue") }
      notebook.container.close()
    }
    let notebook = try Notebook(folder: folder)
    let token = try #require(HistoryToken(text))
    #expect(try notebook.news(since: token).map(\.isOwn) == [false])
    #expect(try JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode(token)) == token)
    for broken in ["", "a", "a:1:2", "a:b:2:3", "a:-1:2:3", ":1:2:3"] { #expect(HistoryToken(broken) == nil) }
  }

  @Test(
    "Tokens of other stores, and of copies that went on by themselves, are refused")
  func foreignTokens() throws {
    let notebook = try Notebook()
    try notebook.save { _ = Label(in: $0, name: "red") }
    let shared = try notebook.container.historyToken()
    let copyFolder = try TestFolder()
    try notebook.container.backUp(to: copyFolder.file("store.sqlite"))
    let copy = try Notebook(folder: copyFolder)
    try copy.save { _ = Label(in: $0, name: "blue") }
    try notebook.save { _ = Label(in: $0, name: "green") }
    #expect(try copy.news(since: shared).count == 1)
    let own = try notebook.container.historyToken()
    expect(.otherHistory) { _ = try copy.news(since: own) }
    try notebook.save { _ = Label(in: $0, name: "black") }
    let later = try notebook.container.historyToken()
    expect(.otherHistory) { _ = try copy.news(since: later) }
    let another = try Notebook()
    try another.save { _ = Label(in: $0, name: "red") }
    expect(.otherHistory) { _ = try another.news(since: shared) }
  }

  @Test("Stores without a history say so") func unsupported() throws {
    let memory = try PersistentContainer(model: .notebook, store: .memory)
    expect(.unsupported) { _ = try memory.historyToken() }
    let folder = try TestFolder()
    let document = try PersistentContainer(model: .notebook, store: .json(at: folder.file("store.json")))
    expect(.unsupported) { _ = try document.history() }
    expect(.unsupported) { _ = try document.newContext(asOf: Date()) }
  }

  @Test("Of an entity with very many properties, exactly the changed ones are told") func wide() throws {
    let attributes = (0..<80).map { "\"a\($0)\": \"int64?\"" }.joined(separator: ", ")
    let shop = try DynamicShop(
      #"{ "model": "Shop", "history": true, "entities": { "Item": { "attributes": { "name": "string", \#(attributes) } } } }"#
    )
    let key = try shop.insert(name: "wide")
    let other = try shop.insert(name: "other")
    let start = try shop.container.historyToken()
    let context = shop.container.newContext()
    let item = try #require(try context.object("Item", key))
    try item.set("a1", .integer(1))
    try item.set("a70", .integer(2))
    try item.set("a79", .integer(3))
    try #require(try context.object("Item", other)).set("a75", .integer(3))
    try context.save()
    #expect(
      try shop.container.history(since: start).map(\.lines) == [
        ["updated Item#\(key) [a1 a70 a79]", "updated Item#\(other) [a75]"]
      ])
  }

  @Test("Objects that exchange their unique keys are updated") func exchange() throws {
    let notebook = try Notebook()
    let (red, blue) = try notebook.save { context in
      (Label(in: context, name: "red").objectID, Label(in: context, name: "blue").objectID)
    }
    let start = try notebook.container.historyToken()
    try notebook.save { context in
      try #require(try context.object(with: red)).name = "blue"
      try #require(try context.object(with: blue)).name = "red"
    }
    #expect(Set(try notebook.news(since: start)[0].lines) == ["updated \(red) [name]", "updated \(blue) [name]"])
    let past = try notebook.container.newContext(asOf: start)
    #expect(try past.object(with: red)?.name == "red")
  }

  @Test("A child context's changes are told when its parent saves", arguments: StoreKind.withHistory) func children(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    let start = try notebook.container.historyToken()
    let parent = notebook.container.newContext()
    parent.author = "parent"
    let child = parent.newChildContext()
    let label = Label(in: child, name: "red")
    try child.save()
    #expect(try notebook.news(since: start).isEmpty)
    try parent.save()
    #expect(try notebook.news(since: start).map(\.lines) == [["inserted \(label.objectID)"]])
  }

  @Test("Entities without a history make a transaction incomplete") func mixed() throws {
    let folder = try TestFolder()
    let container = try PersistentContainer(model: .mixed, store: .sqlite(at: folder.file("store.sqlite")))
    let context = container.newContext()
    let reading = Reading(in: context, value: 1, place: "roof")
    try context.save()
    let photo = Photo(in: context, title: "roof")
    try context.save()
    reading.photo = photo
    try context.save()
    try context.delete(photo)
    try context.save()
    let news = try container.history()
    let id = reading.objectID
    #expect(news.map(\.lines) == [["inserted \(id)"], [], ["updated \(id) [photo]"], ["updated \(id) [photo]"]])
    #expect(news.map(\.isComplete) == [true, false, true, false])
    #expect(news.allSatisfy { !$0.hasUnknownChanges })
  }
}

/// Expects an error of a store with a code.
func expect(_ code: StoreError.Code, _ body: () throws -> Void, at place: SourceLocation = #_sourceLocation) {
  do {
    try body()
    Issue.record("There was no error.", sourceLocation: place)
  } catch let error as StoreError {
    #expect(error.code == code, "\(error)", sourceLocation: place)
  } catch {
    Issue.record("\(error)", sourceLocation: place)
  }
}
