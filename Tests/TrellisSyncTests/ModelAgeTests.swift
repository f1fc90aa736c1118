import Testing
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisStorage
@testable import TrellisSync

/// Two versions of a model: the newer one only adds to the older one, and all of its numbers are others.
private enum Versions {
  static let old = """
    {
      "model": "Notes", "version": "1", "history": "values",
      "entities": {
        "Note": {
          "attributes": { "title": "string", "stars": { "type": "int64", "default": 0 } },
          "relationships": {
            "folder": { "destination": "Folder", "inverse": "notes", "optional": true },
            "tags": { "destination": "Tag", "inverse": "notes", "toMany": true }
          }
        },
        "Folder": {
          "attributes": { "name": "string" },
          "relationships": { "notes": { "destination": "Note", "inverse": "folder", "toMany": true, "ordered": true } }
        },
        "Tag": {
          "attributes": { "name": "string" }, "unique": ["name"],
          "relationships": { "notes": { "destination": "Note", "inverse": "tags", "toMany": true } }
        }
      }
    }
    """

  static let new = """
    {
      "model": "Notes", "version": "2", "history": "values",
      "entities": {
        "Author": {
          "attributes": { "name": "string" },
          "relationships": { "notes": { "destination": "Note", "inverse": "author", "toMany": true } }
        },
        "Folder": {
          "attributes": { "color": "string?", "name": "string" },
          "relationships": { "notes": { "destination": "Note", "inverse": "folder", "toMany": true, "ordered": true } }
        },
        "Note": {
          "attributes": {
            "kind": { "type": "string", "default": "plain" }, "mood": "string?",
            "stars": { "type": "int64", "default": 0 }, "title": "string"
          },
          "relationships": {
            "author": { "destination": "Author", "inverse": "notes", "optional": true },
            "folder": { "destination": "Folder", "inverse": "notes", "optional": true },
            "tags": { "destination": "Tag", "inverse": "notes", "toMany": true }
          }
        },
        "Tag": {
          "attributes": { "name": "string" }, "unique": ["name"],
          "relationships": { "notes": { "destination": "Note", "inverse": "tags", "toMany": true } }
        }
      }
    }
    """

  /// A version that calls nearly everything else, adds to it, and gives one name to something else.
  static let renamed = """
    {
      "model": "Notes", "version": "4", "history": "values",
      "entities": {
        "Binder": {
          "renamedFrom": "Folder",
          "attributes": { "color": "string?", "title": { "type": "string", "renamedFrom": "name" } },
          "relationships": {
            "entries": { "destination": "Entry", "inverse": "binder", "toMany": true, "ordered": true, "renamedFrom": "notes" }
          }
        },
        "Entry": {
          "renamedFrom": "Note",
          "attributes": {
            "headline": { "type": "string", "renamedFrom": "title" },
            "rating": { "type": "int64", "default": 0, "renamedFrom": "stars" },
            "stars": { "type": "int64", "default": 7 }
          },
          "relationships": {
            "binder": { "destination": "Binder", "inverse": "entries", "optional": true, "renamedFrom": "folder" },
            "labels": { "destination": "Alias", "inverse": "entries", "toMany": true, "renamedFrom": "tags" }
          }
        },
        "Alias": {
          "renamedFrom": "Tag",
          "attributes": { "word": { "type": "string", "renamedFrom": "name" } }, "unique": ["word"],
          "relationships": {
            "entries": { "destination": "Entry", "inverse": "labels", "toMany": true, "renamedFrom": "notes" }
          }
        }
      }
    }
    """

  /// A version that removes an entity, a relationship and an attribute, and adds another one.
  static let lessened = """
    {
      "model": "Notes", "version": "5", "history": "values", "removed": ["Tag"],
      "entities": {
        "Folder": {
          "attributes": { "name": "string" },
          "relationships": { "notes": { "destination": "Note", "inverse": "folder", "toMany": true, "ordered": true } }
        },
        "Note": {
          "removed": ["stars", "tags"],
          "attributes": { "kind": { "type": "string", "default": "plain" }, "title": "string" },
          "relationships": { "folder": { "destination": "Folder", "inverse": "notes", "optional": true } }
        }
      }
    }
    """

  /// The same without what it adds.
  static let lessenedOnly = lessened.replacing(
    "\"kind\": { \"type\": \"string\", \"default\": \"plain\" }, ", with: "")

  /// A version that does more than to add.
  static let other = old.replacing("\"int64\"", with: "\"double\"").replacing("\"1\"", with: "\"3\"")
}

/// A server with one version of the model, and a phone and a desktop with others.
private struct Scene {
  let server: SyncStore
  let phone: SyncStore
  let desktop: SyncStore

  init(server: String, phone: String, desktop: String) throws {
    self.server = try SyncStore(SyncModels.model(server))
    self.phone = try SyncStore(SyncModels.model(phone))
    self.desktop = try SyncStore(SyncModels.model(desktop))
  }

  @discardableResult func exchange(_ store: SyncStore, partSize: Int = 1 << 20) async throws -> ExchangeReport {
    let transport = LocalTransport(to: try server.server(partSize: partSize))
    let report = try await store.replica().exchange(with: transport)
    #expect(try store.findings() == [] && server.findings() == [])
    return report
  }

  func exchangeAll(partSize: Int = 1 << 20) async throws {
    for store in [phone, desktop, phone] { try await exchange(store, partSize: partSize) }
  }

  /// Checks that a store has what the server has, as far as its model has it.
  func expectSame(_ store: SyncStore) throws {
    let match = ModelMatch(from: store.container.model, to: server.container.model)
    let differences = try store.picture().kept(by: match).differences(from: server.picture().named(by: match))
    #expect(differences == [])
  }
}

@Suite("Models of different ages") struct ModelAgeTests {
  private func fill(_ store: SyncStore) throws {
    try store.save { context in
      let folder = try context.insert("Folder", ["name": .text("f"), "color": .text("red")])
      let author = try context.insert("Author", ["name": .text("me")])
      let tag = try context.insert("Tag", ["name": .text("t")])
      for title in ["a", "b", "c"] {
        let note = try context.insert(
          "Note", ["title": .text(title), "kind": .text("rich"), "mood": .text("good"), "stars": .integer(1)])
        try note.set("folder", folder)
        try note.set("author", author)
        try note.add(tag, to: "tags")
      }
    }
  }

  private func notes(_ store: SyncStore, _ property: String) throws -> [String: StoredValue] {
    var found: [String: StoredValue] = [:]
    for note in try store.container.newContext().objects("Note") {
      if case .text(let title) = try note.value("title") { found[title] = try note.value(property) }
    }
    return found
  }

  @Test("An older replica gets what its model has, and leaves the rest as it is", arguments: [1 << 20, 60])
  func older(_ partSize: Int) async throws {
    let scene = try Scene(server: Versions.new, phone: Versions.old, desktop: Versions.new)
    try fill(scene.server)
    try await scene.exchangeAll(partSize: partSize)
    try scene.expectSame(scene.phone)
    try scene.phone.save { context in
      let notes = try context.objects("Note")
      try notes[0].set("stars", .integer(5))
      try context.delete(notes[1])
      let note = try context.insert("Note", ["title": .text("new")])
      let folder = try context.objects("Folder")[0]
      try folder.add(note, to: "notes", at: 0)
      try folder.set("name", .text("folder"))
      try note.add(try context.insert("Tag", ["name": .text("u")]), to: "tags")
    }
    try scene.desktop.edit("Note") { note in
      if try note.value("title") == .text("c") { try note.set("mood", .text("bad")) }
    }
    try await scene.exchangeAll(partSize: partSize)
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    #expect(try notes(scene.server, "stars") == ["a": .integer(5), "c": .integer(1), "new": .integer(0)])
    #expect(try notes(scene.server, "kind") == ["a": .text("rich"), "c": .text("rich"), "new": .text("plain")])
    #expect(try notes(scene.desktop, "mood") == ["a": .text("good"), "c": .text("bad"), "new": .null])
    #expect(try scene.desktop.texts("Folder") == ["folder"])
    #expect(try scene.desktop.texts("Folder", "color") == ["red"])
  }

  @Test("A delete does not take along a value that its replica does not know") func deleting() async throws {
    let scene = try Scene(server: Versions.new, phone: Versions.old, desktop: Versions.new)
    try fill(scene.server)
    try await scene.exchangeAll()
    try scene.phone.save { context in try context.delete(context.objects("Note")[0]) }
    try scene.desktop.edit("Note") { try $0.set("mood", .text("new")) }
    try await scene.exchange(scene.desktop)
    #expect(try await scene.exchange(scene.phone).conflicts.map(\.reason) == [.changed])
    try scene.expectSame(scene.phone)
  }

  @Test(
    "A replica whose program is updated gets the values that the new model adds, and sends what it had not sent",
    arguments: [1 << 20, 60])
  func updated(_ partSize: Int) async throws {
    let scene = try Scene(server: Versions.new, phone: Versions.old, desktop: Versions.new)
    try fill(scene.server)
    try await scene.exchangeAll(partSize: partSize)
    try scene.phone.edit("Note") { try $0.set("stars", .integer(4)) }
    try scene.phone.update(to: Versions.new)
    try scene.phone.edit("Folder") { try $0.set("color", .text("blue")) }
    try await scene.exchangeAll(partSize: partSize)
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    #expect(Set(try notes(scene.server, "stars").values) == [.integer(4)])
    #expect(Set(try notes(scene.phone, "mood").values) == [.text("good")])
    #expect(try scene.phone.texts("Author") == ["me"])
    #expect(try scene.server.texts("Folder", "color") == ["blue"])
  }

  @Test("An update that directly follows the first save that is kept is known as one") func keptUpdate() async throws {
    let scene = try Scene(server: Versions.new, phone: Versions.old, desktop: Versions.new)
    try fill(scene.server)
    try await scene.exchangeAll()
    try scene.phone.container.deleteHistory(before: scene.phone.container.historyToken())
    try scene.phone.update(to: Versions.new)
    try scene.phone.edit("Folder") { try $0.set("color", .text("blue")) }
    #expect(try await scene.exchange(scene.phone).sent == 1)
    #expect(try scene.server.texts("Folder", "color") == ["blue"])
    try scene.expectSame(scene.phone)
  }

  @Test("Change sets that were on their way at an update have the numbers of their model") func outbox() async throws {
    let scene = try Scene(server: Versions.new, phone: Versions.old, desktop: Versions.old)
    try fill(scene.server)
    try await scene.exchangeAll()
    try scene.phone.edit("Note") { note in
      if try note.value("title") == .text("a") { try note.set("stars", .integer(9)) }
    }
    try scene.phone.save { context in try context.delete(context.objects("Tag")[0]) }
    #expect(try scene.phone.replica().nextPush() != nil)
    try scene.server.edit("Tag") { try $0.set("name", .text("changed")) }
    try scene.phone.update(to: Versions.new)
    let conflicts = try await scene.exchange(scene.phone).conflicts
    #expect(conflicts.map(\.reason) == [.changed])
    try await scene.exchangeAll()
    try scene.expectSame(scene.phone)
    #expect(try notes(scene.server, "stars")["a"] == .integer(9))
    let tag = try #require(scene.phone.container.model.entity(named: "Tag")).index
    #expect(conflicts.first?.changes.objects.first?.entity == tag)
    #expect(try scene.phone.replica().conflicts() == conflicts)
  }

  @Test("Conflicts of a former version have the numbers of the present one") func conflict() async throws {
    let scene = try Scene(server: Versions.old, phone: Versions.old, desktop: Versions.old)
    try scene.server.save { context in _ = try context.insert("Note", ["title": .text("a")]) }
    try await scene.exchangeAll()
    try scene.phone.edit("Note") { try $0.set("title", .text("b")) }
    try scene.server.save { context in try context.delete(context.objects("Note")[0]) }
    #expect(try await scene.exchange(scene.phone).conflicts.count == 1)
    try scene.phone.update(to: Versions.new)
    let change = try #require(try scene.phone.replica().conflicts().first?.changes.objects.first)
    let entity = try #require(scene.phone.container.model.entity(named: "Note"))
    #expect(change.entity == entity.index)
    #expect(change.values.map(\.property) == [entity.property(named: "title")?.index])
  }

  @Test("A server that is updated goes on with replicas of the former version") func updatedServer() async throws {
    let scene = try Scene(server: Versions.old, phone: Versions.old, desktop: Versions.old)
    try scene.server.save { context in
      for title in ["a", "b"] { _ = try context.insert("Note", ["title": .text(title)]) }
      for name in ["t", "u"] { _ = try context.insert("Tag", ["name": .text(name)]) }
    }
    try await scene.exchangeAll()
    try scene.phone.edit("Note") { try $0.set("stars", .integer(2)) }
    try scene.phone.save { context in try context.delete(context.objects("Tag")[0]) }
    try scene.server.update(to: Versions.new)
    try scene.server.edit("Note") { try $0.set("kind", .text("rich")) }
    let report = try await scene.exchange(scene.phone)
    #expect(report.conflicts.isEmpty)
    try await scene.exchangeAll()
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    #expect(try scene.server.texts("Tag") == ["u"])
    #expect(try notes(scene.server, "stars") == ["a": .integer(2), "b": .integer(2)])
    #expect(try notes(scene.server, "kind") == ["a": .text("rich"), "b": .text("rich")])
    // Not everything comes again because of a migration.
    try scene.server.edit("Note") { note in
      if try note.value("title") == .text("a") { try note.set("stars", .integer(3)) }
    }
    #expect(try await scene.exchange(scene.desktop).received == 1)
    try scene.phone.update(to: Versions.new)
    try await scene.exchangeAll()
    try scene.expectSame(scene.phone)
  }

  @Test("A newer replica waits for the server, and loses nothing") func newer() async throws {
    let scene = try Scene(server: Versions.old, phone: Versions.old, desktop: Versions.old)
    try scene.server.save { context in _ = try context.insert("Note", ["title": .text("a")]) }
    try await scene.exchangeAll()
    try scene.phone.update(to: Versions.new)
    try scene.phone.edit("Note") { try $0.set("mood", .text("good")) }
    do {
      try await scene.exchange(scene.phone)
      Issue.record("An older server has taken a newer replica.")
    } catch let error as SyncError {
      #expect(error.code == .newerReplica)
    }
    try scene.server.update(to: Versions.new)
    try await scene.exchangeAll()
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    #expect(try notes(scene.server, "mood") == ["a": .text("good")])
  }

  @Test("A replica that cannot go on is told why, and loses nothing") func different() async throws {
    let scene = try Scene(server: Versions.old, phone: Versions.old, desktop: Versions.old)
    try scene.server.save { context in _ = try context.insert("Note", ["title": .text("a")]) }
    try await scene.exchangeAll()
    try scene.phone.edit("Note") { try $0.set("title", .text("b")) }
    let other = try SyncStore(SyncModels.model(Versions.other))
    do {
      try await scene.phone.replica().exchange(with: LocalTransport(to: try other.server()))
      Issue.record("A server with another model has taken a replica.")
    } catch let error as SyncError {
      #expect(error.code == .otherModel)
      #expect(error.message.contains("Note.stars"))
    }
    try await scene.exchangeAll()
    #expect(try scene.server.texts("Note", "title") == ["b"])
  }
}

// MARK: - Names

extension ModelAgeTests {
  /// A server with a note of each kind, and a phone and a desktop that have it.
  private func filled() async throws -> Scene {
    let scene = try Scene(server: Versions.old, phone: Versions.old, desktop: Versions.old)
    try scene.server.save { context in
      let folder = try context.insert("Folder", ["name": .text("f")])
      let tag = try context.insert("Tag", ["name": .text("t")])
      for title in ["a", "b", "c"] {
        let note = try context.insert("Note", ["title": .text(title), "stars": .integer(1)])
        try note.set("folder", folder)
        try note.add(tag, to: "tags")
      }
    }
    try await scene.exchangeAll()
    return scene
  }

  private func editAsBefore(_ store: SyncStore) throws {
    try store.save { context in
      let notes = try context.objects("Note").sorted { $0.key < $1.key }
      try notes[0].set("stars", .integer(5))
      try notes[0].set("title", .text("A"))
      try context.delete(notes[1])
      let note = try context.insert("Note", ["title": .text("new"), "stars": .integer(3)])
      let folder = try context.objects("Folder")[0]
      try folder.add(note, to: "notes", at: 0)
      try folder.set("name", .text("folder"))
      try note.add(try context.insert("Tag", ["name": .text("u")]), to: "tags")
      try notes[2].remove(try context.objects("Tag")[0], from: "tags")
    }
  }

  private func expectEdited(_ store: SyncStore) throws {
    #expect(try store.texts("Entry", "headline") == ["A", "c", "new"])
    #expect(try store.texts("Entry", "rating") == ["1", "3", "5"])
    #expect(try store.texts("Entry", "stars") == ["7", "7", "7"])
    #expect(try store.texts("Binder", "title") == ["folder"])
    #expect(try store.texts("Alias", "word") == ["t", "u"])
  }

  @Test("A server whose model renames goes on with replicas of the former version", arguments: [1 << 20, 60])
  func renamedServer(_ partSize: Int) async throws {
    let scene = try await filled()
    try scene.server.update(to: Versions.renamed)
    try editAsBefore(scene.phone)
    try await scene.exchangeAll(partSize: partSize)
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    try expectEdited(scene.server)
    try scene.server.edit("Entry") { try $0.set("headline", .text("server")) }
    try scene.server.edit("Binder") { binder in
      try binder.set("entries", Array(try binder.members("entries").reversed()))
    }
    // Not everything comes again because of a migration.
    #expect(try await scene.exchange(scene.desktop).received == 3)
    try scene.expectSame(scene.desktop)
    for store in [scene.phone, scene.desktop] { try store.update(to: Versions.renamed) }
    try await scene.exchangeAll(partSize: partSize)
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
  }

  @Test("A replica sends what it has saved before and after an update that renames", arguments: [1 << 20, 60])
  func renamedReplica(_ partSize: Int) async throws {
    let scene = try await filled()
    try editAsBefore(scene.phone)
    try scene.phone.update(to: Versions.renamed)
    try scene.phone.edit("Binder") { try $0.set("color", .text("blue")) }
    do {
      try await scene.exchange(scene.phone)
      Issue.record("An older server has taken a newer replica.")
    } catch let error as SyncError {
      #expect(error.code == .newerReplica)
    }
    try scene.server.update(to: Versions.renamed)
    try await scene.exchangeAll(partSize: partSize)
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    try expectEdited(scene.server)
    #expect(try scene.server.texts("Binder", "color") == ["blue"])
  }

  @Test("Conflicts and change sets on their way have the present names after an update that renames")
  func renamedConflict() async throws {
    let scene = try await filled()
    // A save that loses a part, one that is refused, and one that is on its way.
    try scene.phone.edit("Note") { note in
      if try note.value("title") == .text("a") { try note.set("title", .text("phone")) }
    }
    try scene.server.edit("Note") { note in
      if try note.value("title") == .text("a") { try note.set("title", .text("server")) }
    }
    let before = try await scene.exchange(scene.phone).conflicts
    try scene.phone.save { context in try context.delete(context.objects("Tag")[0]) }
    try scene.server.edit("Tag") { try $0.set("name", .text("changed")) }
    #expect(try scene.phone.replica().nextPush() != nil)
    try scene.phone.update(to: Versions.renamed)
    try scene.server.update(to: Versions.renamed)
    let entry = try #require(scene.phone.container.model.entity(named: "Entry"))
    let alias = try #require(scene.phone.container.model.entity(named: "Alias"))
    func check(_ conflict: SyncConflict) throws {
      let change = try #require(conflict.changes.objects.first)
      #expect(change.entity == entry.index)
      #expect(change.values.map(\.property) == [entry.property(named: "headline")?.index])
      for loss in conflict.losses { #expect(loss.property == "headline") }
    }
    let kept = try scene.phone.replica().conflicts()
    #expect(kept.count == before.count)
    for conflict in kept { try check(conflict) }
    let conflicts = try await scene.exchange(scene.phone).conflicts
    #expect(conflicts.map(\.reason) == [.changed])
    #expect(conflicts.first?.changes.objects.map(\.entity) == [alias.index])
    try await scene.exchangeAll()
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    let all = try scene.phone.replica().conflicts()
    #expect(all.count == before.count + 1)
    for conflict in all where conflict.reason == nil { try check(conflict) }
  }

  @Test("What a server with other names decides otherwise is told by the replica's names") func losses() async throws {
    let scene = try await filled()
    try scene.server.update(to: Versions.renamed)
    try scene.phone.edit("Note") { note in
      if try note.value("title") == .text("a") { try note.set("title", .text("phone")) }
    }
    try scene.server.edit("Entry") { entry in
      if try entry.value("headline") == .text("a") { try entry.set("headline", .text("server")) }
    }
    let conflicts = try await scene.exchange(scene.phone).conflicts
    #expect(conflicts.flatMap(\.losses).map(\.property) == ["title"])
    try scene.expectSame(scene.phone)
  }
}

// MARK: - Removals

extension ModelAgeTests {
  @Test("A server whose model removes goes on with replicas of the former version", arguments: [1 << 20, 60])
  func lessened(_ partSize: Int) async throws {
    let scene = try await filled()
    try scene.server.update(to: Versions.lessened)
    try editAsBefore(scene.phone)
    for store in [scene.phone, scene.desktop, scene.phone] {
      #expect(try await scene.exchange(store, partSize: partSize).conflicts.isEmpty)
    }
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    #expect(try Set(scene.server.texts("Note", "title")) == ["A", "c", "new"])
    // What is removed stays on its device, and new objects of others have the default.
    #expect(try notes(scene.phone, "stars") == ["A": .integer(5), "c": .integer(1), "new": .integer(3)])
    #expect(try notes(scene.desktop, "stars") == ["A": .integer(1), "c": .integer(1), "new": .integer(0)])
    #expect(try Set(scene.phone.texts("Tag")) == ["t", "u"])
    #expect(try scene.desktop.texts("Tag") == ["t"])

    // A change of nothing else is no change for the server, which may have deleted the object.
    try scene.phone.edit("Note") { try $0.set("stars", .integer(8)) }
    try scene.server.save { context in
      for note in try context.objects("Note") where try note.value("title") == .text("c") { try context.delete(note) }
    }
    #expect(try await scene.exchange(scene.phone, partSize: partSize).conflicts.isEmpty)
    #expect(try notes(scene.phone, "stars") == ["A": .integer(8), "new": .integer(8)])

    try scene.phone.edit("Folder") { try $0.set("name", .text("g")) }
    try scene.phone.update(to: Versions.lessened)
    try await scene.exchangeAll(partSize: partSize)
    for store in [scene.phone, scene.desktop] { try scene.expectSame(store) }
    #expect(try scene.server.texts("Folder") == ["g"])
  }

  @Test("A replica whose model removes goes on with a server of the former version") func lessenedReplica() async throws
  {
    let scene = try await filled()
    try scene.phone.update(to: Versions.lessened)
    try scene.phone.save { context in
      for note in try context.objects("Note") where try note.value("title") == .text("a") {
        try note.set("title", .text("A"))
      }
      _ = try context.insert("Note", ["title": .text("new")])
    }
    // The kind is one that the server does not have.
    do {
      try await scene.exchange(scene.phone)
      Issue.record("An older server has taken a newer replica.")
    } catch let error as SyncError {
      #expect(error.code == .newerReplica)
    }
    let other = try await filled()
    try other.phone.update(to: Versions.lessenedOnly)
    try other.phone.edit("Note") { try $0.set("title", .text("A")) }
    try await other.exchangeAll()
    #expect(try Set(other.server.texts("Note", "title")) == ["A"])
    #expect(try Set(notes(other.server, "stars").values) == [.integer(1)])
    #expect(try Set(notes(other.desktop, "stars").values) == [.integer(1)])
  }

  @Test("What the model of a replica does not have is refused, also by a server whose model removes")
  func unknownNumbers() async throws {
    let scene = try await filled()
    try scene.server.update(to: Versions.lessened)
    let model = scene.phone.container.model
    let bridge = try ModelBridge(from: model, to: scene.server.container.model)
    let note = try #require(model.entity(named: "Note"))
    let stars = try #require(note.property(named: "stars")).index
    for (entity, property, isKept) in [(note.index, stars, false), (note.index, 99, true), (99, 0, true)] {
      var set = ChangeSet(sequence: 1, id: 1, base: "", time: 0, author: nil)
      set.objects = [
        .init(
          key: 1, entity: entity, kind: .updated,
          values: [.init(property: property, value: .integer(2), former: .integer(1))])
      ]
      #expect(bridge.translated(set).objects.count == (isKept ? 1 : 0), "\(entity).\(property)")
    }
  }

  @Test("What a replica needs and the server has removed stops the replica, which is told what it is")
  func neededRemovals() async throws {
    let name = "\"attributes\": { \"name\": \"string\" },\n      \"relationships\": { \"notes\""
    let deny = "\"toMany\": true, \"ordered\": true"
    let folders = """
      {
        "model": "Notes", "version": "6", "history": "values", "removed": ["Note", "Tag"],
        "entities": { "Folder": { "removed": ["notes"], "attributes": { "name": "string" } } }
      }
      """
    let cases: [(server: String, replica: String, subject: String)] = [
      // Required, without a default.
      (
        Versions.old.replacing(name, with: "\"removed\": [\"name\"],\n      \"relationships\": { \"notes\""),
        Versions.old, "Folder.name"
      ),
      // A delete of the server could not be carried out.
      (folders, Versions.old.replacing(deny, with: deny + ", \"deleteRule\": \"deny\""), "Folder.notes"),
    ]
    for (server, replica, subject) in cases {
      let shop = try SyncStore(SyncModels.model(server))
      let till = try SyncStore(SyncModels.model(replica))
      do {
        try await till.replica().exchange(with: LocalTransport(to: try shop.server()))
        Issue.record("The server has taken a replica that needs \(subject).")
      } catch let error as SyncError {
        #expect(error.code == .otherModel && error.message.contains(subject), "\(error)")
      }
    }
    // The model does not say that it has removed the stars, so the replica may be the newer one.
    let till = try SyncStore(SyncModels.model(Versions.old))
    let forgetful = try SyncStore(SyncModels.model(Versions.lessenedOnly.replacing("\"stars\", ", with: "")))
    do {
      try await till.replica().exchange(with: LocalTransport(to: try forgetful.server()))
      Issue.record("The server has taken a newer replica.")
    } catch let error as SyncError {
      #expect(error.code == .newerReplica && error.message.contains("Note.stars"), "\(error)")
    }
    let shop = try SyncStore(SyncModels.model(folders))
    try await till.replica().exchange(with: LocalTransport(to: try shop.server()))
  }
}
