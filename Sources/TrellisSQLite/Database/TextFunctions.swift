internal import CSQLite
import TrellisQuery

/// The SQL function that needs Unicode, which SQLite does not have.
enum TextFunctions {
  /// Adds `trellis_fold(text, options)`: the text as it is compared under the options; other values stay as they are.
  static func addFolding(to handle: OpaquePointer) -> Int32 {
    let flags = TRELLIS_SQLITE_UTF8 | TRELLIS_SQLITE_DETERMINISTIC | TRELLIS_SQLITE_DIRECTONLY
    return trellis_sqlite3_create_function_v2(
      handle, "trellis_fold", 2, Int32(flags), nil,
      { context, count, values in
        guard let context, let values, count == 2, let text = values[0] else { return }
        TextFunctions.fold(context, text, options: values[1].map { trellis_sqlite3_value_int64($0) } ?? 0)
      }, nil, nil, nil)
  }

  private static func fold(_ context: OpaquePointer, _ value: OpaquePointer, options: Int64) {
    guard trellis_sqlite3_value_type(value) == TRELLIS_SQLITE_TEXT, let bytes = trellis_sqlite3_value_text(value) else {
      return trellis_sqlite3_result_value(context, value)
    }
    let count = Int(trellis_sqlite3_value_bytes(value))
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    var folded = TextFolding.fold(text, options: TextOptions(rawValue: UInt8(truncatingIfNeeded: options)))
    folded.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let base = bytes.baseAddress else {
          return trellis_sqlite3_result_text(context, "", 0, trellis_sqlite_transient())
        }
        trellis_sqlite3_result_text(
          context, base, Int32(truncatingIfNeeded: bytes.count), trellis_sqlite_transient())
      }
    }
  }
}
