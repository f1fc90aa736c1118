import Foundation
import Testing
import TrellisTestSupport
import TrellisTimeTravel

@testable import Trellis

/// Saves that are taken back, and objects that come back, in single cases.
@Suite("Undo of saves") struct UndoingSavesTests {
  private func conflicts(_ body: () throws -> Void) throws -> [String] {
    do {
      try body()
      return []
    } catch let refusal as UndoRefusal {
      return refusal.conflicts.map { "\($0.object.map { "\($0)" } ?? "-") \($0.property ?? "-") \($0.reason.rawValue)" }
    }
  }

  @Test(
    "An undone delete brings the object back with its key, its parts and their order", arguments: StoreKind.withHistory)
  func delete(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let (folder, cover) = try notebook.save { context in
      let folder = Folder(in: context, title: "Sea")
      for text in ["a", "b", "c"] { folder.notes.append(Note(in: context, text: text)) }
      let other = Folder(in: context, title: "Other")
      other.cover = folder.notes[1]
      return (folder.objectID, other.objectID)
    }
    try notebook.save { context in
      let found = try #require(try context.object(with: folder))
      found.notes.move(from: 2, to: 0)
    }
    let before = try NotebookPicture(notebook.container.newContext())
    try notebook.save { context in try context.delete(try #require(try context.object(with: folder))) }
    let save = try #require(try notebook.container.history().last)
    #expect(try #require(try notebook.container.newContext().object(with: cover)).cover == nil)
    try notebook.save { try notebook.container.undo([save], in: $0) }
    #expect(try NotebookPicture(notebook.container.newContext()).differences(from: before).isEmpty)
    #expect(try notebook.container.check().isEmpty)
  }

  @Test("What later saves changed is a conflict, and then nothing changes", arguments: StoreKind.withHistory)
  func conflict(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let note = try notebook.save { Note(in: $0, text: "a").objectID }
    try notebook.save { context in
      let found = try #require(try context.object(with: note))
      found.text = "b"
      found.number = 1
    }
    let save = try #require(try notebook.container.history().last)
    let context = notebook.container.newContext()
    let found = try #require(try context.object(with: note))
    found.text = "c"
    #expect(
      try conflicts { try notebook.container.undo([save], in: context) } == ["Note#\(note.key) text changed-later"])
    #expect(found.text == "c" && found.number == 1)
    found.text = "b"
    try notebook.container.undo([save], in: context)
    #expect(found.text == "a" && found.number == nil)
  }

  @Test("Where one of several saves cannot be undone, none is", arguments: StoreKind.withHistory)
  func several(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    let start = try notebook.container.historyToken()
    let note = try notebook.save(by: "import") { Note(in: $0, text: "a").objectID }
    try notebook.save(by: "import") { try #require(try $0.object(with: note)).text = "b" }
    try notebook.save(by: "ada") { try #require(try $0.object(with: note)).number = 7 }
    let saves = try notebook.news(since: start).filter { $0.author == "import" }
    let context = notebook.container.newContext()
    context.undo.enable()
    #expect(
      try conflicts { try notebook.container.undo(saves, in: context) } == ["Note#\(note.key) number changed-later"])
    #expect(!context.hasChanges)
    try notebook.save { try #require(try $0.object(with: note)).number = nil }
    try notebook.container.undo(saves, in: context)
    try context.save()
    #expect(try notebook.container.newContext().count(Note.all) == 0)
    try context.undo.undo()
    try context.save()
    #expect(try notebook.container.newContext().fetch(Note.all).map(\.text) == ["b"])
  }

  @Test(
    "Saves that delete an object, bring it back and delete it again are undone together",
    arguments: StoreKind.withHistory)
  func again(_ kind: StoreKind) throws {
    let store = try ShapesStore(kind)
    let (place, _) = try store.save { context in
      let place = try context.insert("Place", ["name": .text("Sea")])
      let note = try context.insert("Note", ["text": .text("Blue")])
      try note.set("place", place)
      return (place.name, note.name)
    }
    let start = try store.container.historyToken()
    let before = try store.picture()
    try store.save { try $0.delete($0.object(place)) }
    try store.undo(store.lastSave())
    #expect(try store.picture().differences(from: before).isEmpty)
    try store.save { try $0.delete($0.object(place)) }
    try store.save { try store.container.undo(store.container.history(since: start), in: $0) }
    #expect(try store.picture().differences(from: before).isEmpty)
    #expect(try store.container.check().isEmpty)
  }

  @Test("Data in a file comes back, also after files that nobody needs were collected")
  func externalData() throws {
    let store = try ShapesStore(.sqlite)
    let place = try store.save { context in
      try context.insert("Place", ["name": .text("Sea"), "photo": .blob([UInt8](repeating: 7, count: 300_000))]).name
    }
    let before = try store.picture()
    try store.save { try $0.object(place).set("photo", .blob([UInt8](repeating: 8, count: 300_000))) }
    let first = try store.lastSave()
    try store.save { try $0.delete($0.object(place)) }
    let second = try store.lastSave()
    try store.container.collectExternalFiles()
    try store.undo(first, second)
    #expect(try store.picture().differences(from: before).isEmpty)
    #expect(try store.container.check().isEmpty)
  }

  @Test("Changes that the history does not list cannot be undone") func unlisted() throws {
    let notebook = try Notebook()
    try notebook.save { _ = Label(in: $0, name: "red") }
    try notebook.other.run("UPDATE \"Label\" SET \"color\" = 3")
    try notebook.save { _ = Label(in: $0, name: "blue") }
    let saves = try notebook.container.history()
    let foreign = try #require(saves.first { !$0.isComplete })
    let found = try conflicts { try notebook.container.undo([foreign], in: notebook.container.newContext()) }
    #expect(found == ["- - not-recorded"])
  }

  @Test("An object that the save inserted stays where a reference without inverse leads to it")
  func used() throws {
    let notebook = try Notebook()
    let folder = try notebook.save { Folder(in: $0, title: "Sea").objectID }
    let note = try notebook.save { Note(in: $0, text: "a").objectID }
    let save = try #require(try notebook.container.history().last)
    try notebook.save { context in
      try #require(try context.object(with: folder)).cover = try context.object(with: note)
    }
    let found = try conflicts { try notebook.container.undo([save], in: notebook.container.newContext()) }
    #expect(found == ["Note#\(note.key) - used-later"])
  }

  @Test("The moment before the first save is that of an empty store", arguments: StoreKind.withHistory)
  func first(_ kind: StoreKind) throws {
    let notebook = try Notebook(.notebook, kind)
    try notebook.save { _ = Note(in: $0, text: "a") }
    let saves = try notebook.container.history()
    let first = try #require(saves.first)
    #expect(
      try notebook.container.newContext(asOf: notebook.container.historyToken(before: first)).count(Note.all) == 0)
    try notebook.save { try notebook.container.undo(saves, in: $0) }
    #expect(try notebook.container.newContext().count(Note.all) == 0)
  }

  @Test("An object that was not there at a moment cannot be restored") func missing() throws {
    let notebook = try Notebook()
    let start = try notebook.container.historyToken()
    let note = try notebook.save { Note(in: $0, text: "a").objectID }
    #expect(throws: RestoreError.self) {
      try notebook.container.restore(note, asOf: start, in: notebook.container.newContext())
    }
  }

  @Test("A property that the model of that time did not have is listed") func formerModel() throws {
    let folder = try TestFolder()
    func model(_ attributes: String) -> String {
      "{ \"model\": \"Shop\", \"history\": \"values\", \"entities\": { \"Item\": { \"attributes\": { \(attributes) } } } }"
    }
    let first = try DynamicShop(model("\"name\": \"string\""), folder)
    let key = try first.insert(name: "a")
    let then = try first.container.historyToken()
    first.container.close()
    let shop = try DynamicShop(
      model("\"name\": \"string\", \"price\": { \"type\": \"int64\", \"default\": 3 }"), folder)
    try shop.rename(key, "b")
    let context = shop.container.newContext()
    let item = try #require(try context.object("Item", key))
    try item.set("price", .integer(5))
    let restoration = try shop.container.restore(AnyObjectID(item), asOf: then, in: context)
    #expect(
      restoration.losses.map { "\($0)" } == [
        "Item#\(key).price was not in the model of that time. [not-in-former-model]"
      ])
    #expect(try item.value("name") == .text("a") && item.value("price") == .integer(5))
  }
}
