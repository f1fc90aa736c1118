import CSQLite
import Foundation
import Testing

/// A SQLite file as SQLite alone sees it.
final class PlainSQLite {
  private let handle: OpaquePointer

  init(_ url: URL) throws {
    try #require(trellis_sqlite_load() == nil)
    var opened: OpaquePointer?
    let code = trellis_sqlite3_open_v2(url.path, &opened, Int32(TRELLIS_SQLITE_OPEN_READWRITE), nil)
    guard let opened, code == 0 else {
      _ = trellis_sqlite3_close_v2(opened)
      throw Failure(code: code, message: "it cannot be opened")
    }
    handle = opened
  }

  deinit { _ = trellis_sqlite3_close_v2(handle) }

  struct Failure: Error {
    let code: Int32
    let message: String
  }

  /// The first columns of what a statement gives, as texts.
  func rows(_ sql: String, columns: Int32 = 1) throws -> [[String]] {
    var statement: OpaquePointer?
    guard trellis_sqlite3_prepare_v3(handle, sql, -1, 0, &statement, nil) == 0, let statement else { throw failure() }
    defer { _ = trellis_sqlite3_finalize(statement) }
    var rows: [[String]] = []
    while true {
      switch trellis_sqlite3_step(statement) {
      case TRELLIS_SQLITE_ROW:
        rows.append(
          (0..<columns).map { column in
            trellis_sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
          })
      case TRELLIS_SQLITE_DONE: return rows
      default: throw failure()
      }
    }
  }

  /// Runs a statement with texts for its parameters.
  func run(_ sql: String, _ texts: [String]) throws {
    var statement: OpaquePointer?
    guard trellis_sqlite3_prepare_v3(handle, sql, -1, 0, &statement, nil) == 0, let statement else { throw failure() }
    defer { _ = trellis_sqlite3_finalize(statement) }
    for (index, text) in texts.enumerated() {
      var text = text
      let code = text.withUTF8 { bytes in
        bytes.withMemoryRebound(to: CChar.self) { characters in
          trellis_sqlite3_bind_text(
            statement, Int32(index + 1), characters.baseAddress, Int32(characters.count), trellis_sqlite_transient())
        }
      }
      guard code == 0 else { throw failure() }
    }
    guard trellis_sqlite3_step(statement) == TRELLIS_SQLITE_DONE else { throw failure() }
  }

  private func failure() -> Failure {
    Failure(
      code: trellis_sqlite3_extended_errcode(handle), message: String(cString: trellis_sqlite3_errmsg(handle)))
  }
}
