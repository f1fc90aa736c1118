internal import CSQLite
import TrellisModel

// MARK: - Reading

extension SQLiteConnection {
  func pairs(of table: Int, _ body: (SaveRequest.Pairs.Pair) throws -> Void) throws {
    guard layout.model.joinTables.indices.contains(table) else { throw PlanError.unknownEntity }
    let texts = PairStatements(layout.model.joinTables[table])
    let statement = try statement(.allPairs, table) { texts.all }
    let (hasPlace, hasInversePlace) = (texts.hasPlace, texts.hasInversePlace)
    try run(statement) { pointer in
      func place(_ column: Int32) -> Int64? {
        trellis_sqlite3_column_type(pointer, column) == TRELLIS_SQLITE_NULL
          ? nil : trellis_sqlite3_column_int64(pointer, column)
      }
      while try database.step(pointer, doing: "read pairs") {
        try body(
          SaveRequest.Pairs.Pair(
            first: trellis_sqlite3_column_int64(pointer, 0), partner: trellis_sqlite3_column_int64(pointer, 1),
            place: hasPlace ? place(2) : nil, inversePlace: hasInversePlace ? place(hasPlace ? 3 : 2) : nil))
      }
    }
  }

  func lineage() throws -> StoreLineage {
    var former: [StoreLineage.FormerModel] = []
    if try Metadata.head(of: database).hasModels {
      let models = try ModelLineage.all(in: database)
      for (place, model) in models.enumerated() where model.checksum != layout.model.checksum {
        let next = models.indices.contains(place + 1) ? models[place + 1].since : nil
        former.append(
          StoreLineage.FormerModel(
            checksum: model.checksum, version: model.version, replaced: next, json: model.json))
      }
    }
    return StoreLineage(nextKey: try Metadata.nextKey(in: database), former: former)
  }
}

extension LeasingConnection: TransferSource {
  package func pairs(of table: Int, _ body: (SaveRequest.Pairs.Pair) throws -> Void) throws {
    try leased { try $0.pairs(of: table, body) }
  }

  package func lineage() throws -> StoreLineage { try leased { try $0.lineage() } }
}

// MARK: - Loading

extension SQLiteStore {
  /// Fills an empty store with rows as they are, in one transaction. The indexes are made and the references checked
  /// after the last row, each as a whole.
  ///
  /// Rules of the model beyond unique keys, required values and references are not checked: a check of the whole store
  /// finds what breaks them.
  ///
  /// - Parameters:
  ///   - lineage: what the store notes besides the rows. A next key that is not above the key of each row is raised.
  ///   - body: adds the rows and pairs.
  /// - Throws: ``StoreError``, or errors of `body`. Then the store stays empty.
  /// - Complexity: linear in the number of rows, and O(*n* log *n*) for the indexes, which are sorted on the disk.
  package func load(_ lineage: StoreLineage, _ body: (any BulkWriter) throws -> Void) throws {
    let connection = try take()
    defer { giveBack(connection) }
    try connection.load(lineage, body)
  }
}

extension SQLiteConnection {
  fileprivate func load(_ lineage: StoreLineage, _ body: (any BulkWriter) throws -> Void) throws {
    guard !setup.isWithinTransaction else {
      throw StoreError(
        .unsupported, "Rows cannot be loaded in bulk within a migration.", remedy: "Insert objects in its steps.")
    }
    // These settings cannot change within a transaction. A sort in memory would keep whole indexes there.
    try database.execute(
      "PRAGMA foreign_keys = OFF; \(database.settingsOfTemporaryTables("FILE"))", doing: "prepare the connection")
    do {
      // The triggers of the connection are gone with its temporary tables. Those of derived values would search tables
      // without indexes.
      try setup.mark(database, derived: false)
      try writing(by: nil) {
        try loadRows(lineage, body)
        if let history { try noteUnlistedChanges(history) }
      }
    } catch {
      try endLoading()
      throw error
    }
    try endLoading()
  }

  private func endLoading() throws {
    do {
      try database.execute(
        "\(database.settingsOfTemporaryTables("MEMORY")); PRAGMA foreign_keys = ON", doing: "prepare the connection")
      try setup.mark(database)
    } catch {
      // Later saves would not be checked.
      setup.refusesWrites.store(true, ordering: .relaxed)
      throw error
    }
  }

  private func loadRows(_ lineage: StoreLineage, _ body: (any BulkWriter) throws -> Void) throws {
    let model = layout.model
    for root in model.entities where root.parent == nil {
      if try database.text("SELECT 1 FROM \(SQLName.quoted(root.name)) LIMIT 1") != nil {
        throw StoreError(
          .unsupported, "\(setup.path) has objects already, and rows are loaded into an empty store only.",
          remedy: "Load them into a new file.")
      }
    }
    // Its records refer to models that the loaded ones replace.
    if history != nil, try lastPosition() != nil {
      throw StoreError(
        .unsupported, "\(setup.path) had objects, which its history tells, and rows are loaded into a new store only.",
        remedy: "Load them into a new file.")
    }
    let indexes = LaterIndexes(model)
    for name in indexes.names { try database.execute("DROP INDEX IF EXISTS \(name)", doing: "load rows") }
    let loader = SQLiteBulkWriter(self)
    try body(loader)
    for (statement, entity) in indexes.statements {
      let code = trellis_sqlite3_exec(database.handle, statement, nil, nil, nil)
      if code != TRELLIS_SQLITE_OK { throw violation(code, entity) }
    }
    for statement in layout.derived.markAll { try database.execute(statement, doing: "load rows") }
    try checkReferences()
    try Metadata.raiseNextKey(to: max(lineage.nextKey, loader.highestKey &+ 1), in: database)
    try ModelLineage.begin(with: lineage.former, before: ModelLineage.present(model), in: database)
  }

  private func checkReferences() throws {
    let statement = try database.prepare(
      """
      SELECT broken."table", broken.rowid, broken.parent, key."from"
      FROM pragma_foreign_key_check AS broken
      JOIN pragma_foreign_key_list(broken."table") AS key ON key.id = broken.fkid
      """)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    guard try database.step(statement.pointer, doing: "check references") else { return }
    let target = database.text(of: statement.pointer, 2) ?? "another entity"
    let column = database.text(of: statement.pointer, 3) ?? ""
    var place = "A pair of \(database.text(of: statement.pointer) ?? "a relationship")"
    // The rows of join tables have no number.
    if trellis_sqlite3_column_type(statement.pointer, 1) == TRELLIS_SQLITE_INTEGER {
      let key = trellis_sqlite3_column_int64(statement.pointer, 1)
      place = "\(database.text(of: statement.pointer) ?? "")#\(key).\(column)"
    }
    throw StoreError(
      .danglingReference, "\(place) refers to an object of \(target) that is not among the loaded ones.",
      remedy: "Correct the reference, or load the object as well.")
  }
}

/// The indexes that are made after the last row is loaded.
private struct LaterIndexes {
  /// The quoted names.
  private(set) var names: [String] = []
  /// The statements, each with the entity that its errors name.
  private(set) var statements: [(text: String, entity: Int)] = []

  init(_ model: Model) {
    for index in IndexPlan(model).all {
      names.append(SQLName.quoted(index.name))
      statements.append((index.statement, index.entity))
    }
    let schema = SchemaStatements(model)
    for table in model.joinTables {
      names.append(SQLName.quoted(JoinNames.reversedIndex(table)))
      statements += schema.reversedIndex(table).map { ($0, table.first.entity) }
    }
  }
}

/// Inserts rows as they are.
private final class SQLiteBulkWriter: BulkWriter {
  private let connection: SQLiteConnection
  private(set) var highestKey: Int64 = 0
  /// The statements of entities and of join tables, prepared on first use.
  private var insertions: [Statement?]
  private var pairInsertions: [(statement: Statement, texts: PairStatements)?]

  init(_ connection: SQLiteConnection) {
    self.connection = connection
    insertions = Array(repeating: nil, count: connection.layout.tables.count)
    pairInsertions = Array(repeating: nil, count: connection.layout.model.joinTables.count)
  }

  func add(_ row: RowReader) throws {
    let layout = connection.layout
    guard layout.tables.indices.contains(row.entity) else { throw PlanError.unknownEntity }
    guard row.key > 0, row.key < .max, row.version > 0 else {
      throw StoreError(
        .unstorableValue,
        "\(layout.model.entities[row.entity].name)#\(row.key) has no key or version that a row can have.",
        remedy: "Give it a key and a version above 0.")
    }
    let entity = layout.model.entities[row.entity]
    let statement = try insertion(row.entity)
    row.problem = nil
    try connection.writeRow(statement, entity: row.entity, values: Int32(entity.columns.count + 2)) { writer in
      writer.integer(row.key)
      writer.integer(row.version)
      row.write(entity, to: writer)
    }
    if let error = row.unreadableValue(in: layout.model, of: "The source") { throw error }
    highestKey = max(highestKey, row.key)
  }

  private func insertion(_ entity: Int) throws(StoreError) -> Statement {
    if let known = insertions[entity] { return known }
    let layout = connection.layout
    let made = try connection.statement(.restore, entity) { layout.restoreStatement(entity) }
    insertions[entity] = made
    return made
  }

  func add(_ pair: SaveRequest.Pairs.Pair, to table: Int) throws {
    let model = connection.layout.model
    guard model.joinTables.indices.contains(table) else { throw PlanError.unknownEntity }
    let (statement, texts) = try pairInsertion(table)
    let count = Int32(2 + (texts.hasPlace ? 1 : 0) + (texts.hasInversePlace ? 1 : 0))
    try connection.writeRow(statement, entity: model.joinTables[table].first.entity, values: count) { writer in
      SQLiteConnection.writeKeys(pair, to: writer)
      SQLiteConnection.writePlaces(pair, texts, to: writer)
    }
  }

  private func pairInsertion(_ table: Int) throws(StoreError) -> (Statement, PairStatements) {
    if let known = pairInsertions[table] { return known }
    let texts = PairStatements(connection.layout.model.joinTables[table])
    let made = (try connection.statement(.insertPair, table) { texts.insert }, texts)
    pairInsertions[table] = made
    return made
  }
}
