import Foundation
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A schema with a store of a former model: entries with a title, a mood and tags.
final class FormerSchema {
  let schema = TestServer.newSchema()
  let connection: ServerConnection
  let former: Model

  static let title = AttributeDescription("title", .string)
  static let mood = AttributeDescription("mood", .string, optional: true)

  /// - Parameters:
  ///   - attributes: the attributes of an entry.
  ///   - tags: the name of its relationship to many tags.
  static func model(
    _ attributes: [AttributeDescription], tags: RelationshipDescription? = tags, indexes: [IndexDescription] = [],
    removed: [String] = [], version: String? = nil
  ) throws -> Model {
    var model = ModelDescription(
      name: "Diary",
      entities: [
        EntityDescription(
          "Entry", attributes: attributes, relationships: [tags].compactMap(\.self), indexes: indexes, removed: removed),
        EntityDescription("Tag", attributes: [AttributeDescription("name", .string)]),
      ])
    model.version = version
    return try Model(model)
  }

  static let tags = RelationshipDescription("tags", to: "Tag", toMany: true, optional: true)

  /// The former model, and the current one, whose entries have a text instead of a title and no mood.
  static func formerModel() throws -> Model { try model([title, mood]) }
  static func currentModel() throws -> Model {
    try model(
      [
        AttributeDescription("text", .string, renamedFrom: ["title"]),
        AttributeDescription("stars", .int16, default: .value(.integer(3))),
      ], removed: ["mood"])
  }
  /// A model to which the rows of entries have to be written again, because a value is computed.
  static func writtenModel() throws -> Model {
    try model([title, mood, AttributeDescription("summary", .string, backfill: .expression("'About ' + title"))])
  }

  init(_ former: Model? = nil, rows: Int = 3) throws {
    let address = try ServerAddress(TestServer.url)
    connection = try ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
    self.former = try former ?? Self.formerModel()
    let store = try open(self.former)
    defer { store.close() }
    _ = try store.reserveKeys(Int64(2 * rows) + 100)
    try store.connect().save(request(self.former, 1...max(1, rows)))
  }

  deinit { _ = try? connection.run(ServerStatement("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")) }

  /// Entries with some keys, each with a tag.
  func request(_ model: Model, _ keys: ClosedRange<Int>) throws -> SaveRequest {
    let request = SaveRequest()
    let (entry, tag) = (model.entities[0], model.entities[1])
    let count = keys.count
    request.inserts = [
      .init(
        entity: 0,
        records: keys.map {
          PlainRecord(entry, key: Int64($0), ["title": .text("\($0)"), "mood": .text("glad"), "stars": .integer(3)])
        }),
      .init(
        entity: 1, records: keys.map { PlainRecord(tag, key: Int64($0 + 1_000_000), ["name": .text("tag \($0)")]) }),
    ]
    var pairs = SaveRequest.Pairs(table: 0)
    pairs.added = keys.prefix(count).map { .init(first: Int64($0), partner: Int64($0 + 1_000_000)) }
    request.pairs = [pairs]
    return request
  }

  /// Most tests migrate beside a program that they watch being stopped.
  static let stopping = MigrationPolicy.automatic.stoppingFormerPrograms()

  func options(_ policy: MigrationPolicy = FormerSchema.stopping) -> PostgresOptions {
    PostgresOptions(connectionString: TestServer.url, schema: schema, connections: 4, timeout: 300, migration: policy)
  }

  func configuration(_ policy: MigrationPolicy = FormerSchema.stopping) -> StoreConfiguration {
    .postgres(TestServer.url, schema: schema, connections: 4, timeout: 300, migration: policy)
  }

  func open(_ model: Model, _ policy: MigrationPolicy = FormerSchema.stopping) throws -> any Store {
    try configuration(policy).open(model)
  }

  // MARK: SQL

  @discardableResult func sql(_ text: String) throws -> [[String?]] {
    let result = try connection.run(ServerStatement(text.replacing("SCHEMA.", with: "\"\(schema)\".")))
    return (0..<result.count).map { row in (0..<result.types.count).map { result.text(row, $0) } }
  }

  func number(_ text: String) throws -> Int {
    Int(try sql("SELECT (\(text))::text").first?.first.flatMap(\.self) ?? "") ?? -1
  }

  /// All that the schema holds, to compare it with what it was before.
  func image() throws -> [String] {
    let isOfSchema = "c.relnamespace = '\"\(schema)\"'::regnamespace"
    let tables = try sql("SELECT c.relname::text FROM pg_class c WHERE \(isOfSchema) AND c.relkind = 'r' ORDER BY 1")
    let rows = try tables.compactMap { $0[0] }.flatMap { table in
      try sql("SELECT concat_ws(' ', '\(table)', t::text) FROM SCHEMA.\"\(table)\" AS t ORDER BY 1")
    }
    let structure = try sql(
      "SELECT concat_ws(' ', c.relname, a.attname, a.atttypid, a.attnotnull) FROM pg_class c "
        + "JOIN pg_attribute a ON a.attrelid = c.oid WHERE \(isOfSchema) AND a.attnum > 0 ORDER BY 1")
    let constraints = try sql(
      "SELECT pg_get_constraintdef(k.oid) FROM pg_class c JOIN pg_constraint k ON k.conrelid = c.oid "
        + "WHERE \(isOfSchema) ORDER BY 1")
    return (rows + structure + constraints).map { $0[0] ?? "" }
  }

  /// The files of the server that hold the tables. A table that is written again has another one.
  func files() throws -> [String: String] {
    let found = try sql(
      "SELECT c.relname::text, c.relfilenode::text FROM pg_class c "
        + "WHERE c.relnamespace = '\"\(schema)\"'::regnamespace AND c.relkind IN ('r', 'i')")
    return Dictionary(found.map { ($0[0] ?? "", $0[1] ?? "") }) { first, _ in first }
  }
}
