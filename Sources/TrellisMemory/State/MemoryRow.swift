package import TrellisSchema
import TrellisStorage

/// A stored row. Rows are immutable: an update replaces the row, so snapshots share rows.
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

  /// The value of a column. Null if the row does not have this column.
  package func value(_ column: Int) -> StoredValue {
    values.indices.contains(column) ? values[column] : .null
  }

  /// The key in a reference column. Nil if the column is null.
  package func reference(_ column: Int) -> Int64? {
    if case .integer(let key) = value(column) { key } else { nil }
  }
}

extension ValueReader {
  /// Makes the reader read this row.
  func show(_ row: MemoryRow) {
    show(key: row.key, version: row.version, entity: row.entity, values: row.values)
  }
}
