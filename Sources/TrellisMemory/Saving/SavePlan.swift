import TrellisSchema
import TrellisStorage

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
    try UniqueCheck.run(self, state, layout)
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
    let new = MemoryRow(key: insert.key, version: 1, entity: insert.entity, values: insert.values)
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
