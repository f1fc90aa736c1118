internal import CSQLite
import TrellisQuery
import TrellisSQL
package import TrellisSchema
package import TrellisStorage

extension SQLiteConnection {
  /// - Throws: ``StoreError``, or the error that `body` throws.
  package func fetchValues(
    _ request: StoreRequest, of paths: [ProjectedPath], _ body: ([StoredValue]) throws -> Void
  ) throws {
    let statement = try statement(request, .values, projecting: paths)
    try database.bind(shape.values, to: statement)
    try run(statement) { pointer in
      var values = paths.map { _ in StoredValue.null }
      while try database.step(pointer, doing: "read values") {
        for place in values.indices {
          values[place] = try value(pointer, Int32(truncatingIfNeeded: place), paths[place].kind)
        }
        try body(values)
      }
    }
  }

  private func value(_ statement: OpaquePointer, _ column: Int32, _ kind: ValueKind) throws(StoreError) -> StoredValue {
    switch trellis_sqlite3_column_type(statement, column) {
    case TRELLIS_SQLITE_INTEGER: return .integer(trellis_sqlite3_column_int64(statement, column))
    case TRELLIS_SQLITE_FLOAT: return .real(trellis_sqlite3_column_double(statement, column))
    case TRELLIS_SQLITE_TEXT:
      let text = String(decoding: Self.bytes(statement, column), as: UTF8.self)
      return kind == .blob ? .file(try file(text)) : .text(text)
    case TRELLIS_SQLITE_BLOB: return .blob([UInt8](Self.bytes(statement, column)))
    default: return .null
    }
  }

  /// The file of data that is not in the row.
  private func file(_ reference: String) throws(StoreError) -> ExternalFile {
    if let file = setup.folder?.file(reference) { return file }
    throw StoreError(
      .unreadableValue, "The stored reference to a file is none.", remedy: "Set the attribute to another value.")
  }

  private static func bytes(_ statement: OpaquePointer, _ column: Int32) -> UnsafeRawBufferPointer {
    let start = trellis_sqlite3_column_blob(statement, column)
    return UnsafeRawBufferPointer(
      start: start, count: start == nil ? 0 : Int(trellis_sqlite3_column_bytes(statement, column)))
  }

  /// SQLite's query plan, and the index that would avoid a full table scan.
  package func plan(of request: StoreRequest) throws -> QueryPlan {
    let statement = try RequestStatement(request, for: .rows, in: layout)
    let steps = try database.plan(of: statement.text).split(separator: "\n").map(String.init)
    let entity = layout.model.entities[request.entity]
    let scans = steps.contains { $0.hasPrefix("SCAN t0") }
    let sorts = steps.contains { $0.contains("TEMP B-TREE FOR") }
    let isNarrowed = request.predicate != nil || (sorts && !request.sort.isEmpty)
    return QueryPlan(
      statement: statement.text, steps: steps, scansWholeTable: scans, entity: entity.name,
      missingIndex: isNarrowed && (scans || sorts) ? IndexAdvice(entity).index(for: request) : nil)
  }
}
