import TrellisModel
import TrellisStorage

/// An object that is just its row.
final class Record: StoredRecord {
  let entity: Entity
  let storedKey: Int64
  var storedVersion: Int64 = 0
  var values: [StoredValue]

  init(_ entity: Entity, key: Int64, values: [StoredValue]) {
    self.entity = entity
    storedKey = key
    self.values = values
  }

  func writeRow(to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) { row.write(value, of: column, in: entity) }
  }

  func writeColumns(of properties: ColumnMask, to row: RowWriter) {
    for (column, value) in zip(entity.columns, values) where properties.contains(column.property) {
      row.write(value, of: column, in: entity)
    }
  }

  /// The value of a named column. Null if there is none.
  subscript(column: String) -> StoredValue {
    get { entity.columns.firstIndex { $0.name == column }.map { values[$0] } ?? .null }
    set { if let place = entity.columns.firstIndex(where: { $0.name == column }) { values[place] = newValue } }
  }
}

/// A row as it was read, for comparisons.
struct RowImage: Hashable {
  let entity: Int
  let key: Int64
  let version: Int64
  let values: [StoredValue]

  init(_ record: Record) {
    entity = record.entity.index
    key = record.storedKey
    version = record.storedVersion
    values = record.values
  }

  init(_ row: RowReader, _ model: Model) {
    entity = row.entity
    key = row.key
    version = row.version
    values = model.entities[row.entity].columns.enumerated().map { row.value($0, $1.storageClass).loaded }
  }
}

extension StoredValue {
  /// The value with a file replaced by its bytes. Null if they cannot be read.
  var loaded: StoredValue {
    guard case .file(let file) = self else { return self }
    return (try? file.origin?.bytes(of: file)).map { .blob($0) } ?? .null
  }
}
