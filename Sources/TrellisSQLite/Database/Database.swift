internal import CSQLite
import TrellisSQL
import TrellisStorage

/// One open SQLite connection with its prepared statements. It is used by one thread at a time.
final class Database {
  let handle: OpaquePointer
  let path: String
  // One connection uses this, and each access ends before anything else is called, so accesses cannot overlap.
  @exclusivity(unchecked) var cache = StatementCache()
  @exclusivity(unchecked) var statistics = StatementStatistics()

  /// Opens an existing file.
  ///
  /// - Throws: ``StoreError``.
  init(path: String, options: OpenOptions, isImmutable: Bool = false) throws(StoreError) {
    self.path = path
    var flags = TRELLIS_SQLITE_OPEN_NOMUTEX | TRELLIS_SQLITE_OPEN_EXRESCODE
    flags |= options.isReadOnly ? TRELLIS_SQLITE_OPEN_READONLY : TRELLIS_SQLITE_OPEN_READWRITE
    if isImmutable { flags |= TRELLIS_SQLITE_OPEN_URI }
    var opened: OpaquePointer?
    let code = trellis_sqlite3_open_v2(isImmutable ? Self.immutableURI(path) : path, &opened, Int32(flags), nil)
    guard let opened, code == TRELLIS_SQLITE_OK else {
      let message = opened.map { String(cString: trellis_sqlite3_errmsg($0)) } ?? "out of memory"
      _ = trellis_sqlite3_close_v2(opened)
      throw SQLiteErrors.error(code, message, path: path, doing: "open the file")
    }
    handle = opened
    // SQLite opens a file without write permission, and would leave other files beside it before it reports an error.
    if !options.isReadOnly && trellis_sqlite3_db_readonly(handle, "main") == 1 {
      throw error(TRELLIS_SQLITE_READONLY, doing: "open the file")
    }
    try harden(busyTimeout: options.busyTimeoutMilliseconds)
  }

  deinit {
    for statement in cache.all { _ = trellis_sqlite3_finalize(statement.pointer) }
    _ = trellis_sqlite3_close_v2(handle)
  }

  /// Secures the connection. The file may come from anywhere: nothing in its schema is trusted, and no SQL can damage
  /// it.
  private func harden(busyTimeout: Int32) throws(StoreError) {
    _ = trellis_sqlite3_busy_timeout(handle, busyTimeout)
    for (option, on) in [
      (TRELLIS_SQLITE_DBCONFIG_DEFENSIVE, 1), (TRELLIS_SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (TRELLIS_SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (TRELLIS_SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (TRELLIS_SQLITE_DBCONFIG_DQS_DML, 0), (TRELLIS_SQLITE_DBCONFIG_DQS_DDL, 0),
    ] { _ = trellis_sqlite3_db_config(handle, Int32(option), Int32(on)) }
    try check(trellis_sqlite_extend(handle), doing: "add functions")
    try check(TextFunctions.add(to: handle), doing: "add functions")
    try check(ValueFunctions.add(to: handle), doing: "add functions")
    try check(SearchFunctions.add(to: handle), doing: "add functions")
  }

  private static func immutableURI(_ path: String) -> String {
    var uri = "file:"
    for byte in path.utf8 {
      let isPlain =
        byte == 0x2F || byte == 0x2E || byte == 0x2D || byte == 0x5F || (byte >= 0x30 && byte <= 0x39)
        || (byte >= 0x41 && byte <= 0x5A) || (byte >= 0x61 && byte <= 0x7A)
      if isPlain {
        uri.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        uri += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return uri + "?immutable=1"
  }

  // MARK: Statements

  func check(_ code: Int32, doing: @autoclosure () -> String) throws(StoreError) {
    guard code == TRELLIS_SQLITE_OK else { throw error(code, doing: doing()) }
  }

  func error(_ code: Int32, doing: String) -> StoreError {
    SQLiteErrors.error(code, message, path: path, doing: doing)
  }

  var message: String { String(cString: trellis_sqlite3_errmsg(handle)) }

  /// Runs statements without parameters and results.
  func execute(_ sql: String, doing: String) throws(StoreError) {
    statistics.run += 1
    try check(trellis_sqlite3_exec(handle, sql, nil, nil, nil), doing: doing)
  }

  /// Prepares a statement that is cached and used often.
  func prepare(_ sql: String, parameters: [Parameter] = []) throws(StoreError) -> Statement {
    statistics.prepared += 1
    var text = sql
    var pointer: OpaquePointer?
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        trellis_sqlite3_prepare_v3(
          handle, bytes.baseAddress, Int32(truncatingIfNeeded: bytes.count), UInt32(TRELLIS_SQLITE_PREPARE_PERSISTENT),
          &pointer, nil)
      }
    }
    try check(code, doing: "prepare a statement")
    guard let pointer else { throw error(TRELLIS_SQLITE_ERROR, doing: "prepare a statement") }
    return Statement(pointer, sql, parameters)
  }

  /// Whether there is another row.
  @inline(__always) func step(_ statement: OpaquePointer, doing: String) throws(StoreError) -> Bool {
    let code = trellis_sqlite3_step(statement)
    if code == TRELLIS_SQLITE_ROW { return true }
    if code == TRELLIS_SQLITE_DONE { return false }
    throw error(code, doing: doing)
  }
}

/// The work that a connection has done, for tests and diagnostics.
package struct StatementStatistics: Hashable, Sendable {
  /// The number of statements that were run.
  package var run = 0
  /// The number of statements that were compiled.
  package var prepared = 0
  /// The number of runs of a prepared statement.
  package var reused = 0
}

/// The options for opening a file.
struct OpenOptions: Sendable {
  /// The maximum number of bytes of external data in a row.
  var largestInRow = ExternalFolder.usualLargestInRow
  /// The file operations for external data.
  var files: any FileOperations = SystemFiles()
  var durability: Durability
  var busyTimeoutMilliseconds: Int32
  /// The maximum number of open connections.
  var mostConnections = 8
  /// The idle time after which a connection is closed. It may be up to twice that.
  var idleSeconds = 5.0
  var isReadOnly: Bool
  /// Whether full-text tables are used, if the library has them. Without them, results are the same, but searches are
  /// slower.
  var usesSearchIndex = true
}

extension Database {
  /// SQLite's query plan for a statement, one line per step.
  func plan(of sql: String) throws(StoreError) -> String {
    let statement = try prepare("EXPLAIN QUERY PLAN " + sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var lines: [String] = []
    while try step(statement.pointer, doing: "explain a statement") {
      lines.append(trellis_sqlite3_column_text(statement.pointer, 3).map { String(cString: $0) } ?? "")
    }
    return lines.joined(separator: "\n")
  }
}
