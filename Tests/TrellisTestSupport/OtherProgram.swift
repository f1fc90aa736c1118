import CSQLite
package import Foundation

/// A program that knows SQLite and nothing of Trellis: no functions, no settings, triggers on.
package final class OtherProgram {
  private let handle: OpaquePointer

  package init(_ url: URL) throws {
    if let reason = trellis_sqlite_load() { throw Refusal(message: String(cString: reason)) }
    var opened: OpaquePointer?
    let code = trellis_sqlite3_open_v2(url.path, &opened, Int32(TRELLIS_SQLITE_OPEN_READWRITE), nil)
    guard let opened, code == TRELLIS_SQLITE_OK else { throw Refusal(message: "cannot open: \(code)") }
    handle = opened
  }

  deinit { _ = trellis_sqlite3_close_v2(handle) }

  package struct Refusal: Error { package let message: String }

  package func run(_ sql: String) throws {
    guard trellis_sqlite3_exec(handle, sql, nil, nil, nil) == TRELLIS_SQLITE_OK else { throw refusal }
  }

  /// The last column of each row.
  package func texts(_ sql: String) throws -> [String] {
    var statement: OpaquePointer?
    guard trellis_sqlite3_prepare_v3(handle, sql, -1, 0, &statement, nil) == TRELLIS_SQLITE_OK, let statement else {
      throw refusal
    }
    defer { _ = trellis_sqlite3_finalize(statement) }
    var texts: [String] = []
    while trellis_sqlite3_step(statement) == TRELLIS_SQLITE_ROW {
      texts.append(trellis_sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
    }
    return texts
  }

  private var refusal: Refusal { Refusal(message: String(cString: trellis_sqlite3_errmsg(handle))) }
}
