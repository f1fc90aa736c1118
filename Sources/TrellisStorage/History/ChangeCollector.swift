package import TrellisModel

/// Collects the changes of a transaction as the record that a history keeps of them.
package final class ChangeCollector {
  package var recorder = ChangeRecordWriter()
  package var changedRows = 0
  /// Whether the changes of each entity's rows are recorded.
  private let recordsRows: [Bool]
  /// Whether the changes of each join table's pairs are recorded.
  private let recordsPairs: [Bool]
  /// The stored properties of each entity that have no bit of their own in a mask.
  private let latest: [[Int]]

  package init(_ model: Model) {
    recordsRows = model.entities.map { model.history(of: $0.index) != .off }
    recordsPairs = model.joinTables.map { join in
      [join.first.entity, join.partnerEntity].contains { model.history(of: $0) != .off }
    }
    latest = model.entities.map { entity in
      entity.properties.dropFirst(63).filter { $0.column != nil }.map(\.index)
    }
  }

  /// Forgets what was collected.
  package func forget() {
    if !recorder.isEmpty { recorder = ChangeRecordWriter() }
    changedRows = 0
  }

  // MARK: Changes

  private func isRecorded(_ entity: Int) -> Bool {
    if recordsRows[entity] { return true }
    recorder.flags.insert(.changesOthers)
    return false
  }

  package func add(_ kind: ChangeRecord.Kind, of entity: Int, _ keys: some Collection<Int64>) {
    guard !keys.isEmpty, isRecorded(entity) else { return }
    changedRows += keys.count
    recorder.add(kind, of: entity, keys: keys)
  }

  /// - Parameter late: the changed properties without a bit of their own; empty if it is unknown which of them changed.
  package func addUpdates(of entity: Int, _ properties: ColumnMask, late: [Int] = [], _ keys: some Collection<Int64>) {
    guard !keys.isEmpty, isRecorded(entity) else { return }
    changedRows += keys.count
    let isLate = late.isEmpty && properties.bits & ColumnMask.bit(of: 63) != 0
    let late = isLate ? latest[entity].filter(properties.contains) : late
    recorder.addUpdates(of: entity, properties, late: late, keys: keys)
  }

  package func add(_ group: SaveRequest.Inserts) {
    guard isRecorded(group.entity) else { return }
    add(.inserted, of: group.entity, group.records.lazy.map(\.storedKey))
  }

  /// Rows with the same changed properties are mostly together.
  package func add(_ group: SaveRequest.Updates) {
    guard isRecorded(group.entity) else { return }
    var start = 0
    while start < group.records.count, start < group.masks.count {
      var end = start + 1
      let late = group.late[start] ?? []
      while end < group.records.count, end < group.masks.count, group.masks[end] == group.masks[start],
        group.late[end] ?? [] == late
      { end += 1 }
      addUpdates(
        of: group.entity, group.masks[start], late: late, group.records[start..<end].lazy.map(\.storedKey))
      start = end
    }
  }

  package func add(_ group: SaveRequest.Pairs) {
    if group.added.isEmpty && group.removed.isEmpty && group.moved.isEmpty { return }
    guard recordsPairs[group.table] else { return recorder.flags.formUnion(.changesOthers) }
    changedRows += group.added.count + group.removed.count + group.moved.count
    recorder.add(.pairsAdded, group.table, group.added)
    recorder.add(.pairsRemoved, group.table, group.removed)
    recorder.add(.pairsMoved, group.table, group.moved)
  }

  package func addTombstones(of entity: Int, _ properties: [Int], _ rows: [(key: Int64, values: [StoredValue])]) {
    changedRows += rows.count
    recorder.addTombstones(of: entity, properties, rows: rows)
  }
}
