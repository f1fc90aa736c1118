import TrellisModel
import TrellisStorage

/// The changes that one save writes, determined before the write.
///
/// A class, because a save passes it through many functions, and copying a struct would retain each of its parts.
final class SavePlan {
  // Each access ends before anything else is called, so accesses cannot overlap and need no check.

  let inserted: ContiguousArray<ManagedObject>
  /// The saved objects with changed values, and the properties that differ.
  @exclusivity(unchecked) private(set) var updated: ContiguousArray<(object: ManagedObject, mask: ColumnMask)> = []
  /// The saved objects with changed to-many relationships only.
  @exclusivity(unchecked) private(set) var relinked: ContiguousArray<ManagedObject> = []
  /// The saved objects with other changes, such as a to-one that their partner's row holds.
  @exclusivity(unchecked) private(set) var unlinked: ContiguousArray<ManagedObject> = []
  let deleted: ContiguousArray<ManagedObject>
  /// Those of the objects above, but for deleted ones, that have to-manys in memory.
  @exclusivity(unchecked) private(set) var owners: ContiguousArray<ManagedObject> = []
  /// The notice for other contexts after the save.
  @exclusivity(unchecked) var notice: SaveNotice?
  let request = SaveRequest()
  /// The rows that the store has deleted together with the objects deleted here.
  @exclusivity(unchecked) var outcome = SaveOutcome()
  /// The places of members before the plan assigned new ones.
  @exclusivity(unchecked) var formerPlaces: [(member: ManagedObject, property: Int, place: Int64?)] = []

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && request.isEmpty }

  /// Collects the changes that the context has noted. No other objects are visited.
  init(_ graph: ObjectGraph) {
    inserted = graph.insertedObjects
    deleted = graph.deleted
    for object in inserted where object.hasLists { owners.append(object) }
    for object in graph.changed where object.phase == .persistent {
      let bits = object.changedProperties(graph.info(of: object))
      if bits != 0 {
        updated.append((object, ColumnMask(bits: bits)))
      } else if object.hasChangedLists {
        relinked.append(object)
      } else {
        unlinked.append(object)
      }
    }
    for (object, _) in updated where object.hasLists { owners.append(object) }
    if !relinked.isEmpty { owners += relinked }
  }

  /// All objects whose rules are checked.
  var checked: ContiguousArray<ManagedObject> { inserted + updated.map(\.object) + relinked }

  /// Fills the request after the checks have passed.
  func prepareRequest(_ graph: ObjectGraph) throws {
    collectCascades(graph)
    try assignPlaces(graph)
    groupRows(graph)
    try collectPairs(graph)
    collectClearedReferences(graph)
    collectChecks(graph)
    request.author = graph.author
    if !graph.notes.isEmpty { request.notes = graph.notes }
  }

  private func groupRows(_ graph: ObjectGraph) {
    if !inserted.isEmpty {
      var inserts = EntityGroups<SaveRequest.Inserts>()
      if inserted.count >= 1024 { reserve(graph, in: &inserts) }
      for object in inserted { inserts[type(of: object)._entity].records.append(object) }
      if !graph.formerVersions.isEmpty {
        for object in inserted {
          guard let version = graph.formerVersions[object._key] else { continue }
          inserts[type(of: object)._entity].formerVersions[object._key] = version
        }
      }
      request.inserts = inserts.groups
    }
    if !updated.isEmpty {
      var updates = EntityGroups<SaveRequest.Updates>()
      for (object, mask) in updated { updates[type(of: object)._entity].append(object, mask) }
      request.updates = updates.groups
    }
    if !deleted.isEmpty {
      var deletes = EntityGroups<SaveRequest.Deletes>()
      for object in deleted { deletes[type(of: object)._entity].append(object) }
      request.deletes = deletes.groups
    }
  }

  /// Makes room for many new objects: arrays that grow would take up to three times as much memory, at the moment when
  /// a save takes most.
  private func reserve(_ graph: ObjectGraph, in inserts: inout EntityGroups<SaveRequest.Inserts>) {
    var counts = Array(repeating: 0, count: graph.runtime.types.count)
    for object in inserted { counts[type(of: object)._entity] += 1 }
    // The groups are in the order in which the entities first appear.
    for object in inserted {
      let entity = type(of: object)._entity
      if counts[entity] > 0 { inserts[entity].records.reserveCapacity(counts[entity]) }
      counts[entity] = 0
    }
  }

  /// Collects the references of one-way relationships to deleted objects. They become nil in all rows.
  private func collectClearedReferences(_ graph: ObjectGraph) {
    if deleted.isEmpty || !graph.runtime.hasOneWayReferences { return }
    var targets: [RelationshipNumber: [Int64]] = [:]
    for object in deleted {
      for reference in graph.info(of: object).oneWayReferences where reference.relationship.isColumn {
        targets[reference.relationship.number, default: []].append(object._key)
      }
    }
    request.clearedReferences = targets.sortedByKey
      .map { SaveRequest.ClearedReferences(relationship: $0.key, targets: $0.value) }
  }
}

extension SaveRequest.Updates {
  fileprivate mutating func append(_ object: ManagedObject, _ mask: ColumnMask) {
    if mask.bits & ColumnMask.bit(of: 63) != 0 {
      late[records.count] = object.changedNumbers.filter { $0 >= 63 }
    }
    records.append(object)
    masks.append(mask)
  }
}

extension SaveRequest.Deletes {
  fileprivate mutating func append(_ object: ManagedObject) {
    keys.append(object._key)
    versions.append(object.version)
  }
}

/// The changes of one entity in a request.
private protocol EntityGroup {
  var entity: Int { get }
  init(of entity: Int)
}

extension SaveRequest.Inserts: EntityGroup {
  fileprivate init(of entity: Int) { self.init(entity: entity, records: []) }
}

extension SaveRequest.Updates: EntityGroup {
  fileprivate init(of entity: Int) { self.init(entity: entity) }
}

extension SaveRequest.Deletes: EntityGroup {
  fileprivate init(of entity: Int) { self.init(entity: entity) }
}

/// Groups elements by entity, in the order in which the entities first appear. Runs of one entity are fast.
private struct EntityGroups<Group: EntityGroup> {
  private(set) var groups: [Group] = []
  private var last = 0

  @inline(__always) subscript(entity: Int) -> Group {
    mutating _read { yield groups[place(of: entity)] }
    _modify {
      let place = place(of: entity)
      yield &groups[place]
    }
  }

  private mutating func place(of entity: Int) -> Int {
    if last < groups.count, groups[last].entity == entity { return last }
    // A save writes few entities.
    if let known = groups.firstIndex(where: { $0.entity == entity }) {
      last = known
    } else {
      last = groups.count
      groups.append(Group(of: entity))
    }
    return last
  }
}

// MARK: - Cascades

extension SavePlan {
  /// Adds the cascades that are left to the store to the request. Saved objects in memory that are alive are kept from
  /// them, even if their stored rows still refer to an owner.
  func collectCascades(_ graph: ObjectGraph) {
    guard graph.pending.deletions.hasCascades else { return }
    var entities: Set<Int> = []
    for cascade in graph.pendingCascades {
      request.cascades.append(
        SaveRequest.Cascades(
          relationship: cascade.relationship.number, owners: cascade.owners.map(\._key)))
      entities.formUnion(cascade.rule.entities)
    }
    request.keptFromCascades = updated.map(\.object).filter { entities.contains(type(of: $0)._entity) }.map(\._key)
  }
}

// MARK: - Validating

extension ObjectGraph {
  /// Checks everything that a save is about to write.
  ///
  /// - Throws: ``ValidationError`` with every broken rule.
  func validate(_ plan: SavePlan) throws {
    var rules = ObjectRules(self)
    try rules.checkRuns(of: plan.inserted, .validateInsert)
    try rules.checkRuns(of: plan.updated.lazy.map(\.object), .validateUpdate)
    for object in plan.relinked { try rules.checkLinks(object, .validateUpdate) }
    for object in plan.unlinked { rules.checkNotedPartners(of: object) }
    if !plan.deleted.isEmpty { try rules.checkDeleted(Array(plan.deleted)) }
    guard rules.failures.isEmpty else { throw ValidationError(failures: rules.failures) }
  }
}

extension ObjectRules {
  /// Checks objects against their model and by a hook. Most objects come in runs of one entity, and many entities have
  /// no rules.
  @inline(__always)
  fileprivate mutating func checkRuns(of objects: some Collection<ManagedObject>, _ hook: LifecycleHook) throws {
    var place = objects.startIndex
    while place != objects.endIndex {
      let entity = type(of: objects[place])._entity
      let info = graph.runtime.info(entity)
      let hasHook = info.hooks.contains(hook)
      while place != objects.endIndex, type(of: objects[place])._entity == entity {
        if info.isChecked { try check(objects[place], info) }
        if hasHook { callValidationHook(hook, of: objects[place]) }
        place = objects.index(after: place)
      }
    }
  }
}

// MARK: - Notice

extension SaveNotice {
  /// Collects the changes of a save plan. This runs before the save, because lists forget their changes when they are
  /// saved.
  init(_ plan: SavePlan, _ graph: ObjectGraph) {
    author = graph.author
    inserted = plan.inserted.map { Row($0) }
    updated = plan.updated.map { Row($0.object, $0.mask) }
    relinked = plan.relinked.map { Row($0) }
    deleted = plan.deleted.map { Row($0) }
    cascaded = plan.outcome.cascaded
    for object in plan.inserted { addPartners(of: object, graph) }
    for (object, _) in plan.updated { addPartners(of: object, graph) }
    for object in plan.deleted { addPartners(of: object, graph) }
    // A pair may be noted at one end only.
    for table in plan.request.pairs {
      for pair in table.added + table.removed { referred += [pair.first, pair.partner] }
    }
    // Changes of lists whose owners are not in memory.
    referred += graph.pending.deferredLists.lists.filter { $0.value.hasChanges }.map(\.key.owner)
    cleared = plan.request.clearedReferences.map(\.relationship)
  }

  /// Adds the present and former partners of an object: their members change, even in contexts that do not have the
  /// object itself in memory.
  private mutating func addPartners(of object: ManagedObject, _ graph: ObjectGraph) {
    let isNew = object.phase == .inserted
    let committed = object.committedRow
    for relationship in graph.info(of: object).allRelationships
    where relationship.isColumn && relationship.inverse != nil {
      let key = object._reference(relationship.property)
      guard case .integer(let former) = committed?.value(relationship.property) ?? .integer(key) else {
        if key > 0 { referred.append(key) }
        continue
      }
      if key == former && object.phase == .persistent { continue }
      if key > 0 { referred.append(key) }
      if former > 0 && former != key && !isNew { referred.append(former) }
    }
  }
}

extension SaveNotice.Row {
  fileprivate init(_ object: ManagedObject, _ mask: ColumnMask = ColumnMask(bits: 0)) {
    key = object._key
    entity = type(of: object)._entity
    properties = mask
    for list in object.lists where list.hasChanges {
      properties.bits |= ColumnMask.bit(of: list.property)
    }
  }
}
