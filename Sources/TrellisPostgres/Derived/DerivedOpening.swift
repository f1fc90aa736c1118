import TrellisModel
import TrellisStorage

/// Makes the tables of derived values that a program's model needs, and drops those that no program uses.
struct DerivedOpening {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let functions: ServerFunctions?
  private let statements: DerivedStatements

  init(_ connection: ServerConnection, _ setup: PostgresSetup, _ functions: ServerFunctions?) {
    self.connection = connection
    self.setup = setup
    self.functions = functions
    statements = DerivedStatements(setup)
  }

  /// - Returns: the tables that requests can use. Without one, they compute the values.
  func open() throws -> DerivedTables {
    let plan = try DerivedTables(setup, functions)
    let found = try DerivedTables.present(connection, setup)
    // What a former program uses is left to the programs with the model of the store.
    guard isOutdated(found, plan), try StoreMetadata.isModel(setup.model, connection, setup) else {
      return usable(plan, found)
    }
    do {
      return try connection.transaction { connection in
        try connection.limitLocks()
        try connection.lockChanges(ofSchema: setup.options.schema)
        let found = try DerivedTables.present(connection, setup)
        try create(plan, found)
        try dropFormer(plan, found)
        return plan
      }
    } catch let error as ServerError
      where error.isRefusalOfWrites || error.state.hasPrefix("0A") || error.state.hasPrefix("42")
    {
      return usable(plan, found)
    }
  }

  private func isOutdated(_ found: [DerivedTables.Present], _ plan: DerivedTables) -> Bool {
    usable(plan, found).tables.count < plan.tables.count || found.contains { !isPart($0, of: plan) }
  }

  /// Whether a table is one of a plan, whatever it has instead of the digest.
  private func isPart(_ found: DerivedTables.Present, of plan: DerivedTables) -> Bool {
    plan.tables.contains { $0.name == setup.layout.names.table(found.name) }
  }

  private func usable(_ plan: DerivedTables, _ found: [DerivedTables.Present]) -> DerivedTables {
    plan.keeping { table in
      found.contains { $0.digest == table.digest && $0.isReadable && $0.triggers == statements.triggerCount(table) }
    }
  }

  private func create(_ plan: DerivedTables, _ found: [DerivedTables.Present]) throws {
    let present = usable(plan, found)
    let missing = plan.tables.filter { table in !present.tables.contains { $0.digest == table.digest } }
    if missing.isEmpty { return }
    let patience = connection.patience
    defer { connection.patience = patience }
    let watched = Set(missing.flatMap { statements.watched($0).map(\.name) })
    try connection.lock(watched.sorted().map(setup.layout.names.table), "SHARE ROW EXCLUSIVE")
    connection.patience = setup.options.migrationPatience
    // Values become texts of the functions.
    try connection.runAll([
      "SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0",
      "SET LOCAL standard_conforming_strings = on", "SET LOCAL datestyle = 'ISO, YMD'", "SET LOCAL timezone = 'UTC'",
      "SET LOCAL extra_float_digits = 1", "SET LOCAL bytea_output = 'hex'",
    ])
    try connection.runAll(statements.marks)
    for table in missing {
      var literals: [String] = []
      if let question = statements.literals(table.parameters) {
        let answer = try connection.run(question)
        literals = (0..<table.parameters.count).map { answer.text(0, $0) ?? "NULL" }
      }
      try connection.runAll(statements.creation(table, literals: literals))
    }
  }

  /// Drops the tables of other expressions, unless another program may use them.
  private func dropFormer(_ plan: DerivedTables, _ found: [DerivedTables.Present]) throws {
    let former = found.filter { !isPart($0, of: plan) }
    if former.isEmpty { return }
    if try OpenPrograms(setup).others(connection, storingOtherwise: false) > 0 { return }
    for table in former { try DerivedTables.remove(table, connection, setup) }
  }
}

// MARK: - The tables that there are

extension DerivedTables {
  /// A table of derived values that a schema has.
  struct Present {
    /// The name, not quoted.
    let name: String
    /// The digest of its expressions; empty for a table that is not to be used.
    let digest: String
    /// The number of its triggers that run; 0 if a function is missing.
    let triggers: Int
    /// Whether the role may read it.
    let isReadable: Bool
  }

  /// The tables of a store. Those of roles that do not own the store are left out: they may contain anything.
  static func present(_ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError) -> [Present] {
    let statement = question(setup)
    let result = try connection.run(statement)
    return (0..<result.count).map { present(result, $0) }
  }

  /// Asks for the tables of a store.
  static func question(_ setup: PostgresSetup) -> ServerStatement {
    let names = setup.layout.names
    var parameters = ServerParameters()
    for text in [
      setup.options.schema, names.metadata, prefix, markPrefix, functionPrefix, names.derivedMarks,
      DerivedStatements.compute,
    ] { parameters.add(text) }
    let running = "g.tgenabled IN ('O', 'A')"
    return ServerStatement(
      "SELECT c.relname::text, coalesce(obj_description(c.oid, 'pg_class'), ''), CASE WHEN EXISTS (SELECT 1 FROM pg_proc AS p "
        + "WHERE p.pronamespace = n.oid AND p.proname::text = $5 || obj_description(c.oid, 'pg_class')) AND EXISTS "
        + "(SELECT 1 FROM pg_trigger AS g WHERE g.tgrelid = to_regclass($6) AND g.tgname::text = $7 AND \(running)) THEN "
        + "(SELECT count(*) FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid WHERE p.pronamespace = n.oid AND "
        + "starts_with(p.proname::text, $4 || obj_description(c.oid, 'pg_class') || '.') AND \(running)) ELSE 0 END, "
        + "has_table_privilege(c.oid, 'SELECT') FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        + "JOIN pg_class AS m ON m.oid = to_regclass($2) WHERE n.nspname = $1 AND c.relkind = 'r' AND "
        + "starts_with(c.relname::text, $3) AND pg_has_role(c.relowner, m.relowner, 'MEMBER') ORDER BY 1", parameters)
  }

  static func present(_ result: ServerResult, _ row: Int) -> Present {
    Present(
      name: result.text(row, 0) ?? "", digest: result.text(row, 1) ?? "", triggers: Int(result.integer(row, 2)),
      isReadable: result.integer(row, 3) == 1)
  }

  /// Drops all tables, with what keeps them, within a transaction. The opening after it makes those that it needs.
  static func removeAll(_ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError) {
    for table in try present(connection, setup) { try remove(table, connection, setup) }
  }

  fileprivate static func remove(
    _ table: Present, _ connection: ServerConnection, _ setup: PostgresSetup
  ) throws(ServerError) {
    var parameters = ServerParameters()
    for text in [setup.options.schema, functionPrefix + table.digest, "\(markPrefix)\(table.digest)."] {
      parameters.add(text)
    }
    let found = try connection.run(
      ServerStatement(
        "SELECT p.proname::text FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = $1 AND "
          + "(p.proname::text = $2 OR starts_with(p.proname::text, $3))", parameters))
    let names = setup.layout.names
    // With the functions go their triggers.
    let functions = (0..<found.count).compactMap { found.text($0, 0) }.map {
      "DROP FUNCTION \(names.qualifier)\(SQLName.quoted($0))() CASCADE"
    }
    try connection.runAll(functions + ["DROP TABLE \(names.qualifier)\(SQLName.quoted(table.name))"])
  }
}
