import TrellisSchema
import TrellisStorage

/// Collects the values of a row.
final class ValueWriter: RowWriter {
  private(set) var values: [StoredValue] = []

  override func null() { values.append(.null) }
  override func integer(_ value: Int64) { values.append(.integer(value)) }
  override func real(_ value: Double) { values.append(.real(value)) }
  override func text(_ value: String) { values.append(.text(value)) }
  override func blob(_ value: UnsafeRawBufferPointer) { values.append(.blob([UInt8](value))) }

  /// The values that `body` writes, which must be `count`; nil when they are not.
  func collect(_ count: Int, _ body: (RowWriter) -> Void) -> [StoredValue]? {
    values = []
    values.reserveCapacity(count)
    body(self)
    return values.count == count ? values : nil
  }
}
