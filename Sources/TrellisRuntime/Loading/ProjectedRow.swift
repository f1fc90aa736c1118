import TrellisModel
import TrellisStorage

/// Values that were fetched individually, as a row from which attribute types can be read.
final class ProjectedRow: RowReader {
  var values: [StoredValue] = []

  override func isNull(_ column: Int) -> Bool { value(column).isNull }

  override func integer(_ column: Int) -> Int64 {
    if case .integer(let value) = value(column) { return value }
    report(column, "integer")
    return 0
  }

  override func real(_ column: Int) -> Double {
    switch value(column) {
    case .real(let value): return value
    case .integer(let value): return Double(value)
    default:
      report(column, "real")
      return 0
    }
  }

  override func text(_ column: Int) -> String {
    if case .text(let value) = value(column) { return value }
    report(column, "text")
    return ""
  }

  override func bytes(_ column: Int) -> UnsafeRawBufferPointer {
    switch value(column) {
    case .blob(let bytes): return keep(bytes)
    case .text(let text): return keep([UInt8](text.utf8))
    default:
      report(column, "blob")
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  override func file(_ column: Int) -> ExternalFile? {
    if case .file(let file) = value(column) { file } else { nil }
  }

  private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit { buffer.deallocate() }

  private func value(_ column: Int) -> StoredValue { values.indices.contains(column) ? values[column] : .null }

  /// Copies bytes into a buffer that outlives this call, which an array's own storage does not.
  private func keep(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    if buffer.count < bytes.count {
      buffer.deallocate()
      buffer = .allocate(byteCount: max(64, bytes.count), alignment: 16)
    }
    buffer.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(start: buffer.baseAddress, count: bytes.count)
  }
}
