internal import CSQLite
import TrellisSchema

/// Shared code of the SQL functions in Swift: adding a function, reading its arguments and setting its result.
enum SQLFunction {
  typealias Body = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  typealias Final = @convention(c) (OpaquePointer?) -> Void

  private static let flags = Int32(TRELLIS_SQLITE_UTF8 | TRELLIS_SQLITE_DETERMINISTIC | TRELLIS_SQLITE_DIRECTONLY)

  static func add(_ name: String, _ count: Int32, to handle: OpaquePointer, _ body: Body) -> Int32 {
    trellis_sqlite3_create_function_v2(handle, name, count, flags, nil, body, nil, nil, nil)
  }

  static func add(
    _ name: String, _ count: Int32, to handle: OpaquePointer, step: Body, final: Final
  ) -> Int32 {
    trellis_sqlite3_create_function_v2(handle, name, count, flags, nil, nil, step, final, nil)
  }

  // MARK: Values

  /// The argument's text. Nil if the value is not a text.
  static func text(_ value: OpaquePointer) -> String? {
    guard trellis_sqlite3_value_type(value) == TRELLIS_SQLITE_TEXT, let bytes = trellis_sqlite3_value_text(value) else {
      return nil
    }
    let count = Int(trellis_sqlite3_value_bytes(value))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  static func value(_ value: OpaquePointer) -> StoredValue {
    switch trellis_sqlite3_value_type(value) {
    case TRELLIS_SQLITE_INTEGER: return .integer(trellis_sqlite3_value_int64(value))
    case TRELLIS_SQLITE_FLOAT: return .real(trellis_sqlite3_value_double(value))
    case TRELLIS_SQLITE_TEXT: return text(value).map { .text($0) } ?? .null
    case TRELLIS_SQLITE_BLOB:
      let start = trellis_sqlite3_value_blob(value)
      let count = start == nil ? 0 : Int(trellis_sqlite3_value_bytes(value))
      return .blob([UInt8](UnsafeRawBufferPointer(start: start, count: count)))
    default: return .null
    }
  }

  static func answer(_ context: OpaquePointer, _ value: StoredValue) {
    switch value {
    // No value function receives or returns a file.
    case .null, .file: trellis_sqlite3_result_null(context)
    case .integer(let integer): trellis_sqlite3_result_int64(context, integer)
    case .real(let real): trellis_sqlite3_result_double(context, real)
    case .text(let text): answer(context, text)
    case .blob(let bytes):
      bytes.withUnsafeBytes {
        trellis_sqlite3_result_blob(
          context, $0.baseAddress, Int32(truncatingIfNeeded: $0.count), trellis_sqlite_transient())
      }
    }
  }

  private static func answer(_ context: OpaquePointer, _ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        guard let base = bytes.baseAddress else {
          return trellis_sqlite3_result_text(context, "", 0, trellis_sqlite_transient())
        }
        trellis_sqlite3_result_text(context, base, Int32(truncatingIfNeeded: bytes.count), trellis_sqlite_transient())
      }
    }
  }
}
