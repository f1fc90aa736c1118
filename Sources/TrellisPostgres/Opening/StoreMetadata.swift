import Foundation
import TrellisModel
import TrellisStorage

/// What the store says of itself, in the table `_trellis`.
struct StoreMetadata {
  private let connection: ServerConnection
  private let setup: PostgresSetup

  /// The version of the tables' format that this version of Trellis makes and understands.
  private static let format = "1"

  init(_ connection: ServerConnection, _ setup: PostgresSetup) {
    self.connection = connection
    self.setup = setup
  }

  private var model: Model { setup.model }
  private var names: SQLNames { setup.layout.names }

  /// Makes the schema fit the model: creates its tables, or checks that they are the model's.
  func prepare() throws {
    if try isPresent(), try fits() { return }
    try connection.transaction { connection in
      // Two programs that start at once must not both create the tables.
      var parameters = ServerParameters()
      parameters.add(setup.options.schema)
      try connection.run(
        ServerStatement("SELECT pg_advisory_xact_lock(hashtextextended('trellis.' || $1, 0))", parameters))
      if try isPresent() {
        if try fits() { return }
        throw StoreError(
          .otherModel, "\(setup.name) was made with another model.", remedy: "Open it with the model it was made with.")
      }
      try create()
    }
  }

  // MARK: Reading

  private func isPresent() throws -> Bool {
    var parameters = ServerParameters()
    parameters.add(names.metadata)
    return try connection.run(ServerStatement("SELECT to_regclass($1) IS NOT NULL", parameters)).integer(0, 0) == 1
  }

  private func values() throws -> [String: String] {
    let result = try connection.run(ServerStatement("SELECT \"key\", \"value\" FROM \(names.metadata)"))
    var values: [String: String] = [:]
    for row in 0..<result.count { if let key = result.text(row, 0) { values[key] = result.text(row, 1) } }
    return values
  }

  /// Whether the stored data is valid for the model as it is.
  private func fits() throws -> Bool {
    let values = try values()
    guard let format = values["format"] else { throw damaged("it does not say which format it has") }
    guard format == Self.format else {
      throw StoreError(
        .newerFormat, "\(setup.name) has the format \(format), which a newer version of Trellis has made.",
        remedy: "Update Trellis in this program.")
    }
    guard let checksum = values["checksum"] else { throw damaged("it does not say what it holds") }
    return TextBytes.areEqual(checksum, model.checksum)
  }

  private func damaged(_ reason: String) -> StoreError {
    StoreError(.damaged, "\(setup.name) is damaged: \(reason).", remedy: "Restore the database from a backup.")
  }

  // MARK: Creating

  private func create() throws {
    let schema = SQLName.quoted(setup.options.schema)
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    let isThere = try connection.run(
      ServerStatement("SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)", parameters))
    // A role that may not create schemas can use one that was made for it.
    if isThere.integer(0, 0) == 0 { try connection.run(ServerStatement("CREATE SCHEMA \(schema)")) }
    try refuseForeignTables()
    let own = [
      "CREATE TABLE \(names.metadata) (\"key\" text COLLATE \"C\" PRIMARY KEY, \"value\" text NOT NULL)",
      "CREATE TABLE \(names.models) (\"number\" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
        + "\"checksum\" text NOT NULL UNIQUE, \"version\" text, \"since\" timestamptz, \"json\" text NOT NULL)",
      "CREATE TABLE \(names.keys) (\"next\" bigint NOT NULL)",
      "INSERT INTO \(names.keys) VALUES (1)",
    ]
    try connection.runAll(own + setup.schema.all)
    for (key, value) in [
      ("format", Self.format), ("compatible", StoreFeatures.models), ("readOnlyCompatible", ""), ("incompatible", ""),
    ] + modelValues {
      try set(key, value)
    }
    try addToLineage()
  }

  /// A schema with the tables of another program is left as it is.
  private func refuseForeignTables() throws {
    let tables = model.entities.filter { $0.parent == nil }.map(\.name) + model.joinTables.map(\.name)
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    var list = ServerArray(of: .text)
    for table in tables + ["_models", "_keys"] { _ = list.append(.text(names.fitted(table))) }
    parameters.add(list)
    let found = try connection.run(
      ServerStatement(
        "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
          + "WHERE n.nspname = $1 AND c.relname = ANY($2) LIMIT 1", parameters))
    guard found.count == 0 else {
      throw StoreError(
        .foreignFile, "\(setup.name) has a table \(found.text(0, 0) ?? "") of another program.",
        remedy: "Give the store a schema of its own.")
    }
  }

  private var modelValues: [(String, String)] {
    [
      ("model", model.name), ("storage", model.storageSignature), ("modelJSON", model.description.canonicalJSON()),
      ("checksum", model.checksum),
    ]
  }

  private func set(_ key: String, _ value: String) throws {
    var parameters = ServerParameters()
    parameters.add(key)
    parameters.add(value)
    try connection.run(
      ServerStatement(
        "INSERT INTO \(names.metadata) VALUES ($1, $2) ON CONFLICT (\"key\") DO UPDATE SET \"value\" = $2", parameters))
  }

  private func addToLineage() throws {
    var parameters = ServerParameters()
    parameters.add(model.checksum)
    if let version = model.description.version { parameters.add(version) } else { parameters.addNull(as: .text) }
    parameters.add(model.description.canonicalJSON())
    try connection.run(
      ServerStatement(
        "INSERT INTO \(names.models) (\"checksum\", \"version\", \"since\", \"json\") VALUES ($1, $2, now(), $3) "
          + "ON CONFLICT (\"checksum\") DO NOTHING", parameters))
  }
}

extension ServerConnection {
  /// Runs a closure in a transaction, which is rolled back if the closure throws.
  func transaction<Result>(_ begin: String = "BEGIN", _ body: (ServerConnection) throws -> Result) throws -> Result {
    try run(ServerStatement(begin))
    isInTransaction = true
    defer { isInTransaction = false }
    do {
      let result = try body(self)
      try run(ServerStatement("COMMIT"))
      return result
    } catch {
      _ = try? run(ServerStatement("ROLLBACK"))
      throw error
    }
  }

  /// Runs statements without parameters in one round trip.
  func runAll(_ texts: [String]) throws(ServerError) {
    if let failure = try run(texts.map { ServerStatement($0) }).failure { throw failure }
  }
}
