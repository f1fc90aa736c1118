import Foundation
import TrellisStorage

/// How a store on a server is opened.
struct PostgresOptions: Sendable {
  var connectionString: String
  var schema: String
  /// The address of a replica for reads. Nil without a replica.
  var replica: String?
  var connections = 8
  var timeout: TimeInterval = 30
  /// The number of seconds that the server may take for a statement. Nil for the timeout.
  var statementTimeout: TimeInterval?
  var usesTransactionPool = false
  var migration = MigrationPolicy.automatic
  /// Whether the server refuses all writes of the connections.
  var isReadOnly = false
  /// The number of bytes from which on the indexes of a table are made while others write, which takes longer.
  var largeTable: Int64 = 131_072
  /// The number of seconds that the making of an index waits at a time for transactions that began before it.
  var indexPatience: TimeInterval = 10
  /// The maximum number of rows that a migration holds at a time, if they need no others.
  var pageRows = 10_000
  /// The tables that a migration writes, for tests.
  var writtenTables = Written.needed

  enum Written {
    /// Those that cannot stay.
    case needed
    /// Those of rows, and join tables that cannot stay.
    case rows
    case all
  }

  /// The number of seconds that a call waits for the server's next answer.
  var statementPatience: TimeInterval { max(statementTimeout ?? timeout, 0.1) }

  /// The number of seconds that a migration waits for an answer, once it has all it needs. Its statements write whole
  /// tables.
  var migrationPatience: TimeInterval { statementTimeout ?? max(timeout, 600) }

  /// Called before each statement that makes or migrates the store, or makes an index of a large table, with the process that serves it, for tests.
  var willPrepare: (@Sendable (_ process: Int32, _ statement: String) -> Void)?

  /// The server would cut a longer name, and mean another schema.
  private static let longestSchema = 63

  /// - Throws: ``StoreError`` for a name that no schema has.
  func checkSchema() throws(StoreError) {
    guard !schema.isEmpty, !schema.hasPrefix("pg_"), !schema.utf8.contains(0), schema.utf8.count <= Self.longestSchema
    else {
      throw StoreError(
        .cannotOpen, "No schema of PostgreSQL has the name '\(schema.replacing("\0", with: "\u{FFFD}"))'.",
        remedy: "Give a name of at most \(Self.longestSchema) bytes that does not begin with pg_.")
    }
  }
}
