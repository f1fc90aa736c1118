internal import CPQ
import TrellisModel
import TrellisStorage

/// The rows that a statement returned, or some of them.
final class ServerResult {
  let handle: OpaquePointer
  /// The types of the columns; nil for one that Trellis does not use.
  let types: ContiguousArray<ServerType?>

  init(_ handle: OpaquePointer) {
    self.handle = handle
    let columns = Int(trellis_PQnfields(handle))
    types = ContiguousArray(
      (0..<columns).map { ServerType(rawValue: trellis_PQftype(handle, Int32(truncatingIfNeeded: $0))) })
  }

  deinit { trellis_PQclear(handle) }

  var status: Int32 { Int32(truncatingIfNeeded: trellis_PQresultStatus(handle)) }

  /// The number of rows.
  var count: Int { Int(trellis_PQntuples(handle)) }

  /// The number of rows that a statement has written.
  var changes: Int { Int(String(cString: trellis_PQcmdTuples(handle))) ?? 0 }

  /// The error that the result reports; nil if it is none.
  func error(isLost: Bool) -> ServerError? {
    switch Int(status) {
    case TRELLIS_PQ_COMMAND_OK, TRELLIS_PQ_TUPLES_OK, TRELLIS_PQ_SINGLE_TUPLE,
      TRELLIS_PQ_PIPELINE_SYNC, TRELLIS_PQ_EMPTY_QUERY, TRELLIS_PQ_COPY_IN:
      nil
    case TRELLIS_PQ_PIPELINE_ABORTED:
      ServerError(state: "trellis-skipped", message: "a statement before it failed", isLost: isLost)
    default: ServerError(handle, isLost: isLost)
    }
  }

  func isNull(_ row: Int, _ column: Int) -> Bool {
    trellis_PQgetisnull(handle, Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column)) != 0
  }

  /// The bytes of a value, valid as long as the result.
  func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
    let (row, column) = (Int32(truncatingIfNeeded: row), Int32(truncatingIfNeeded: column))
    return UnsafeRawBufferPointer(
      start: trellis_PQgetvalue(handle, row, column), count: Int(trellis_PQgetlength(handle, row, column)))
  }

  /// The integer of a value; 0 for null and for any other value.
  func integer(_ row: Int, _ column: Int) -> Int64 {
    isNull(row, column) ? 0 : ValueCoding.integer(bytes(row, column), types[column]) ?? 0
  }

  /// The value in its stored form; null as well for one that has none.
  func value(_ row: Int, _ column: Int) -> StoredValue {
    isNull(row, column) ? .null : ValueCoding.value(bytes(row, column), types[column]) ?? .null
  }

  func text(_ row: Int, _ column: Int) -> String? {
    isNull(row, column) ? nil : String(decoding: bytes(row, column), as: UTF8.self)
  }
}

extension SaveRequest.Pairs.Pair {
  /// A row of ``PostgresSchema/pairs(of:)``.
  init(_ result: ServerResult, _ row: Int) {
    func place(_ column: Int) -> Int64? { result.isNull(row, column) ? nil : result.integer(row, column) }
    self.init(
      first: result.integer(row, 0), partner: result.integer(row, 1), place: place(2), inversePlace: place(3))
  }
}
