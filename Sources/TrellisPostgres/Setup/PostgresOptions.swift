import Foundation
import TrellisStorage

/// How a store on a server is opened.
struct PostgresOptions: Sendable {
  var connectionString: String
  var schema: String
  var connections = 8
  var timeout: TimeInterval = 10
  var usesTransactionPool = false
  var migration = MigrationPolicy.automatic
  /// Whether a migration writes tables that could stay, for tests.
  var writesAllTables = false
  /// Called before each statement that makes or migrates the store, with the process that serves it, for tests.
  var willPrepare: (@Sendable (_ process: Int32, _ statement: String) -> Void)?
}
