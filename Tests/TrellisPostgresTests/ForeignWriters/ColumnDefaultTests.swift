import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Defaults of columns, for rows that other programs insert", .enabled(if: TestServer.isThere, "needs a server"))
struct ColumnDefaultTests {
  private let schema = TestServer.newSchema()

  private func model(_ change: (inout [EntityDescription]) -> Void = { _ in }) throws -> Model {
    var entities = [
      EntityDescription(
        "Plant",
        attributes: [
          AttributeDescription("name", .string),
          AttributeDescription("height", .decimal, default: .value(.text("1.5"))),
          AttributeDescription("leaves", .int16, default: .value(.integer(3))),
          AttributeDescription("isGreen", .bool, default: .value(.integer(1))),
          AttributeDescription("ratio", .double, default: .value(.real(0.1))),
          AttributeDescription("note", .string, default: .value(.text("it's \"new\"\n\tzwei; 한글"))),
          AttributeDescription("seen", .date, default: .now), AttributeDescription("id", .uuid, default: .new),
          AttributeDescription("tags", .array(.string), default: .list([.text("a\"b"), .text("c")])),
          AttributeDescription("born", .date, optional: true, default: .value(.integer(86_400_000_000))),
          AttributeDescription("odd", .string, optional: true),
        ]),
      EntityDescription(
        "Tree", parent: "Plant", attributes: [AttributeDescription("rings", .int64, default: .value(.integer(9)))]),
    ]
    change(&entities)
    return try Model(ModelDescription(name: "Garden", entities: entities))
  }

  private func open(_ model: Model, migration: MigrationPolicy = .automatic) throws -> PostgresStore {
    try #require(
      try StoreConfiguration.postgres(TestServer.url, schema: schema, connections: 2, migration: migration).open(model)
        as? PostgresStore)
  }

  @discardableResult private func sql(_ text: String, on store: PostgresStore) throws -> ServerResult {
    let qualified = text.replacing("SCHEMA", with: SQLName.quoted(schema))
    return try store.pool.withConnection { try $0.run(ServerStatement(qualified)) }
  }

  /// The default of each column of the plants, in the server's words.
  private func defaults(_ store: PostgresStore) throws -> [String: String] {
    let result = try sql(
      "SELECT a.attname::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a "
        + "ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = 'SCHEMA.\"Plant\"'::regclass", on: store)
    return Dictionary(
      uniqueKeysWithValues: (0..<result.count).map { (result.text($0, 0) ?? "", result.text($0, 1) ?? "") })
  }

  @Test("a row that SQL inserts has the defaults of the model, a key of its own and the first version")
  func inserted() throws {
    let model = try model()
    let store = try open(model)
    for name in ["a", "b"] { try sql("INSERT INTO SCHEMA.\"Plant\" (name) VALUES ('\(name)')", on: store) }
    var rows: [ReadRow] = []
    try store.connect().fetch(StoreRequest(entity: 0)) { rows.append(try ReadRow($0, model)) }
    #expect(rows.count == 2 && Set(rows.map(\.storedKey)).count == 2 && rows.allSatisfy { $0.storedVersion == 1 })
    let row = try #require(rows.first)
    func value(_ name: String) -> StoredValue? { model.entities[0].property(named: name).map { row.value($0.index) } }
    #expect(value("height") == .text("1.5") && value("leaves") == .integer(3) && value("isGreen") == .integer(1))
    #expect(value("ratio") == .real(0.1) && value("note") == .text("it's \"new\"\n\tzwei; 한글"))
    #expect(
      value("tags") == .text(#"["a\"b","c"]"#) && value("odd") == .null && value("born") == .integer(86_400_000_000))
    guard case .integer(let seen)? = value("seen"), case .blob(let id)? = value("id") else {
      Issue.record("\(row)")
      return
    }
    #expect(abs(seen - QueryClock.now) < 600_000_000 && id.count == 16)
    // Trellis gives out none of their keys again, and a check finds nothing.
    let keys = try store.reserveKeys(10)
    #expect(rows.allSatisfy { !keys.contains($0.storedKey) })
    var findings: [StoreFinding] = []
    try store.connect().check { findings.append($0) }
    #expect(findings.isEmpty, "\(findings)")
    let names = try defaults(store).keys.sorted()
    #expect(!names.contains { $0.contains("rings") } && !names.contains("odd") && names.contains("_entity"))
  }

  @Test("rows of Trellis have the values of their objects, and null where they have none") func ownRows() throws {
    let model = try model()
    let store = try open(model)
    let request = SaveRequest()
    let plant = model.entities[0]
    let values = ["name", "note"].map { ($0, StoredValue.text("x")) }
    let numbers: [(String, StoredValue)] = [
      ("height", .text("2")), ("leaves", .integer(0)), ("isGreen", .integer(0)), ("ratio", .real(0)),
      ("seen", .integer(0)), ("id", .blob([UInt8](repeating: 1, count: 16))), ("tags", .text("[]")),
    ]
    request.inserts = [
      .init(
        entity: 0,
        records: [
          PlainRecord(
            plant, key: try store.reserveKeys(1).lowerBound, Dictionary(uniqueKeysWithValues: values + numbers))
        ])
    ]
    try store.connect().save(request)
    #expect(try sql("SELECT 1 FROM SCHEMA.\"Plant\" WHERE born IS NULL", on: store).count == 1)
  }

  @Test("defaults follow the model, and those that somebody else has set stay") func changes() throws {
    try open(try model()).close()
    let changed = try model { entities in
      entities[0].attributes[2].defaultValue = .value(.integer(7))
      entities[0].attributes[3].defaultValue = nil
    }
    let store = try open(changed)
    var found = try defaults(store)
    #expect(found["leaves"]?.contains("7") == true && found["isGreen"] == nil && found["ratio"] != nil)
    try sql("ALTER TABLE SCHEMA.\"Plant\" ALTER ratio SET DEFAULT 0.25, ALTER odd SET DEFAULT 'own'", on: store)
    store.close()
    let third = try model { $0[0].attributes[2].defaultValue = .value(.integer(5)) }
    let again = try open(third)
    found = try defaults(again)
    #expect(found["leaves"]?.contains("5") == true && found["isGreen"] == "true")
    #expect(found["ratio"]?.contains("0.25") == true && found["odd"]?.contains("own") == true)
    // A default that is gone comes again.
    try sql("ALTER TABLE SCHEMA.\"Plant\" ALTER leaves DROP DEFAULT", on: again)
    again.close()
    let last = try open(third)
    #expect(try defaults(last)["leaves"]?.contains("5") == true)
    last.close()
  }

  @Test(
    "a migration leaves a store with the defaults of its model, in tables that it changes and that it writes",
    arguments: [false, true])
  func migrated(_ writes: Bool) throws {
    try open(try model()).close()
    let changed = try model { entities in
      entities[0].attributes[0].renamedFrom = ["name"]
      entities[0].attributes[0].name = "title"
      entities[0].attributes.append(AttributeDescription("color", .string, default: .value(.text("red"))))
      // A column of another type is written again.
      if writes {
        entities[0].attributes[2] = AttributeDescription("leaves", .string, default: .value(.text("many")))
      }
    }
    let store = try open(changed)
    let found = try defaults(store)
    #expect(found["color"]?.contains("red") == true && found["_id"]?.contains("trellis_new_key") == true)
    #expect(found["leaves"]?.contains(writes ? "many" : "3") == true)
    try sql("INSERT INTO SCHEMA.\"Plant\" (title) VALUES ('new')", on: store)
    #expect(try store.connect().count(StoreRequest(entity: 0)) == 1)
    store.close()
  }

  @Test("keys of programs that insert at the same time are all different") func keys() throws {
    let store = try open(try model())
    let failures = Failures()
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      do {
        for number in 0..<50 {
          try sql("INSERT INTO SCHEMA.\"Plant\" (name) VALUES ('\(thread) \(number)')", on: store)
        }
      } catch {
        failures.add(error)
      }
    }
    #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
    #expect(try store.connect().count(StoreRequest(entity: 0)) == 100)
  }
}
