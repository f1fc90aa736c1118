internal import CSQLite
package import TrellisStorage

extension SQLiteConnection {
  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: that of SQLite's query plan. No SQL is built for a request with a known shape.
  package func fetch(_ request: StoreRequest, _ body: (RowReader) throws -> Void) throws {
    let statement = try statement(request, .rows)
    try database.bind(shape.values, to: statement)
    try readRows(statement, layout.tables[request.entity], isOnlyOne: request.limit == 1) { reader, _ in
      try body(reader)
    }
  }

  package func fetchKeys(_ request: StoreRequest, _ body: (_ key: Int64, _ entity: Int) throws -> Void) throws {
    let statement = try statement(request, .keys)
    try database.bind(shape.values, to: statement)
    let table = layout.tables[request.entity]
    try run(statement) { pointer in
      while try database.step(pointer, doing: "read keys") {
        let key = trellis_sqlite3_column_int64(pointer, 0)
        try body(key, table.isInHierarchy ? try entity(of: pointer, in: request.entity) : request.entity)
      }
    }
  }

  func entity(of pointer: OpaquePointer, in entity: Int) throws(StoreError) -> Int {
    let start = trellis_sqlite3_column_blob(pointer, 1)
    let count = start == nil ? 0 : Int(trellis_sqlite3_column_bytes(pointer, 1))
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    guard let found = layout.tables[entity].entityNames.first(where: { $0.name.utf8.elementsEqual(bytes) }) else {
      throw StoreError(
        .unreadableValue,
        "A row of \(layout.tables[entity].name) belongs to no entity of the model that was asked for.",
        remedy: "Repair the column _entity with another tool, or restore the file from a backup.")
    }
    return found.number
  }

  package func count(_ request: StoreRequest) throws -> Int {
    let statement = try statement(request, .count)
    try database.bind(shape.values, to: statement)
    return try run(statement) { pointer in
      guard try database.step(pointer, doing: "count") else { return 0 }
      return Int(truncatingIfNeeded: trellis_sqlite3_column_int64(pointer, 0))
    }
  }
}
