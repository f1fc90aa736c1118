internal import CSQLite
import Synchronization
import TrellisSQL
import TrellisSchema
package import TrellisStorage

/// A database connection with its buffers. The contexts of a store share a few connections. Each is used by one call at
/// a time.
package final class SQLiteConnection: StoreConnection {
  let setup: StoreSetup
  let database: Database
  /// Whether this connection stays open as long as the store.
  let isFirst: Bool
  let layout: TableLayout
  // A connection has one user at a time, and each access ends before anything else is called, so accesses cannot
  // overlap.
  @exclusivity(unchecked) var shape = RequestShape()
  @exclusivity(unchecked) var words: ContiguousArray<UInt64> = []
  let writer: SQLiteRowWriter
  /// Writes the files of a save. Nil if the model has no external storage.
  let externals: ExternalWriter?
  @exclusivity(unchecked) private var reader: SQLiteRowReader?
  @exclusivity(unchecked) private var isRunning = false
  @exclusivity(unchecked) package var trace: StatementTrace?
  /// The file's commit counter, after it was first looked up.
  var commitCounter: UnsafeRawPointer?
  /// Whether the connection was not used since the last sweep of the pool.
  @exclusivity(unchecked) var isStale = false

  init(_ setup: StoreSetup, _ database: Database, isFirst: Bool = false) {
    self.setup = setup
    self.database = database
    self.isFirst = isFirst
    layout = setup.layout
    externals = setup.folder.map(ExternalWriter.init)
    writer = SQLiteRowWriter(externals)
  }

  // MARK: Statements

  /// The statement of a request, prepared if its shape is new.
  func statement(
    _ request: StoreRequest, _ purpose: RequestShape.Purpose, projecting paths: [ProjectedPath] = []
  ) throws(StoreError) -> Statement {
    try shape.describe(request, for: purpose, projecting: paths)
    if let known = database.cache.statement(shape.words) { return known }
    let made = try RequestStatement(request, for: purpose, projecting: paths, in: layout)
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

  /// A statement that depends only on the model.
  func statement(
    _ kind: FixedStatement, _ entity: Int, _ detail: UInt64 = 0, _ text: () -> String?
  ) throws(StoreError) -> Statement {
    words.removeAll(keepingCapacity: true)
    words.append(kind.rawValue | UInt64(truncatingIfNeeded: entity) << 16)
    words.append(detail)
    if let known = database.cache.statement(words) { return known }
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
  case modelChecksum
}
