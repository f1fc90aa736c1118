import TrellisStorage

/// The changes that one save writes, determined before the write.
struct SavePlan {
  var inserted: [ManagedObject] = []
  /// The saved objects with changed values, and the properties that differ.
  var updated: [(object: ManagedObject, mask: ColumnMask)] = []
  /// The saved objects with changed to-many relationships only.
  var relinked: [ManagedObject] = []
  /// The notice for other contexts after the save.
  var notice: SaveNotice?
  var deleted: [ManagedObject] = []
  var request = SaveRequest()
  /// The rows that the store has deleted together with the objects deleted here.
  var outcome = SaveOutcome()
  /// The places of members before the plan assigned new ones.
  var formerPlaces: [(member: ManagedObject, property: Int, place: Int64?)] = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && request.isEmpty }

  /// Collects the changes that the context has noted. No other objects are visited.
  init(_ context: ManagedObjectContext) {
    inserted = context.inserted.filter { $0.phase == .inserted }
    deleted = Array(context.deleted)
    var numbers: [Int] = []
    for object in context.changed where object.phase == .persistent {
      numbers.removeAll(keepingCapacity: true)
      if object.changedBits != 0, let committed = object.extras?.committed {
        object.collectChanges(since: committed, context.info(of: object), into: &numbers)
      }
      if !numbers.isEmpty {
        updated.append((object, ColumnMask(bits: numbers.reduce(0) { $0 | ColumnMask.bit(of: $1) })))
      } else if object.hasChangedLists {
        relinked.append(object)
      }
    }
  }

  /// All objects whose rules are checked.
  var checked: [ManagedObject] { inserted + updated.map(\.object) + relinked }

  /// Fills the request after the checks have passed.
  mutating func prepareRequest(_ context: ManagedObjectContext) throws {
    collectCascades(context)
    try assignPlaces(context)
    groupRows()
    try collectPairs(context)
    collectClearedReferences(context)
    collectChecks(context)
  }

  private mutating func groupRows() {
    var inserts = EntityGroups<SaveRequest.Inserts> { SaveRequest.Inserts(entity: $0, records: []) }
    for object in inserted { inserts[type(of: object)._entity].records.append(object) }
    var updates = EntityGroups<SaveRequest.Updates> { SaveRequest.Updates(entity: $0) }
    for (object, mask) in updated {
      updates[type(of: object)._entity].records.append(object)
      updates[type(of: object)._entity].masks.append(mask)
    }
    var deletes = EntityGroups<SaveRequest.Deletes> { SaveRequest.Deletes(entity: $0) }
    for object in deleted {
      deletes[type(of: object)._entity].keys.append(object._key)
      deletes[type(of: object)._entity].versions.append(object.version)
    }
    request.inserts = inserts.groups
    request.updates = updates.groups
    request.deletes = deletes.groups
  }

  /// Collects the references of one-way relationships to deleted objects. They become nil in all rows.
  private mutating func collectClearedReferences(_ context: ManagedObjectContext) {
    var targets: [RelationshipNumber: [Int64]] = [:]
    for object in deleted {
      for reference in context.info(of: object).oneWayReferences where reference.relationship.isColumn {
        targets[context.number(of: reference.relationship), default: []].append(object._key)
      }
    }
    request.clearedReferences = targets.sorted { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }
      .map { SaveRequest.ClearedReferences(relationship: $0.key, targets: $0.value) }
  }
}

/// Groups elements by entity, in the order in which the entities first appear. Runs of one entity are fast.
private struct EntityGroups<Group> {
  private(set) var groups: [Group] = []
  private var places: [Int: Int] = [:]
  private var lastEntity = -1
  private var lastPlace = 0
  private let make: (Int) -> Group

  init(make: @escaping (Int) -> Group) { self.make = make }

  @inline(__always) subscript(entity: Int) -> Group {
    mutating _read { yield groups[place(of: entity)] }
    _modify {
      let place = place(of: entity)
      yield &groups[place]
    }
  }

  private mutating func place(of entity: Int) -> Int {
    if entity == lastEntity { return lastPlace }
    lastEntity = entity
    if let known = places[entity] {
      lastPlace = known
    } else {
      groups.append(make(entity))
      lastPlace = groups.count - 1
      places[entity] = lastPlace
    }
    return lastPlace
  }
}
