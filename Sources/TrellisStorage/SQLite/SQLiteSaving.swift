internal import CSQLite
import Synchronization
import TrellisModel

extension SQLiteConnection {
  /// - Throws: ``SaveConflict``; ``ConstraintViolations``; ``StoreError``.
  @discardableResult package func save(_ request: SaveRequest) throws -> SaveOutcome {
    var outcome = SaveOutcome()
    guard !request.isEmpty else { return outcome }
    try writing(by: request.author) {
      let stale = try write(request, &outcome)
      if !stale.isEmpty { throw SaveConflict(rows: stale) }
    }
    return outcome
  }

  /// One transaction that writes all changes of `body` or none.
  ///
  /// - Parameter author: the author of the changes in the history.
  func writing(by author: String?, _ body: () throws -> Void) throws {
    try checkWritable()
    externals?.forget()
    history?.begin(author)
    let keys = setup.hasUnreservedKeys.load(ordering: .relaxed) ? setup.unreservedKeys.withLock { $0 } : nil
    try transaction {
      if let keys { try Metadata.reserve(keys, in: database) }
      setup.folder?.noteSave()
      try body()
      try indexMarkedTexts()
      try computeMarkedValues()
      if setup.isBehind.load(ordering: .relaxed) { try bringUp() }
      if let history { try writeHistory(history) }
    }
    setup.isBehind.store(false, ordering: .relaxed)
    if let keys { setup.didReserve(keys) }
    externals?.didCommit()
  }

  /// Updates the file to the model with the first save, unless another program has updated it to its own model since.
  @inline(never) private func bringUp() throws(StoreError) {
    if setup.writesModelText && !setup.watch.hasOtherText {
      try SchemaUpdate.apply(layout.model, to: database)
    } else {
      try Metadata.beginLineage(in: database)
    }
  }

  /// Writes cascades and deletes, then updates, then inserts, so that a freed key can be reused. Join tables and
  /// positions come last.
  private func write(_ request: SaveRequest, _ outcome: inout SaveOutcome) throws -> [SaveConflict.Row] {
    var stale: [SaveConflict.Row] = []
    for note in request.notes { try Metadata.change(note, in: database) }
    let check = try RulesCheck(request, self)
    if let history { try keepFormerRows(request, history) }
    // Members come first. SQLite would track each open reference to an owner deleted before them.
    if !request.cascades.isEmpty { outcome.cascaded = try cascade(request) }
    if !request.deletes.isEmpty { try delete(request.deletes, &stale) }
    if !request.updates.isEmpty { try update(request.updates, &stale) }
    // Later changes would be rolled back anyway.
    guard stale.isEmpty else { return stale }
    if !request.inserts.isEmpty { try insert(request.inserts) }
    for pairs in request.pairs { try write(pairs) }
    for places in request.places { try write(places) }
    for references in request.clearedReferences { try write(references) }
    try check?.finish(self)
    if let history { noteChanges(request, history) }
    return []
  }

  private func checkWritable() throws(StoreError) {
    if let refusal = setup.refusalOfWrites { throw refusal }
    if setup.options.isReadOnly {
      throw StoreError(
        .readOnly, "\(setup.path) was opened for reading only.", remedy: "Open the store without readOnly.")
    }
    if setup.refusesWrites.load(ordering: .relaxed) {
      throw StoreError(
        .inputOutput, "An earlier save to \(setup.path) failed in the middle, so nothing more is written.",
        remedy: "Check the disk, then open the store again.")
    }
  }

  // MARK: Transactions

  private func transaction(_ body: () throws -> Void) throws {
    if setup.isWithinTransaction { return try savepoint(body) }
    try runFixed(.begin, "BEGIN IMMEDIATE", doing: "begin a save")
    do {
      // From here on no other connection commits, so the file's model stays the same until the end.
      try setup.watch.look(through: self)
      try body()
      try externals?.finish()
      try commit()
    } catch {
      try? runFixed(.rollback, "ROLLBACK", doing: "roll back")
      externals?.forget()
      // SQLite rolls back by itself after some failures. A transaction that is still open would swallow later saves.
      // A suspension, which may have interrupted the rollback, closes the connection.
      if trellis_sqlite3_get_autocommit(database.handle) == 0 && !database.isEnded { refuseWrites() }
      throw error
    }
  }

  /// A save within a transaction of a migration, which commits or rolls back all of its saves.
  private func savepoint(_ body: () throws -> Void) throws {
    try database.execute("SAVEPOINT \"save\"", doing: "begin a save")
    do {
      try body()
      try externals?.finish()
      try database.execute("RELEASE \"save\"", doing: "save")
    } catch {
      try? database.execute("ROLLBACK TO \"save\"; RELEASE \"save\"", doing: "roll back")
      externals?.forget()
      throw error
    }
  }

  private func refuseWrites() { setup.refusesWrites.store(true, ordering: .relaxed) }

  private func commit() throws {
    try checkPlace()
    let count = commitCount
    if let count { setup.ledger.willCommit(at: count) }
    defer { if count != nil { setup.ledger.didEnd() } }
    do {
      try runFixed(.commit, "COMMIT", doing: "save")
    } catch let error as StoreError {
      let code = trellis_sqlite3_extended_errcode(database.handle)
      if code == TRELLIS_SQLITE_CONSTRAINT_FOREIGNKEY || code & 0xFF == TRELLIS_SQLITE_CONSTRAINT {
        throw danglingReference()
      }
      // After a failed write, the content of the disk is unknown.
      if error.code == .inputOutput { refuseWrites() }
      throw error
    }
    if let count { setup.watch.didCommit(at: count) }
  }

  private func runFixed(_ kind: FixedStatement, _ text: String, doing: String) throws {
    let statement = try statement(kind, 0) { text }
    _ = try run(statement) { try database.step($0, doing: doing) }
  }
}

// MARK: - Row changes

extension SQLiteConnection {
  /// Binds and runs one statement for a row.
  @inline(__always) func writeRow(
    _ statement: Statement, entity: Int, values count: Int32, _ body: (SQLiteRowWriter) -> Void
  ) throws(StoreError) {
    writer.begin(statement.pointer)
    body(writer)
    if writer.problem != nil || writer.index != count { throw unstorable(entity, count) }
    let code = trellis_sqlite3_step(statement.pointer)
    _ = trellis_sqlite3_reset(statement.pointer)
    if code != TRELLIS_SQLITE_DONE { throw violation(code, entity) }
  }

  func rank(_ entity: Int) -> Int {
    layout.insertRanks.indices.contains(entity) ? layout.insertRanks[entity] : 0
  }

  // MARK: Deleting

  func delete(_ groups: [SaveRequest.Deletes], _ stale: inout [SaveConflict.Row]) throws {
    for group in groups.count < 2 ? groups : groups.sorted(by: { rank($0.entity) > rank($1.entity) }) {
      guard layout.tables.indices.contains(group.entity) else { throw PlanError.unknownEntity }
      try deletePairs(of: group.entity, group.keys)
      if group.keys.count >= Self.manyRows {
        try deleteTogether(group, &stale)
        continue
      }
      let statement = try statement(.delete, group.entity) { layout.deleteStatement(group.entity) }
      database.statistics.run += group.keys.count
      for (key, version) in zip(group.keys, group.versions) {
        try writeRow(statement, entity: group.entity, values: 2) { row in
          row.integer(key)
          row.integer(version)
        }
        if trellis_sqlite3_changes(database.handle) == 0 {
          stale.append(SaveConflict.Row(entity: group.entity, key: key))
        }
      }
    }
  }

  /// From this number of rows on, one statement for all is faster than one for each.
  private static let manyRows = 8

  /// Deletes many rows, unless one of them is gone or has another version.
  private func deleteTogether(_ group: SaveRequest.Deletes, _ stale: inout [SaveConflict.Row]) throws {
    let check = try statement(.staleRows, group.entity) { layout.staleRowsStatement(group.entity) }
    let former = stale.count
    try withKeys(group.versions, check, parameter: 2) {
      try withKeys(group.keys, check) {
        try run(check) { pointer in
          while try database.step(pointer, doing: "compare versions") {
            stale.append(SaveConflict.Row(entity: group.entity, key: trellis_sqlite3_column_int64(pointer, 0)))
          }
        }
      }
    }
    guard stale.count == former else { return }
    let statement = try statement(.deleteList, group.entity) { layout.deleteListStatement(group.entity) }
    try withKeys(group.keys, statement) {
      try run(statement) { pointer in
        let code = trellis_sqlite3_step(pointer)
        if code != TRELLIS_SQLITE_DONE { throw violation(code, group.entity) }
      }
    }
  }

  /// Deletes the join table rows of deleted objects, under every delete rule: a join table row is not a reference that
  /// another row could keep.
  func deletePairs(of entity: Int, _ keys: [Int64]) throws {
    let entities = layout.model.entities
    for table in layout.model.joinTables {
      if entities[table.first.entity].subtree.contains(entity) {
        try deletePairs(.deleteFirst, table.index, keys) { PairStatements(table).deleteAll(ofFirst: true) }
      }
      if entities[table.second?.entity ?? table.partnerEntity].subtree.contains(entity) {
        try deletePairs(.deletePartner, table.index, keys) { PairStatements(table).deleteAll(ofFirst: false) }
      }
    }
  }

  private func deletePairs(_ kind: FixedStatement, _ table: Int, _ keys: [Int64], _ text: () -> String) throws {
    let statement = try statement(kind, table, 0, text)
    try withKeys(keys, statement) {
      _ = try run(statement) { try database.step($0, doing: "delete pairs") }
    }
  }
}

// MARK: - Updates

extension SQLiteConnection {
  /// An update that waits until another object gives up its unique key.
  private struct Waiting {
    let entity: Int
    let record: any StoredRecord
    let mask: ColumnMask
  }

  func update(_ groups: [SaveRequest.Updates], _ stale: inout [SaveConflict.Row]) throws {
    var waiting: [Waiting] = []
    for group in groups {
      guard layout.tables.indices.contains(group.entity) else { throw PlanError.unknownEntity }
      var last: (mask: ColumnMask, statement: Statement)?
      for number in group.records.indices where number < group.masks.count {
        let mask = group.masks[number]
        // Rows of one save mostly have the same changed properties.
        if last?.mask != mask { last = (mask, try updateStatement(group.entity, mask)) }
        guard let statement = last?.statement else { continue }
        let record = group.records[number]
        if try write(record, mask, of: group.entity, statement, &stale) { continue }
        waiting.append(Waiting(entity: group.entity, record: record, mask: mask))
      }
    }
    // Conflicts are reported first, because the row that has the key may be changed, too.
    if stale.isEmpty && !waiting.isEmpty { try settle(waiting, &stale) }
  }

  private func updateStatement(_ entity: Int, _ mask: ColumnMask) throws(StoreError) -> Statement {
    let statement = try statement(.update, entity, mask.bits) { layout.updateStatement(entity, mask) }
    if statement.valueCount == 0 { statement.valueCount = Int32(layout.columns(of: entity, mask).count + 2) }
    return statement
  }

  /// - Returns: false if another row has a unique key of the record.
  private func write(
    _ record: any StoredRecord, _ mask: ColumnMask, of entity: Int, _ statement: Statement,
    _ stale: inout [SaveConflict.Row]
  ) throws(StoreError) -> Bool {
    database.statistics.run += 1
    do {
      try writeRow(statement, entity: entity, values: statement.valueCount) { row in
        record.writeColumns(of: mask, to: row)
        row.integer(record.storedKey)
        row.integer(record.storedVersion)
      }
    } catch  where error.code == .notUnique {
      return false
    }
    if trellis_sqlite3_changes(database.handle) == 0 {
      stale.append(SaveConflict.Row(entity: entity, key: record.storedKey))
    }
    return true
  }

  /// Tries the updates again, the last one first. This settles chains in which each object takes over the next one's
  /// key. The updates left form a cycle, or need a key that an unchanged object has.
  private func settle(_ waiting: [Waiting], _ stale: inout [SaveConflict.Row]) throws {
    var left: [Waiting] = []
    for change in waiting.reversed() {
      let statement = try updateStatement(change.entity, change.mask)
      if try !write(change.record, change.mask, of: change.entity, statement, &stale) { left.append(change) }
    }
    try replace(left, &stale)
  }

  /// Deletes the rows and inserts them again with the changes. This is the only way to swap unique keys, which SQLite
  /// checks row by row.
  private func replace(_ changes: [Waiting], _ stale: inout [SaveConflict.Row]) throws {
    var rows: [(change: Waiting, values: [StoredValue])] = []
    for change in changes {
      guard let old = try storedValues(change.entity, change.record) else {
        stale.append(SaveConflict.Row(entity: change.entity, key: change.record.storedKey))
        continue
      }
      rows.append((change, changed(old, change)))
      let statement = try statement(.delete, change.entity) { layout.deleteStatement(change.entity) }
      try writeRow(statement, entity: change.entity, values: 2) { row in
        row.integer(change.record.storedKey)
        row.integer(change.record.storedVersion)
      }
    }
    for (change, values) in rows {
      let statement = try statement(.restore, change.entity) { layout.restoreStatement(change.entity) }
      try writeRow(statement, entity: change.entity, values: Int32(values.count + 2)) { row in
        row.integer(change.record.storedKey)
        row.integer(change.record.storedVersion + 1)
        let entity = self.layout.model.entities[change.entity]
        for (value, column) in zip(values, entity.columns) { row.write(value, of: column, in: entity) }
      }
    }
  }

  /// The row's values in the file. Nil if the row is deleted or has another version.
  private func storedValues(_ entity: Int, _ record: any StoredRecord) throws -> [StoredValue]? {
    var values: [StoredValue]?
    try rows(of: entity, keys: [record.storedKey]) { row in
      guard row.version == record.storedVersion, row.entity == entity else { return }
      values = self.layout.model.entities[entity].columns.enumerated().map { row.value($0, $1.storageClass) }
    }
    return values
  }

  private func changed(_ old: [StoredValue], _ change: Waiting) -> [StoredValue] {
    let collector = ValueCollector()
    change.record.writeColumns(of: change.mask, to: collector)
    var values = old
    for (column, value) in zip(layout.columns(of: change.entity, change.mask), collector.values) {
      values[column] = value
    }
    return values
  }
}

/// Collects the values that are written to it.
private final class ValueCollector: RowWriter {
  private(set) var values: [StoredValue] = []

  override func null() { values.append(.null) }
  override func integer(_ value: Int64) { values.append(.integer(value)) }
  override func real(_ value: Double) { values.append(.real(value)) }
  override func text(_ value: String) { values.append(.text(value)) }
  override func blob(_ value: UnsafeRawBufferPointer) { values.append(.blob([UInt8](value))) }
  override func file(_ value: ExternalFile) { values.append(.file(value)) }
}

// MARK: - Beside rows

/// Join table rows, positions and cleared references: changes that do not change a row's version.
extension SQLiteConnection {
  func write(_ pairs: SaveRequest.Pairs) throws {
    guard layout.model.joinTables.indices.contains(pairs.table) else { throw PlanError.unknownEntity }
    let table = layout.model.joinTables[pairs.table]
    let texts = PairStatements(table)
    let entity = table.first.entity
    // What another writer has done already is no change.
    var changed = SaveRequest.Pairs(table: pairs.table)
    let removal = try statement(.deletePair, pairs.table) { texts.delete }
    for pair in pairs.removed {
      try writeRow(removal, entity: entity, values: 2) { Self.writeKeys(pair, to: $0) }
      if isRecorded { changed.removed.append(pair) }
    }
    let count = Int32(2 + (texts.hasPlace ? 1 : 0) + (texts.hasInversePlace ? 1 : 0))
    let inserted = try insertTogether(pairs, texts, values: count)
    let addition = try statement(.insertPair, pairs.table) { texts.insert }
    for pair in pairs.added[inserted...] {
      try writeRow(addition, entity: entity, values: count) { row in
        Self.writeKeys(pair, to: row)
        Self.writePlaces(pair, texts, to: row)
      }
      if isRecorded { changed.added.append(pair) }
    }
    if !pairs.moved.isEmpty, let text = texts.move {
      let move = try statement(.movePair, pairs.table) { text }
      for pair in pairs.moved {
        try writeRow(move, entity: entity, values: count) { row in
          Self.writePlaces(pair, texts, to: row)
          Self.writeKeys(pair, to: row)
        }
        if isRecorded { changed.moved.append(pair) }
      }
    }
    history?.changes.add(changed)
    database.statistics.run += pairs.removed.count + pairs.added.count - inserted + pairs.moved.count
  }

  /// Whether the last statement has changed a row that the history has to tell.
  private var isRecorded: Bool { history != nil && trellis_sqlite3_changes(database.handle) != 0 }

  static func writeKeys(_ pair: SaveRequest.Pairs.Pair, to row: SQLiteRowWriter) {
    row.integer(pair.first)
    row.integer(pair.partner)
  }

  static func writePlaces(
    _ pair: SaveRequest.Pairs.Pair, _ texts: PairStatements, to row: SQLiteRowWriter
  ) {
    if texts.hasPlace { row.write(pair.place.map { .integer($0) } ?? .null) }
    if texts.hasInversePlace { row.write(pair.inversePlace.map { .integer($0) } ?? .null) }
  }

  func write(_ places: SaveRequest.Places) throws {
    guard layout.tables.indices.contains(places.entity) else { throw PlanError.unknownEntity }
    let statement = try statement(.place, places.entity, UInt64(truncatingIfNeeded: places.column)) {
      layout.placeStatement(places.entity, column: places.column)
    }
    database.statistics.run += places.keys.count
    var changed: [Int64] = []
    for (key, place) in zip(places.keys, places.places) {
      try writeRow(statement, entity: places.entity, values: 2) { row in
        row.integer(place)
        row.integer(key)
      }
      if isRecorded { changed.append(key) }
    }
    if let history, let property = layout.model.entities[places.entity].columns[places.column].positioned {
      history.changes.addUpdates(of: places.entity, ColumnMask(only: property), changed)
    }
  }

  func write(_ references: SaveRequest.ClearedReferences) throws {
    let relationship = references.relationship
    guard layout.tables.indices.contains(relationship.entity) else { throw PlanError.unknownEntity }
    if let history { try noteCleared(references, history) }
    let statement = try statement(.clear, relationship.entity, UInt64(truncatingIfNeeded: relationship.property)) {
      layout.clearStatement(relationship)
    }
    try withKeys(references.targets, statement) {
      _ = try run(statement) { try database.step($0, doing: "clear references") }
    }
  }
}

// MARK: - Search indexing

extension SQLiteConnection {
  /// Indexes the texts changed by this transaction, and those changed by other programs since the last one.
  ///
  /// - Complexity: linear in the marked texts.
  func indexMarkedTexts() throws {
    guard !layout.search.isEmpty else { return }
    let found = try statement(.findMarks, 0) { SearchPlan.findMarks }
    guard try run(found, { try database.step($0, doing: "look for changed texts") }) else { return }
    for (number, text) in layout.search.indexMarked.enumerated() {
      let statement = try statement(.indexMarked, number) { text }
      _ = try run(statement) { try database.step($0, doing: "index changed texts") }
    }
  }
}

// MARK: - Cascades

/// Cascades to rows that are not loaded, level by level: the keys of a level are read, then its rows are deleted.
extension SQLiteConnection {
  /// - Returns: the keys of the deleted rows.
  /// - Complexity: a few statements for each level and relationship, independent of the number of rows.
  func cascade(_ request: SaveRequest) throws -> [Int64] {
    // These rows are deleted or kept by the save itself.
    let spared = Set(request.keptFromCascades).union(request.deletes.flatMap(\.keys))
    var open = request.cascades
    var victims: [Int64] = []
    while let level = open.popLast() {
      var keys: [Int64] = []
      try memberKeys(of: level.relationship, owners: level.owners) { _, member, _ in
        if !spared.contains(member) { keys.append(member) }
      }
      if keys.isEmpty { continue }
      keys.sort()
      guard let relationship = layout.relationship(level.relationship.entity, level.relationship.property) else {
        continue
      }
      for next in layout.model.furtherCascades(from: relationship.destination) {
        open.append(SaveRequest.Cascades(relationship: next, owners: keys))
      }
      try deleteRows(of: relationship.destination, keys)
      victims += keys
    }
    return victims
  }

  func deleteRows(of entity: Int, _ keys: [Int64]) throws {
    if let history { try noteDeletes(of: entity, keys, isExact: false, history) }
    for reference in layout.model.oneWayColumns(to: entity) {
      try write(SaveRequest.ClearedReferences(relationship: reference, targets: keys))
    }
    for number in layout.model.entities[entity].subtree { try deletePairs(of: number, keys) }
    let statement = try statement(.deleteList, entity) { layout.deleteListStatement(entity) }
    try withKeys(keys, statement) {
      _ = try run(statement) { try database.step($0, doing: "delete members") }
    }
  }
}
