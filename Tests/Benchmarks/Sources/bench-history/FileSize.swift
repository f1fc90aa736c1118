import CSQLite3
import Foundation
import Trellis

extension PersistentContainer {
  /// The bytes of the table of records in a file, as SQLite counts its pages.
  func historySizeForBenchmark(_ url: URL) throws -> Int64 {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    var statement: OpaquePointer?
    guard sqlite3_open(url.path, &handle) == SQLITE_OK,
      sqlite3_prepare_v2(handle, "SELECT sum(pgsize) FROM dbstat WHERE name = '_history'", -1, &statement, nil)
        == SQLITE_OK,
      sqlite3_step(statement) == SQLITE_ROW
    else { return 0 }
    defer { sqlite3_finalize(statement) }
    return sqlite3_column_int64(statement, 0)
  }
}
