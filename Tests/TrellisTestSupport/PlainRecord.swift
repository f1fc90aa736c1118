package import TrellisModel
package import TrellisStorage

/// A row that a test gives to a store.
package final class PlainRecord: StoredRecord {
  package let storedKey: Int64
  package let storedVersion: Int64
  private let entity: Entity
  private let values: [StoredValue]

  /// - Parameters:
  ///   - version: The version of a row that is there; 0 for a new one.
  ///   - values: A value for each column of the entity.
  package init(_ entity: Entity, key: Int64, version: Int64 = 0, _ values: [StoredValue]) {
    self.entity = entity
    storedKey = key
    storedVersion = version
    self.values = values
  }

  /// - Parameters:
  ///   - version: The version of a row that is there; 0 for a new one.
  ///   - values: By the names of columns. An index column `Entry.title` without a value has that of `title`.
  package convenience init(_ entity: Entity, key: Int64, version: Int64 = 0, _ values: [String: StoredValue]) {
    self.init(
      entity, key: key, version: version,
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
