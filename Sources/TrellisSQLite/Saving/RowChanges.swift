internal import CSQLite
import TrellisSQL
import TrellisStorage

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

  // MARK: Inserting

  func insert(_ groups: [SaveRequest.Inserts]) throws {
    for group in groups.sorted(by: { rank($0.entity) < rank($1.entity) }) {
      guard layout.tables.indices.contains(group.entity) else { throw PlanError.unknownEntity }
      let statement = try statement(.insert, group.entity) { layout.insertStatement(group.entity) }
      let count = Int32(layout.tables[group.entity].columns.count + 1)
      database.statistics.run += group.records.count
      for record in group.records {
        let key = record.storedKey
        guard key > 0 else { throw Self.noKey }
        try writeRow(statement, entity: group.entity, values: count) { row in
          row.integer(key)
          record.writeRow(to: row)
        }
      }
    }
  }

  private static let noKey = StoreError(
    .internalError, "An object has no key that a store could keep.", remedy: "Make the object again in a new context.")

  func rank(_ entity: Int) -> Int {
    layout.insertRanks.indices.contains(entity) ? layout.insertRanks[entity] : 0
  }

  // MARK: Deleting

  func delete(_ groups: [SaveRequest.Deletes], _ stale: inout [SaveConflict.Row]) throws {
    for group in groups.sorted(by: { rank($0.entity) > rank($1.entity) }) {
      guard layout.tables.indices.contains(group.entity) else { throw PlanError.unknownEntity }
      try deletePairs(of: group.entity, group.keys)
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
