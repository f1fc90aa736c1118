internal import CPQ
import TrellisModel
import TrellisStorage

/// Reads the rows of a result. The columns before those of an entity are the key, the version and, in hierarchies, the
/// entity.
final class ServerRowReader: RowReader {
  private let table: EntityTable
  /// The number of columns before the key.
  private let base: Int
  /// Keeps the rows in memory while one of them is shown.
  private var result: ServerResult
  // What the accessors need of the result, so that they neither retain nor release it for each value.
  @exclusivity(unchecked) private var handle: OpaquePointer
  @exclusivity(unchecked) private var types: ContiguousArray<ServerType?>
  @exclusivity(unchecked) private var row: Int32 = 0
  /// The places of the row's columns; nil if they are in order.
  @exclusivity(unchecked) private var places: ContiguousArray<Int32>?
  private let first: Int
  /// The bytes of a text that the server has in another form.
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private let store: String

  init(_ result: ServerResult, _ table: EntityTable, base: Int = 0, store: String) {
    self.result = result
    handle = result.handle
    types = result.types
    self.table = table
    self.base = base
    self.store = store
    first = base + table.leadingColumns
    super.init()
    entity = table.entity
  }

  deinit { buffer.deallocate() }

  /// Moves to a row.
  ///
  /// - Throws: ``StoreError`` if the row belongs to no entity of the request.
  func show(_ result: ServerResult, _ row: Int) throws(StoreError) {
    if self.result !== result {
      self.result = result
      handle = result.handle
      types = result.types
    }
    self.row = Int32(truncatingIfNeeded: row)
    key = stored(base).flatMap { ValueCoding.integer($0.bytes, $0.type) } ?? 0
    version = stored(base + 1).flatMap { ValueCoding.integer($0.bytes, $0.type) } ?? 0
    guard table.isInHierarchy else { return }
    guard let found = table.entity(named: result, row, base + 2) else {
      throw StoreError(
        .unreadableValue, "A row of \(table.name) in \(store) belongs to no entity of the model that was asked for.",
        remedy: "Repair the column _entity with another tool.")
    }
    entity = found
    places = table.places[found]
  }

  @inline(__always) private func place(_ column: Int) -> Int {
    guard let places else { return first + column }
    return places.indices.contains(column) ? first + Int(places[column]) : -1
  }

  /// The bytes of a value with the type of its column; nil if it is null, or if there is no such column.
  @inline(__always) private func stored(_ place: Int) -> (bytes: UnsafeRawBufferPointer, type: ServerType?)? {
    guard types.indices.contains(place) else { return nil }
    let column = Int32(truncatingIfNeeded: place)
    let count = trellis_PQgetlength(handle, row, column)
    // Only values without bytes can be null.
    if count == 0, trellis_PQgetisnull(handle, row, column) != 0 { return nil }
    return (UnsafeRawBufferPointer(start: trellis_PQgetvalue(handle, row, column), count: Int(count)), types[place])
  }

  private static let noNumber = "the stored number is infinite or none"

  /// The type of a value that is not null.
  private func type(_ column: Int) -> ServerType? { stored(place(column))?.type }

  override func isNull(_ column: Int) -> Bool { stored(place(column)) == nil }

  override func integer(_ column: Int) -> Int64 {
    if let (bytes, type) = stored(place(column)), let value = ValueCoding.integer(bytes, type) { return value }
    report(column, "the stored \(type(column) == .timestamp ? "date is infinite" : "value is no integer")")
    return 0
  }

  override func real(_ column: Int) -> Double {
    if let (bytes, type) = stored(place(column)), let value = ValueCoding.real(bytes, type) { return value }
    report(column, "the stored value is no real")
    return 0
  }

  override func text(_ column: Int) -> String {
    if let (bytes, type) = stored(place(column)) {
      switch type {
      case .text: return String(decoding: bytes, as: UTF8.self)
      case .numeric: if let text = NumericCoding.text(bytes) { return text }
      default: break
      }
    }
    report(column, type(column) == .numeric ? Self.noNumber : "the stored value is no text")
    return ""
  }

  override func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    if let (bytes, type) = stored(place(column)) {
      switch type {
      case .bytes, .uuid, .text: return bytes
      case .numeric: if let text = NumericCoding.text(bytes) { return keep(text) }
      default: break
      }
    }
    report(column, type(column) == .numeric ? Self.noNumber : "the stored value is neither blob nor text")
    return UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private func keep(_ text: String) -> UnsafeRawBufferPointer {
    let count = text.utf8.count
    if buffer.count < count {
      buffer.deallocate()
      buffer = .allocate(byteCount: max(count, 64), alignment: 16)
    }
    buffer.copyBytes(from: text.utf8)
    return UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
  }
}

extension EntityTable {
  /// The entity that an answer names in a column; nil if the table has only one.
  func entity(named result: ServerResult, _ row: Int, _ column: Int) -> Int? {
    guard isInHierarchy else { return nil }
    let name = result.bytes(row, column)
    return entityNames.first { $0.name.utf8.elementsEqual(name) }?.number
  }
}
