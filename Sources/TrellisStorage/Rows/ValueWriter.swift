package import TrellisSchema

/// Collects the values of a row.
package final class ValueWriter: RowWriter {
  package private(set) var values: [StoredValue] = []
  /// The writer of external files; nil for a store without them.
  private let externals: ExternalWriter?

  package init(_ externals: ExternalWriter? = nil) { self.externals = externals }

  package override func null() { values.append(.null) }
  package override func integer(_ value: Int64) { values.append(.integer(value)) }
  package override func real(_ value: Double) { values.append(.real(value)) }
  package override func text(_ value: String) { values.append(.text(value)) }
  package override func blob(_ value: UnsafeRawBufferPointer) { values.append(.blob([UInt8](value))) }

  package override func file(_ value: ExternalFile) { values.append(.file(value)) }

  package override func external(_ value: ExternalData) {
    if let file = externals?.file(for: value) { return values.append(.file(file)) }
    super.external(value)
  }

  /// The values that `body` writes; nil unless their number is `count`.
  package func collect(_ count: Int, _ body: (RowWriter) -> Void) -> [StoredValue]? {
    values = []
    values.reserveCapacity(count)
    body(self)
    return values.count == count ? values : nil
  }
}
