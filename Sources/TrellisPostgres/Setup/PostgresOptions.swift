import Foundation
import TrellisStorage

/// How a store on a server is opened.
struct PostgresOptions: Sendable {
  var connectionString: String
  var schema: String
  var connections = 8
  var timeout: TimeInterval = 30
  /// The number of seconds that the server may take for a statement. Nil for the timeout.
  var statementTimeout: TimeInterval?
  var usesTransactionPool = false
  var migration = MigrationPolicy.automatic
  /// Whether the server refuses all writes of the connections.
  var isReadOnly = false
  /// Whether a migration writes tables that could stay, for tests.
  var writesAllTables = false

  /// The number of seconds that a call waits for the server's next answer.
  var statementPatience: TimeInterval { max(statementTimeout ?? timeout, 0.1) }

  /// The number of seconds that a migration waits for an answer, once it has all it needs. Its statements write whole
  /// tables.
  var migrationPatience: TimeInterval { statementTimeout ?? max(timeout, 600) }

  /// Called before each statement that makes or migrates the store, with the process that serves it, for tests.
  var willPrepare: (@Sendable (_ process: Int32, _ statement: String) -> Void)?
}
