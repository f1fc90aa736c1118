internal import CSQLite
import Foundation
import TrellisModel

/// Migrates a file to a model, in one transaction on a connection of its own: either everything is done, or the file is
/// as it was.
struct FileMigration {
  let path: String
  let model: Model
  let options: OpenOptions

  /// Migrates the file, unless another program has done so in the meantime.
  func run() throws(StoreError) {
    let database = try Database(path: path, options: options)
    // If the migration is refused, closing must not checkpoint the write-ahead log that a crashed program has left.
    if PlatformFiles.exists(path + "-wal") {
      _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }
    // With foreign keys, dropping a table would delete its rows one by one. SQLite ignores the setting inside a
    // transaction.
    try database.execute(
      "PRAGMA foreign_keys = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -65536; PRAGMA synchronous = FULL",
      doing: "prepare the connection")
    // While a step writes, the former rows are read through another connection.
    if !options.migration.steps.isEmpty { try database.execute("PRAGMA journal_mode = WAL", doing: "migrate") }
    try begin(database)
    do throws(StoreError) {
      guard let need = try Metadata.need(of: model, options.migration, in: database) else {
        return try database.execute("ROLLBACK", doing: "migrate")
      }
      try migrate(need, database)
    } catch {
      try? database.execute("ROLLBACK", doing: "migrate")
      throw error
    }
  }

  /// The plan of a file that may be missing, empty or no store.
  func planOfFile() throws(StoreError) -> MigrationPlan? {
    let start: [UInt8]
    do throws(FileProblem) { start = try PlatformFiles.start(of: path, FileHeader.length) } catch {
      if case .missing = error.kind { return nil }
      throw StoreError(
        .cannotOpen, "\(path) cannot be opened: \(error.reason).", remedy: "Give the store the path of a file.")
    }
    if start.isEmpty { return nil }
    try FileHeader.check(start, path: path, isEncrypted: options.key != nil)
    return try plan()
  }

  /// The plan of the migration; nil if the file need not be migrated. Nothing is written.
  func plan() throws(StoreError) -> MigrationPlan? {
    var options = options
    options.isReadOnly = true
    let database = try Database(path: path, options: options)
    try database.execute("BEGIN", doing: "read what the file is")
    defer { try? database.execute("ROLLBACK", doing: "read what the file is") }
    try FileHeader.check(database)
    guard let need = try MigrationNeed.told(of: model, options.migration, try Metadata.models(of: database)) else {
      return nil
    }
    try checkTables(of: need.migration.stored, database)
    let statements = MigrationStatements(need.migration, now: QueryClock.now)
    _ = try MigrationFunctions.add(for: need.migration, folder, to: database)
    let plan = try plan(need, statements, countsBreaches: true, database)
    return plan.steps.isEmpty && need.isIdentity ? nil : plan
  }

  // MARK: Waiting

  /// The number of seconds that a program waits for the migration of another one.
  private static let longestWait = 600.0

  /// Begins a write transaction. Another program may be migrating the file, which takes longer than a save.
  private func begin(_ database: Database) throws(StoreError) {
    let end = ContinuousClock.now + .seconds(Self.longestWait)
    while true {
      do throws(StoreError) {
        return try database.execute("BEGIN IMMEDIATE", doing: "migrate")
      } catch {
        guard error.code == .busy else { throw error }
        try options.observer?.check(path)
        trellis_sqlite3_sleep(10)
        guard ContinuousClock.now < end else {
          throw StoreError(
            .busy, "\(path) has to be migrated, and was held by another writer, which may be migrating it.",
            remedy: "Try again later.")
        }
      }
    }
  }

  // MARK: Migrating

  private var folder: ExternalFolder? {
    ExternalFolder(besides: options.files.resolved(path), largestInRow: options.largestInRow, files: options.files)
  }

  private func plan(
    _ need: MigrationNeed, _ statements: MigrationStatements, countsBreaches: Bool = false, _ database: Database
  ) throws(StoreError) -> MigrationPlan {
    let migration = need.migration
    let collection = PairCollection(database: database, statements: statements)
    var lostPairs: [Int: Int] = [:]
    for link in statements.collectedLinks { lostPairs[link] = try collection.collect(link) }
    try ExpressionCollection(database: database, migration: migration).collectAll()
    let counts = SQLiteMigrationCounts(
      database: database, migration: migration, statements: statements, lostPairs: lostPairs,
      countsBreaches: countsBreaches)
    do {
      return try MigrationPlan(
        migration, counts: counts, allowsLoss: options.migration.mode == .losing, steps: need.steps)
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(
        .internalError, "\(path) cannot be planned to migrate: \(error).",
        remedy: "Report this as a mistake in Trellis.")
    }
  }

  private func migrate(_ need: MigrationNeed, _ database: Database) throws(StoreError) {
    let migration = need.migration
    try checkTables(of: migration.stored, database)
    let statements = MigrationStatements(migration, now: QueryClock.now)
    let functions = try MigrationFunctions.add(for: migration, folder, to: database)
    let plan = try plan(need, statements, database)
    if let problem = functions.problem { throw problem }
    try plan.check(options.migration, path)
    let sizes = try TableSizes(statements, database)
    try checkSpace(sizes, copies: plan.loses, database)
    if plan.loses { try backUp(migration) }
    let watch = options.observer.map { MigrationWatch($0, database) }
    defer { watch?.end() }
    let history = try HistoryMigration(statements, runsSteps: !need.steps.isEmpty, database)
    try history.begin()
    let indexes = try change(need, statements, sizes, watch, database)
    try options.observer?.check(path)
    if let problem = functions.problem { throw problem }
    try Metadata.beginLineage(in: database)
    try Metadata.writeModel(model, to: database)
    try ModelLineage.add(ModelLineage.present(model), passing: need.steps, to: database)
    if !need.steps.isEmpty {
      watch?.begin(0, columns: 0)
      try StepRun(path: path, model: model, options: options, stored: migration.stored).run(need.steps, database)
      for index in indexes { try makeUnique(index, database) }
    }
    try history.finish()
    options.observer?.finish(sizes.work)
    try checkStructure(database)
    try database.execute("COMMIT", doing: "migrate")
    _ = trellis_sqlite3_db_config(database.handle, TRELLIS_SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
  }

  /// Applies the rules.
  ///
  /// - Returns: the unique indexes that steps have to make possible. Until then, others stand in for them.
  private func change(
    _ need: MigrationNeed, _ statements: MigrationStatements, _ sizes: TableSizes, _ watch: MigrationWatch?,
    _ database: Database
  ) throws(StoreError) -> [IndexChanges.Created] {
    let migration = need.migration
    options.observer?.begin(total: sizes.work)
    // Steps change texts without marking them.
    if need.steps.isEmpty {
      try SearchRemoval.run(migration, statements, in: database)
    } else {
      try SearchOpening.parts(of: database).removeAll()
    }
    try DerivedOpening.parts(of: database).removeAll()
    let indexes = try IndexChanges(migration, statements, in: database)
    for name in indexes.dropped {
      try database.execute("DROP INDEX \(SQLName.quoted(name))", doing: "drop an index")
    }
    try run(statements.renameTables, database)
    // References to a table that is set aside become references to the one that takes its place.
    try database.execute("PRAGMA legacy_alter_table = ON", doing: "migrate")
    try run(statements.setAside, database)
    try database.execute("PRAGMA legacy_alter_table = OFF", doing: "migrate")
    for statement in statements.changeTables {
      let work = statement.copiedTable.map { Double(sizes.rows[$0] ?? 0) } ?? 0
      watch?.begin(work, columns: sizes.columns)
      try database.run(statement, doing: "migrate")
      options.observer?.finish(work)
    }
    watch?.begin(0, columns: 0)
    try run(statements.dropFormer, database)
    var missing: [IndexChanges.Created] = []
    for index in indexes.created where try !create(index, mayStandIn: !need.steps.isEmpty, database) {
      missing.append(index)
    }
    return missing
  }

  /// Asks for the space that the migration needs before it begins: the rebuilt tables in the log and in the file, and
  /// the copy.
  private func checkSpace(_ sizes: TableSizes, copies: Bool, _ database: Database) throws(StoreError) {
    let size = try database.number("PRAGMA page_count") * database.number("PRAGMA page_size")
    let needed = Int(Double(size) * (2 * sizes.copiedShare + (copies ? 1 : 0)))
    guard let free = options.files.freeSpace(beside: path), free < needed else { return }
    throw StoreError(
      .full,
      "The migration of \(path) needs about \(needed >> 20) MiB of free space, and there are \(free >> 20) MiB; nothing was "
        + "changed.", remedy: "Make room on the disk and open the store again.")
  }

  private func run(_ statements: [MigrationStatement], _ database: Database) throws(StoreError) {
    for statement in statements { try database.run(statement, doing: "migrate") }
  }

  // MARK: Indexes

  /// - Returns: whether the index was created. If it is unique and cannot be, and may have a stand-in, this is created.
  private func create(
    _ index: IndexChanges.Created, mayStandIn: Bool, _ database: Database
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      try database.execute(index.statement, doing: "create an index")
      return true
    } catch {
      guard let key = index.uniqueKey, let refusal = try DuplicateSearch.refusal(of: key, model, database) else {
        throw error
      }
      guard mayStandIn else { throw refusal }
      // Steps find the rows with the same values by it.
      try database.execute(key.statementOfStandIn, doing: "create an index")
      return false
    }
  }

  /// Replaces the stand-in of a unique index.
  private func makeUnique(_ index: IndexChanges.Created, _ database: Database) throws(StoreError) {
    guard let key = index.uniqueKey else { return }
    try database.execute("DROP INDEX \(SQLName.quoted(key.name))", doing: "drop an index")
    _ = try create(index, mayStandIn: false, database)
  }

  // MARK: Checks

  /// Before the migration, the file must have the tables of its own model, and none that the current model adds.
  private func checkTables(of stored: Model, _ database: Database) throws(StoreError) {
    let parts = CheckStatements(stored).parts
    let tables = parts.filter { !$0.isIndex }
    let expected: [String: Set<String>]
    do throws(StoreError) {
      expected = try facts(of: tables)
    } catch {
      throw strange("its model has tables that no file can have: \(error.message)")
    }
    if let part = try differingPart(tables, expected, database) {
      throw strange("its table \(part.name) is not as its model has it")
    }
    let known = Set(parts.map { $0.name.lowercased() })
    let added = Set(CheckStatements(model).parts.map { $0.name.lowercased() }).subtracting(known)
    for name in try SchemaStructure.names(in: database) where added.contains(name.lowercased()) {
      throw strange("it has a table or an index \(name), which its model does not have")
    }
  }

  private func strange(_ reason: String) -> StoreError {
    StoreError(
      .damaged, "\(path) is not migrated: \(reason). Nothing was changed.",
      remedy: "Undo what another program has changed in the file, or restore it from a backup.")
  }

  /// After the migration, the file must have the structure of a new one.
  private func checkStructure(_ database: Database) throws(StoreError) {
    let parts = CheckStatements(model).parts + [CheckStatements.models]
    guard let part = try differingPart(parts, try facts(of: parts), database) else { return }
    throw StoreError(
      .internalError,
      "The migration of \(path) would not make \(part.name) as the model has it; nothing was changed.",
      remedy: "Report this as a mistake in Trellis, with both models.")
  }

  private func facts(of parts: [CheckStatements.Part]) throws(StoreError) -> [String: Set<String>] {
    try SchemaStructure(madeBy: parts.map(\.statement), options).facts
  }

  /// The first part that the file does not have as expected.
  private func differingPart(
    _ parts: [CheckStatements.Part], _ expected: [String: Set<String>], _ database: Database
  ) throws(StoreError) -> CheckStatements.Part? {
    let found = try SchemaStructure(of: database).facts
    return parts.first { found[$0.name] != expected[$0.name] }
  }

  // MARK: Backup

  /// Writes a copy of the file beside it. The transaction has changed nothing yet, and no other program writes.
  private func backUp(_ migration: Migration) throws(StoreError) {
    let target = "\(path).before-\(migration.stored.checksum)"
    do {
      let files = options.files
      let own = ["", "-wal", "-shm", "-journal"].map { path + $0 }
      let copy = try BackupFile(target, replacing: true, own: own, files: files)
      let database = try Database(path: path, options: options)
      let externals = folder.map { ExternalCopy(of: $0, besides: files.resolved(target)) }
      try copy.write(orDiscard: { externals?.discard() }) { _, temporary in
        try database.copy(to: temporary, named: target)
        if migration.stored.hasExternalData {
          try externals?.copy(Database.references(inCopy: temporary, options, migration.stored))
        }
      }
    } catch let error as StoreError {
      throw StoreError(
        error.code, "\(path) is not migrated, because data would be lost, and no copy can be written: \(error.message)",
        remedy: error.remedy)
    } catch {
      throw StoreError(
        .inputOutput, "\(path) is not migrated, because data would be lost, and no copy can be written: \(error).",
        remedy: "Check the disk and the folder.")
    }
  }
}

// MARK: - Table sizes

/// The numbers of rows that a migration copies.
private struct TableSizes {
  /// The rows of each table that is copied, by its stored name.
  let rows: [String: Int]
  /// The largest number of columns of a table.
  let columns: Int
  /// The part of the file's rows that is copied, from 0 to 1.
  let copiedShare: Double

  init(_ statements: MigrationStatements, _ database: Database) throws(StoreError) {
    var rows: [String: Int] = [:]
    for name in Set(statements.changeTables.compactMap(\.copiedTable)) { rows[name] = try Self.count(name, database) }
    self.rows = rows
    let stored = statements.migration.stored
    columns = stored.entities.map(\.columns.count).max() ?? 0
    guard !rows.isEmpty else {
      copiedShare = 0
      return
    }
    var others = 0
    let names = stored.entities.filter { $0.parent == nil }.map(\.name) + stored.joinTables.map(\.name)
    for name in names where rows[name] == nil { others += try Self.count(name, database) }
    let copied = rows.values.reduce(0, +)
    copiedShare = Double(copied) / Double(max(1, copied + others))
  }

  /// The work of the migration: the rows, and as much again for indexes.
  var work: Double { Double(rows.values.reduce(0, +)) * 1.5 + 1 }

  private static func count(_ table: String, _ database: Database) throws(StoreError) -> Int {
    try database.number("SELECT count(*) FROM main.\(SQLName.quoted(table))")
  }
}

// MARK: - Search removal

/// Drops the full-text tables of a file whose texts a migration moves. Opening the store makes them again.
private enum SearchRemoval {
  static func run(
    _ migration: Migration, _ statements: MigrationStatements, in database: Database
  ) throws(StoreError) {
    let old = SearchPlan(migration.stored)
    let new = SearchPlan(migration.current)
    let isUntouched =
      old.parts.map(\.statement) == new.parts.map(\.statement)
      && new.tables.keys.allSatisfy { root in
        if case .kept(let table)? = statements.tables[root] { table.isUnchanged } else { false }
      }
    if !isUntouched { try SearchOpening.parts(of: database).removeAll() }
  }
}

// MARK: - Index changes

/// The indexes that a migration drops and creates. An index of a table that is kept stays if it is the same.
private struct IndexChanges {
  struct Created {
    let statement: String
    /// The unique index that may find two rows with the same values.
    let uniqueKey: PlannedIndex?
  }

  private(set) var dropped: [String] = []
  private(set) var created: [Created] = []

  private static let prefixes = ["_reference.", "_unique.", "_reverse.", IndexPlan.declaredPrefix]

  init(_ migration: Migration, _ statements: MigrationStatements, in database: Database) throws(StoreError) {
    var present = try Self.present(in: database)
    let model = migration.current
    var wanted: [(name: String, created: Created, isKept: Bool)] = IndexPlan(model).all.map { index in
      let isKept =
        if case .kept(let table)? = statements.tables[index.root] { table.keeps(index, of: migration.stored) } else {
          false
        }
      return (index.name, Created(statement: index.statement, uniqueKey: index.isUnique ? index : nil), isKept)
    }
    let schema = SchemaStatements(model)
    for table in model.joinTables {
      for statement in schema.reversedIndex(table) {
        wanted.append(
          (
            JoinNames.reversedIndex(table), Created(statement: statement, uniqueKey: nil),
            statements.keptOrigin(of: table) != nil
          ))
      }
    }
    for index in wanted {
      if index.isKept, let found = present[index.name], found == index.created.statement {
        present[index.name] = nil
      } else {
        created.append(index.created)
      }
    }
    dropped = present.keys.sorted()
  }

  private static func present(in database: Database) throws(StoreError) -> [String: String] {
    let statement = try database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var present: [String: String] = [:]
    while try database.step(statement.pointer, doing: "read the indexes") {
      guard let name = database.text(of: statement.pointer), prefixes.contains(where: name.hasPrefix) else { continue }
      present[name] = database.text(of: statement.pointer, 1) ?? ""
    }
    return present
  }
}

// MARK: - Duplicate search

/// Names the rows that violate a unique key.
private enum DuplicateSearch {
  private static let shown = 5

  /// The error for a unique key whose index cannot be created; nil if there are no duplicates.
  static func refusal(
    of index: PlannedIndex, _ model: Model, _ database: Database
  ) throws(StoreError) -> StoreError? {
    let entity = model.entities[index.entity]
    let names = index.properties.map { entity.properties[$0].name }
    let columns = index.columns.map { SQLName.quoted($0.name) }
    let conditions = columns.map { "\($0) IS NOT NULL" } + (index.condition.map { [$0] } ?? [])
    let groups =
      "FROM \(SQLName.quoted(model.entities[index.root].name)) WHERE \(conditions.joined(separator: " AND ")) "
      + "GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1"
    let count = try database.number("SELECT count(*) FROM (SELECT 1 \(groups))")
    if count == 0 { return nil }
    let statement = try database.prepare("SELECT group_concat(\(SQLName.id), ' ') \(groups) LIMIT \(shown)")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var examples: [String] = []
    while try database.step(statement.pointer, doing: "read the duplicates") {
      let keys = database.text(of: statement.pointer)?.split(separator: " ").prefix(4) ?? []
      examples.append(keys.map { "\(entity.name)/\($0)" }.joined(separator: " and "))
    }
    return DuplicateRefusal.error(database.path, entity.name, names, count: count, examples: examples)
  }
}
