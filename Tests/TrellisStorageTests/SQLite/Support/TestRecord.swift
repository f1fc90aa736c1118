import TrellisModel
import TrellisStorage

/// An object as a store sees it: a key, a version and a value for each column.
final class TestRecord: StoredRecord {
  let storedKey: Int64
  var storedVersion: Int64
  var values: [StoredValue]
  /// By column, the property it belongs to.
  private let properties: [Int]

  init(_ entity: Entity, key: Int64, version: Int64 = 0, _ values: [String: StoredValue]) {
    storedKey = key
    storedVersion = version
    self.values = entity.columns.map { values[$0.name] ?? .null }
    properties = entity.columns.map {
      switch $0.content {
      case .attribute(let property), .order(let property), .reference(let property, _): property
      }
    }
  }

  func writeRow(to row: RowWriter) {
    for value in values { Self.write(value, to: row) }
  }

  func writeColumns(of mask: ColumnMask, to row: RowWriter) {
    for (value, property) in zip(values, properties) where mask.contains(property) { Self.write(value, to: row) }
  }

  private static func write(_ value: StoredValue, to row: RowWriter) {
    switch value {
    case .null: row.null()
    case .integer(let value): row.integer(value)
    case .real(let value): row.real(value)
    case .text(let value): row.text(value)
    case .blob(let value): value.withUnsafeBytes { row.blob($0) }
    case .file(let value): row.file(value)
    }
  }
}

/// A row as it was read.
struct TestRow: Equatable {
  var key: Int64
  var version: Int64
  var entity: Int
  var values: [StoredValue]

  init(_ row: RowReader, _ model: Model) {
    key = row.key
    version = row.version
    entity = row.entity
    values = model.entities[row.entity].columns.enumerated().map { row.value($0, $1.storageClass) }
  }
}
