package import TrellisSchema
import TrellisStorage

/// One stored row. Rows never change: an update puts another in its place, so snapshots share them.
package final class MemoryRow: Sendable {
  package let key: Int64
  package let version: Int64
  package let entity: Int
  package let values: [StoredValue]

  package init(key: Int64, version: Int64, entity: Int, values: [StoredValue]) {
    self.key = key
    self.version = version
    self.entity = entity
    self.values = values
  }

  /// The value of a column; null for a column that the row does not have.
  package func value(_ column: Int) -> StoredValue {
    values.indices.contains(column) ? values[column] : .null
  }

  /// The key that a reference column holds; nil when it is null.
  package func reference(_ column: Int) -> Int64? {
    if case .integer(let key) = value(column) { key } else { nil }
  }
}

extension ValueReader {
  /// Makes the reader stand for this row.
  func show(_ row: MemoryRow) {
    show(key: row.key, version: row.version, entity: row.entity, values: row.values)
  }
}
