import Foundation
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A schema on a PostgreSQL server.
final class MigratedSchema: MigratedStore {
  private let schema = TestServer.newSchema()
  private let connection: ServerConnection
  /// Whether two of four stores write tables that could stay, so that all ways have all that is expected.
  private let mayWriteAllTables: Bool

  override convenience init(_ graph: PlainGraph) throws { try self.init(graph, mayWriteAllTables: true) }

  init(_ graph: PlainGraph, mayWriteAllTables: Bool) throws {
    self.mayWriteAllTables = mayWriteAllTables
    connection = try Self.connect()
    try super.init(graph)
    try fill(graph)
  }

  deinit { _ = try? connection.run(ServerStatement("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")) }

  private static func connect() throws -> ServerConnection {
    let address = try ServerAddress(TestServer.url)
    return try ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
  }

  private func configuration(_ schema: String, _ migration: MigrationPolicy) -> StoreConfiguration {
    .postgres(TestServer.url, schema: schema, connections: 1, timeout: 300, migration: migration)
  }

  /// The backups of a server are not the store's business.
  override var keepsCopies: Bool { false }

  private var number: Int { stored.checksum.utf8.reduce(0) { $0 + Int($1) } }

  private var writtenTables: PostgresOptions.Written {
    !mayWriteAllTables ? .needed : [.all, .rows, .needed, .needed][number % 4]
  }

  override func open(_ model: Model, migration: MigrationPolicy = .automatic) throws -> any Store {
    var options = PostgresOptions(
      connectionString: TestServer.url, schema: schema, connections: 1, timeout: 300, migration: migration)
    options.writtenTables = writtenTables
    options.pageRows = 1 + number / 4 % 3
    return try PostgresOpening(model, options).open(nil)
  }

  override func plan(_ current: Model) throws -> MigrationPlan? { try configuration(schema, .automatic).plan(current) }

  override func image() throws -> [Data] {
    let tables = try texts(
      "SELECT c.relname::text FROM pg_class c WHERE c.relnamespace = '\"\(schema)\"'::regnamespace AND c.relkind = 'r' "
        + "ORDER BY 1")
    return try Self.structure(schema, connection).map { Data($0.utf8) }
      + tables.flatMap { table in
        try texts(
          "SELECT t::text FROM \(SQLName.quoted(schema)).\(SQLName.quoted(table)) AS t ORDER BY 1"
        ).map { Data("\(table) \($0)".utf8) }
      }
  }

  override func contents(_ store: any Store, _ model: Model) throws -> StoreContents {
    let names = SQLNames.postgres(schema: schema)
    return try StoreContents(store, model) { table in
      let places = [table.first.orderColumn, table.second?.orderColumn].map { $0.map(names.column) ?? "NULL::bigint" }
      let columns = [table.first.column, table.partnerColumn].map(names.column) + places
      let result = try connection.run(
        ServerStatement("SELECT \(columns.joined(separator: ", ")) FROM \(names.table(table.name))"))
      return (0..<result.count).map { row in
        func place(_ column: Int) -> Int64? { result.isNull(row, column) ? nil : result.integer(row, column) }
        return PlainPair(result.integer(row, 0), result.integer(row, 1), place: place(2), inverse: place(3))
      }
    }
  }

  override func faults(_ store: any Store, _ model: Model, isMigrated: Bool) throws -> [String] {
    let fresh = TestServer.newSchema()
    defer { _ = try? connection.run(ServerStatement("DROP SCHEMA IF EXISTS \"\(fresh)\" CASCADE")) }
    _ = try configuration(fresh, .automatic).open(model)
    let isAdditive = Expansion(Migration(from: stored, to: model)).isAdditive
    let found = Set(try Self.structure(schema, connection, hasDefaults: !isAdditive))
    let expected = Set(try Self.structure(fresh, connection, hasDefaults: !isAdditive))
    var faults = found.subtracting(expected).sorted().map { "the schema has \($0)" }
    faults += expected.subtracting(found).sorted().map { "the schema lacks \($0)" }
    if let plan = try plan(model), !plan.steps.isEmpty { faults.append("the schema would be migrated again: \(plan)") }
    return faults
  }

  private func texts(_ question: String) throws -> [String] { try Self.texts(question, connection) }

  private static func texts(_ question: String, _ connection: ServerConnection) throws -> [String] {
    let result = try connection.run(ServerStatement(question))
    return (0..<result.count).map { result.text($0, 0) ?? "null" }
  }

  /// All columns, constraints and indexes in the server's own words.
  ///
  /// - Parameter hasDefaults: whether the defaults of columns are among them.
  private static func structure(
    _ schema: String, _ connection: ServerConnection, hasDefaults: Bool = true
  ) throws -> [String] {
    let isOfSchema = "c.relnamespace = '\"\(schema)\"'::regnamespace"
    let value = hasDefaults ? "pg_get_expr(d.adbin, d.adrelid)" : "NULL"
    let questions = [
      "SELECT concat_ws(' ', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, "
        + "a.attcollation::regcollation, \(value)) FROM pg_class c "
        + "JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum "
        + "WHERE \(isOfSchema) AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY 1",
      "SELECT concat_ws(' ', c.relname, k.conname, pg_get_constraintdef(k.oid)) FROM pg_class c "
        + "JOIN pg_constraint k ON k.conrelid = c.oid WHERE \(isOfSchema) AND k.contype <> 'n' ORDER BY 1",
      "SELECT pg_get_indexdef(i.indexrelid) FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid "
        + "WHERE \(isOfSchema) ORDER BY 1",
    ]
    // A check that a migration makes does not look at the rows that are there.
    return try questions.flatMap { try texts($0, connection) }.map {
      $0.replacing(schema, with: "schema").replacing(" NOT VALID", with: "")
    }
  }
}
