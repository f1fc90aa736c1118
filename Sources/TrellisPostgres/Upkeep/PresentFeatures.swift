import TrellisModel
import TrellisStorage

/// The tables of derived values and the full-text indexes that a schema has. Those of roles that do not own the store are
/// left out: they may contain anything.
struct PresentFeatures {
  struct Table {
    /// The name, not quoted.
    let name: String
    /// The digest of its expressions; empty for a table that is not to be used.
    let digest: String
    /// The number of its triggers that run; 0 if a function is missing.
    let triggers: Int
    /// Whether the role may read it.
    let isReadable: Bool
  }

  var tables: [Table] = []
  /// The names, not quoted.
  var searchIndexes: Set<String> = []

  init() {}

  init(_ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError) {
    let result = try connection.run(Self.question(setup))
    for row in 0..<result.count { add(result, row) }
  }

  var isEmpty: Bool { tables.isEmpty && searchIndexes.isEmpty }

  /// Asks for all of it. Each row of the answer is for ``add(_:_:)``.
  static func question(_ setup: PostgresSetup) -> ServerStatement {
    let names = setup.layout.names
    var parameters = ServerParameters()
    for text in [
      setup.options.schema, names.metadata, DerivedTables.markPrefix, DerivedTables.functionPrefix, names.derivedMarks,
      DerivedStatements.compute,
    ] { parameters.add(text) }
    let running = "g.tgenabled IN ('O', 'A')"
    // The comment has the digest and the schema that the functions name.
    let comment = "obj_description(c.oid, 'pg_class')"
    let digest =
      "CASE WHEN \(comment) = split_part(\(comment), ' ', 1) || ' ' || $1 THEN split_part(\(comment), ' ', 1) END"
    let isFunction = CatalogNames.condition("p.proname", beginsWith: "$3::text || \(digest)")
    let triggers =
      "CASE WHEN EXISTS (SELECT 1 FROM pg_proc AS p WHERE p.pronamespace = n.oid AND p.proname = ($4::text || \(digest))::name) "
      + "AND EXISTS (SELECT 1 FROM pg_trigger AS g WHERE g.tgrelid = to_regclass($5) AND g.tgname = $6::name AND \(running)) "
      + "THEN (SELECT count(*) FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid WHERE p.pronamespace = n.oid AND "
      + "\(isFunction) AND \(running)) ELSE 0 END"
    let isTable = CatalogNames.condition("c.relname", hasPrefix: DerivedTables.prefix)
    let isIndex = CatalogNames.condition("c.relname", hasPrefix: SearchIndexes.prefix)
    return ServerStatement(
      "SELECT c.relname::text, c.relkind = 'i', coalesce(\(digest), ''), \(triggers), has_table_privilege(c.oid, 'SELECT') "
        + "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_index AS i ON i.indexrelid = c.oid "
        + "JOIN pg_class AS m ON m.oid = to_regclass($2) WHERE n.nspname = $1 AND "
        + "(c.relkind = 'r' AND \(isTable) OR c.relkind = 'i' AND \(isIndex) AND i.indisvalid) "
        + "AND pg_has_role(c.relowner, m.relowner, 'MEMBER') ORDER BY 1", parameters)
  }

  mutating func add(_ result: ServerResult, _ row: Int) {
    let name = result.text(row, 0) ?? ""
    if result.integer(row, 1) == 1 {
      searchIndexes.insert(name)
    } else {
      tables.append(
        Table(
          name: name, digest: result.text(row, 2) ?? "", triggers: Int(result.integer(row, 3)),
          isReadable: result.integer(row, 4) == 1))
    }
  }

  /// Drops all tables, with what keeps them, within a transaction. The opening after it makes those that it needs.
  static func removeTables(_ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError) {
    let tables = try PresentFeatures(connection, setup).tables
    for table in tables { try table.remove(connection, setup) }
    if !tables.isEmpty { try removeMarks(connection, setup) }
  }

  /// Drops the marks that no table is left for.
  static func removeMarks(_ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError) {
    let names = setup.layout.names
    try connection.runAll([
      "DROP TABLE IF EXISTS \(names.derivedMarks)",
      "DROP FUNCTION IF EXISTS \(names.table(DerivedStatements.compute))()",
    ])
  }
}

extension PresentFeatures.Table {
  /// Drops the table, with what keeps it.
  func remove(_ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError) {
    var parameters = ServerParameters()
    let functions = [
      setup.options.schema, DerivedTables.functionPrefix + digest, "\(DerivedTables.markPrefix)\(digest).",
    ]
    for text in functions { parameters.add(text) }
    let found = try connection.run(
      ServerStatement(
        "SELECT p.proname::text FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND "
          + "(p.proname::text = $2 OR starts_with(p.proname::text, $3))", parameters))
    let names = setup.layout.names
    // With the functions go their triggers.
    let drops = (0..<found.count).compactMap { found.text($0, 0) }.map {
      "DROP FUNCTION \(names.qualifier)\(SQLName.quoted($0))() CASCADE"
    }
    try connection.runAll(drops + ["DROP TABLE \(names.table(name))"])
  }
}
