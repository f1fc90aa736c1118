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
  init(_ graph: ObjectGraph) {
    inserted = graph.inserted.filter { $0.phase == .inserted }
    deleted = Array(graph.deleted)
    var numbers: [Int] = []
    for object in graph.changed where object.phase == .persistent {
      numbers.removeAll(keepingCapacity: true)
      if object.changedBits != 0, let committed = object.extras?.committed {
        object.collectChanges(since: committed, graph.info(of: object), into: &numbers)
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
  mutating func prepareRequest(_ graph: ObjectGraph) throws {
    collectCascades(graph)
    try assignPlaces(graph)
    groupRows()
    try collectPairs(graph)
    collectClearedReferences(graph)
    collectChecks(graph)
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
  private mutating func collectClearedReferences(_ graph: ObjectGraph) {
    var targets: [RelationshipNumber: [Int64]] = [:]
    for object in deleted {
      for reference in graph.info(of: object).oneWayReferences where reference.relationship.isColumn {
        targets[graph.number(of: reference.relationship), default: []].append(object._key)
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

// MARK: - Couples

/// A disagreement between the two halves of a one-to-one relationship that is its own inverse.
///
/// The reference is stored in the rows of both partners. A merge takes over one row and leaves the other one if that is
/// edited, so the halves may differ until a save, which writes both halves or neither.
struct CoupleAgreement {
  let object: ManagedObject
  let relationship: RelationshipInfo
  /// The partner whose half differs, and the object that this half refers to.
  let partner: ManagedObject
  let other: ManagedObject?

  /// All objects whose half may change.
  var objects: [ManagedObject] { [object, partner] + (other.map { [$0] } ?? []) }

  /// Makes both halves agree. If the partner was set to another object here, it keeps that object, and this object's
  /// reference is cleared. Any other partner takes over this object's half.
  func carryOut(_ graph: ObjectGraph) {
    if object._reference(relationship.property) != partner._key {
      graph.unlink(partner, relationship, object._key)
    } else if other != nil && partner.hasOwnReference(relationship) {
      graph.unlink(object, relationship, partner._key)
    } else {
      if let other, other !== partner { graph.unlink(other, relationship, partner._key) }
      graph.linkEnd(partner, relationship, object._key)
    }
  }
}

extension ObjectGraph {
  /// The couples that a save would write and whose halves differ.
  ///
  /// - Throws: ``StoreError`` if a partner has to be loaded and the store fails.
  /// - Complexity: linear in the number of changed objects if the model has such a relationship, otherwise constant.
  func coupleDisagreements() throws -> [CoupleAgreement] {
    guard runtime.hasCouples else { return [] }
    var found: [CoupleAgreement] = []
    for object in inserted + changed where object.isAlive && object.changedBits != 0 {
      for relationship in info(of: object).couples where object.hasOwnReference(relationship) {
        found += formerPartner(of: object, relationship).map { [$0] } ?? []
        found += try presentPartner(of: object, relationship).map { [$0] } ?? []
      }
    }
    return found
  }

  private func formerPartner(of object: ManagedObject, _ relationship: RelationshipInfo) -> CoupleAgreement? {
    guard case .integer(let key)? = object.extras?.committed?.value(relationship.property),
      key != object._reference(relationship.property), let former = map[key], former !== object, former.isAlive,
      !former.accessFlags.contains(.fault), former._reference(relationship.property) == object._key,
      !former.hasOwnReference(relationship)
    else { return nil }
    return CoupleAgreement(object: object, relationship: relationship, partner: former, other: nil)
  }

  private func presentPartner(
    of object: ManagedObject, _ relationship: RelationshipInfo
  ) throws -> CoupleAgreement? {
    let key = object._reference(relationship.property)
    guard key > 0, key != object._key else { return nil }
    if map[key]?.accessFlags.contains(.fault) != false { try loadForChange([key], of: relationship) }
    guard let partner = map[key], partner.isAlive else { return nil }
    let other = partner._reference(relationship.property)
    if other == object._key { return nil }
    return CoupleAgreement(object: object, relationship: relationship, partner: partner, other: map[other])
  }
}
