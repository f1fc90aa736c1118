import TrellisModel
import TrellisStorage

/// Reads the rows of a result. The columns before those of an entity are the key, the version and, in hierarchies, the
/// entity.
final class ServerRowReader: RowReader {
  private let table: EntityTable
  /// The number of columns before the key.
  private let base: Int
  private var result: ServerResult
  private var row = 0
  /// The places of the row's columns; nil if they are in order.
  private var places: ContiguousArray<Int32>?
  private let first: Int
  /// The bytes of a text that the server has in another form.
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private let store: String

  init(_ result: ServerResult, _ table: EntityTable, base: Int = 0, store: String) {
    self.result = result
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
    self.result = result
    self.row = row
    key = result.integer(row, base)
    version = result.integer(row, base + 1)
    guard table.isInHierarchy else { return }
    let name = result.bytes(row, base + 2)
    guard let found = table.entityNames.first(where: { $0.name.utf8.elementsEqual(name) }) else {
      throw StoreError(
        .unreadableValue, "A row of \(table.name) in \(store) belongs to no entity of the model that was asked for.",
        remedy: "Repair the column _entity with another tool.")
    }
    entity = found.number
    places = table.places[found.number]
  }

  private func place(_ column: Int) -> Int {
    guard let places else { return first + column }
    return places.indices.contains(column) ? first + Int(places[column]) : -1
  }

  private func type(_ place: Int) -> ServerType? { result.types.indices.contains(place) ? result.types[place] : nil }

  override func isNull(_ column: Int) -> Bool {
    let place = place(column)
    return !result.types.indices.contains(place) || result.isNull(row, place)
  }

  override func integer(_ column: Int) -> Int64 {
    let place = place(column)
    if !isNull(column), let value = ValueCoding.integer(result.bytes(row, place), type(place)) { return value }
    report(column, "the stored value is no integer")
    return 0
  }

  override func real(_ column: Int) -> Double {
    let place = place(column)
    if !isNull(column), case .real(let value)? = ValueCoding.value(result.bytes(row, place), type(place)) {
      return value
    }
    report(column, "the stored value is no real")
    return 0
  }

  override func text(_ column: Int) -> String {
    let place = place(column)
    if !isNull(column) {
      switch type(place) {
      case .text: return String(decoding: result.bytes(row, place), as: UTF8.self)
      case .numeric: if let text = NumericCoding.text(result.bytes(row, place)) { return text }
      default: break
      }
    }
    report(column, "the stored value is no text")
    return ""
  }

  override func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    let place = place(column)
    if !isNull(column) {
      switch type(place) {
      case .bytes, .uuid, .text: return result.bytes(row, place)
      case .numeric: if let text = NumericCoding.text(result.bytes(row, place)) { return keep(text) }
      default: break
      }
    }
    report(column, "the stored value is neither blob nor text")
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
