internal import CSQLite
import Synchronization
import TrellisSQL
package import TrellisStorage

extension SQLiteConnection {
  /// - Throws: ``SaveConflict``; ``ConstraintViolations``; ``StoreError``.
  @discardableResult package func save(_ request: SaveRequest) throws -> SaveOutcome {
    var outcome = SaveOutcome()
    guard !request.isEmpty else { return outcome }
    try writing {
      let stale = try write(request, &outcome)
      if !stale.isEmpty { throw SaveConflict(rows: stale) }
    }
    return outcome
  }

  /// One transaction that writes all changes of `body` or none.
  func writing(_ body: () throws -> Void) throws {
    try checkWritable()
    externals?.forget()
    try transaction {
      setup.folder?.noteSave()
      try body()
      try indexMarkedTexts()
      if setup.isBehind.load(ordering: .relaxed) { try bringUp() }
    }
    setup.isBehind.store(false, ordering: .relaxed)
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

  /// Writes everything and rolls it back.
  ///
  /// - Throws: the same errors as ``save(_:)``.
  package func rehearse(_ request: SaveRequest) throws {
    guard !request.isEmpty else { return }
    try checkWritable()
    struct Rehearsed: Error {}
    do {
      try transaction {
        var outcome = SaveOutcome()
        let stale = try write(request, &outcome)
        if !stale.isEmpty { throw SaveConflict(rows: stale) }
        if hasDanglingReferences { throw danglingReference() }
        throw Rehearsed()
      }
    } catch is Rehearsed {}
  }

  /// Whether a commit would fail because of a reference without a row.
  private var hasDanglingReferences: Bool {
    var (count, highest): (Int32, Int32) = (0, 0)
    _ = trellis_sqlite3_db_status(database.handle, TRELLIS_SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    return count > 0
  }

  /// Writes cascades and deletes, then updates, then inserts, so that a freed key can be reused. Join tables and
  /// positions come last.
  private func write(_ request: SaveRequest, _ outcome: inout SaveOutcome) throws -> [SaveConflict.Row] {
    var stale: [SaveConflict.Row] = []
    let check = try RulesCheck(request, self)
    // Members come first. SQLite would track each open reference to an owner deleted before them.
    outcome.cascaded = try cascade(request)
    try delete(request.deletes, &stale)
    try update(request.updates, &stale)
    // Later changes would be rolled back anyway.
    guard stale.isEmpty else { return stale }
    try insert(request.inserts)
    for pairs in request.pairs { try write(pairs) }
    for places in request.places { try write(places) }
    for references in request.clearedReferences { try write(references) }
    try check?.finish(self)
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
      if trellis_sqlite3_get_autocommit(database.handle) == 0 { refuseWrites() }
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
