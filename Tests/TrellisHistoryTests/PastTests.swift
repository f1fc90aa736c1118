import Foundation
import Testing
import TrellisTestSupport

@testable import Trellis

@Suite("Contexts of the past") struct PastTests {
  @Test("Values, relationships, counts and paths are as they were", arguments: StoreKind.withHistory) func everything(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    let (folder, first, second, red) = try notebook.save { context in
      let folder = Folder(in: context, title: "box")
      let first = Note(in: context, text: "one sea")
      let second = Task(in: context, text: "two")
      folder.notes.append(first)
      folder.notes.append(second)
      folder.cover = first
      let red = Label(in: context, name: "red")
      first.labels.append(red)
      first.links.append(second)
      first.twin = second
      return (folder.objectID, first.objectID, second.objectID, red.objectID)
    }
    let then = try notebook.container.historyToken()
    try notebook.save { context in
      let folder = try #require(try context.object(with: folder))
      let first = try #require(try context.object(with: first))
      folder.title = "chest"
      folder.notes.move(from: 0, to: 1)
      first.text = "one lake"
      first.labels.removeAll()
      first.links.removeAll()
      first.twin = nil
      first.number = 5
      let blue = Label(in: context, name: "blue")
      first.labels.append(blue)
      try context.delete(try #require(try context.object(with: red)))
    }
    try notebook.save { context in try context.delete(try #require(try context.object(with: folder))) }
    #expect(try notebook.container.newContext().count(Note.all) == 0)

    let past = try notebook.container.newContext(asOf: then)
    let box = try #require(try past.object(with: folder))
    #expect(box.title == "box")
    #expect(box.notes.map(\.text) == ["one sea", "two"])
    #expect(box.cover?.objectID == first)
    let note = try #require(box.notes.first)
    #expect(note.labels.map(\.name) == ["red"])
    #expect(note.links.map(\.text) == ["two"])
    #expect(note.twin?.objectID.key == second.key)
    #expect(note.number == nil)
    #expect(try past.count(Note.all) == 2)
    #expect(try past.fetch(Task.all).map(\.text) == ["two"])
    #expect(try past.fetch(Note.where { $0.labels.any { $0.name == "red" } }).map(\.text) == ["one sea"])
    #expect(
      try past.fetch(Note.where { $0.folder.title == "box" }.sorted { $0.text }).map(\.text) == ["one sea", "two"])
    #expect(try past.fetch(Note.where("ANY labels.name == %@ AND text CONTAINS %@", "red", "sea")).count == 1)
    #expect(try past.snapshots(of: Label.all).map(\.name) == ["red"])
    #expect(try past.object(with: red)?.notes.map(\.objectID) == [first])
    #expect(try past.fetch(Note.where { $0.text.matching("sea") }).count == 1)
  }

  @Test("Sums, groups, windows, prefetches and trees are as they were", arguments: StoreKind.withHistory) func queries(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    try notebook.save { context in
      var parent: Folder?
      for depth in 0..<30 {
        let folder = Folder(in: context, title: "\(depth % 3)")
        folder.parent = parent
        parent = folder
        for number in 0..<3 {
          let note = Note(in: context, text: "\(depth) \(number)")
          note.number = Int64(number)
          folder.notes.append(note)
        }
      }
    }
    let then = try notebook.container.historyToken()
    let present = notebook.container.newContext()
    let picture = try Self.queries(present)
    try notebook.save { context in
      for folder in try context.fetch(Folder.all) {
        folder.title += "x"
        folder.notes.move(from: 0, to: 2)
      }
      for note in try context.fetch(Note.where { $0.number == 1 }) { try context.delete(note) }
      try context.delete(try #require(try context.first(Folder.where { $0.parent == nil })))
    }
    #expect(try Self.queries(notebook.container.newContext()) != picture)
    #expect(try Self.queries(notebook.container.newContext(asOf: then)) == picture)
  }

  private static func queries(_ context: ManagedObjectContext) throws -> [String] {
    var lines: [String] = []
    lines.append("\(try context.count(Note.where { $0.number > 0 && $0.folder.title == "1" }))")
    lines.append("\(try context.count(Folder.where { $0.notes.count == 3 }))")
    lines += try context.fetch(Note.all.sorted { $0.folder.title }.sorted { $0.text }.limit(7).offset(3)).map(\.text)
    for folder in try context.fetch(Folder.all.prefetching { $0.notes }.sorted { $0.title }) {
      lines.append("\(folder.title): \(folder.notes.map(\.text))")
    }
    var deepest = try context.first(Folder.where { $0.children.count == 0 })
    while let folder = deepest {
      lines.append(folder.title)
      deepest = folder.parent
    }
    var top = try context.first(Folder.where { $0.parent == nil })
    while let folder = top {
      lines.append("\(folder.title) \(folder.children.count)")
      top = folder.children.first
    }
    lines.append("\(try context.aggregate(Note.all) { $0.number.sum })")
    lines += try context.grouped(Note.all, by: { $0.text }) { ($0.count, $0.number.sum) }.map { "\($0)" }
    lines += try context.values(of: Note.where { $0.number == 2 }) { $0.text }.sorted()
    return lines
  }

  @Test("A context of the past saves nothing and sees no later saves", arguments: StoreKind.withHistory) func readOnly(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    let label = try notebook.save { Label(in: $0, name: "red").objectID }
    let then = try notebook.container.historyToken()
    let past = try notebook.container.newContext(asOf: then)
    let red = try #require(try past.object(with: label))
    try notebook.save { context in try #require(try context.object(with: label)).name = "blue" }
    #expect(try past.fetch(Label.all).map(\.name) == ["red"])
    red.color = 4
    expect(.readOnly) { try past.save() }
    expect(.readOnly) { _ = try past.deleteAll(Label.all) }
    #expect(try notebook.container.newContext().fetch(Label.all).map(\.color) == [0])
  }

  @Test("The versions of an object are all values that it had", arguments: StoreKind.withHistory) func versions(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.notebook, kind)
    let label = try notebook.save(by: "a") { Label(in: $0, name: "red").objectID }
    try notebook.save(by: "b") { context in try #require(try context.object(with: label)).name = "blue" }
    try notebook.save(by: "c") { context in try context.delete(try #require(try context.object(with: label))) }
    let versions = try notebook.container.history(of: label)
    #expect(versions.map(\.author) == ["a", "b", "c"])
    #expect(versions.map(\.values?.name) == ["red", "blue", nil])
    let tokens = try notebook.container.history().map(\.token)
    #expect(versions.map(\.token) == tokens)
  }

  @Test("Former values are kept when another program writes") func foreign() throws {
    let notebook = try Notebook()
    let label = try notebook.save { Label(in: $0, name: "red").objectID }
    let then = try notebook.container.historyToken()
    let other = try notebook.other
    try other.run("UPDATE \"Label\" SET \"name\" = 'blue'")
    try other.run("INSERT INTO \"Label\" (\"_id\", \"_version\", \"name\", \"color\") VALUES (999, 1, 'new', 0)")
    try notebook.save { context in try #require(try context.object(with: label)).name = "green" }
    try other.run("DELETE FROM \"Label\" WHERE \"_id\" = \(label.key)")
    #expect(try notebook.container.newContext(asOf: then).fetch(Label.all).map(\.name) == ["red"])
    let news = try notebook.news(since: then)
    let between = try notebook.container.newContext(asOf: news[0].token)
    #expect(try between.fetch(Label.all.sorted { $0.name }).map(\.name) == ["blue", "new"])
    #expect(try notebook.container.newContext().fetch(Label.all).map(\.name) == ["new"])
  }

  @Test("An entity whose former values are not kept is not shown", arguments: StoreKind.withHistory) func mixed(
    _ kind: StoreKind
  ) throws {
    let notebook = try Notebook(.mixed, kind)
    let container = notebook.container
    let context = container.newContext()
    let sensor = Sensor(in: context, name: "north")
    let reading = Reading(in: context, value: 1, place: "roof")
    reading.sensor = sensor
    try context.save()
    try notebook.settle()
    let then = try container.historyToken()
    sensor.name = "south"
    try context.save()
    let past = try container.newContext(asOf: then)
    #expect(try past.fetch(Sensor.all).map(\.name) == ["north"])
    do {
      _ = try past.fetch(Reading.all)
      Issue.record("The fetch of an entity without former values did not throw.")
    } catch let error as StoreError {
      #expect(error.code == .unsupported && error.message.contains("Reading"), "\(error)")
    }
    expect(.unsupported) { _ = try past.count(Sensor.where { $0.readings.count > 0 }) }
    expect(.unsupported) { _ = try container.history(of: reading.objectID) }
  }
}
