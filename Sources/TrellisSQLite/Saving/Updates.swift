internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

extension SQLiteConnection {
  /// An update that waits until another object gives up its unique key.
  private struct Waiting {
    let entity: Int
    let record: any StoredRecord
    let mask: ColumnMask
  }

  func update(_ groups: [SaveRequest.Updates], _ stale: inout [SaveConflict.Row]) throws {
    var waiting: [Waiting] = []
    for group in groups {
      guard layout.tables.indices.contains(group.entity) else { throw PlanError.unknownEntity }
      for (record, mask) in zip(group.records, group.masks) {
        try update(Waiting(entity: group.entity, record: record, mask: mask), &stale, &waiting)
      }
    }
    // Conflicts are reported first, because the row that has the key may be changed, too.
    if stale.isEmpty { try settle(waiting, &stale) }
  }

  private func update(
    _ change: Waiting, _ stale: inout [SaveConflict.Row], _ waiting: inout [Waiting]
  ) throws(StoreError) {
    let entity = change.entity, mask = change.mask, record = change.record
    let statement = try statement(.update, entity, mask.bits) { layout.updateStatement(entity, mask) }
    if statement.valueCount == 0 { statement.valueCount = Int32(layout.columns(of: entity, mask).count + 2) }
    database.statistics.run += 1
    do {
      try writeRow(statement, entity: entity, values: statement.valueCount) { row in
        record.writeColumns(of: mask, to: row)
        row.integer(record.storedKey)
        row.integer(record.storedVersion)
      }
    } catch  where error.code == .notUnique {
      return waiting.append(change)
    }
    if trellis_sqlite3_changes(database.handle) == 0 {
      stale.append(SaveConflict.Row(entity: entity, key: record.storedKey))
    }
  }

  /// Tries the updates again, the last one first. This settles chains in which each object takes over the next one's
  /// key. The updates left form a cycle, or need a key that an unchanged object has.
  private func settle(_ waiting: [Waiting], _ stale: inout [SaveConflict.Row]) throws {
    var left: [Waiting] = []
    for change in waiting.reversed() { try update(change, &stale, &left) }
    try replace(left, &stale)
  }

  /// Deletes the rows and inserts them again with the changes. This is the only way to swap unique keys, which SQLite
  /// checks row by row.
  private func replace(_ changes: [Waiting], _ stale: inout [SaveConflict.Row]) throws {
    var rows: [(change: Waiting, values: [StoredValue])] = []
    for change in changes {
      guard let old = try storedValues(change.entity, change.record) else {
        stale.append(SaveConflict.Row(entity: change.entity, key: change.record.storedKey))
        continue
      }
      rows.append((change, changed(old, change)))
      let statement = try statement(.delete, change.entity) { layout.deleteStatement(change.entity) }
      try writeRow(statement, entity: change.entity, values: 2) { row in
        row.integer(change.record.storedKey)
        row.integer(change.record.storedVersion)
      }
    }
    for (change, values) in rows {
      let statement = try statement(.restore, change.entity) { layout.restoreStatement(change.entity) }
      try writeRow(statement, entity: change.entity, values: Int32(values.count + 2)) { row in
        row.integer(change.record.storedKey)
        row.integer(change.record.storedVersion + 1)
        let entity = self.layout.model.entities[change.entity]
        for (value, column) in zip(values, entity.columns) { row.write(value, of: column, in: entity) }
      }
    }
  }

  /// The row's values in the file. Nil if the row is deleted or has another version.
  private func storedValues(_ entity: Int, _ record: any StoredRecord) throws -> [StoredValue]? {
    var values: [StoredValue]?
    try rows(of: entity, keys: [record.storedKey]) { row in
      guard row.version == record.storedVersion, row.entity == entity else { return }
      values = self.layout.model.entities[entity].columns.enumerated().map { row.value($0, $1.storageClass) }
    }
    return values
  }

  private func changed(_ old: [StoredValue], _ change: Waiting) -> [StoredValue] {
    let collector = ValueCollector()
    change.record.writeColumns(of: change.mask, to: collector)
    var values = old
    for (column, value) in zip(layout.columns(of: change.entity, change.mask), collector.values) {
      values[column] = value
    }
    return values
  }
}

/// Collects the values that are written to it.
private final class ValueCollector: RowWriter {
  private(set) var values: [StoredValue] = []

  override func null() { values.append(.null) }
  override func integer(_ value: Int64) { values.append(.integer(value)) }
  override func real(_ value: Double) { values.append(.real(value)) }
  override func text(_ value: String) { values.append(.text(value)) }
  override func blob(_ value: UnsafeRawBufferPointer) { values.append(.blob([UInt8](value))) }
  override func file(_ value: ExternalFile) { values.append(.file(value)) }
}
