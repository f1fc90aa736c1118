import Testing

@testable import Trellis
@testable import TrellisPostgres
@testable import TrellisRuntime
@testable import TrellisStorage

/// A program that works on a store's schema by SQL.
struct ServerProgram {
  let connection: ServerConnection
  private let schema: String

  init(_ container: PersistentContainer) throws {
    let store = try #require(container.core.store as? PostgresStore)
    connection = try store.setup.connect()
    schema = store.setup.options.schema
  }

  /// Runs statements, in which `SCHEMA` stands for the store's schema.
  func run(_ statements: String...) throws {
    for statement in statements {
      try connection.run(ServerStatement(statement.replacing("SCHEMA", with: SQLName.quoted(schema))))
    }
  }

  /// The rows of a query as lines.
  func lines(_ query: String) throws -> [String] {
    let result = try connection.run(ServerStatement(query.replacing("SCHEMA", with: SQLName.quoted(schema))))
    return (0..<result.count).map { result.text($0, 0) ?? "" }
  }
}

extension PersistentContainer {
  /// The number of former rows that a server keeps.
  func formerRows(_ entity: String) throws -> Int {
    Int(try ServerProgram(self).lines("SELECT count(*)::text FROM SCHEMA.\"_past.\(entity)\"")[0]) ?? -1
  }

  /// The names of the tables and functions with which a server keeps former rows.
  func formerNames() throws -> [String] {
    try ServerProgram(self).lines(
      "SELECT relname::text FROM pg_class WHERE relname LIKE '\\_past.%' AND relnamespace = 'SCHEMA'::regnamespace UNION ALL "
        + "SELECT proname::text FROM pg_proc WHERE proname LIKE '\\_keep.%' AND pronamespace = 'SCHEMA'::regnamespace")
  }
}
