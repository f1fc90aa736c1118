import TrellisModel
import TrellisStorage

/// Makes the tables of former rows that a program's model needs, and drops those that no program uses.
struct FormerTablesOpening {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let statements: FormerRows
  private let plan: FormerTables

  init(_ connection: ServerConnection, _ setup: PostgresSetup) {
    self.connection = connection
    self.setup = setup
    statements = FormerRows(setup)
    plan = FormerTables(setup.schema)
  }

  private var names: SQLNames { statements.names }

  /// - Returns: the tables that can be read.
  func open() throws -> FormerTables {
    let found = try PresentFormerTables(connection, setup)
    // What a former program uses is left to the programs with the model of the store.
    guard !setup.options.isReadOnly, isOutdated(found), try StoreMetadata.isModel(setup.model, connection, setup) else {
      return usable(found)
    }
    let mayDrop = try !former(found).isEmpty && OpenPrograms(setup).areAlone(connection)
    do {
      try connection.transaction { connection in
        try connection.limitLocks()
        try connection.lockChanges(ofSchema: setup.options.schema)
        let found = try PresentFormerTables(connection, setup)
        try make(found)
        if try mayDrop && OpenPrograms(setup).others(connection, storingOtherwise: false) == 0 {
          try connection.runAll(former(found).drops(statements))
        }
      }
    } catch let error as ServerError where error.isRefusalOfWrites || error.isOfMissingFeature {
      return usable(found)
    }
    return plan
  }

  private func isOutdated(_ found: PresentFormerTables) -> Bool {
    !former(found).isEmpty || plan.tables.contains { found.state(of: $0, statements) != .current }
  }

  private func usable(_ found: PresentFormerTables) -> FormerTables {
    plan.keeping { found.state(of: $0, statements) != .missing && found.isReadable(names.fitted($0.name)) }
  }

  /// What there is of other models.
  private func former(_ found: PresentFormerTables) -> PresentFormerTables {
    found.leavingOut(
      tables: plan.tables.map { names.fitted($0.name) },
      functions: plan.tables.map { names.fitted(FormerTables.functionPrefix + $0.origin) })
  }

  /// Makes what is missing, within a transaction.
  ///
  /// - Parameters:
  ///   - carried: the tables that a migration has given the columns of the model.
  ///   - fresh: the tables that are new and have no rows.
  func make(
    _ found: PresentFormerTables, carried: Set<String> = [], fresh: Set<String> = []
  ) throws {
    let states = plan.tables.map { table in
      (table: table, state: carried.contains(table.origin) ? .otherTriggers : found.state(of: table, statements))
    }.filter { $0.state != .current }
    if states.isEmpty { return }
    try connection.lock(states.map { names.table($0.table.origin) }.sorted(), "SHARE ROW EXCLUSIVE")
    var endsValues = false
    for (table, state) in states {
      if state != .otherTriggers {
        try StoreMetadata.refuseForeignTable(names.fitted(table.name), connection, setup)
        try connection.runAll(["DROP TABLE IF EXISTS \(names.table(table.name))"] + statements.creation(table))
        if !fresh.contains(table.origin) { endsValues = true }
      }
      try connection.runAll(statements.triggers(table))
    }
    guard endsValues else { return }
    try connection.runAll([
      "INSERT INTO \(names.metadata) SELECT 'historyValues', coalesce(max(\"number\"), 0)::text FROM \(names.history) "
        + "ON CONFLICT (\"key\") DO UPDATE SET \"value\" = excluded.\"value\""
    ])
  }
}

/// The tables of former rows that a schema has, and the functions that write to them.
struct PresentFormerTables {
  enum State {
    case current, otherTriggers, otherColumns
    /// Not there, or changes were made that it does not tell of.
    case missing
  }

  /// The comments and whether the role may read them, by the names on the server.
  private var tables: [String: (comment: String, isReadable: Bool)] = [:]
  /// The number of triggers that run each function.
  private var functions: [String: Int] = [:]

  init(_ connection: ServerConnection, _ setup: PostgresSetup) throws(ServerError) {
    var parameters = ServerParameters()
    for text in [setup.options.schema, setup.schema.names.metadata] { parameters.add(text) }
    // The tables of other schemas are not looked at, since a database may have thousands.
    let space = "(SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = $1)"
    let isTable = CatalogNames.condition("c.relname", hasPrefix: FormerTables.prefix)
    let isFunction = CatalogNames.condition("p.proname", hasPrefix: FormerTables.functionPrefix)
    // Those of roles that do not own the store may contain anything.
    let isOwn = "pg_has_role(o.owner, (SELECT m.relowner FROM pg_class AS m WHERE m.oid = to_regclass($2)), 'MEMBER')"
    let result = try connection.run(
      ServerStatement(
        "SELECT o.name, o.comment, o.readable, o.triggers FROM (SELECT c.relname::text, c.relnamespace, c.relowner, "
          + "coalesce(obj_description(c.oid, 'pg_class'), ''), has_table_privilege(c.oid, 'SELECT'), NULL::bigint "
          + "FROM pg_class AS c WHERE c.relkind = 'r' AND \(isTable) AND c.relnamespace = \(space) "
          + "UNION ALL SELECT p.proname::text, p.pronamespace, p.proowner, '', FALSE, coalesce(t.count, 0) FROM pg_proc AS p "
          + "LEFT JOIN (SELECT g.tgfoid, count(*) FROM pg_trigger AS g WHERE g.tgenabled IN ('O', 'A') GROUP BY g.tgfoid) "
          + "AS t(function, count) ON t.function = p.oid WHERE \(isFunction) "
          + "AND p.pronamespace = \(space)) AS o(name, space, owner, comment, readable, triggers) WHERE \(isOwn)",
        parameters))
    for row in 0..<result.count {
      let name = result.text(row, 0) ?? ""
      if result.isNull(row, 3) {
        tables[name] = (result.text(row, 1) ?? "", result.integer(row, 2) == 1)
      } else {
        functions[name] = Int(result.integer(row, 3))
      }
    }
  }

  var isEmpty: Bool { tables.isEmpty && functions.isEmpty }

  /// The names of the tables on the server.
  var names: [String] { tables.keys.sorted() }

  func isReadable(_ name: String) -> Bool { tables[name]?.isReadable == true }

  func has(_ name: String) -> Bool { tables[name] != nil }

  func state(of table: FormerTables.Table, _ statements: FormerRows) -> State {
    let names = statements.names
    let function = names.fitted(FormerTables.functionPrefix + table.origin)
    guard let found = tables[names.fitted(table.name)], functions[function] == FormerRows.events.count,
      found.comment.hasSuffix(" " + statements.schema)
    else { return .missing }
    let wanted = statements.comment(table)
    if TextBytes.areEqual(found.comment, wanted) { return .current }
    return found.comment.prefix(16) == wanted.prefix(16) ? .otherTriggers : .otherColumns
  }

  func leavingOut(tables left: [String], functions leftFunctions: [String]) -> PresentFormerTables {
    var rest = self
    for name in left { rest.tables[name] = nil }
    for name in leftFunctions { rest.functions[name] = nil }
    return rest
  }

  /// The statements that drop all of it.
  func drops(_ statements: FormerRows) -> [String] {
    functions.keys.sorted().map(statements.drop(function:))
      + tables.keys.sorted().map { "DROP TABLE \(statements.names.qualifier)\(SQLName.quoted($0))" }
  }
}
