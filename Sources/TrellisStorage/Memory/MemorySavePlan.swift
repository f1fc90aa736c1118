import TrellisModel

extension MemoryState {
  /// The state after a save, checked against every rule. This value itself does not change.
  ///
  /// - Throws: ``SaveConflict``, ``ConstraintViolations`` or ``StoreError``.
  package func saving(_ draft: SaveDraft, _ layout: Layout) throws -> (state: MemoryState, outcome: SaveOutcome) {
    let plan = try SavePlan(draft, self, layout)
    var next = self
    plan.apply(to: &next, layout)
    if !draft.counts.isEmpty || !draft.denials.isEmpty {
      try MemoryRulesCheck.run(draft, Snapshot(self, layout), Snapshot(next, layout))
    }
    return (next, SaveOutcome(cascaded: plan.cascaded))
  }
}

// MARK: - Save draft

/// A save request with its records read as plain values, each of them checked.
package struct SaveDraft {
  struct Insert: Sendable {
    let entity: Int
    let key: Int64
    let version: Int64
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
  /// Whether the save is refused if another row has a value of a unique key. Steps of a migration check this at their
  /// end.
  var checksUniqueKeys = true

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
      for record in group.records { try insert(record, group.version(of: record.storedKey), entity, writer) }
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

  private mutating func insert(
    _ record: any StoredRecord, _ version: Int64, _ entity: Entity, _ writer: ValueWriter
  ) throws {
    let key = record.storedKey
    guard key > 0 else { throw StoreError.malformed("A new row has no key.") }
    guard let values = writer.collect(entity.columns.count, record.writeRow) else {
      throw StoreError.wrongColumns(entity)
    }
    for (column, value) in zip(entity.columns, values) { try column.check(value, entity) }
    inserts.append(Insert(entity: entity.index, key: key, version: version, values: values))
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
    StoreError(.internalError, message, remedy: "The code that made the request is wrong; please report it.")
  }

  static func wrongColumns(_ entity: Entity) -> StoreError {
    malformed("A record of \(entity.name) wrote another number of columns than the model has.")
  }
}

// MARK: - Save plan

/// The row changes of a save, computed and checked before anything changes. Applying the plan cannot fail, so a save
/// that throws leaves the store unchanged.
struct SavePlan {
  /// The identity of a row: its table and its key.
  struct Place: Hashable {
    let root: Int
    let key: Int64
  }

  struct Change {
    let place: Place
    let old: MemoryRow?
    var new: MemoryRow?
  }

  /// The changes, in the order in which rows were first touched.
  private(set) var changes: [Change] = []
  private var numbers: [Place: Int] = [:]
  let pairs: [SaveRequest.Pairs]
  private(set) var clearedPairs: [(table: Int, partners: [Int64])] = []
  /// The keys of the rows deleted by cascades.
  private(set) var cascaded: [Int64] = []

  init(_ draft: SaveDraft, _ state: MemoryState, _ layout: Layout) throws {
    pairs = draft.pairs
    changes.reserveCapacity(draft.inserts.count + draft.updates.count)
    numbers.reserveCapacity(draft.inserts.count + draft.updates.count)
    try checkVersions(draft, state, layout)
    if !draft.cascades.isEmpty { try cascade(draft, state, layout) }
    for group in draft.deletes { delete(group, state, layout) }
    for update in draft.updates { self.update(update, state, layout) }
    for insert in draft.inserts { try self.insert(insert, state, layout) }
    for group in draft.cleared { clear(group, state, layout) }
    for group in draft.places { move(group, state, layout) }
    if draft.checksUniqueKeys { try UniqueCheck.run(self, state, layout) }
    try ReferenceCheck.run(self, state, layout)
  }

  /// The row after the save.
  func row(_ root: Int, _ key: Int64, _ state: MemoryState) -> MemoryRow? {
    if let number = numbers[Place(root: root, key: key)] { return changes[number].new }
    return state.row(root, key)
  }

  /// Whether the save changes a row.
  func touches(_ root: Int, _ key: Int64) -> Bool { numbers[Place(root: root, key: key)] != nil }

  // MARK: Planning

  private func checkVersions(_ draft: SaveDraft, _ state: MemoryState, _ layout: Layout) throws {
    var stale: [SaveConflict.Row] = []
    func check(_ entity: Int, _ key: Int64, _ version: Int64) {
      let row = state.row(layout.model.entities[entity].root, key)
      if row?.version != version || row?.entity != entity { stale.append(SaveConflict.Row(entity: entity, key: key)) }
    }
    for group in draft.deletes {
      for (key, version) in zip(group.keys, group.versions) { check(group.entity, key, version) }
    }
    for update in draft.updates { check(update.entity, update.key, update.version) }
    if !stale.isEmpty { throw SaveConflict(rows: stale) }
  }

  private mutating func delete(_ group: SaveRequest.Deletes, _ state: MemoryState, _ layout: Layout) {
    let root = layout.model.entities[group.entity].root
    for key in group.keys { set(nil, root, key, state) }
  }

  /// Cascades level by level, as far as the members have the reference.
  private mutating func cascade(_ draft: SaveDraft, _ state: MemoryState, _ layout: Layout) throws {
    let model = layout.model
    // These rows are deleted or kept by the save itself.
    var seen = Set(draft.keptFromCascades).union(draft.deletes.flatMap(\.keys))
    let snapshot = Snapshot(state, layout)
    var open = draft.cascades
    while let level = open.popLast() {
      let members = try Members(level.relationship, snapshot)
      let entity = members.relationship.destination
      var keys: [Int64] = []
      try members.forEach(level.owners) { _, key, _ in if seen.insert(key).inserted { keys.append(key) } }
      if keys.isEmpty { continue }
      for key in keys { set(nil, model.entities[entity].root, key, state) }
      for reference in model.oneWayColumns(to: entity) {
        clear(SaveRequest.ClearedReferences(relationship: reference, targets: keys), state, layout)
      }
      for next in model.furtherCascades(from: entity) {
        open.append(SaveRequest.Cascades(relationship: next, owners: keys))
      }
      cascaded += keys
    }
  }

  private mutating func update(_ update: SaveDraft.Update, _ state: MemoryState, _ layout: Layout) {
    let root = layout.model.entities[update.entity].root
    guard let row = row(root, update.key, state) else { return }
    var values = row.values
    for (column, value) in zip(update.columns, update.values) { values[column] = value }
    let new = MemoryRow(key: row.key, version: row.version + 1, entity: row.entity, values: values)
    set(new, root, row.key, state)
  }

  private mutating func insert(_ insert: SaveDraft.Insert, _ state: MemoryState, _ layout: Layout) throws {
    let root = layout.model.entities[insert.entity].root
    guard row(root, insert.key, state) == nil else {
      throw StoreError.malformed("A new row of \(layout.model.entities[insert.entity].name) has a key that is taken.")
    }
    let new = MemoryRow(key: insert.key, version: insert.version, entity: insert.entity, values: insert.values)
    set(new, root, insert.key, state)
  }

  /// Clears the references to deleted rows. Row versions stay the same, because the rows were not edited.
  private mutating func clear(_ group: SaveRequest.ClearedReferences, _ state: MemoryState, _ layout: Layout) {
    let properties = layout.model.entities[group.relationship.entity].properties
    guard properties.indices.contains(group.relationship.property) else { return }
    guard let relationship = properties[group.relationship.property].relationship else { return }
    if case .joinTable(let table, _) = relationship.home { clearedPairs.append((table, group.targets)) }
    guard let reference = layout.reference(relationship) else { return }
    let root = layout.model.entities[reference.entity].root
    for target in group.targets {
      for holder in state.references[reference.index].targets(target) {
        guard let row = row(root, holder.key, state), row.reference(reference.column) == target else { continue }
        var cleared = row.replacing(reference.column, with: .null)
        if let order = reference.orderColumn { cleared = cleared.replacing(order, with: .null) }
        set(cleared, root, row.key, state)
      }
    }
  }

  private mutating func move(_ group: SaveRequest.Places, _ state: MemoryState, _ layout: Layout) {
    let root = layout.model.entities[group.entity].root
    let reference = layout.model.entities[group.entity].reference(placedBy: group.column)
    for (key, place) in zip(group.keys, group.places) {
      guard let row = row(root, key, state), row.values.indices.contains(group.column) else { continue }
      // A row that another writer has removed from the list in the meantime gets no position.
      if let reference, row.reference(reference) == nil { continue }
      set(row.replacing(group.column, with: .integer(place)), root, key, state)
    }
  }

  private mutating func set(_ new: MemoryRow?, _ root: Int, _ key: Int64, _ state: MemoryState) {
    let place = Place(root: root, key: key)
    if let number = numbers[place] {
      changes[number].new = new
    } else {
      numbers[place] = changes.count
      changes.append(Change(place: place, old: state.row(root, key), new: new))
    }
  }
}

extension MemoryRow {
  /// The same row and version with another value.
  func replacing(_ column: Int, with value: StoredValue) -> MemoryRow {
    var values = values
    values[column] = value
    return MemoryRow(key: key, version: version, entity: entity, values: values)
  }
}

// MARK: - Applying

extension SavePlan {
  /// Applies the planned changes.
  func apply(to state: inout MemoryState, _ layout: Layout) {
    for group in pairs {
      for pair in group.removed { state.removePair(group.table, first: pair.first, partner: pair.partner) }
    }
    for (table, partners) in clearedPairs { for partner in partners { state.removePairs(table, ofPartner: partner) } }
    for change in changes {
      if change.new == nil, let old = change.old { removePairs(of: old, &state, layout) }
      state.replace(change.old, by: change.new, layout)
    }
    for group in pairs {
      for pair in group.added { state.add(pair, to: group.table) }
      for pair in group.moved { state.move(pair, in: group.table) }
    }
  }

  /// Removes the row's pairs from all join tables.
  private func removePairs(of row: MemoryRow, _ state: inout MemoryState, _ layout: Layout) {
    for table in layout.firstEndsOf[row.entity] { state.removePairs(table, ofFirst: row.key) }
    for table in layout.partnerEndsOf[row.entity] { state.removePairs(table, ofPartner: row.key) }
  }
}

extension MemoryState {
  mutating func removePairs(_ table: Int, ofFirst first: Int64) {
    for partner in forward[table].targets(first) { removePair(table, first: first, partner: partner.key) }
  }

  mutating func removePairs(_ table: Int, ofPartner partner: Int64) {
    for first in backward[table].targets(partner) { removePair(table, first: first.key, partner: partner) }
  }

  /// Adds a pair. A pair that another writer has already added keeps its positions.
  mutating func add(_ pair: SaveRequest.Pairs.Pair, to table: Int) {
    guard !forward[table].contains(pair.first, pair.partner) else { return }
    setPair(table, first: pair.first, partner: pair.partner, place: pair.place, inversePlace: pair.inversePlace)
  }

  mutating func move(_ pair: SaveRequest.Pairs.Pair, in table: Int) {
    guard forward[table].contains(pair.first, pair.partner) else { return }
    let place = pair.place ?? forward[table].place(pair.first, pair.partner)
    let inversePlace = pair.inversePlace ?? backward[table].place(pair.partner, pair.first)
    setPair(table, first: pair.first, partner: pair.partner, place: place, inversePlace: inversePlace)
  }
}

extension LinkIndex {
  /// The position of a link. Nil if it has none.
  package func place(_ from: Int64, _ to: Int64) -> Int64? { links[Link(from: from, to: to)] ?? nil }
}
