import TrellisModel
public import TrellisStorage

/// The merge of one object that was changed here and in the store, property by property.
struct RowMerge {
  let object: ManagedObject
  let theirs: StoredVersion
  /// The properties that differ from the values that were read: in this context, and in the store.
  private(set) var mine: Set<Int> = []
  private(set) var others: Set<Int> = []
  /// The properties that both sides have set. Equal values conflict as well, because two writers that increment a
  /// counter read the same number and write the same number.
  private(set) var conflicting: Set<Int> = []

  init(_ object: ManagedObject, _ theirs: StoredVersion, _ graph: ObjectGraph) {
    self.object = object
    self.theirs = theirs
    let info = graph.info(of: object)
    mine = Set(object.changedNumbers)
    for property in info.entity.storedProperties {
      let stored = theirs.row.value(property)
      if !stored.isSame(as: object.committedRow?.value(property) ?? object._value(property)) {
        others.insert(property)
      }
    }
    // A composite that may be nil is changed as a whole.
    if !info.optionalGroups.isEmpty { others = info.wholeGroups(of: others) }
    conflicting = mine.intersection(others)
  }

  /// Makes the stored row the committed one and reapplies the changes of this context.
  ///
  /// - Parameters:
  ///   - isWhole: Whether all values of the object stay as they are here.
  ///   - given: The properties that take the stored values even if they were set here.
  func apply(_ graph: ObjectGraph, keepingAll isWhole: Bool = false, yielding given: Set<Int> = []) {
    let kept = isWhole ? wholeObject(graph) : object.changedNumbers
    put(on: graph, keeping: kept.filter { !given.contains($0) })
    object.state.takeVersion(theirs.version)
  }

  /// All stored properties but the references that were read from the store and whose targets are deleted here. Such a
  /// reference is not a value of this context, and no save may write it.
  private func wholeObject(_ graph: ObjectGraph) -> [Int] {
    let unset = graph.info(of: object).allRelationships.lazy.filter { relationship in
      relationship.isColumn && !mine.contains(relationship.property)
        && graph.map[object._reference(relationship.property)]?.phase == .deleted
    }
    let hidden = Set(unset.map(\.property))
    return graph.info(of: object).entity.storedProperties.filter { !hidden.contains($0) }
  }

  /// Takes over the properties that were not changed here. The committed values of conflicting properties and the row
  /// version stay unchanged, so that a save detects the conflict.
  func applyBesideConflicts(_ graph: ObjectGraph) {
    put(on: graph, keeping: object.changedNumbers, asRead: conflicting.sorted())
  }

  /// Replaces committed references by those in the store, because the object returns to them when its edits are
  /// discarded. The partners that were read may belong to other objects by now.
  func adoptReferences(_ properties: Set<Int>, _ graph: ObjectGraph) throws {
    let references = graph.info(of: object).allRelationships.filter {
      $0.isColumn && properties.contains($0.property)
    }
    guard object.hasCommittedRow, !references.isEmpty else { return }
    for relationship in references {
      let key = theirs.row.value(relationship.property).key
      if key > 0 { try graph.bringUpToDate([key], relationship) }
      // The edit of the object has changed the partner's half as well, so that half is rolled back too.
      if relationship.isOwnInverse, let partner = graph.map[object._reference(relationship.property)],
        partner !== object, partner._key != key, partner.isAlive, partner.hasOwnReference(relationship)
      {
        try graph.rollback(partner, [relationship.property])
      }
    }
    object.setCommittedReferences(references) { theirs.row.value($0.property).key }
    // A half that equals the stored one is no edit of the partner either.
    for relationship in references where relationship.isOwnInverse && !object.hasOwnReference(relationship) {
      guard let partner = graph.map[object._reference(relationship.property)], partner !== object, partner.isAlive,
        partner._reference(relationship.property) == object._key, partner.hasOwnReference(relationship)
      else { continue }
      try graph.adoptStoredReferences(of: partner, [relationship.property])
    }
  }

  private func put(on graph: ObjectGraph, keeping kept: [Int], asRead unsettled: [Int] = []) {
    let edited = object._copyRow()
    let committed = object.committedRow
    let places = object.placesOfReferences(graph)
    let before = object.references(graph)
    object.announceAll()
    object._restore(.all, from: theirs.row)
    object.state.endFault()
    for (property, place) in theirs.places { object._setPlace(property, place) }
    if let committed { for mask in ColumnMask.masks(of: unsettled) { object._restore(mask, from: committed) } }
    object.commitRow()
    for mask in ColumnMask.masks(of: kept) { object._restore(mask, from: edited) }
    for (property, place) in places where kept.contains(property) { object._setPlace(property, place) }
    object.state.replaceChanged(
      by: ColumnMask(numbers: kept).bits | object.changedBits & graph.info(of: object).transients.bits)
    graph.noteChanged(object)
    // The targets that were read before may note the object as one that has left them.
    let read = before.map { ($0.relationship, committed?.value($0.relationship.property).key ?? 0) }
    graph.followReferences(of: object, since: before + read)
  }
}

extension ColumnMask {
  init(numbers: some Sequence<Int>) { self.init(bits: numbers.reduce(0) { $0 | ColumnMask.bit(of: $1) }) }
}

extension ManagedObject {
  /// The references in the object's own row.
  final func references(_ graph: ObjectGraph) -> [(relationship: Relationship, key: Int64)] {
    graph.info(of: self).allRelationships.filter(\.isColumn).map { ($0, _reference($0.property)) }
  }
}

// MARK: - Conflicted row

/// Describes a row whose conflict the merge policy does not settle: as it was read, as it is in this context, and as it
/// is in the store.
struct ConflictedRow {
  private let object: ManagedObject
  private let info: EntityInfo
  private var row: SaveConflict.Row

  init(_ object: ManagedObject, _ graph: ObjectGraph) {
    self.object = object
    info = graph.info(of: object)
    row = SaveConflict.Row(entity: info.number, key: object._key, entityName: info.name)
    var line = [info.number]
    while let parent = graph.runtime.info(line[line.count - 1]).entity.parent { line.append(parent) }
    row.lineage = line.map { ObjectIdentifier(graph.runtime.types[$0]) }
    if !object.accessFlags.contains(.fault) { row.original = values(of: object.committedRow ?? object._copyRow()) }
  }

  func changedByBoth(_ merge: RowMerge) -> SaveConflict.Row {
    var row = row
    row.kind = .changedByBoth
    row.properties = merge.conflicting.sorted().map { info.entity.properties[$0].name }
    row.mine = values(of: object._copyRow())
    row.theirs = values(of: merge.theirs.row)
    return row
  }

  /// The object's row is the same here and in the store, but a different object refers to it here than in the store.
  func partnerTakenByBoth(_ relationship: Relationship) -> SaveConflict.Row {
    var row = row
    row.kind = .changedByBoth
    row.properties = [relationship.name]
    row.mine = values(of: object._copyRow())
    row.theirs = row.original
    return row
  }

  func deletedHere(_ theirs: StoredVersion) -> SaveConflict.Row {
    var row = row
    row.kind = .deletedHere
    row.theirs = values(of: theirs.row)
    return row
  }

  func deletedByOthers() -> SaveConflict.Row {
    var row = row
    row.kind = .deletedByOthers
    row.mine = values(of: object._copyRow())
    return row
  }

  private func values(of copy: RowCopyBase) -> [StoredValue] {
    info.entity.columns.map { column in
      switch column.content {
      case .attribute(let property), .reference(let property, _): copy.value(property)
      case .order: .null
      }
    }
  }
}

extension SaveConflict.Row {
  /// The object as this context read it. Nil if the row is not of this entity.
  ///
  /// ```swift
  /// for row in conflict.rows {
  ///   guard let mine = row.mine(EmotionDiary.Snapshot.self), let theirs = row.theirs(EmotionDiary.Snapshot.self)
  ///   else { continue }
  ///   show(mine.content, beside: theirs.content)
  /// }
  /// ```
  /// - Parameter type: The snapshot of the row's entity or of one of its ancestors.
  public func original<Snapshot: EntitySnapshot>(_ type: Snapshot.Type) -> Snapshot? { snapshot(original) }

  /// The object as it is in this context. Nil if it is deleted here, or if the row is not of this entity.
  ///
  /// - Parameter type: The snapshot of the row's entity or of one of its ancestors.
  public func mine<Snapshot: EntitySnapshot>(_ type: Snapshot.Type) -> Snapshot? { snapshot(mine) }

  /// The object as another context has saved it. Nil if it is deleted there, or if the row is not of this entity.
  ///
  /// - Parameter type: The snapshot of the row's entity or of one of its ancestors.
  public func theirs<Snapshot: EntitySnapshot>(_ type: Snapshot.Type) -> Snapshot? { snapshot(theirs) }

  private func snapshot<Snapshot: EntitySnapshot>(_ values: [StoredValue]?) -> Snapshot? {
    guard let values, lineage.contains(ObjectIdentifier(Snapshot.Object.self)) else { return nil }
    let row = ProjectedRow()
    row.key = key
    row.entity = entity
    row.values = values
    let snapshot = Snapshot(row)
    return row.problem == nil ? snapshot : nil
  }
}

// MARK: - Rows of partners

extension ObjectGraph {
  /// Loads objects. Objects that are in memory and not edited take over their rows in the store.
  func bringUpToDate(_ keys: Set<Int64>, _ relationship: Relationship) throws {
    let wanted = keys.filter { key in
      guard let object = map[key] else { return key > 0 }
      return object.phase == .persistent && !object.isEdited
    }
    if wanted.isEmpty { return }
    let found = Set(try loadObjects(wanted.sorted(), entity: relationship.destination).map(\._key))
    for key in wanted.subtracting(found) {
      if let object = map[key], !object.hasChanges { markDeletedInStore(object) }
    }
  }
}
