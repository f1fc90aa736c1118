internal import CSQLite
import TrellisModel

// MARK: - Positions

extension SQLiteConnection {
  /// The history of the store.
  ///
  /// - Throws: ``StoreError`` with the code `unsupported` if there is none.
  private func recorded() throws(StoreError) -> HistorySetup {
    guard let history = setup.history else { throw HistoryError.none(setup.path) }
    return history
  }

  /// The position after the last transaction. Nil if there is none.
  func lastPosition() throws(StoreError) -> HistoryPosition? {
    try readPosition(.lastPosition, HistoryPlan.last)
  }

  private func readPosition(
    _ kind: FixedStatement, _ text: String, _ parameter: Int64? = nil
  ) throws(StoreError) -> HistoryPosition? {
    let identity = try recorded().identity
    let statement = try statement(kind, 0) { text }
    let pointer = statement.pointer
    if let parameter {
      try database.check(trellis_sqlite3_bind_int64(pointer, 1, parameter), doing: "bind a value")
    }
    defer { _ = trellis_sqlite3_reset(pointer) }
    database.statistics.run += 1
    guard try database.step(pointer, doing: "read the history") else { return nil }
    return HistoryPosition(
      identity: identity, number: trellis_sqlite3_column_int64(pointer, 0),
      time: trellis_sqlite3_column_int64(pointer, 1), part: trellis_sqlite3_column_int64(pointer, 2))
  }

  /// - Throws: ``StoreError``: `unsupported`, `historyExpired`.
  func position(of moment: HistoryMoment) throws -> HistoryPosition {
    switch moment {
    case .now: return try lastPosition() ?? beginning()
    case .time(let time):
      return try readPosition(.positionAtTime, HistoryPlan.lastBefore, time) ?? beforeAll()
    case .before(let number):
      return try readPosition(.positionBefore, HistoryPlan.previous, number) ?? beforeAll()
    }
  }

  /// The position before the first transaction that is kept, which is the first of all only if none was deleted.
  private func beforeAll() throws(StoreError) -> HistoryPosition {
    guard try firstNumber() <= 1 else { throw HistoryError.expired(setup.path) }
    return try beginning()
  }

  private func beginning() throws(StoreError) -> HistoryPosition {
    HistoryPosition(identity: try recorded().identity, number: 0, time: 0, part: 0)
  }

  /// The number of the first transaction that is kept; 1 if there is none.
  private func firstNumber() throws(StoreError) -> Int64 {
    try readPosition(.firstPosition, HistoryPlan.first)?.number ?? 1
  }

  /// Checks that every change after a position is recorded.
  ///
  /// - Returns: the number of the first transaction after the position.
  /// - Throws: ``StoreError``: `unsupported`, `historyExpired`, `otherHistory`.
  func firstNumber(after position: HistoryPosition) throws(StoreError) -> Int64 {
    guard try recorded().identity == position.identity else { throw HistoryError.other(setup.path) }
    if position.number == 0 {
      guard try firstNumber() <= 1 else { throw HistoryError.expired(setup.path) }
      return 1
    }
    guard let found = try readPosition(.position, HistoryPlan.position, position.number) else {
      // A number beyond the last one is of a copy of the store that has gone on by itself.
      let last = try lastPosition()?.number ?? 0
      throw position.number > last ? HistoryError.other(setup.path) : HistoryError.expired(setup.path)
    }
    guard found.time == position.time, found.part >= position.part else { throw HistoryError.other(setup.path) }
    // Other programs have written since, under the same number.
    return found.part > position.part ? position.number : position.number &+ 1
  }
}

// MARK: - Transactions

extension SQLiteConnection {
  /// - Throws: ``StoreError``: `unsupported`, `historyExpired`, `otherHistory`; errors of `body`.
  func history(after position: HistoryPosition?, atMost count: Int, _ body: (HistoryEntry) throws -> Void) throws {
    var matches: [Int64: ModelMatch?] = [:]
    var entries: [(entry: HistoryEntry, model: Int64)] = []
    // All statements read the same moment.
    try reading {
      try readEntries(from: position.map { try firstNumber(after: $0) } ?? 0, atMost: count) {
        entries.append(($0, $1))
      }
      for (_, model) in entries where matches[model] == nil { matches[model] = .some(try match(of: model)) }
    }
    for (var entry, model) in entries {
      entry.match = matches[model] ?? nil
      try body(entry)
    }
  }

  func entry(number: Int64) throws -> HistoryEntry? {
    var found: HistoryEntry?
    try readEntries(from: number, atMost: 1) { entry, _ in if entry.position.number == number { found = entry } }
    return found
  }

  private func readEntries(
    from first: Int64, atMost count: Int, _ body: (_ entry: HistoryEntry, _ model: Int64) -> Void
  ) throws {
    let identity = try recorded().identity
    let statement = try statement(.history, 0) { HistoryPlan.entries }
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, first), doing: "bind a number")
    try database.check(trellis_sqlite3_bind_int64(statement.pointer, 2, Int64(count)), doing: "bind a limit")
    try run(statement) { pointer in
      while try database.step(pointer, doing: "read the history") {
        body(entry(pointer, identity), trellis_sqlite3_column_int64(pointer, 3))
      }
    }
  }

  private func entry(_ pointer: OpaquePointer, _ identity: String) -> HistoryEntry {
    let isKnown = trellis_sqlite3_column_type(pointer, 5) != TRELLIS_SQLITE_NULL
    let origin = trellis_sqlite3_column_int64(pointer, 2)
    var record: [UInt8]?
    if isKnown {
      let start = trellis_sqlite3_column_blob(pointer, 5)
      let count = start == nil ? 0 : Int(trellis_sqlite3_column_bytes(pointer, 5))
      record = Array(UnsafeRawBufferPointer(start: start, count: count))
    }
    return HistoryEntry(
      position: HistoryPosition(
        identity: identity, number: trellis_sqlite3_column_int64(pointer, 0),
        time: trellis_sqlite3_column_int64(pointer, 1), part: isKnown ? 0 : origin),
      origin: isKnown ? origin : 0, author: database.text(of: pointer, 4), record: record, match: nil,
      store: setup.path)
  }

  /// The way from a model of the file to the program's; nil if it is the same.
  private func match(of number: Int64) throws(StoreError) -> ModelMatch? {
    if number == 0 || number == setup.history?.model.load(ordering: .relaxed) { return nil }
    guard let model = try ModelLineage.model(number, in: database) else {
      throw SQLiteErrors.damaged(setup.path, "its history refers to a model that it does not have")
    }
    return TextBytes.areEqual(model.checksum, layout.model.checksum) ? nil : ModelMatch(from: model, to: layout.model)
  }

  /// Runs a closure whose statements all read the same moment.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    guard trellis_sqlite3_get_autocommit(database.handle) != 0 else { return try body() }
    try pin()
    defer { unpin() }
    return try body()
  }

  /// - Returns: the number of deleted transactions.
  func deleteHistory(before position: HistoryPosition) throws -> Int {
    var count = 0
    try writing(by: nil) {
      // A position that is deleted already is no error: there is nothing to delete.
      guard try recorded().identity == position.identity else { throw HistoryError.other(setup.path) }
      let last = try lastPosition()?.number ?? 0
      let first = min(position.number, last)
      count = max(0, Int(clamping: first.subtractingReportingOverflow(try firstNumber()).partialValue))
      try deleteHistory(before: first, pastRows: .max / 2)
    }
    return count
  }
}

// MARK: - Versions

extension SQLiteConnection {
  /// - Throws: ``StoreError``; errors of `body`.
  func versions(of entity: Int, key: Int64, _ body: (_ until: Int64?, RowReader) throws -> Void) throws {
    let history = try recorded()
    guard layout.tables.indices.contains(entity) else { throw PlanError.unknownEntity }
    guard let table = history.plan.entities[entity], table.hasValues else {
      throw HistoryError.noValues(layout.model.entities[entity].name, setup.path)
    }
    try reading {
      let root = layout.model.entities[entity].root
      let statement = try statement(.versions, root) { layout.versionsStatement(root, table) }
      try database.check(trellis_sqlite3_bind_int64(statement.pointer, 1, key), doing: "bind a key")
      try readVersions(statement, root, body)
      try rows(of: root, keys: [key]) { try body(nil, $0) }
    }
  }

  private func readVersions(
    _ statement: Statement, _ root: Int, _ body: (_ until: Int64?, RowReader) throws -> Void
  ) throws {
    try run(statement) { pointer in
      let reader = SQLiteRowReader(pointer, layout.tables[root], setup.folder)
      reader.begin(pointer, layout.tables[root], base: 1)
      while try database.step(pointer, doing: "read former rows") {
        // A row that says there was none has no entity either.
        if trellis_sqlite3_column_type(pointer, 2) == TRELLIS_SQLITE_NULL {
          (reader.key, reader.version) = (trellis_sqlite3_column_int64(pointer, 1), 0)
        } else {
          try reader.load()
        }
        try body(trellis_sqlite3_column_int64(pointer, 0), reader)
      }
    }
  }
}

extension TableLayout {
  /// Selects the number of the transaction that replaced a row, and the row, from the oldest on. Parameter: the key.
  fileprivate func versionsStatement(_ root: Int, _ table: HistoryPlan.Table) -> String {
    "SELECT t.\"_until\", \(tables[root].selection("t")) FROM \(table.past) AS t WHERE t.\(SQLName.id) = ? "
      + "ORDER BY t.\"_until\""
  }
}

extension Database {
  /// The number of the last former row that was replaced by a transaction or an earlier one; 0 if there is none. The rows
  /// after it were replaced by later ones, now and in the future.
  ///
  /// - Complexity: logarithmic in the number of former rows.
  func lastPastRow(of table: HistoryPlan.Table, through transaction: Int64) throws(StoreError) -> Int64 {
    let statement = try prepare(table.pastRow)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    func row(at number: Int64) throws(StoreError) -> (number: Int64, until: Int64)? {
      try check(trellis_sqlite3_bind_int64(statement.pointer, 1, number), doing: "bind a number")
      defer { _ = trellis_sqlite3_reset(statement.pointer) }
      guard try step(statement.pointer, doing: "read former rows") else { return nil }
      return (trellis_sqlite3_column_int64(statement.pointer, 0), trellis_sqlite3_column_int64(statement.pointer, 1))
    }
    var (low, high): (Int64, Int64) = (0, try row(at: .max)?.number ?? 0)
    while low < high {
      let middle = low + (high - low + 1) / 2
      if let found = try row(at: middle), found.number > 0, found.until > transaction {
        high = found.number - 1
      } else {
        low = middle
      }
    }
    return low
  }
}

// MARK: - Leases

extension SQLiteStore: HistoryStore {
  package var origin: Int64 { setup.history?.origin ?? 0 }

  package func connect(asOf position: HistoryPosition) throws -> any StoreConnection {
    let connection = try take()
    defer { giveBack(connection) }
    guard let history = setup.history else { throw HistoryError.none(name) }
    guard history.plan.hasValues else {
      throw HistoryError.noValues("the objects", name)
    }
    try connection.checkShown(position)
    return PastConnection(try SQLitePast(self, history.plan, position))
  }
}

extension LeasingConnection: HistoryConnection {
  package func position(of moment: HistoryMoment) throws -> HistoryPosition {
    try leased { connection in try connection.reading { try connection.position(of: moment) } }
  }

  package func history(
    after position: HistoryPosition?, atMost count: Int, _ body: (HistoryEntry) throws -> Void
  ) throws {
    try leased { try $0.history(after: position, atMost: count, body) }
  }

  package func entry(number: Int64) throws -> HistoryEntry? { try leased { try $0.entry(number: number) } }

  package func versions(of entity: Int, key: Int64, _ body: (_ until: Int64?, RowReader) throws -> Void) throws {
    try leased { try $0.versions(of: entity, key: key, body) }
  }

  package func deleteHistory(before position: HistoryPosition) throws -> Int {
    try leased { try $0.deleteHistory(before: position) }
  }
}

// MARK: - Notes

extension LeasingConnection: NoteConnection {
  package func notes(beginningWith prefix: String) throws -> [String: [UInt8]] {
    try leased { try Metadata.notes(beginningWith: prefix, in: $0.database) }
  }
}
