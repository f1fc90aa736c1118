internal import CSQLite

extension SQLiteStore {
  /// The bytes that a file and its parts take.
  package struct Sizes: Sendable {
    /// The file itself.
    package var file: Int64
    /// Pages of the file that hold nothing, and that later saves use.
    package var free: Int64
    /// Tables and indexes by name, the largest first. Empty if SQLite was built without the means to tell.
    package var parts: [(name: String, bytes: Int64)]
  }

  /// The sizes of the file and its parts.
  ///
  /// - Throws: ``StoreError``.
  /// - Complexity: linear in the size of the file.
  package func sizes() throws -> Sizes {
    let connection = try take()
    defer { giveBack(connection) }
    let database = connection.database
    let page = try database.measure("PRAGMA page_size")
    return Sizes(
      file: page &* (try database.measure("PRAGMA page_count")),
      free: page &* (try database.measure("PRAGMA freelist_count")),
      parts: (try? database.partSizes()) ?? [])
  }
}

extension Database {
  fileprivate func measure(_ sql: String) throws(StoreError) -> Int64 {
    let statement = try prepare(sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    return try step(statement.pointer, doing: "measure the file")
      ? trellis_sqlite3_column_int64(statement.pointer, 0) : 0
  }

  fileprivate func partSizes() throws(StoreError) -> [(name: String, bytes: Int64)] {
    let statement = try prepare("SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC, 1")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var parts: [(name: String, bytes: Int64)] = []
    while try step(statement.pointer, doing: "measure the file") {
      parts.append((text(of: statement.pointer) ?? "", trellis_sqlite3_column_int64(statement.pointer, 1)))
    }
    return parts
  }
}
