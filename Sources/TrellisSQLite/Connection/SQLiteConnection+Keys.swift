internal import CSQLite
import TrellisSQL
package import TrellisStorage

extension SQLiteConnection {
  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: one search per key. If most rows between the smallest and the greatest key are requested, one pass
  ///   over those rows.
  package func rows(of entity: Int, keys: [Int64], _ body: (RowReader) throws -> Void) throws {
    guard layout.tables.indices.contains(entity) else { throw PlanError.unknownEntity }
    let table = layout.tables[entity]
    if keys.count == 1 {
      let statement = try statement(.row, entity) { layout.rowStatement(entity) }
      _ = trellis_sqlite3_bind_int64(statement.pointer, 1, keys[0])
      return try readRows(statement, table, isOnlyOne: true) { reader, _ in try body(reader) }
    }
    guard !keys.isEmpty else { return }
    var sorted = keys
    sorted.sortIfNeeded()
    if let range = sorted.denseRange {
      try rows(in: range, of: entity, wanted: sorted, body)
    } else {
      let statement = try statement(.rowList, entity) { layout.rowListStatement(entity) }
      try withKeys(sorted, statement) { try readRows(statement, table) { reader, _ in try body(reader) } }
    }
  }

  /// Reads all rows in a key range and skips the ones that are not requested.
  private func rows(
    in range: ClosedRange<Int64>, of entity: Int, wanted: [Int64], _ body: (RowReader) throws -> Void
  ) throws {
    let statement = try statement(.rowRange, entity) { layout.rowRangeStatement(entity) }
    _ = trellis_sqlite3_bind_int64(statement.pointer, 1, range.lowerBound)
    _ = trellis_sqlite3_bind_int64(statement.pointer, 2, range.upperBound)
    var place = 0
    try readRows(statement, layout.tables[entity]) { reader, _ in
      while place < wanted.count, wanted[place] < reader.key { place += 1 }
      if place < wanted.count, wanted[place] == reader.key { try body(reader) }
    }
  }

  /// Binds keys as the first parameter while `body` runs.
  func withKeys<Result>(_ keys: [Int64], _ statement: Statement, _ body: () throws -> Result) throws -> Result {
    try keys.withUnsafeBufferPointer { keys in
      var list = trellis_list(count: Int64(keys.count), keys: keys.baseAddress, cells: nil)
      return try withUnsafePointer(to: &list) { list in
        try database.check(trellis_sqlite_bind_borrowed_list(statement.pointer, 1, list), doing: "bind keys")
        // The list is valid during this call only.
        defer {
          _ = trellis_sqlite3_reset(statement.pointer)
          _ = trellis_sqlite3_bind_null(statement.pointer, 1)
        }
        return try body()
      }
    }
  }
}

enum PlanError {
  static let unknownEntity = StoreError(
    .internalError, "The store was asked for an entity that the model does not have.",
    remedy: "Report this as a mistake in Trellis.")
}

extension [Int64] {
  /// Sorts the keys if they are not sorted. Most callers pass sorted keys.
  mutating func sortIfNeeded() {
    for index in indices.dropFirst() where self[index - 1] > self[index] { return sort() }
  }

  /// The range from the smallest to the greatest of sorted keys, if at least every fourth key in it is requested.
  var denseRange: ClosedRange<Int64>? {
    guard let first, let last else { return nil }
    let (width, overflow) = last.subtractingReportingOverflow(first)
    return !overflow && width / 4 < Int64(count) ? first...last : nil
  }
}
