import TrellisSchema
package import TrellisStorage

/// A save request with its records read as plain values, each of them checked.
package struct SaveDraft {
  struct Insert: Sendable {
    let entity: Int
    let key: Int64
    let values: [StoredValue]
  }

  struct Update: Sendable {
    let entity: Int
    let key: Int64
    let version: Int64
    /// The changed columns and their new values.
    let columns: [Int]
    let values: [StoredValue]
  }

  var inserts: [Insert] = []
  var updates: [Update] = []
  var deletes: [SaveRequest.Deletes] = []
  var pairs: [SaveRequest.Pairs] = []
  var places: [SaveRequest.Places] = []
  var cleared: [SaveRequest.ClearedReferences] = []
  let cascades: [SaveRequest.Cascades]
  let keptFromCascades: [Int64]
  let counts: [SaveRequest.CountChecks]
  let denials: [SaveRequest.RestrictChecks]
  let departures: DeletedRows?
  package private(set) var highestKey: Int64 = 0

  /// - Parameter externals: writes external data. Nil for a store without files.
  package init(_ request: SaveRequest, _ layout: Layout, _ externals: ExternalWriter? = nil) throws {
    cascades = request.cascades
    keptFromCascades = request.keptFromCascades
    counts = request.counts
    denials = request.denials
    departures = denials.isEmpty ? nil : request.departures
    let writer = ValueWriter(externals)
    let model = layout.model
    for group in request.inserts {
      let entity = try model.entity(numbered: group.entity)
      for record in group.records { try insert(record, entity, writer) }
    }
    for group in request.updates {
      let entity = try model.entity(numbered: group.entity)
      for (record, mask) in zip(group.records, group.masks) { try update(record, mask, entity, writer) }
    }
    for group in request.deletes { _ = try model.entity(numbered: group.entity) }
    for group in request.places { _ = try model.entity(numbered: group.entity) }
    for group in request.clearedReferences { _ = try model.entity(numbered: group.relationship.entity) }
    for group in request.pairs where !model.joinTables.indices.contains(group.table) {
      throw StoreError.malformed("A save names a join table that the store's model does not have.")
    }
    if let problem = externals?.problem { throw problem }
    deletes = request.deletes
    pairs = request.pairs
    places = request.places
    cleared = request.clearedReferences
  }

  private mutating func insert(_ record: any StoredRecord, _ entity: Entity, _ writer: ValueWriter) throws {
    let key = record.storedKey
    guard key > 0 else { throw StoreError.malformed("A new row has no key.") }
    guard let values = writer.collect(entity.columns.count, record.writeRow) else {
      throw StoreError.wrongColumns(entity)
    }
    for (column, value) in zip(entity.columns, values) { try column.check(value, entity) }
    inserts.append(Insert(entity: entity.index, key: key, values: values))
    highestKey = max(highestKey, key)
  }

  private mutating func update(
    _ record: any StoredRecord, _ mask: ColumnMask, _ entity: Entity, _ writer: ValueWriter
  ) throws {
    let columns = entity.columns.indices.filter { mask.contains(entity.columns[$0].property) }
    guard let values = writer.collect(columns.count, { record.writeColumns(of: mask, to: $0) }) else {
      throw StoreError.wrongColumns(entity)
    }
    for (column, value) in zip(columns, values) { try entity.columns[column].check(value, entity) }
    updates.append(
      Update(
        entity: entity.index, key: record.storedKey, version: record.storedVersion, columns: columns, values: values))
  }
}

extension Column {
  /// Refuses a value that the column cannot store.
  func check(_ value: StoredValue, _ entity: Entity) throws {
    if case .real(let real) = value, real.isNaN { throw unstorable("a real that is not a number", entity) }
    if value.isNull && !isOptional { throw unstorable("nil, although it is not optional", entity) }
    if let given = value.storageClass, given != storageClass { throw unstorable("a value of another class", entity) }
  }

  private func unstorable(_ what: String, _ entity: Entity) -> StoreError {
    let name = entity.properties[property].name
    return StoreError(
      .unstorableValue, "\(entity.name).\(name) would hold \(what).", remedy: "Set another value before saving.",
      entity: entity.name, properties: [name])
  }
}

extension Model {
  func entity(numbered number: Int) throws -> Entity {
    guard entities.indices.contains(number) else { throw StoreError.noSuchEntity }
    return entities[number]
  }
}

extension StoreError {
  static func malformed(_ message: String) -> StoreError {
    StoreError(.internalError, message, remedy: "This is a mistake in who made the request; please report it.")
  }

  static func wrongColumns(_ entity: Entity) -> StoreError {
    malformed("A record of \(entity.name) wrote another number of columns than the model has.")
  }
}
