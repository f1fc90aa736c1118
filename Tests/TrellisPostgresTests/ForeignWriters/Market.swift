import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A store whose rows another program gets wrong, each in another way.
final class Market {
  enum Kind: String, CaseIterable {
    /// A store of this version.
    case created
    /// A store of an earlier version, which has no checks.
    case earlier
    /// A store of an earlier version and a former model that was migrated.
    case migrated
    /// The same, whose tables were written again.
    case written
    case sqlite

    var hasChecks: Bool { self != .earlier && self != .sqlite }

    static let there = allCases.filter { $0 == .sqlite || TestServer.isThere }
  }

  /// A value that another program sets.
  struct Fault {
    let entity: String
    let column: String
    let property: String
    /// The value in SQL.
    let value: String
    /// Whether the server refuses it, if the table has its checks.
    let isRefused: Bool
    /// The finding of a check; nil if there is nothing to find.
    let finding: StoreFinding.Code?
  }

  let kind: Kind
  private let schema = TestServer.newSchema()
  private let folder: TestFolder
  /// The other program's connection.
  private var connection: ServerConnection?
  let model: Model

  init(_ kind: Kind) throws {
    self.kind = kind
    model = try Model(ObjectModel.market.description)
    folder = try TestFolder()
    guard kind != .sqlite, kind != .created else { return }
    try open(kind == .earlier ? model : Self.formerModel()).close()
    try dropChecks()
    if kind != .earlier { try open(model).close() }
  }

  deinit {
    guard kind != .sqlite else { return }
    try? run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")
  }

  /// The model without the values that are optional: each table has other columns.
  static func formerModel() throws -> Model {
    var description = ObjectModel.market.description
    for number in description.entities.indices {
      description.entities[number].attributes.removeAll { $0.name.hasSuffix("SpotOr") }
    }
    return try Model(description)
  }

  var configuration: StoreConfiguration {
    kind == .sqlite
      ? .sqlite(at: folder.file("market.sqlite"), durability: .relaxed)
      : .postgres(TestServer.url, schema: schema, connections: 2, timeout: 300)
  }

  func open(_ model: Model) throws -> any Store {
    if kind == .sqlite { return try configuration.open(model) }
    var options = PostgresOptions(connectionString: TestServer.url, schema: schema, connections: 2, timeout: 300)
    options.writtenTables = kind == .written ? .all : .needed
    return try PostgresOpening(model, options).open(nil)
  }

  // MARK: Another program

  /// - Parameter sql: statements with two semicolons between them.
  func run(_ sql: String) throws {
    if kind == .sqlite { return try OtherProgram(folder.file("market.sqlite")).run(sql) }
    if connection == nil {
      let address = try ServerAddress(TestServer.url)
      connection = try ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
    }
    for statement in sql.split(separator: ";;") {
      try connection?.run(ServerStatement(String(statement).replacing("SCHEMA.", with: "\"\(schema)\".")))
    }
  }

  /// The columns of the tables with their numbers, which a column that is made again does not keep, and the checks.
  func columnsAndChecks() throws -> [String] {
    let address = try ServerAddress(TestServer.url)
    let connection = try ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
    let result = try connection.run(
      ServerStatement(
        """
        SELECT c.relname || ' ' || a.attname || ' ' || a.attnum FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = '"\(schema)"'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL SELECT conname FROM pg_constraint
        WHERE connamespace = '"\(schema)"'::regnamespace AND contype = 'c' ORDER BY 1
        """))
    return (0..<result.count).map { result.text($0, 0) ?? "" }
  }

  private func table(_ entity: String) -> String {
    let root = model.entities[model.entity(named: entity)?.root ?? 0].name
    return kind == .sqlite ? "\"\(root)\"" : "SCHEMA.\"\(root)\""
  }

  /// The name of a table in SQL.
  func qualified(_ table: String) -> String { "\"\(schema)\".\"\(table)\"" }

  func set(_ fault: Fault, of key: Int64) throws {
    try run("UPDATE \(table(fault.entity)) SET \"\(fault.column)\" = \(fault.value) WHERE _id = \(key)")
  }

  /// Makes the store one of an earlier version.
  func dropChecks() throws {
    try run(
      """
      DO $$ DECLARE k record; BEGIN
        FOR k IN SELECT conname, conrelid::regclass AS t FROM pg_constraint
          WHERE connamespace = '"\(schema)"'::regnamespace AND contype = 'c'
        LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', k.t, k.conname); END LOOP;
      END $$
      """)
  }

  // MARK: Rows

  private static let values: [String: StoredValue] = [
    "Decimal": .text("1.5"), "Date": .integer(1_577_836_800_000_000), "Float": .real(1.5), "Double": .real(2.5),
    "List": .text("[\"a\"]"), "Spot": .text("{\"street\":\"a\"}"), "Strict": .text("a"), "Lenient": .text("a"),
    "Kept": .text("a"), "Text": .text("abc"), "Count": .integer(5), "Link": .text("https://example.org/"),
    "Owner": .integer(1),
  ]

  /// Saves an owner with the key 1, and rows of some entities.
  ///
  /// - Returns: the keys of the rows.
  func insert(_ entities: [String]) throws -> [Int64] {
    let store = try open(model)
    defer { store.close() }
    let keys = try store.reserveKeys(Int64(entities.count) + 1)
    try #require(keys.lowerBound == 1)
    let request = SaveRequest()
    let owner = try #require(model.entity(named: "Owner"))
    request.inserts = [.init(entity: owner.index, records: [PlainRecord(owner, key: 1, [StoredValue]())])]
    for (number, name) in entities.enumerated() {
      let entity = try #require(model.entity(named: name))
      let row = entity.columns.map { column in
        // A row has what is required, and all that is optional.
        Self.values.first { column.name.replacing("Or", with: "").hasSuffix($0.key) }?.value ?? .null
      }
      request.inserts.append(
        .init(entity: entity.index, records: [PlainRecord(entity, key: Int64(number) + 2, row)]))
    }
    try store.connect().save(request)
    return entities.indices.map { Int64($0) + 2 }
  }

  // MARK: Faults

  private typealias Wrong = (value: String, isRefused: Bool, finding: StoreFinding.Code?)

  private func wrong(_ type: String) -> [Wrong] {
    let many = String(repeating: "9", count: 40)
    let both: [Wrong] =
      switch type {
      case "List":
        [
          ("'{a,b}'", true, .unreadableValue), ("'a,b'", true, .unreadableValue), ("''", true, .unreadableValue),
          ("'{\"a\": 1}'", true, .unreadableValue), ("'[1]'", false, .unreadableValue),
          ("'[\"a\"'", false, .unreadableValue), ("' [\"b\" ]'", false, nil), ("'[]'", false, nil),
        ]
      case "Spot": [("'Main Street'", false, .unreadableValue), ("'{}'", false, .unreadableValue)]
      case "Strict": [("'c'", false, .unreadableValue), ("''", false, .unreadableValue), ("'b'", false, nil)]
      case "Lenient", "Kept": [("'c'", false, nil)]
      case "Text": [("'abcdefgh'", false, .brokenRule)]
      case "Count": [("99", false, .brokenRule)]
      case "Link": [("''", false, .unreadableValue)]
      case "Float": [("1e300", false, .unreadableValue), ("'Infinity'", false, nil)]
      case "Double": [("'-Infinity'", false, nil)]
      case "Decimal": [("'\(many)'", false, .unreadableValue), ("'-0.25'", false, nil)]
      default: []
      }
    let own: [Wrong] =
      switch (type, kind == .sqlite) {
      case ("Decimal", false): [("'NaN'", true, .unreadableValue), ("'Infinity'", true, .unreadableValue)]
      case ("Decimal", true): [("'NaN'", false, .unreadableValue), ("'much'", false, .unreadableValue)]
      case ("Date", false):
        [
          ("'infinity'", true, .unreadableValue), ("'-infinity'", true, .unreadableValue),
          ("'294270-01-01 00:00+00'", false, .unreadableValue),
        ]
      case ("Date", true): [("9223372036854775807", false, .unreadableValue)]
      case ("Float", false), ("Double", false): [("'NaN'", true, .brokenRule)]
      default: []
      }
    // The tables of a file take no text for a number.
    return both.filter { kind != .sqlite || !$0.value.contains("Infinity") } + own
  }

  /// Each type, required and optional, in a table of its own, the root of a hierarchy, a child and a grandchild.
  func faults() throws -> [Fault] {
    var faults: [Fault] = []
    for name in ["Plain", "Base", "Leaf", "Twig"] {
      let entity = try #require(model.entity(named: name))
      for column in entity.columns {
        let property = entity.properties[column.property].name
        guard property != "friend" else { continue }
        func add(_ value: String, _ isRefused: Bool, _ finding: StoreFinding.Code?) {
          faults.append(
            Fault(
              entity: name, column: column.name, property: property, value: value, isRefused: isRefused,
              finding: finding))
        }
        guard case .attribute = column.content else {
          add("NULL", false, .missingValue)
          continue
        }
        for wrong in self.wrong(String(property.replacing("Or", with: "").dropFirst())) {
          add(wrong.value, wrong.isRefused, wrong.finding)
        }
        // The columns of a root are required by themselves.
        if column.isOptional {
          add("NULL", false, nil)
        } else if column.name.contains(".") {
          add("NULL", true, .missingValue)
        }
      }
    }
    for name in ["Base", "Leaf", "Other"] {
      for value in ["'Nobody'", "''", "'base'"] {
        faults.append(
          Fault(
            entity: name, column: "_entity", property: "", value: value, isRefused: true, finding: .unknownEntity))
      }
    }
    return faults
  }

  /// What a check of the store finds, as the place and the code.
  func findings() throws -> Set<String> {
    let container = try PersistentContainer(model: .market, store: configuration, log: nil)
    defer { container.close() }
    let found = try container.check(limit: 10_000)
    for finding in found { #expect(!finding.description.contains("Main Street") && !finding.repair.isEmpty) }
    return Set(found.map { Self.line($0.entity ?? "", $0.key ?? 0, $0.properties.first ?? "", $0.code) })
  }

  static func line(_ entity: String, _ key: Int64, _ property: String, _ code: StoreFinding.Code) -> String {
    "\(entity)/\(key).\(property) \(code.rawValue)"
  }
}
