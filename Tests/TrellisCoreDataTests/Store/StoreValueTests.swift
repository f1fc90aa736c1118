import Foundation
import Testing
import TrellisDynamic
import TrellisForeignFiles
import TrellisModel
import TrellisRuntime
import TrellisStorage

@testable import TrellisCoreData

/// `Fixtures/make_stores.py` writes the stores, and `Fixtures/read_store.py`, which shares no code with anything else, the
/// expected values.
@Suite("Copies of Core Data stores") struct StoreValueTests {
  struct ExpectedRow: Decodable {
    struct Archived: Decodable {
      let json: String?
      let hex: String
    }

    enum Value: Decodable {
      case text(String)
      case archived(Archived)

      init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
          self = .text(text)
        } else {
          self = .archived(try Archived(from: decoder))
        }
      }
    }

    let row: String
    let version: Int64
    let values: [String: Value?]
    let ones: [String: String?]
    let manys: [String: [String]]
  }

  static let whole = [
    "copies", "dates", "external", "former", "history", "inheritance", "log", "migrated", "nocache", "ordered",
    "relationships", "scalars", "swiftdata", "transformables",
  ]

  /// A copy of a fixture with what lies beside it, so that the fixture itself is never touched.
  static func copied(_ name: String, to scratch: Scratch) throws -> URL {
    for file in ["\(name).sqlite", "\(name).sqlite-wal", ".\(name)_SUPPORT"] {
      let source = Fixtures.url("Stores/\(file)")
      if FileManager.default.fileExists(atPath: source.path) {
        try FileManager.default.copyItem(at: source, to: scratch.file(file))
      }
    }
    return scratch.file("\(name).sqlite")
  }

  static func open(_ name: String, _ scratch: Scratch) throws -> CoreDataStore {
    try CoreDataStore(
      at: try copied(name, to: scratch), model: name == "nocache" ? Fixtures.url("Stores/Entry.xcdatamodel") : nil)
  }

  private static func container(_ description: ModelDescription, _ scratch: Scratch) throws -> PersistentContainer {
    try PersistentContainer(
      model: ObjectModel(dynamic: description), store: .sqlite(at: scratch.file("copy.sqlite")), log: nil)
  }

  @Test("every value, link and order is that of an independent reading", arguments: whole)
  func values(_ name: String) throws {
    let scratch = try Scratch()
    let store = try Self.open(name, scratch)
    let before = try Data(contentsOf: store.url)
    let report = try store.copy(to: scratch.file("copy.sqlite"))
    #expect(try Data(contentsOf: store.url) == before)
    let all = try JSONDecoder().decode(
      [String: [ExpectedRow]].self, from: Data(contentsOf: Fixtures.url("expected.json")))
    let rows = try #require(all[name])
    #expect(report.rows.reduce(0) { $0 + $1.rows } == rows.count)
    let container = try Self.container(report.model, scratch)
    defer { container.close() }
    let findings = try container.check()
    #expect(findings.isEmpty, "\(findings)")
    let context = container.newContext()
    for row in rows { try compare(row, report.keys, context) }
    withExtendedLifetime(context) {}
  }

  private func object(_ row: String, _ keys: CoreDataKeys, _ context: ManagedObjectContext) throws -> DynamicObject? {
    let parts = row.split(separator: "/").map(String.init)
    let number = try #require(Int64(parts[1]))
    guard let key = keys.key(of: parts[0], number) else { return nil }
    return try context.object(parts[0], key)
  }

  private func compare(_ row: ExpectedRow, _ keys: CoreDataKeys, _ context: ManagedObjectContext) throws {
    let object = try #require(try object(row.row, keys, context), "\(row.row)")
    let entity = try object.ownEntity()
    for (name, expected) in row.values {
      guard case .attribute(let attribute) = try entity.needProperty(name) else { continue }
      let value = try object.value(name)
      switch expected {
      case nil: #expect(value.isNull, "\(row.row).\(name): \(value)")
      case .text(let text)?:
        let found = try Self.text(of: value)
        #expect(found == text, "\(row.row).\(name)")
      case .archived(let archived)?:
        let found = try Self.text(of: value)
        if attribute.type == .data {
          #expect(found == archived.hex, "\(row.row).\(name)")
        } else {
          #expect(try Self.plain(found) == Self.plain(archived.json ?? ""), "\(row.row).\(name): \(found)")
        }
      }
    }
    for (name, expected) in row.ones {
      let partner = try expected.flatMap { try self.object($0, keys, context) }
      let found = try object.partner(name)
      #expect(found?.key == partner?.key, "\(row.row).\(name)")
    }
    for (name, expected) in row.manys {
      let members = try expected.compactMap { try self.object($0, keys, context)?.key }
      let found = try object.memberKeys(name)
      let relationship = try #require(try entity.needProperty(name).relationship)
      #expect(relationship.isOrdered ? found == members : found.sorted() == members.sorted(), "\(row.row).\(name)")
    }
  }

  private static func plain(_ json: String) throws -> NSObject? {
    try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed) as? NSObject
  }

  private static func text(of value: StoredValue) throws -> String {
    switch value {
    case .null: return "nil"
    case .integer(let number): return "\(number)"
    case .real(let number): return "\(number)"
    case .text(let text): return text
    case .blob(let bytes): return hex(bytes)
    case .file(let file): return hex([UInt8](try ExternalData(file).load()))
    }
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  // MARK: Repairs

  @Test(
    "what the file itself breaks is repaired by rules, each of which is told",
    arguments: ["ambiguous", "broken", "unique", "external", "migrated"])
  func repairs(_ name: String) throws {
    let scratch = try Scratch()
    let store = try Self.open(name, scratch)
    let report = try store.copy(to: scratch.file("copy.sqlite"))
    let text = (report.repaired + report.left + report.kept).map { "\($0)\n" }.joined()
    let golden = Fixtures.url("\(name).report.txt")
    if ProcessInfo.processInfo.environment["TRELLIS_RECORD"] == "1" {
      try text.write(to: golden, atomically: true, encoding: .utf8)
      Issue.record("recorded anew: look at it and run again without TRELLIS_RECORD")
    }
    let expected = try String(contentsOf: golden, encoding: .utf8)
    #expect(text == expected)
    let container = try Self.container(report.model, scratch)
    defer { container.close() }
    let findings = try container.check()
    #expect(findings.isEmpty, "\(findings)")
  }

  @Test("what a check finds in a copy, the report has named, and nothing else is broken")
  func brokenRules() throws {
    let scratch = try Scratch()
    let report = try Self.open("rules", scratch).copy(to: scratch.file("copy.sqlite"))
    let container = try Self.container(report.model, scratch)
    defer { container.close() }
    let found = try container.check()
    let told = Set(
      report.kept.flatMap { finding in
        finding.firstKeys.compactMap { number in
          report.keys.key(of: finding.entity, number).map { "\(finding.entity)/\($0).\(finding.property ?? "")" }
        }
      })
    #expect(found.count == 6)
    #expect(
      told.isSuperset(of: found.map { "\($0.entity ?? "")/\($0.key ?? 0).\($0.properties.joined(separator: ","))" }))
    #expect(
      report.kept.map(\.description) == [
        "kept 1 × Game.name: breaks a rule: it must have the form that is asked for (2)",
        "kept 1 × Game.score: breaks a rule: it must be at most 100 (2)",
        "kept 1 × Game.score: breaks a rule: it must be at least 0 (3)",
        "kept 1 × Game.players: breaks a rule: it has 1 members, and must have at least 2 (2)",
        "kept 1 × Game.players: breaks a rule: it has 4 members, and may have at most 3 (3)",
        "kept 1 × Game.rounds: breaks a rule: it has 1 members, and must have at least 2 (2)",
      ])
  }

  @Test("a to-many that is not optional may be empty, and its owner can be saved")
  func emptyToMany() throws {
    let scratch = try Scratch()
    let report = try Self.open("rules", scratch).copy(to: scratch.file("copy.sqlite"))
    let container = try Self.container(report.model, scratch)
    defer { container.close() }
    let context = container.newContext()
    let key = try #require(report.keys.key(of: "Game", 4))
    let game = try #require(try context.object("Game", key))
    #expect(try game.memberKeys("cheats") == [])
    try game.set("name", .text("solo"))
    try context.save()
    #expect(
      report.notes.contains {
        $0.outcome == .ignored && $0.message.hasPrefix("has to-manys that are not optional")
          && $0.message.hasSuffix(": Game.cheats, Game.rounds")
      })
  }

  @Test("a row whose partner is lost has no position among its members")
  func lostOrder() throws {
    let scratch = try Scratch()
    let report = try Self.open("rules", scratch).copy(to: scratch.file("copy.sqlite"))
    #expect(
      report.repaired.map(\.description) == [
        "repaired 1 × Round.game: leads to a row that is not there, and is nil (4)"
      ])
    var orders: [String] = []
    let database = try ForeignFile(path: scratch.file("copy.sqlite").path, size: 1 << 20, .exclusive)
    try database.rows("SELECT game IS NULL, _game_order IS NULL FROM Round ORDER BY _id") {
      orders.append("\($0.integer(0) ?? 9) \($0.integer(1) ?? 9)")
    }
    #expect(orders == ["0 0", "0 0", "0 0", "1 1"])
  }

  // MARK: Models

  @Test(
    "a model cache is read in the forms of all releases, and no note says that anything is lost",
    arguments: [
      "copies", "dates", "former", "inheritance", "migrated", "ordered", "relationships", "scalars", "swiftdata",
    ])
  func forms(_ name: String) throws {
    let scratch = try Scratch()
    let store = try Self.open(name, scratch)
    let report = try store.copy(to: scratch.file("copy.sqlite"))
    #expect((store.notes + report.notes).filter { $0.outcome == .leftOut } == [])
    #expect(report.left == [])
  }

  @Test("a hierarchy is the same model, whether its cache repeats what is inherited, stands for it, or has it once")
  func inherited() throws {
    let scratch = try Scratch()
    var models = try ["copies", "inheritance", "former"].map { try Self.open($0, scratch).description }
    for index in models.indices { models[index].name = "M" }
    #expect(models[0] == models[1])
    #expect(models[0] == models[2])
    #expect(models[0].entities.first { $0.name == "Puppy" }?.attributes.map(\.name) == ["weeks"])
  }

  @Test("what a store has under a renaming identifier is copied, and told")
  func formerNames() throws {
    let scratch = try Scratch()
    let report = try Self.open("migrated", scratch).copy(to: scratch.file("copy.sqlite"))
    #expect(
      report.notes.map(\.description).sorted() == [
        "changed Message.labels: is called tags in the store", "changed Message.sender: is called author in the store",
        "changed Message.urgency: is called rank in the store", "changed Person: is called Contact in the store",
        "changed Picture: is called Image in the store",
      ])
    #expect(
      report.rows.map { "\($0.rows) \($0.entity)" } == ["2 Label", "3 Message", "2 Person", "1 Picture", "1 Sound"])
  }

  @Test("a class that is not known is named once, with what became of its objects; so are templates and odd rules")
  func unknownClasses() throws {
    let scratch = try Scratch()
    let store = try Self.open("rules", scratch)
    let notes = store.notes.map(\.description)
    #expect(
      notes.filter { $0.contains("MYAttribute") } == [
        "ignored the class MYAttribute: is not known here; what is of it was read by its contents: Odd.again, Odd.known"
      ])
    #expect(notes.contains("left-out the fetch request latest: is not copied from a store; import the model"))
    #expect(notes.contains("ignored Round.name: has a validation predicate that is not a bound or a pattern"))
  }

  // MARK: Refusals

  @Test("a store without its model asks for it, and other files are refused by their kind")
  func refusals() throws {
    let scratch = try Scratch()
    let store = try Self.copied("nocache", to: scratch)
    #expect(throws: CoreDataError.self) { _ = try CoreDataStore(at: store) }
    for content in ["", "hello", "SQLite format 3\u{0}" + String(repeating: "x", count: 600)] {
      let file = scratch.file("other.sqlite")
      try Data(content.utf8).write(to: file)
      #expect(throws: CoreDataError.self) { _ = try CoreDataStore(at: file) }
    }
    #expect(throws: CoreDataError.self) { _ = try CoreDataStore(at: scratch.file("none.sqlite")) }
    let good = try Self.open("history", scratch)
    try Data().write(to: scratch.file("taken.sqlite"))
    #expect(throws: CoreDataError.self) { _ = try good.copy(to: scratch.file("taken.sqlite")) }
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.url.path)
    #expect(names.filter { $0.contains("incoming") } == [])
  }

  @Test("a copy into a given model goes by its former names, and object URIs lead to the objects")
  func givenModel() throws {
    let scratch = try Scratch()
    let store = try Self.open("history", scratch)
    var description = store.description
    description.name = "Tasks"
    let place = try #require(description.entities.firstIndex { $0.name == "Task" })
    description.entities[place].name = "Job"
    description.entities[place].renamedFrom = ["Task"]
    description.entities[place].attributes[0].name = "headline"
    description.entities[place].attributes[0].renamedFrom = ["title"]
    let report = try store.copy(to: scratch.file("copy.sqlite"), model: description)
    let uri = try #require(URL(string: "x-coredata://\(store.uuid)/Task/p2"))
    let found = try #require(report.keys.key(of: uri))
    #expect(found.entity == "Job")
    let container = try Self.container(report.model, scratch)
    let context = container.newContext()
    #expect(try context.object("Job", found.key)?["headline"] == .text("second"))
    let kept = try CoreDataKeys(contentsOf: CoreDataKeys.file(besides: scratch.file("copy.sqlite")))
    #expect(kept == report.keys)
    // New objects get keys beyond the copied ones.
    let job = try context.insert("Job", ["headline": .text("third")])
    try context.save()
    #expect(job.key > found.key)
  }
}
