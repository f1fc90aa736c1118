import TrellisModel
import TrellisStorage

/// Makes the tables of derived values that a program's model needs, and drops those and the full-text indexes that no
/// program uses.
struct FeatureOpening {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let functions: ServerFunctions?
  private let searches: SearchIndexes
  private let statements: DerivedStatements

  init(
    _ connection: ServerConnection, _ setup: PostgresSetup, _ functions: ServerFunctions?, _ searches: SearchIndexes
  ) {
    self.searches = searches
    self.connection = connection
    self.setup = setup
    self.functions = functions
    statements = DerivedStatements(setup)
  }

  /// - Returns: what requests can use.
  func open() throws -> StoreFeatureParts {
    let plan = StoreFeatureParts(derived: try DerivedTables(for: setup, functions), searches: searches)
    let found = try PresentFeatures(connection, setup)
    // What a former program uses is left to the programs with the model of the store.
    guard !setup.options.isReadOnly, isOutdated(found, plan), try StoreMetadata.isModel(setup.model, connection, setup)
    else {
      return usable(plan, found)
    }
    let mayDrop = try !former(found, plan).isEmpty && OpenPrograms(setup).areAlone(connection)
    do {
      return try connection.transaction { connection in
        try connection.limitLocks()
        try connection.lockChanges(ofSchema: setup.options.schema)
        let found = try PresentFeatures(connection, setup)
        try create(plan, found)
        if mayDrop { try drop(former(found, plan), leaving: plan) }
        return StoreFeatureParts(derived: plan.derived, searches: usable(plan, found).searches)
      }
    } catch let error as ServerError where error.isRefusalOfWrites || error.isOfMissingFeature {
      return usable(plan, found)
    }
  }

  private func isOutdated(_ found: PresentFeatures, _ plan: StoreFeatureParts) -> Bool {
    let present = usable(plan, found)
    return present.derived.tables.count < plan.derived.tables.count || !former(found, plan).isEmpty
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
    if tables.isEmpty { return }
    let patience = connection.patience
    defer { connection.patience = patience }
    let watched = Set(tables.flatMap { statements.watched($0).map(\.name) })
    let names = setup.layout.names
    try connection.lock(watched.sorted().map(names.table), "SHARE ROW EXCLUSIVE")
    connection.patience = setup.options.migrationPatience
    // Values become texts of the functions.
    try connection.runAll([
      "SET LOCAL statement_timeout = 0", "SET LOCAL idle_in_transaction_session_timeout = 0",
      "SET LOCAL standard_conforming_strings = on", "SET LOCAL datestyle = 'ISO, YMD'", "SET LOCAL timezone = 'UTC'",
      "SET LOCAL extra_float_digits = 1", "SET LOCAL bytea_output = 'hex'",
    ])
    try StoreMetadata.refuseForeignTable("_derivedMarks", connection, setup)
    try connection.runAll(statements.marks)
    for table in tables {
      var literals: [String] = []
      if let question = statements.literals(table.parameters) {
        let answer = try connection.run(question)
        literals = (0..<table.parameters.count).map { answer.text(0, $0) ?? "NULL" }
      }
      try connection.runAll(statements.creation(table, literals: literals))
    }
  }

  /// Drops what is there for other models.
  private func drop(_ former: PresentFeatures, leaving plan: StoreFeatureParts) throws {
    if try OpenPrograms(setup).others(connection, storingOtherwise: false) > 0 { return }
    for table in former.tables { try table.remove(connection, setup) }
    if plan.derived.tables.isEmpty && !former.tables.isEmpty { try PresentFeatures.removeMarks(connection, setup) }
    try connection.runAll(former.searchIndexes.sorted().map { "DROP INDEX \(setup.layout.names.table($0))" })
  }
}
