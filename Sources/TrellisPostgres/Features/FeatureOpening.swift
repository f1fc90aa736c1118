import TrellisModel
import TrellisStorage

/// What a store keeps beside the rows, for requests that its functions would otherwise compute for each row. Only what is
/// there for the program's model is named here; a request does without the rest.
struct StoreFeatureParts: Sendable {
  var derived = DerivedTables()
  var searches = SearchIndexes()
}

/// Makes the tables of derived values and the full-text indexes that a program's model needs, and drops those that no
/// program uses.
struct FeatureOpening {
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

  /// - Returns: what requests can use.
  func open() throws -> StoreFeatureParts {
    let plan = StoreFeatureParts(
      derived: try DerivedTables(setup, functions), searches: SearchIndexes(setup, functions))
    let found = try PresentFeatures(connection, setup)
    // What a former program uses is left to the programs with the model of the store.
    guard isOutdated(found, plan), try StoreMetadata.isModel(setup.model, connection, setup) else {
      return usable(plan, found)
    }
    do {
      return try connection.transaction { connection in
        try connection.limitLocks()
        try connection.lockChanges(ofSchema: setup.options.schema)
        let found = try PresentFeatures(connection, setup)
        try create(plan, found)
        try dropFormer(plan, found)
        return plan
      }
    } catch let error as ServerError where error.isRefusalOfWrites || error.isOfMissingFeature {
      return usable(plan, found)
    }
  }

  private func isOutdated(_ found: PresentFeatures, _ plan: StoreFeatureParts) -> Bool {
    let present = usable(plan, found)
    return present.derived.tables.count < plan.derived.tables.count
      || present.searches.indexes.count < plan.searches.indexes.count
      || !former(found, plan).isEmpty
  }

  private func usable(_ plan: StoreFeatureParts, _ found: PresentFeatures) -> StoreFeatureParts {
    StoreFeatureParts(
      derived: plan.derived.keeping { table in
        found.tables.contains {
          $0.digest == table.digest && $0.isReadable && $0.triggers == statements.triggerCount(table)
        }
      }, searches: plan.searches.keeping { found.searchIndexes.contains($0.name) })
  }

  /// What there is of other models.
  private func former(_ found: PresentFeatures, _ plan: StoreFeatureParts) -> PresentFeatures {
    var former = PresentFeatures()
    // A table of the plan may have lost its digest.
    former.tables = found.tables.filter { present in
      !plan.derived.tables.contains { $0.name == setup.layout.names.table(present.name) }
    }
    former.searchIndexes = found.searchIndexes.subtracting(plan.searches.indexes.map(\.name))
    return former
  }

  // MARK: Changes

  private func create(_ plan: StoreFeatureParts, _ found: PresentFeatures) throws {
    let present = usable(plan, found)
    let tables = plan.derived.keeping { table in !present.derived.tables.contains { $0.digest == table.digest } }.tables
    let indexes = plan.searches.keeping { index in !present.searches.indexes.contains { $0.name == index.name } }
      .indexes
    if tables.isEmpty && indexes.isEmpty { return }
    let patience = connection.patience
    defer { connection.patience = patience }
    let watched = Set(tables.flatMap { statements.watched($0).map(\.name) })
    let names = setup.layout.names
    try connection.lock(watched.sorted().map(names.table), "SHARE ROW EXCLUSIVE")
    try connection.lock(Set(indexes.map(\.table)).subtracting(watched).sorted().map(names.table), "SHARE")
    connection.patience = setup.options.migrationPatience
    // Values become texts of the functions.
    try connection.runAll([
      "SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0",
      "SET LOCAL standard_conforming_strings = on", "SET LOCAL datestyle = 'ISO, YMD'", "SET LOCAL timezone = 'UTC'",
      "SET LOCAL extra_float_digits = 1", "SET LOCAL bytea_output = 'hex'",
    ])
    if !tables.isEmpty { try connection.runAll(statements.marks) }
    for table in tables {
      var literals: [String] = []
      if let question = statements.literals(table.parameters) {
        let answer = try connection.run(question)
        literals = (0..<table.parameters.count).map { answer.text(0, $0) ?? "NULL" }
      }
      try connection.runAll(statements.creation(table, literals: literals))
    }
    for index in indexes {
      // One that is not valid.
      try connection.runAll(["DROP INDEX IF EXISTS \(names.table(index.name))", index.statement])
    }
  }

  /// Drops what is there for other models, unless another program may use it.
  private func dropFormer(_ plan: StoreFeatureParts, _ found: PresentFeatures) throws {
    let former = former(found, plan)
    if former.isEmpty { return }
    if try OpenPrograms(setup).others(connection, storingOtherwise: false) > 0 { return }
    for table in former.tables { try table.remove(connection, setup) }
    try connection.runAll(former.searchIndexes.sorted().map { "DROP INDEX \(setup.layout.names.table($0))" })
  }
}

// MARK: - What there is

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
      setup.options.schema, names.metadata, DerivedTables.prefix, DerivedTables.markPrefix,
      DerivedTables.functionPrefix,
      names.derivedMarks, DerivedStatements.compute, SearchIndexes.prefix,
    ] { parameters.add(text) }
    let running = "g.tgenabled IN ('O', 'A')"
    let digest = "obj_description(c.oid, 'pg_class')"
    let triggers =
      "CASE WHEN EXISTS (SELECT 1 FROM pg_proc AS p WHERE p.pronamespace = n.oid AND p.proname::text = $5 || \(digest)) "
      + "AND EXISTS (SELECT 1 FROM pg_trigger AS g WHERE g.tgrelid = to_regclass($6) AND g.tgname::text = $7 AND \(running)) "
      + "THEN (SELECT count(*) FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid WHERE p.pronamespace = n.oid AND "
      + "starts_with(p.proname::text, $4 || \(digest) || '.') AND \(running)) ELSE 0 END"
    return ServerStatement(
      "SELECT c.relname::text, c.relkind = 'i', coalesce(\(digest), ''), \(triggers), has_table_privilege(c.oid, 'SELECT') "
        + "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace LEFT JOIN pg_index AS i ON i.indexrelid = c.oid "
        + "JOIN pg_class AS m ON m.oid = to_regclass($2) WHERE n.nspname = $1 AND "
        + "(c.relkind = 'r' AND starts_with(c.relname::text, $3) OR c.relkind = 'i' AND starts_with(c.relname::text, $8) AND "
        + "i.indisvalid) AND pg_has_role(c.relowner, m.relowner, 'MEMBER') ORDER BY 1", parameters)
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
    for table in try PresentFeatures(connection, setup).tables { try table.remove(connection, setup) }
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
