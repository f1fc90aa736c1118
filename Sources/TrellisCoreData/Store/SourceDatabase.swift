internal import CSQLite

/// A connection that reads a copy of a Core Data store. Used by one thread at a time.
///
/// The file may come from anywhere: nothing in its schema is trusted, no trigger or view of it runs, and a table that
/// leads to itself ends.
final class SourceDatabase {
  private let handle: OpaquePointer
  private let name: String
  /// The most rows that a table can have: each has at least one byte.
  private let mostRows: Int

  /// - Parameters:
  ///   - path: The copy.
  ///   - name: The name of the store in messages.
  ///   - size: The size of the file and its log in bytes.
  /// - Throws: ``CoreDataError``.
  init(path: String, name: String, size: Int) throws(CoreDataError) {
    if let reason = trellis_sqlite_load() {
      throw CoreDataError(
        .inputOutput, String(cString: reason), remedy: "Install SQLite 3.38 or later (libsqlite3).")
    }
    self.name = name
    mostRows = max(1_000, size)
    var opened: OpaquePointer?
    let flags = TRELLIS_SQLITE_OPEN_NOMUTEX | TRELLIS_SQLITE_OPEN_EXRESCODE | TRELLIS_SQLITE_OPEN_READWRITE
    let code = trellis_sqlite3_open_v2(path, &opened, Int32(flags), nil)
    guard let opened, code == TRELLIS_SQLITE_OK else {
      let message = opened.map { String(cString: trellis_sqlite3_errmsg($0)) } ?? "out of memory"
      _ = trellis_sqlite3_close_v2(opened)
      throw Self.error(code, message, name)
    }
    handle = opened
    for (option, on) in [
      (TRELLIS_SQLITE_DBCONFIG_DEFENSIVE, 1), (TRELLIS_SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
      (TRELLIS_SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), (TRELLIS_SQLITE_DBCONFIG_ENABLE_VIEW, 0),
      (TRELLIS_SQLITE_DBCONFIG_DQS_DML, 0), (TRELLIS_SQLITE_DBCONFIG_DQS_DDL, 0),
    ] { _ = trellis_sqlite3_db_config(handle, Int32(option), Int32(on)) }
  }

  deinit { _ = trellis_sqlite3_close_v2(handle) }

  /// Passes the rows of a query.
  ///
  /// - Parameter parameters: The values of `?1` and so on.
  /// - Throws: ``CoreDataError``, or errors of `body`.
  func rows(_ sql: String, _ parameters: [Int64] = [], _ body: (SourceRow) throws -> Void) throws {
    var statement: OpaquePointer?
    var text = sql
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        trellis_sqlite3_prepare_v3(
          handle, bytes.baseAddress, Int32(truncatingIfNeeded: bytes.count), 0, &statement, nil)
      }
    }
    defer { _ = trellis_sqlite3_finalize(statement) }
    guard code == TRELLIS_SQLITE_OK, let statement else { throw error(code) }
    for (place, value) in parameters.enumerated() {
      _ = trellis_sqlite3_bind_int64(statement, Int32(truncatingIfNeeded: place + 1), value)
    }
    var count = 0
    while true {
      let code = trellis_sqlite3_step(statement)
      if code == TRELLIS_SQLITE_DONE { return }
      guard code == TRELLIS_SQLITE_ROW else { throw error(code) }
      count += 1
      guard count <= mostRows else { throw Self.error(TRELLIS_SQLITE_CORRUPT, "a table has too many rows", name) }
      try body(SourceRow(statement))
    }
  }

  /// The first row's first value as an integer; nil if there is none.
  func integer(_ sql: String) throws -> Int64? {
    var found: Int64?
    try rows(sql) { row in if found == nil { found = row.integer(0) } }
    return found
  }

  private func error(_ code: Int32) -> CoreDataError {
    Self.error(code, String(cString: trellis_sqlite3_errmsg(handle)), name)
  }

  private static func error(_ code: Int32, _ message: String, _ name: String) -> CoreDataError {
    switch code & 0xFF {
    case TRELLIS_SQLITE_NOTADB:
      CoreDataError(
        .encrypted, "\(name) is encrypted, or is no SQLite file.",
        remedy: "Decrypt it with the program that made it, and give the decrypted copy.")
    case TRELLIS_SQLITE_FULL, TRELLIS_SQLITE_IOERR, TRELLIS_SQLITE_CANTOPEN:
      CoreDataError(
        .inputOutput, "The copy of \(name) cannot be read: \(message).", remedy: "Make room on the disk and try again.")
    default:
      CoreDataError(
        .damaged, "\(name) is damaged: \(message).", remedy: "Restore the store from a backup.")
    }
  }

  /// A name in a statement.
  static func quoted(_ name: String) -> String { enclosed(name, in: UInt8(ascii: "\"")) }

  /// A text in a statement.
  static func literal(_ text: String) -> String { enclosed(text, in: UInt8(ascii: "'")) }

  /// Doubles each mark, byte by byte: with a combining character behind it, a mark is no character of its own.
  private static func enclosed(_ text: String, in mark: UInt8) -> String {
    var bytes = [mark]
    for byte in text.utf8 { bytes += byte == mark ? [mark, mark] : [byte] }
    return String(decoding: bytes + [mark], as: UTF8.self)
  }
}

// MARK: - Rows

/// A row during a query.
struct SourceRow {
  private let statement: OpaquePointer

  fileprivate init(_ statement: OpaquePointer) { self.statement = statement }

  private func type(_ column: Int) -> Int32 {
    trellis_sqlite3_column_type(statement, Int32(truncatingIfNeeded: column))
  }

  func isNull(_ column: Int) -> Bool { type(column) == TRELLIS_SQLITE_NULL }

  /// The integer of a column; nil if it has another kind of value. A whole real counts.
  func integer(_ column: Int) -> Int64? {
    switch type(column) {
    case TRELLIS_SQLITE_INTEGER: trellis_sqlite3_column_int64(statement, Int32(truncatingIfNeeded: column))
    case TRELLIS_SQLITE_FLOAT:
      Int64(exactly: trellis_sqlite3_column_double(statement, Int32(truncatingIfNeeded: column)))
    default: nil
    }
  }

  /// The text of a column; nil if it has another kind of value.
  func text(_ column: Int) -> String? {
    type(column) == TRELLIS_SQLITE_TEXT ? String(decoding: bytes(column), as: UTF8.self) : nil
  }

  /// The bytes of a text or a blob.
  func bytes(_ column: Int) -> [UInt8] {
    let number = Int32(truncatingIfNeeded: column)
    let start: UnsafeRawPointer?
    if type(column) == TRELLIS_SQLITE_TEXT {
      start = trellis_sqlite3_column_text(statement, number).map { UnsafeRawPointer($0) }
    } else {
      start = trellis_sqlite3_column_blob(statement, number)
    }
    guard let start else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(trellis_sqlite3_column_bytes(statement, number))))
  }

  func value(_ column: Int) -> SourceValue {
    let number = Int32(truncatingIfNeeded: column)
    switch type(column) {
    case TRELLIS_SQLITE_INTEGER: return .integer(trellis_sqlite3_column_int64(statement, number))
    case TRELLIS_SQLITE_FLOAT: return .real(trellis_sqlite3_column_double(statement, number))
    case TRELLIS_SQLITE_TEXT:
      let bytes = bytes(column)
      if let text = String(validating: bytes, as: UTF8.self) { return .text(text, isSound: true) }
      return .text(String(decoding: bytes, as: UTF8.self), isSound: false)
    case TRELLIS_SQLITE_BLOB: return .blob(bytes(column))
    default: return .null
    }
  }
}

/// A value as the file has it.
enum SourceValue: Hashable {
  case null
  case integer(Int64)
  case real(Double)
  /// A text, and whether its bytes are UTF-8.
  case text(String, isSound: Bool)
  case blob([UInt8])
}
