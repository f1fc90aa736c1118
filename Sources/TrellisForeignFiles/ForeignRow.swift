internal import CSQLite

/// A row of a ``ForeignFile`` during a query.
package struct ForeignRow {
  private let statement: OpaquePointer

  init(_ statement: OpaquePointer) { self.statement = statement }

  private func type(_ column: Int) -> Int32 {
    trellis_sqlite3_column_type(statement, Int32(truncatingIfNeeded: column))
  }

  package func isNull(_ column: Int) -> Bool { type(column) == TRELLIS_SQLITE_NULL }

  /// The integer of a column; nil if it has another kind of value. A whole real counts.
  package func integer(_ column: Int) -> Int64? {
    switch type(column) {
    case TRELLIS_SQLITE_INTEGER: trellis_sqlite3_column_int64(statement, Int32(truncatingIfNeeded: column))
    case TRELLIS_SQLITE_FLOAT:
      Int64(exactly: trellis_sqlite3_column_double(statement, Int32(truncatingIfNeeded: column)))
    default: nil
    }
  }

  /// The text of a column, with replacement characters where its bytes are not UTF-8; nil if it has another kind of value.
  package func text(_ column: Int) -> String? {
    type(column) == TRELLIS_SQLITE_TEXT ? String(decoding: bytes(column), as: UTF8.self) : nil
  }

  /// The bytes of a text or a blob.
  package func bytes(_ column: Int) -> [UInt8] {
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

  package func value(_ column: Int) -> ForeignValue {
    let number = Int32(truncatingIfNeeded: column)
    switch type(column) {
    case TRELLIS_SQLITE_INTEGER: return .integer(trellis_sqlite3_column_int64(statement, number))
    case TRELLIS_SQLITE_FLOAT: return .real(trellis_sqlite3_column_double(statement, number))
    case TRELLIS_SQLITE_TEXT:
      let bytes = bytes(column)
      return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .unsound(bytes)
    case TRELLIS_SQLITE_BLOB: return .blob(bytes(column))
    default: return .null
    }
  }
}
