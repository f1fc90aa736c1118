import Foundation
import Testing
import TrellisCoreData
import TrellisDynamic
import TrellisModel
import TrellisRuntime
import TrellisStorage

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
    "dates", "external", "history", "inheritance", "log", "nocache", "ordered", "relationships", "scalars",
    "transformables",
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
    arguments: ["broken", "unique", "external"])
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
