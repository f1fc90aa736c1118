import TrellisModel
import TrellisStorage

/// A database on a server that others have made, read at one moment. Used by one thread at a time.
package final class ForeignDatabase {
  /// The server and the schema in messages.
  package let name: String
  private let connection: ServerConnection

  /// Connects, and begins a transaction that reads. Texts of dates and bytes have the same form at each server.
  ///
  /// - Throws: ``StoreError``.
  package init(_ connectionString: String, schema: String) throws {
    let options = PostgresOptions(connectionString: connectionString, schema: schema, connections: 1)
    try options.checkSchema()
    // What is read does not depend on a model.
    let none = try Model(ModelDescription(name: "", entities: []))
    let setup = PostgresSetup(try ServerAddress(connectionString), options, none)
    name = setup.name
    do {
      connection = try setup.connect()
      try connection.runAll(["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"])
      connection.isInTransaction = true
      try connection.runAll([
        "SET LOCAL search_path = pg_catalog, pg_temp", "SET LOCAL statement_timeout = 0", "SET LOCAL TimeZone = 'UTC'",
        "SET LOCAL DateStyle = 'ISO, YMD'", "SET LOCAL IntervalStyle = 'iso_8601'", "SET LOCAL bytea_output = 'hex'",
        "SET LOCAL extra_float_digits = 3",
        // A policy that hides rows is an error, and not a copy without them.
        "SET LOCAL row_security = off",
      ])
    } catch let error as ServerError {
      throw error.storeError(setup.name, doing: "read the tables")
    }
  }

  /// Passes the rows of a query whose columns are all texts, as they arrive.
  ///
  /// - Parameter parameters: The values of `$1` and so on, as texts.
  /// - Throws: ``StoreError``, or errors of `body`.
  package func rows(_ sql: String, _ parameters: [String] = [], _ body: ([String?]) throws -> Void) throws {
    var list = ServerParameters()
    for parameter in parameters { list.add(parameter) }
    do {
      try connection.stream(ServerStatement(sql, list)) { result in
        for row in 0..<result.count {
          try body(result.types.indices.map { result.text(row, $0) })
        }
      }
    } catch let error as ServerError {
      throw error.storeError(name, doing: "read the tables")
    }
  }
}
