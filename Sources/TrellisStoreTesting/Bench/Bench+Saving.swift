import TrellisModel
import TrellisStorage

extension Bench {
  /// A new record with a key of the store. Values that are not given are null, or the smallest value if null is not
  /// allowed.
  func new(_ entityName: String, _ values: [String: StoredValue] = [:]) throws -> Record {
    let entity = try entity(entityName)
    let key = try store.reserveKeys(1).lowerBound
    let record = Record(entity, key: key, values: entity.columns.map(\.leastValue))
    for (name, value) in values { record[name] = value }
    return record
  }

  /// New records that are saved immediately.
  @discardableResult
  func inserted(_ entity: String, _ rows: [[String: StoredValue]]) throws -> [Record] {
    let records = try rows.map { try new(entity, $0) }
    try save(insert: records)
    return records
  }

  /// New records with values of an attribute, in their order. Nil for those that the store cannot keep.
  func insertedIfStorable(_ entity: String, _ name: String, _ values: [StoredValue]) throws -> [Record?] {
    let records = try values.map { try canStore($0, entity, name) ? new(entity, [name: $0]) : nil }
    try save(insert: records.compactMap { $0 })
    return records
  }

  /// Saves and, on success, sets the records' versions.
  ///
  /// - Parameters:
  ///   - update: the records with the names of the changed properties.
  ///   - more: adds changes that have no parameter.
  @discardableResult func save(
    insert: [Record] = [], update: [(Record, [String])] = [], delete: [Record] = [],
    on connection: (any StoreConnection)? = nil, more: (SaveRequest) throws -> Void = { _ in }
  ) throws -> SaveOutcome {
    let request = SaveRequest()
    for (entity, records) in grouped(insert, by: \.entity.index) {
      request.inserts.append(SaveRequest.Inserts(entity: entity, records: records))
    }
    for (entity, changes) in grouped(update, by: \.0.entity.index) {
      request.updates.append(
        SaveRequest.Updates(entity: entity, records: changes.map(\.0), masks: try changes.map { try mask($0, $1) }))
    }
    for (entity, records) in grouped(delete, by: \.entity.index) {
      request.deletes.append(
        SaveRequest.Deletes(entity: entity, keys: records.map(\.storedKey), versions: records.map(\.storedVersion)))
    }
    try more(request)
    let outcome = try (connection ?? self.connection).save(request)
    for record in insert { record.storedVersion = 1 }
    for (record, _) in update { record.storedVersion += 1 }
    return outcome
  }

  /// Adds and removes pairs in a join table.
  func savePairs(
    _ table: Int, add: [SaveRequest.Pairs.Pair] = [], remove: [SaveRequest.Pairs.Pair] = [],
    move: [SaveRequest.Pairs.Pair] = []
  ) throws {
    try save { request in
      var pairs = SaveRequest.Pairs(table: table)
      pairs.added = add
      pairs.removed = remove
      pairs.moved = move
      request.pairs = [pairs]
    }
  }

  private func mask(_ record: Record, _ properties: [String]) throws -> ColumnMask {
    ColumnMask(bits: try properties.reduce(0) { $0 | ColumnMask.bit(of: try property(record.entity, $1).index) })
  }

  private func grouped<Element>(_ elements: [Element], by entity: (Element) -> Int) -> [(Int, [Element])] {
    Dictionary(grouping: elements, by: entity).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension Column {
  fileprivate var leastValue: StoredValue {
    if isOptional { return .null }
    return switch storageClass {
    case .integer: .integer(0)
    case .real: .real(0)
    case .text: .text("")
    case .blob: .blob([])
    }
  }
}
