import Foundation
import TrellisModel
import TrellisStorage

/// Migrates a store to a model, within a transaction: either everything is done, or the schema is as it was.
///
/// A table whose rows stay is changed by statements. All others are read, migrated as a document is, and written again:
/// page by page where each row depends on itself alone (``RowPages``), otherwise all of them in memory, which limits their
/// size. Both make one list of statements (``SchemaChange``).
struct ServerMigration {
  private let need: MigrationNeed
  private let connection: ServerConnection
  /// The tables of the current model, and of the store's.
  private let setup: PostgresSetup
  private let stored: PostgresSetup
  private let observer: MigrationObserver?
  private let now = QueryClock.now

  init(
    _ need: MigrationNeed, _ connection: ServerConnection, _ setup: PostgresSetup, _ observer: MigrationObserver? = nil
  ) {
    self.need = need
    self.connection = connection
    self.setup = setup
    self.observer = observer
    stored = PostgresSetup(setup.address, setup.options, need.migration.stored)
  }

  private var policy: MigrationPolicy { setup.options.migration }

  /// Whether programs with the stored model can go on using the store: no row is written again, and only columns, tables
  /// and their parts are added.
  private func isAdditive(_ changes: ServerTableChanges) -> Bool {
    changes.droppedRoots.isEmpty && changes.droppedPairs.isEmpty
      && Expansion(need.migration, steps: need.steps).isAdditive
  }

  /// Whether all programs can go on using the store.
  private func isForAll(_ changes: ServerTableChanges) -> Bool { need.migration.isIdentity || isAdditive(changes) }

  private var names: SQLNames { setup.layout.names }

  private var changes: ServerTableChanges {
    ServerTableChanges(
      need.migration, stored.schema, setup.schema, now: now, written: setup.options.writtenTables,
      hasSteps: !need.steps.isEmpty)
  }

  private func check() throws(StoreError) { try observer?.check(setup.name) }

  // MARK: Planning

  /// The plan of the migration; nil if the store need not be migrated. Nothing is written.
  func plan() throws -> MigrationPlan? {
    let found = try SchemaFacts(connection, schema: setup.options.schema)
    try checkTables(found)
    let changes = changes
    var plan = try plan(changes) { try counts(changes, countsBreaches: true) }
    if plan.steps.isEmpty && need.isIdentity { return nil }
    let parts = PartChanges(changes, stored.schema, setup.schema, found)
    let change = SchemaChange(changes, parts, setup.schema, keepsDefaults: isAdditive(changes))
    plan.statements = change.tables + change.pagedTables + change.parts + parts.later.map(\.statement)
    return plan
  }

  private func plan(
    _ changes: ServerTableChanges, decidesOnly: Bool = false, _ inMemory: @escaping () throws -> (any MigrationCounts)?
  ) throws -> MigrationPlan {
    let counts = ServerCounts(
      connection: connection, migration: need.migration, stored: stored, current: setup, changes: changes, now: now,
      decidesOnly: decidesOnly, inMemory: ServerCounts.MemoryCounts(inMemory))
    return try MigrationPlan(
      need.migration, counts: counts, allowsLoss: policy.mode == .losing, steps: need.steps)
  }

  /// Refuses what the model does not answer before a table is locked, because counts take long. Others go on writing, so
  /// the migration finds out again what decides.
  ///
  /// - Throws: ``ServerError``; ``StoreError``.
  func foresee(_ metadata: StoreMetadata) throws {
    let changes = changes
    if !isForAll(changes), !policy.stopsFormerPrograms,
      try OpenPrograms(setup).others(connection, storingOtherwise: true) > 0,
      isWaiting(in: metadata.openModels) || !mayWait
    {
      // Nothing is migrated beside them.
      return
    }
    try checkTables(SchemaFacts(connection, schema: setup.options.schema))
    try plan(changes) { try counts(changes, countsBreaches: false) }.check(policy, setup.name)
  }

  // MARK: Migrating

  /// Migrates, or lets the model wait for former programs that could not use the store afterwards.
  ///
  /// - Returns: the models whose programs can use the store.
  /// - Throws: ``ServerError``; ``StoreError``.
  func run(_ metadata: StoreMetadata) throws -> OpenModels {
    var models = metadata.openModels
    let changes = changes
    if isForAll(changes) {
      if !need.migration.isIdentity { models.expand(from: stored.storageChecksum) }
      return try migrate(changes, models, isAdditive: true)
    }
    if !policy.stopsFormerPrograms {
      let count = try OpenPrograms(setup).othersThatStay(connection, storingOtherwise: true, check)
      if count > 0 { return try wait(for: count, models) }
    }
    models.replace(with: setup.storageChecksum)
    return try migrate(changes, models, isAdditive: false)
  }

  /// - Parameters:
  ///   - models: the models whose programs can use the store afterwards.
  ///   - isAdditive: whether programs with the stored model are among them.
  private func migrate(
    _ planned: ServerTableChanges, _ models: OpenModels, isAdditive: Bool
  ) throws -> OpenModels {
    var changes = planned
    let before = try SchemaFacts(connection, schema: setup.options.schema)
    try checkTables(before)
    // A step may read and write any table.
    if isAdditive && need.steps.isEmpty { try lockTables(of: changes, before) } else { try lockTables() }
    if !isAdditive { try PresentFeatures.removeTables(connection, setup) }
    let found = try SchemaFacts(connection, schema: setup.options.schema)
    try checkTables(found)
    connection.patience = setup.options.migrationPatience
    // The steps of this program must not make objects with keys that another one reserves meanwhile.
    let keys = ServerStatement("SELECT \"next\" FROM \(names.keys)\(need.steps.isEmpty ? "" : " FOR UPDATE")")
    let nextKey = try connection.run(keys).integer(0, 0)
    let pages = pages(changes)
    let states = try pages == nil ? read(changes, needsAll: !need.steps.isEmpty) : nil
    let counts = try states?.counts(countsBreaches: false)
    // A page is refused when it is read.
    var plan = try plan(changes, decidesOnly: true) { counts }
    // A refusal has the numbers.
    if !plan.questions.isEmpty { plan = try self.plan(changes) { counts ?? pages.map(PageCounts.init) } }
    try plan.check(policy, setup.name)
    var migrated = try states?.migrated(Layout(setup.model), of: setup.name, mayRepeat: !need.steps.isEmpty)
    var statements: [ServerStatement] = []
    if !need.steps.isEmpty, let states, let state = migrated {
      let after = try states.run(
        need.steps, on: (state, nextKey), Layout(setup.model), policy, of: setup.name, check: check)
      for root in changes.kept.keys where !state.hasSameRows(as: after.state, of: root) { changes.write(root: root) }
      for table in changes.keptPairs.keys where !state.hasSamePairs(as: after.state, of: table) {
        changes.write(pairs: table)
      }
      var parameters = ServerParameters()
      parameters.add(after.nextKey)
      statements.append(ServerStatement("UPDATE \(names.keys) SET \"next\" = greatest(\"next\", $1)", parameters))
      migrated = after.state
    }
    let former = try FormerMigration(connection, setup, stored.schema, changes)
    let rest = try change(changes, found, migrated, pages, keepsDefaults: isAdditive)
    let writing = MetadataStatements(names)
    statements += writing.model(setup.model, passing: need.steps) + [writing.set(.migrations, models.text)]
    try connection.runAll(statements)
    try ServerHistoryOpening(connection, setup, origin: 0).noteMigration()
    try former.finish()
    try checkResult()
    observer?.finish(rest)
    try check()
    return models
  }

  /// Gives a store the text of a model that leaves everything stored as it is, and drops the indexes that it does not declare.
  /// The checks of such a model are those that the store has, unless an earlier version of Trellis made it.
  static func replaceText(
    of stored: Model, _ connection: ServerConnection, _ setup: PostgresSetup
  ) throws {
    let former = PostgresSchema(model: stored, names: setup.layout.names)
    let changes = ServerTableChanges(
      Migration(from: stored, to: setup.model), former, setup.schema, now: QueryClock.now)
    let found = try SchemaFacts(connection, schema: setup.options.schema)
    let parts = PartChanges(changes, former, setup.schema, found, changesChecks: false)
    let change = SchemaChange(changes, parts, setup.schema)
    let names = setup.layout.names
    try connection.lock(parts.changedTables.sorted().map(names.table), "ACCESS EXCLUSIVE")
    connection.patience = setup.options.migrationPatience
    try connection.runAll(
      (change.tables + change.parts).map { ServerStatement($0) }
        + MetadataStatements(setup.layout.names).model(setup.model, passing: []))
  }

  // MARK: Former programs

  private var backward: Migration { Migration(from: setup.model, to: stored.model) }

  /// Whether the program can use the store as it is.
  private var mayWait: Bool { need.steps.isEmpty && Expansion(backward).isAdditive }

  private func isWaiting(in models: OpenModels) -> Bool { models.entries[setup.storageChecksum]?.isWaiting == true }

  /// Uses the store as it is, if its model only adds to the current one. The migration is left to an opening after the
  /// last former program has ended.
  ///
  /// - Throws: ``StoreError`` if the program cannot use the store as it is.
  private func wait(for count: Int, _ models: OpenModels) throws -> OpenModels {
    guard mayWait else { throw stops(count) }
    if isWaiting(in: models) { return models }
    var models = models
    models.wait(for: setup.storageChecksum)
    let change = ServerTableChanges(backward, setup.schema, stored.schema, now: now)
    let tables = change.kept.values.filter { $0.added.contains { $0.value != nil } }
    try connection.lock(tables.map { names.table($0.root.name) }.sorted(), "ACCESS EXCLUSIVE")
    let writing = MetadataStatements(names)
    try connection.runAll(
      tables.flatMap { SchemaChange.defaults($0, names) }.map { ServerStatement($0) }
        + [writing.waiting(setup.model), writing.set(.migrations, models.text)])
    return models
  }

  /// The refusal to stop programs with the stored model, or with a former one.
  private func stops(_ count: Int) -> StoreError {
    let reasons = Expansion(need.migration, steps: need.steps).obstacles
    return StoreError(
      .formerPrograms,
      "\(setup.name) is not migrated, because programs with a former model are connected to it (\(count) "
        + "\(count == 1 ? "connection" : "connections")) and could not use it afterwards\(Self.list(reasons)).",
      remedy: "End them first; or release what is only added in a version of its own; or migrate with "
        + "stoppingFormerPrograms(), after which each of their calls fails.")
  }

  /// The first reasons, as the end of a sentence.
  private static func list(_ reasons: [Expansion.Obstacle]) -> String {
    if reasons.isEmpty { return "" }
    let shown = reasons.prefix(3).map(\.description).joined(separator: "; ")
    return " (\(shown)\(reasons.count > 3 ? "; and \(reasons.count - 3) more" : ""))"
  }

  /// Takes the tables that get columns or parts. All others stay in use.
  private func lockTables(of changes: ServerTableChanges, _ found: SchemaFacts) throws {
    let parts = PartChanges(changes, stored.schema, setup.schema, found)
    let changed = parts.changedTables.union(
      changes.kept.values.filter { !$0.added.isEmpty }.map { names.fitted($0.root.name) })
    try connection.lock(
      changed.filter { found.tables[$0] != nil }.sorted().map(names.table), "ACCESS EXCLUSIVE")
  }

  /// Takes all tables before one is read, so that nothing is waited for later: statements about a foreign key or an index
  /// need tables that stay as well. The first is that of the generation: with it, no program reads or writes the store.
  private func lockTables() throws {
    let stored = need.migration.stored
    let tables = stored.entities.filter { $0.parent == nil }.map(\.name) + stored.joinTables.map(\.name)
    try connection.lock([names.metadata] + tables.sorted().map(names.table), "ACCESS EXCLUSIVE")
  }

  /// Reads what has to be in memory; nil if nothing has to be.
  private func read(_ changes: ServerTableChanges, needsAll: Bool) throws -> StateMigration? {
    let needed = NeededTables(changes, needsAll: needsAll)
    if needed.isEmpty && !needsAll { return nil }
    var reading = StateReading(connection, stored, check: check)
    for root in needed.roots.sorted() { try reading.read(need.migration.stored.entities[root]) }
    for table in needed.pairs.sorted() { try reading.read(need.migration.stored.joinTables[table]) }
    return StateMigration(need.migration, of: reading.snapshot, now: now)
  }

  /// Nil if rows have to be in memory together, or if none are written.
  private func pages(_ changes: ServerTableChanges) -> RowPages? {
    RowPages(changes, connection, stored, now: now, check: check)
  }

  /// The counts of what statements cannot count.
  private func counts(_ changes: ServerTableChanges, countsBreaches: Bool) throws -> (any MigrationCounts)? {
    let needsAll = countsBreaches && !need.migration.newBounds.isEmpty
    if !needsAll, let pages = pages(changes) { return PageCounts(pages: pages) }
    return try read(changes, needsAll: needsAll)?.counts(countsBreaches: countsBreaches)
  }

  /// - Returns: the rest of the work, in the units of the observer.
  private func change(
    _ changes: ServerTableChanges, _ found: SchemaFacts, _ state: MemoryState?, _ pages: RowPages?, keepsDefaults: Bool
  ) throws -> Double {
    let parts = PartChanges(changes, stored.schema, setup.schema, found)
    let change = SchemaChange(changes, parts, setup.schema, keepsDefaults: keepsDefaults)
    let rows = try pages?.count() ?? changes.writtenRoots.reduce(0) { $0 + (state?.tables[$1.index].count ?? 0) }
    // Indexes take about half as long as rows.
    let rest = Double(rows) * 0.5
    let statements = change.tables.count + change.pagedTables.count + change.parts.count + parts.later.count
    observer?.begin(total: Double(rows) + rest + Double(statements))
    if pages != nil { try connection.run(ServerStatement("SAVEPOINT \(Self.savepoint)")) }
    try run(change.tables)
    if let pages { try write(pages, changes) }
    if let state {
      let writing = StateWriting(connection, setup, state) { count throws(StoreError) in
        observer?.finish(Double(count))
        try check()
      }
      for root in changes.writtenRoots { try writing.write(root) }
      for table in changes.writtenPairs { try writing.write(table) }
    }
    try run(change.pagedTables + change.parts)
    return rest
  }

  private static let savepoint = "\"_pages\""

  /// Writes the rows of the former tables.
  private func write(_ pages: RowPages, _ changes: ServerTableChanges) throws {
    let layout = Layout(setup.model)
    for (number, root) in pages.roots.enumerated() {
      try pages.read(root, named: SchemaChange.paged(number, names)) { page, count in
        if try !page.plan(allowsLoss: policy.mode == .losing).questions.isEmpty {
          // A refusal has the numbers of all pages.
          try connection.run(ServerStatement("ROLLBACK TO SAVEPOINT \(Self.savepoint)"))
          try plan(changes) { PageCounts(pages: pages) }.check(policy, setup.name)
        }
        let state = try page.migrated(layout, of: setup.name)
        let writing = StateWriting(connection, setup, state) { _ throws(StoreError) in try check() }
        for root in changes.writtenRoots { try writing.write(root) }
        // Rows without a place are done as well.
        observer?.finish(Double(count))
      }
    }
  }

  private func run(_ statements: [String]) throws {
    for statement in statements {
      try check()
      do throws(ServerError) {
        try connection.run(ServerStatement(statement))
      } catch {
        throw refusal(error) ?? error
      }
      observer?.finish(1)
    }
  }

  // MARK: Checks

  /// The reason for a failure that the model or other programs have.
  private func refusal(_ error: ServerError) -> StoreError? {
    switch error.state {
    case "23503":
      return StoreError(
        .danglingReference,
        "The migration of \(setup.name) would leave a row of \(error.table) that refers to a deleted one; nothing was changed.",
        remedy: "Set or delete what refers to an object before a step deletes it.")
    case "23505", "23P01":
      guard let index = IndexPlan(setup.model).all.first(where: { names.fitted($0.name) == error.constraint }) else {
        return nil
      }
      let entity = setup.model.entities[index.entity]
      let properties = index.properties.map { entity.properties[$0].name }
      return StoreError(
        .notUnique,
        "\(setup.name) cannot be migrated: \(entity.name).\(properties.joined(separator: ", ")) is unique in this model, and "
          + "a value is stored more than once.",
        remedy: "Nothing was changed. Make the values unique with the former program, or unite the rows in a step.",
        entity: entity.name, properties: properties)
    default: return BrokenCheck(error, [setup, stored])?.migrationError(setup.name)
    }
  }

  /// Before the migration, the schema must have the tables of its own model, and none that the current model adds.
  private func checkTables(_ found: SchemaFacts) throws(StoreError) {
    let expected = SchemaFacts(stored.schema)
    if let table = found.differingTable(from: expected) {
      throw strange("its table \(table) is not as its model has it")
    }
    let added = SchemaFacts(setup.schema)
    for name in found.tables.keys.sorted() where added.tables[name] != nil && expected.tables[name] == nil {
      throw strange("it has a table \(name), which its model does not have")
    }
    for name in found.parts.keys.sorted() where added.parts[name] != nil && expected.parts[name] == nil {
      throw strange("it has a key or an index \(name), which its model does not have")
    }
  }

  private func strange(_ reason: String) -> StoreError {
    StoreError(
      .damaged, "\(setup.name) is not migrated: \(reason). Nothing was changed.",
      remedy: "Undo what another program has changed in the schema, or restore it from a backup.")
  }

  /// After the migration, the schema must have the structure of a new one.
  private func checkResult() throws {
    let found = try SchemaFacts(connection, schema: setup.options.schema)
    let expected = SchemaFacts(setup.schema)
    guard let name = found.differingTable(from: expected) ?? found.differingPart(from: expected) else { return }
    throw StoreError(
      .internalError, "The migration of \(setup.name) would not make \(name) as the model has it; nothing was changed.",
      remedy: "Report this as a mistake in Trellis, with both models.")
  }
}

// MARK: - Changes by steps

extension MemoryState {
  /// Whether a table has the very same rows in another state. A row that a step has written is another one, whatever its
  /// values.
  fileprivate func hasSameRows(as other: MemoryState, of root: Int) -> Bool {
    guard tables[root].count == other.tables[root].count else { return false }
    var isSame = true
    tables[root].forEach { key, row in
      isSame = other.row(root, key) === row
      return isSame
    }
    return isSame
  }

  fileprivate func hasSamePairs(as other: MemoryState, of table: Int) -> Bool {
    var (mine, others): ([SaveRequest.Pairs.Pair], [SaveRequest.Pairs.Pair]) = ([], [])
    forEachPair(of: table) { pair in
      mine.append(pair)
      return true
    }
    other.forEachPair(of: table) { pair in
      others.append(pair)
      return true
    }
    return mine == others
  }
}
