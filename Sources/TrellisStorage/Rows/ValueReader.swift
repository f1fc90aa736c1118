package import TrellisSchema

/// Reads the values of a row in memory.
package final class ValueReader: RowReader {
  private var values: [StoredValue] = []
  /// The bytes returned last, because an array's own bytes are not accessible beyond a call.
  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  package override init() {}

  deinit { buffer.deallocate() }

  /// Sets the row to read, with its values by column.
  package func show(key: Int64, version: Int64, entity: Int, values: [StoredValue]) {
    self.key = key
    self.version = version
    self.entity = entity
    self.values = values
  }

  package override func isNull(_ column: Int) -> Bool { value(column).isNull }

  package override func integer(_ column: Int) -> Int64 {
    if case .integer(let value) = value(column) { return value }
    report(column, "the stored value is no integer")
    return 0
  }

  package override func real(_ column: Int) -> Double {
    if case .real(let value) = value(column) { return value }
    report(column, "the stored value is no real")
    return 0
  }

  package override func text(_ column: Int) -> String {
    if case .text(let value) = value(column) { return value }
    report(column, "the stored value is no text")
    return ""
  }

  package override func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    switch value(column) {
    case .blob(let bytes): return keep(bytes)
    case .text(let text): return keep(text.utf8)
    default:
      report(column, "the stored value is neither blob nor text")
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  package override func file(_ column: Int) -> ExternalFile? {
    if case .file(let file) = value(column) { file } else { nil }
  }

  private func value(_ column: Int) -> StoredValue {
    values.indices.contains(column) ? values[column] : .null
  }

  private func keep(_ bytes: some Collection<UInt8>) -> UnsafeRawBufferPointer {
    let count = bytes.count
    if buffer.count < count {
      buffer.deallocate()
      buffer = .allocate(byteCount: max(count, 64), alignment: 16)
    }
    buffer.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
  }
}
