package import TrellisModel
package import TrellisStorage

/// A new row that a test gives to a store.
package final class PlainRecord: StoredRecord {
  package let storedKey: Int64
  package let storedVersion: Int64 = 0
  private let entity: Entity
  private let values: [StoredValue]

  /// - Parameter values: A value for each column of the entity.
  package init(_ entity: Entity, key: Int64, _ values: [StoredValue]) {
    self.entity = entity
    storedKey = key
    self.values = values
  }

  /// - Parameter values: By the names of columns. An index column `Entry.title` without a value has that of `title`.
  package convenience init(_ entity: Entity, key: Int64, _ values: [String: StoredValue]) {
    self.init(
      entity, key: key,
      entity.columns.map { column in
        values[column.name] ?? values[column.name.split(separator: ".").last.map(String.init) ?? ""] ?? .null
      })
  }

  package func writeRow(to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) { row.write(value, of: column, in: entity) }
  }

  package func writeColumns(of properties: ColumnMask, to row: RowWriter) {
    for (value, column) in zip(values, entity.columns) where properties.contains(column.property) {
      row.write(value, of: column, in: entity)
    }
  }
}
