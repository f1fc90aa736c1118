internal import CSQLite
import Synchronization
package import TrellisModel

/// A database connection with its buffers. The contexts of a store share a few connections. Each is used by one call at
/// a time.
package final class SQLiteConnection: StoreConnection {
  let setup: StoreSetup
  let database: Database
  /// Whether this connection stays open as long as the store.
  let isFirst: Bool
  let layout: SQLiteLayout
  // A connection has one user at a time, and each access ends before anything else is called, so accesses cannot
  // overlap.
  @exclusivity(unchecked) var shape: RequestShape
  @exclusivity(unchecked) var words: ContiguousArray<UInt64> = []
  let writer: SQLiteRowWriter
  /// Writes the files of a save. Nil if the model has no external storage.
  let externals: ExternalWriter?
  @exclusivity(unchecked) private var reader: SQLiteRowReader?
  /// The statements about the members of each relationship that has been asked for.
  private var knownMembers: [RelationshipNumber: MemberStatements] = [:]
  @exclusivity(unchecked) private var isRunning = false
  @exclusivity(unchecked) package var trace: StatementTrace?
  /// The file's commit counter, after it was first looked up.
  var commitCounter: UnsafeRawPointer?
  /// Whether the connection was not used since the last sweep of the pool.
  @exclusivity(unchecked) var isStale = false
  /// The number of times that the pool had closed its connections before this one was opened.
  @exclusivity(unchecked) var renewals = 0
  /// Records the changes of saves. Nil if the store has no history.
  let history: HistoryWriter?

  /// - Parameter layout: the layout of the store's tables, or that of views with the names of the tables.
  init(_ setup: StoreSetup, _ database: Database, isFirst: Bool = false, layout: SQLiteLayout? = nil) {
    self.setup = setup
    self.database = database
    self.isFirst = isFirst
    self.layout = layout ?? setup.layout
    shape = RequestShape(readsDerivedColumn: self.layout.readsDerivedColumn)
    history = setup.history.map { HistoryWriter($0, setup.layout.model) }
    externals = setup.folder.map(ExternalWriter.init)
    writer = SQLiteRowWriter(externals)
  }

  deinit {
    if isFirst, let commitCounter { setup.ledger.leave(commitCounter) }
  }

  // MARK: Statements

  /// The statement of a request, prepared if its shape is new.
  func statement(
    _ request: StoreRequest, _ purpose: RequestShape.Purpose, projecting paths: [ProjectedValue] = []
  ) throws(StoreError) -> Statement {
    try shape.describe(request, for: purpose, projecting: paths)
    if let known = database.cache.statement(shape.words) { return known }
    let made = try RequestStatement(request, for: purpose, projecting: paths, in: layout)
    return keep(try database.prepare(made.text, parameters: made.parameters), shape.words)
  }

  /// The statement of a request for groups.
  private func statement(_ request: GroupRequest) throws(StoreError) -> Statement {
    try shape.describe(request)
    if let known = database.cache.statement(shape.words) { return known }
    let made = try GroupStatement(request, in: layout)
    return keep(try database.prepare(made.text, parameters: made.parameters), shape.words)
  }

  /// The statement of a change of many rows.
  func statement(_ update: BatchUpdate) throws(StoreError) -> Statement {
    try shape.describe(update)
    if let known = database.cache.statement(shape.words) { return known }
    let made = try BatchStatement(update, in: layout)
    return keep(try database.prepare(made.text, parameters: made.parameters), shape.words)
  }

  /// The statement that deletes the rows of a request.
  func statement(deleting request: StoreRequest) throws(StoreError) -> Statement {
    try shape.describe(request, for: .delete)
    if let known = database.cache.statement(shape.words) { return known }
    let made = try BatchStatement(deleting: request, in: layout)
    return keep(try database.prepare(made.text, parameters: made.parameters), shape.words)
  }

  /// The statement that computes the stored values of marked rows. Its values are in ``shape``.
  func statement(computing group: DerivedPlan.Group) throws(StoreError) -> Statement {
    try shape.describe(group.request(for: group.columns))
    words.removeAll(keepingCapacity: true)
    words.append(FixedStatement.computeDerived.rawValue | UInt64(truncatingIfNeeded: group.entity) << 16)
    if let known = database.cache.statement(words) { return known }
    let made = try group.computation(in: layout)
    return keep(try database.prepare(made.text, parameters: made.parameters), words)
  }

  /// A statement that depends only on the model.
  func statement(
    _ kind: FixedStatement, _ entity: Int, _ detail: UInt64 = 0, _ text: () -> String?
  ) throws(StoreError) -> Statement {
    let name = kind.rawValue | UInt64(truncatingIfNeeded: entity) << 16
    if let known = database.cache.recent(name, detail) { return known }
    words.removeAll(keepingCapacity: true)
    words.append(name)
    words.append(detail)
    if let known = database.cache.statement(words) {
      database.cache.noteRecent(known, name, detail)
      return known
    }
    guard let text = text() else {
      throw StoreError(
        .internalError, "The store was asked for something that the model does not have.",
        remedy: "Report this as a mistake in Trellis.")
    }
    return keep(try database.prepare(text), words)
  }

  private func keep(_ statement: Statement, _ words: ContiguousArray<UInt64>) -> Statement {
    trace?.noteCompiled(statement.text)
    for old in database.cache.insert(statement, words) { _ = trellis_sqlite3_finalize(old.pointer) }
    return statement
  }

  /// Runs a statement and resets it in any case.
  func run<Result>(_ statement: Statement, _ body: (OpaquePointer) throws -> Result) throws -> Result {
    guard !isRunning else {
      throw StoreError(
        .internalError, "The connection was used while it was reading.",
        remedy: "Do not use a connection inside the body of one of its calls.")
    }
    if setup.mayHaveMoved.load(ordering: .relaxed) { try checkPlaceAgain() }
    isRunning = true
    database.statistics.run += 1
    if let trace { note(statement, in: trace) }
    defer {
      isRunning = false
      _ = trellis_sqlite3_reset(statement.pointer)
    }
    return try body(statement.pointer)
  }

  @inline(never) private func note(_ statement: Statement, in trace: StatementTrace) {
    trace.noteRun(statement.text)
    if !statement.parameters.isEmpty { trace.noteValues(shape.boundValues) }
  }

  /// Runs a statement and reads its rows.
  ///
  /// - Parameter isOnlyOne: whether there is at most one row, so that no second step is needed.
  func readRows(
    _ statement: Statement, _ table: EntityTable, base: Int32 = 0, isOnlyOne: Bool = false,
    _ body: (SQLiteRowReader, OpaquePointer) throws -> Void
  ) throws {
    try run(statement) { pointer in
      let reader = self.reader ?? SQLiteRowReader(pointer, table, setup.folder)
      self.reader = reader
      reader.begin(pointer, table, base: base)
      while try database.step(pointer, doing: "read") {
        try reader.load()
        try body(reader, pointer)
        if isOnlyOne { break }
      }
    }
  }
}

/// The statements that do not come from requests. Their numbers are above those of request shapes, which use up to
/// twelve bits.
enum FixedStatement: UInt64 {
  case row = 0x1000, rowRange, rowList, memberRows, memberKeys, lastPlaces
  case insert, restore, update, delete, place, clear
  case insertPair, deletePair, movePair, deleteFirst, deletePartner
  case begin, commit, rollback
  case memberCount, ownersOfMembers, deleteList, unlink
  case findMarks, indexMarked
  case findDerivedMarks, computeDerived, deleteDerivedMarks
  case modelChecksum, memberPlaces, keyHolders, memberScan, memberShare, keysFrom, staleRows, levels, allPairs
  case referringRows, keepRows, noteNewRows, keepPair, keepFirst, keepPartner
  case addHistory, history, oldestHistory, purgeHistory, purgePast, lastPosition, positionAtTime, position
  case positionBefore, firstPosition, versions
}

// MARK: - Requests

extension SQLiteConnection {
  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: that of SQLite's query plan. No SQL is built for a request with a known shape.
  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    let statement = try statement(request, .rows)
    try database.bind(shape.values, to: statement)
    try readRows(statement, layout.tables[request.entity], isOnlyOne: request.limit == 1) { reader, _ in
      try body(reader)
    }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    let statement = try statement(request, .keys)
    try database.bind(shape.values, to: statement)
    let table = layout.tables[request.entity]
    try run(statement) { pointer in
      while try database.step(pointer, doing: "read keys") {
        let key = trellis_sqlite3_column_int64(pointer, 0)
        try body(key, table.isInHierarchy ? try entity(of: pointer, in: request.entity) : request.entity)
      }
    }
  }

  func entity(of pointer: OpaquePointer, in entity: Int) throws(StoreError) -> Int {
    let start = trellis_sqlite3_column_blob(pointer, 1)
    let count = start == nil ? 0 : Int(trellis_sqlite3_column_bytes(pointer, 1))
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let found = layout.tables[entity].entityNames.first(where: { $0.name.utf8.elementsEqual(bytes) }) else {
      throw StoreError(
        .unreadableValue,
        "A row of \(layout.tables[entity].name) belongs to no entity of the model that was asked for.",
        remedy: "Repair the column _entity with another tool, or restore the file from a backup.")
    }
    return found.number
  }

  package func count(_ request: StoreRequest) throws -> Int {
    let statement = try statement(request, .count)
    try database.bind(shape.values, to: statement)
    return try run(statement) { pointer in
      guard try database.step(pointer, doing: "count") else { return 0 }
      return Int(truncatingIfNeeded: trellis_sqlite3_column_int64(pointer, 0))
    }
  }
}

// MARK: - Keys

extension SQLiteConnection {
  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: one search per key. If most rows between the smallest and the greatest key are requested, one pass
  ///   over those rows.
  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    guard layout.tables.indices.contains(entity) else { throw PlanError.unknownEntity }
    let table = layout.tables[entity]
    if keys.count == 1 {
      let statement = try statement(.row, entity) { layout.rowStatement(entity) }
      _ = trellis_sqlite3_bind_int64(statement.pointer, 1, keys[0])
      return try readRows(statement, table, isOnlyOne: true) { reader, _ in try body(reader) }
    }
    guard !keys.isEmpty else { return }
    var sorted = keys
    sorted.sortIfNeeded()
    // Rows of a view are found by key alone.
    if !layout.isPast, let range = sorted.denseRange {
      try rows(in: range, of: entity, wanted: sorted, body)
    } else {
      let statement = try statement(.rowList, entity) { layout.rowListStatement(entity) }
      try withKeys(sorted, statement) { try readRows(statement, table) { reader, _ in try body(reader) } }
    }
  }

  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: one search in the index of the key for each value.
  package func holders(
    of key: UniqueKey, values: [[StoredValue]], in model: Model, _ body: (_ number: Int, RowReader) throws -> Void
  ) throws {
    guard let count = values.first?.count, count > 0 else { return }
    guard layout.tables.indices.contains(key.entity) else { throw PlanError.unknownEntity }
    let properties = key.properties.reduce(UInt64(0)) { $0 &* 4_097 &+ UInt64(truncatingIfNeeded: $1) &+ 1 }
    let statement = try statement(.keyHolders, key.entity, properties) { layout.holdersStatement(key) }
    var index: Int32 = 0
    for list in values {
      index += 1
      try database.check(try database.bind(list, .plain, index, statement.pointer), doing: "bind values")
    }
    defer {
      _ = trellis_sqlite3_reset(statement.pointer)
      for index in 1...max(1, index) { _ = trellis_sqlite3_bind_null(statement.pointer, index) }
    }
    try readRows(statement, layout.tables[key.entity], base: 1) { reader, pointer in
      try body(Int(truncatingIfNeeded: trellis_sqlite3_column_int64(pointer, 0)) - 1, reader)
    }
  }

  /// Reads all rows in a key range and skips the ones that are not requested.
  private func rows(
    in range: ClosedRange<Int64>, of entity: Int, wanted: [Int64], _ body: (RowReader) throws -> Void
  ) throws {
    let statement = try statement(.rowRange, entity) { layout.rowRangeStatement(entity) }
    _ = trellis_sqlite3_bind_int64(statement.pointer, 1, range.lowerBound)
    _ = trellis_sqlite3_bind_int64(statement.pointer, 2, range.upperBound)
    var place = 0
    try readRows(statement, layout.tables[entity]) { reader, _ in
      while place < wanted.count, wanted[place] < reader.key { place += 1 }
      if place < wanted.count, wanted[place] == reader.key { try body(reader) }
    }
  }

  /// Binds keys, or other integers, as a parameter while `body` runs.
  func withKeys<Result>(
    _ keys: [Int64], _ statement: Statement, parameter: Int32 = 1, _ body: () throws -> Result
  ) throws -> Result {
    try keys.withUnsafeBufferPointer { keys in
      var list = trellis_list(count: Int64(keys.count), keys: keys.baseAddress, cells: nil)
      return try withUnsafePointer(to: &list) { list in
        try database.check(
          trellis_sqlite_bind_borrowed_list(statement.pointer, parameter, list), doing: "bind keys")
        // The list is valid during this call only.
        defer {
          _ = trellis_sqlite3_reset(statement.pointer)
          _ = trellis_sqlite3_bind_null(statement.pointer, parameter)
        }
        return try body()
      }
    }
  }
}

enum PlanError {
  static let unknownEntity = StoreError(
    .internalError, "The store was asked for an entity that the model does not have.",
    remedy: "Report this as a mistake in Trellis.")
}

/// A set of keys in a dense range: a bit for each key of the range.
struct KeyBits {
  private let range: ClosedRange<Int64>
  private var words: ContiguousArray<UInt64>

  init(_ keys: [Int64], in range: ClosedRange<Int64>) {
    self.range = range
    words = ContiguousArray(repeating: 0, count: Int(range.upperBound - range.lowerBound) / 64 + 1)
    for key in keys where range.contains(key) {
      let (word, bit) = place(of: key)
      words[word] |= bit
    }
  }

  func contains(_ key: Int64) -> Bool {
    guard range.contains(key) else { return false }
    let (word, bit) = place(of: key)
    return words[word] & bit != 0
  }

  private func place(of key: Int64) -> (word: Int, bit: UInt64) {
    let place = Int(key - range.lowerBound)
    return (place / 64, 1 << UInt64(place % 64))
  }
}

extension [Int64] {
  /// Sorts the keys if they are not sorted. Most callers pass sorted keys.
  mutating func sortIfNeeded() {
    for index in indices.dropFirst() where self[index - 1] > self[index] { return sort() }
  }

  /// The range from the smallest to the greatest of sorted keys, if at least every fourth key in it is requested.
  var denseRange: ClosedRange<Int64>? {
    guard let first, let last else { return nil }
    let (width, overflow) = last.subtractingReportingOverflow(first)
    return !overflow && width / 4 < Int64(count) ? first...last : nil
  }
}

// MARK: - Values

extension SQLiteConnection {
  /// - Throws: ``StoreError``, or the error that `body` throws.
  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try readValues(statement(request, .values, projecting: paths), paths.map(\.kind), body)
  }

  /// - Throws: ``StoreError``, or the error that `body` throws.
  package func fetchGroups(_ request: GroupRequest, _ body: ([StoredValue]) throws -> Void) throws {
    // Data in a file is compared by its content, which the row lacks.
    let readsFiles = externals != nil && request.mayReadFiles(layout.model)
    guard GroupStatement.exists(for: request), !readsFiles else { return try collectGroups(request, body) }
    let kinds = request.keys.map(\.kind) + request.aggregates.map(\.kind)
    try readValues(statement(request), kinds, body)
  }

  /// Runs the statement for the values of the shape and reads its columns.
  private func readValues(
    _ statement: Statement, _ kinds: [ValueKind], _ body: ([StoredValue]) throws -> Void
  ) throws {
    try database.bind(shape.values, to: statement)
    try run(statement) { pointer in
      var values = kinds.map { _ in StoredValue.null }
      while try database.step(pointer, doing: "read values") {
        for place in values.indices {
          values[place] = try value(pointer, Int32(truncatingIfNeeded: place), kinds[place])
        }
        try body(values)
      }
    }
  }

  private func value(_ statement: OpaquePointer, _ column: Int32, _ kind: ValueKind) throws(StoreError) -> StoredValue {
    switch trellis_sqlite3_column_type(statement, column) {
    case TRELLIS_SQLITE_INTEGER: return .integer(trellis_sqlite3_column_int64(statement, column))
    case TRELLIS_SQLITE_FLOAT: return .real(trellis_sqlite3_column_double(statement, column))
    case TRELLIS_SQLITE_TEXT:
      let text = String(decoding: Self.bytes(statement, column), as: UTF8.self)
      return kind == .blob ? .file(try file(text)) : .text(text)
    case TRELLIS_SQLITE_BLOB: return .blob([UInt8](Self.bytes(statement, column)))
    default: return .null
    }
  }

  /// The file of data that is not in the row.
  private func file(_ reference: String) throws(StoreError) -> ExternalFile {
    if let file = setup.folder?.file(reference) { return file }
    throw StoreError(
      .unreadableValue, "The stored reference to a file is none.", remedy: "Set the attribute to another value.")
  }

  private static func bytes(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    let start = trellis_sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(trellis_sqlite3_column_bytes(statement, column)))
  }

  /// SQLite's query plan, and the index that would avoid a full table scan.
  package func plan(of request: StoreRequest) throws -> QueryPlan {
    let statement = try RequestStatement(request, for: .rows, in: layout)
    let steps = try database.plan(of: statement.text).split(separator: "\n").map(String.init)
    let entity = layout.model.entities[request.entity]
    let scans = steps.contains { $0.hasPrefix("SCAN t0") }
    let sorts = steps.contains { $0.contains("TEMP B-TREE FOR") }
    let isNarrowed = request.predicate != nil || (sorts && !request.sort.isEmpty)
    return QueryPlan(
      statement: statement.text, steps: steps, scansWholeTable: scans, entity: entity.name,
      missingIndex: isNarrowed && (scans || sorts)
        ? IndexAdvice(entity, hasDerivedColumns: !layout.derived.isEmpty).index(for: request) : nil)
  }
}

// MARK: - Pinning

extension SQLiteConnection {
  /// Begins a read transaction. The write-ahead log keeps its snapshot, independent of later commits.
  package func pin() throws {
    // A transaction of a migration is a snapshot already.
    if setup.isWithinTransaction { return }
    try database.execute("BEGIN", doing: "begin to read")
    do {
      // The snapshot begins with the first read of a transaction.
      try database.execute("SELECT 1 FROM sqlite_schema LIMIT 1", doing: "begin to read")
    } catch {
      unpin()
      throw error
    }
  }

  package func unpin() {
    if setup.isWithinTransaction { return }
    // The transaction has written nothing that could be lost.
    try? database.execute("ROLLBACK", doing: "end reading")
  }
}

// MARK: - Member statements

extension SQLiteConnection {
  func memberStatements(_ relationship: RelationshipNumber) throws(StoreError) -> MemberStatements {
    if let known = knownMembers[relationship] { return known }
    guard let texts = MemberStatements(layout, entity: relationship.entity, property: relationship.property) else {
      throw StoreError(
        .internalError, "The store was asked for a relationship that it does not keep.",
        remedy: "Report this as a mistake in Trellis.")
    }
    knownMembers[relationship] = texts
    return texts
  }

  func memberStatement(
    _ kind: FixedStatement, _ relationship: RelationshipNumber, _ text: () -> String?
  ) throws(StoreError) -> Statement {
    try statement(kind, relationship.entity, UInt64(truncatingIfNeeded: relationship.property), text)
  }

  /// The owners sorted, so that searches go through the file in one direction, and without duplicates, so that no
  /// member is returned twice.
  func prepared(_ owners: [Int64]) -> [Int64] { owners.sortedWithoutRepeats }
}

// MARK: - Place

/// An open file may be removed, renamed or replaced. Then it continues to exist without its name, and everything
/// written to it is lost.
extension SQLiteConnection {
  /// Checks the path before each commit. This costs one system call.
  func checkPlace() throws(StoreError) {
    guard database.hasMoved else { return }
    setup.mayHaveMoved.store(true, ordering: .relaxed)
    throw SQLiteErrors.moved(setup.path)
  }

  /// Checks the path before reads, too, once a save has found the file moved, until the file is back.
  @inline(never) func checkPlaceAgain() throws(StoreError) {
    // A transaction runs to its end. Its commit checks the path by itself.
    guard trellis_sqlite3_get_autocommit(database.handle) != 0 else { return }
    if database.hasMoved { throw SQLiteErrors.moved(setup.path) }
    setup.mayHaveMoved.store(false, ordering: .relaxed)
  }
}

extension Database {
  /// Whether the path leads to another file, or to none. Systems without this check do not allow an open file to be
  /// moved.
  var hasMoved: Bool {
    var answer: Int32 = 0
    return trellis_sqlite3_file_control(handle, "main", TRELLIS_SQLITE_FCNTL_HAS_MOVED, &answer) == TRELLIS_SQLITE_OK
      && answer != 0
  }
}

extension StoreSetup {
  /// Ensures that a new connection does not open another file that has replaced this one.
  func checkIdentity() throws(StoreError) {
    guard let identity, let found = try? options.files.stamp(path), !found.isSameFile(as: identity) else { return }
    throw SQLiteErrors.moved(path)
  }
}
