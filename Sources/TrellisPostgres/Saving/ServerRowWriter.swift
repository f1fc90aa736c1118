import TrellisModel
import TrellisStorage

/// Collects rows as one array for each column.
final class ServerRowWriter: RowWriter {
  private(set) var arrays: [ServerArray]
  private let isOptional: [Bool]
  /// The number of the next column.
  private var place = 0
  /// The first column with a value that it cannot hold.
  private(set) var problem: Int?
  /// The number of rows so far.
  private(set) var count = 0

  init(_ columns: [(type: ServerType, isOptional: Bool)]) {
    arrays = columns.map { ServerArray(of: $0.type) }
    isOptional = columns.map(\.isOptional)
  }

  private func append(_ write: (inout [UInt8], ServerType) -> Bool) {
    guard arrays.indices.contains(place) else {
      place += 1
      return
    }
    let type = arrays[place].type
    if !arrays[place].append({ write(&$0, type) }) { note() }
    place += 1
  }

  private func note() { if problem == nil { problem = place } }

  override func null() {
    if arrays.indices.contains(place) {
      if !isOptional[place] { note() }
      arrays[place].appendNull()
    }
    place += 1
  }

  override func integer(_ value: Int64) { append { ValueCoding.append(value, as: $1, to: &$0) } }
  override func real(_ value: Double) { append { ValueCoding.append(value, as: $1, to: &$0) } }
  override func text(_ value: String) { append { ValueCoding.append(value, as: $1, to: &$0) } }
  override func blob(_ value: UnsafeRawBufferPointer) { append { ValueCoding.append(value, as: $1, to: &$0) } }

  /// Adds a row.
  ///
  /// - Returns: whether the row has a value for each column.
  func add(_ body: (RowWriter) -> Void) -> Bool {
    place = 0
    body(self)
    count += 1
    return place == arrays.count
  }

  /// The number of bytes so far.
  var byteCount: Int { arrays.reduce(0) { $0 + $1.byteCount } }
}
