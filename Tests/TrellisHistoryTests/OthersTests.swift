import Foundation
import Testing
import TrellisTestSupport

@testable import Trellis

/// The saves of other processes and containers, whose changes the history tells.
@Suite("Saves of others, with a history") struct OthersTests {
  @Test(
    "The stream of saves lists the changes of another container", .timeLimit(.minutes(60)),
    arguments: StoreKind.withHistory)
  func stream(_ kind: StoreKind) async throws {
    let mine = try Notebook(.notebook, kind)
    let theirs = try Notebook(folder: mine.folder, kind)
    let stream = mine.container.saves
    let (note, label) = try theirs.save(by: "elsewhere") { context in
      let note = Note(in: context, text: "a")
      let label = Label(in: context, name: "red")
      note.labels.append(label)
      return (note.objectID, label.objectID)
    }
    try theirs.save { context in try #require(try context.object(with: note)).text = "b" }
    try theirs.save { context in try context.delete(try #require(try context.object(with: label))) }
    var saves: [SavedChanges] = []
    for await save in stream {
      saves.append(save)
      if saves.count == 3 { break }
    }
    #expect(saves.map(\.isComplete) == [true, true, true])
    #expect(saves[0].author == "elsewhere")
    #expect(saves[0].inserted(of: Note.self) == [note] && saves[0].inserted(of: Label.self) == [label])
    #expect(saves[1].updated(of: Note.self) == [note])
    #expect(saves[1].changedProperties(of: saves[1].updated[0]) == ["text"])
    #expect(saves[2].deleted(of: Label.self) == [label])
  }

  @Test("Own saves and writes of other programs come as before", .timeLimit(.minutes(60)))
  func own() async throws {
    let notebook = try Notebook()
    let stream = notebook.container.saves
    let label = try notebook.save { Label(in: $0, name: "red").objectID }
    try notebook.other.run("UPDATE \"Label\" SET \"color\" = 3")
    var saves: [SavedChanges] = []
    for await save in stream {
      saves.append(save)
      if saves.count == 2 { break }
    }
    #expect(saves.map(\.isComplete) == [true, false])
    #expect(saves[0].inserted(of: Label.self) == [label])
  }

  @Test(
    "A container that only reads notices the first write of another", .timeLimit(.minutes(60)),
    arguments: StoreKind.withHistory)
  func firstWrite(_ kind: StoreKind) async throws {
    let model = #"{ "model": "Shop", "entities": { "Item": { "attributes": { "name": "string" } } } }"#
    let mine = try DynamicShop(model, kind: kind)
    let context = mine.container.newContext()
    #expect(try mine.names(context).isEmpty)
    try DynamicShop(model, mine.folder, kind: kind).insert(name: "cup")
    let notices = mine.container.saves
    context.mergeChanges()
    var isTold = false
    for await save in notices {
      isTold = !save.isComplete
      break
    }
    #expect(isTold)
    #expect(try mine.names(context) == ["cup"])
  }

  @Test("Reserving keys and collecting files are no changes of others", .timeLimit(.minutes(60)))
  func ownUpkeep() async throws {
    let model =
      #"{ "model": "Shop", "entities": { "Item": { "attributes": { "name": "string", "picture": { "type": "data?", "externalStorage": true } } } } }"#
    let shop = try DynamicShop(model)
    let stream = shop.container.saves
    _ = try shop.container.collectExternalFiles()
    try shop.insert(name: "cup")
    for await save in stream {
      #expect(save.isComplete && save.inserted.count == 1)
      break
    }
  }

  @Test("A context merges what another container saved, and leaves the rest as it is") func merging() throws {
    let mine = try Notebook()
    let theirs = try Notebook(folder: mine.folder)
    let (folder, first, second) = try mine.save { context in
      let folder = Folder(in: context, title: "box")
      let first = Note(in: context, text: "1")
      folder.notes.append(first)
      return (folder.objectID, first.objectID, Note(in: context, text: "2").objectID)
    }
    let context = mine.container.newContext()
    let box = try #require(try context.object(with: folder))
    let one = try #require(try context.object(with: first))
    let two = try #require(try context.object(with: second))
    #expect(box.notes.count == 1 && one.text == "1" && two.text == "2" && box.title == "box")
    try theirs.save { context in
      let note = try #require(try context.object(with: second))
      note.text = "two"
      try #require(try context.object(with: folder)).notes.append(note)
    }
    context.mergeChanges()
    #expect(two.text == "two")
    #expect(box.notes.map(\.text) == ["1", "two"])
    try theirs.save { context in try context.delete(try #require(try context.object(with: first))) }
    context.mergeChanges()
    #expect(box.notes.map(\.text) == ["two"])
    #expect(try context.object(with: first) == nil)
  }

  @Test("A list follows the saves of another container", .timeLimit(.minutes(60)))
  @MainActor func live() async throws {
    let mine = try Notebook()
    let theirs = try Notebook(folder: mine.folder)
    let results = try mine.container.mainContext.live(Label.all.sorted { $0.name })
    #expect(results.isEmpty)
    try theirs.save { context in
      _ = Label(in: context, name: "red")
      _ = Label(in: context, name: "blue")
    }
    mine.container.mainContext.mergeChanges()
    #expect(results.map(\.name) == ["blue", "red"])
    try theirs.save { context in
      for label in try context.fetch(Label.where { $0.name == "red" }) { label.name = "aqua" }
    }
    mine.container.mainContext.mergeChanges()
    #expect(results.map(\.name) == ["aqua", "blue"])
  }
}
