internal import CSQLite
import TrellisModel

/// Inserts rows and pairs, many of them with one statement.
extension SQLiteConnection {
  func insert(_ groups: [SaveRequest.Inserts]) throws {
    for group in groups.count < 2 ? groups : groups.sorted(by: { rank($0.entity) < rank($1.entity) }) {
      guard layout.tables.indices.contains(group.entity) else { throw PlanError.unknownEntity }
      for record in group.records where record.storedKey <= 0 { throw Self.noKey }
      let count = Int32(layout.tables[group.entity].columns.count + 1)
      if !group.formerVersions.isEmpty {
        try restore(group, values: count)
        continue
      }
      let inserted = try insertTogether(group, values: count)
      if inserted == group.records.count { continue }
      let statement = try statement(.insert, group.entity) { layout.insertStatement(group.entity) }
      database.statistics.run += group.records.count - inserted
      for record in group.records[inserted...] {
        try writeRow(statement, entity: group.entity, values: count) { row in
          row.integer(record.storedKey)
          record.writeRow(to: row)
        }
      }
    }
  }

  /// Inserts rows of which some were deleted before, and have versions that go on.
  private func restore(_ group: SaveRequest.Inserts, values count: Int32) throws {
    let statement = try statement(.restore, group.entity) { layout.restoreStatement(group.entity) }
    database.statistics.run += group.records.count
    for record in group.records {
      try writeRow(statement, entity: group.entity, values: count + 1) { row in
        row.integer(record.storedKey)
        row.integer(group.version(of: record.storedKey))
        record.writeRow(to: row)
      }
    }
  }

  /// Inserts the first rows, several with each statement, as long as all of their values can be bound.
  ///
  /// - Returns: the number of inserted rows.
  private func insertTogether(_ group: SaveRequest.Inserts, values count: Int32) throws -> Int {
    let rows = SeveralRows.count(ofValues: count, in: group.records.count)
    guard rows > 1, !setup.hasTriggers(on: layout.tables[group.entity].name) else { return 0 }
    let statement = try statement(.insert, group.entity, UInt64(rows)) {
      layout.insertStatement(group.entity, rows: rows)
    }
    return try writeRows(statement, entity: group.entity, values: count, rows: rows, of: group.records.count) {
      number, row in
      let record = group.records[number]
      row.integer(record.storedKey)
      record.writeRow(to: row)
    }
  }

  private static let noKey = StoreError(
    .internalError, "An object has no key that a store could keep.", remedy: "Make the object again in a new context.")

  /// Inserts the first new pairs of a join table, several with each statement. The history has to know of each pair
  /// whether it is new.
  ///
  /// - Returns: the number of inserted pairs.
  func insertTogether(
    _ pairs: SaveRequest.Pairs, _ texts: PairStatements, values count: Int32
  ) throws -> Int {
    let rows = SeveralRows.count(ofValues: count, in: pairs.added.count)
    let table = layout.model.joinTables[pairs.table]
    guard rows > 1, history == nil, !setup.hasTriggers(on: SQLName.quoted(table.name)) else { return 0 }
    let statement = try statement(.insertPair, pairs.table, UInt64(rows)) { texts.insert(rows: rows) }
    return try writeRows(statement, entity: table.first.entity, values: count, rows: rows, of: pairs.added.count) {
      number, row in
      let pair = pairs.added[number]
      Self.writeKeys(pair, to: row)
      Self.writePlaces(pair, texts, to: row)
    }
  }

  // MARK: Several rows

  /// Binds and runs one statement for several rows, again and again, as long as there are as many and all of their values
  /// can be bound. The statement for one row reports a value that cannot.
  ///
  /// - Returns: the number of written rows.
  private func writeRows(
    _ statement: Statement, entity: Int, values count: Int32, rows: Int, of all: Int,
    _ body: (_ number: Int, SQLiteRowWriter) -> Void
  ) throws(StoreError) -> Int {
    var written = 0
    while all - written >= rows {
      writer.begin(statement.pointer)
      for number in written..<written + rows {
        let expected = writer.index + count
        body(number, writer)
        if writer.problem != nil || writer.index != expected { return written }
      }
      database.statistics.run += 1
      let code = trellis_sqlite3_step(statement.pointer)
      _ = trellis_sqlite3_reset(statement.pointer)
      if code != TRELLIS_SQLITE_DONE { throw violation(code, entity) }
      written += rows
    }
    return written
  }
}

// MARK: - Several rows

/// How many rows one statement inserts.
private enum SeveralRows {
  /// A statement opens and closes its tables and indexes once for all of its rows, which is a third of the work of
  /// inserting one. More rows gain little.
  private static let most = 32
  /// From this number of rows on, a longer statement is worth compiling.
  private static let fewest = 64
  /// SQLite allows this number of parameters in any build.
  private static let parameters = 999

  /// - Parameters:
  ///   - values: the number of values of each row.
  ///   - all: the number of rows to insert.
  /// - Returns: the number of rows of a statement; 1 if a statement for each row is better.
  static func count(ofValues values: Int32, in all: Int) -> Int {
    all < fewest ? 1 : max(1, min(most, parameters / max(1, Int(values))))
  }
}
