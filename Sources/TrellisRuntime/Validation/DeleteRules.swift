import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ObjectRules {
  /// Checks that the rules allow the deletes: no partner remains in a relationship with the delete rule `deny`, and no
  /// remaining object requires one of the deleted objects by a one-way reference.
  mutating func checkDeleted(_ objects: [ManagedObject]) throws {
    for object in objects {
      try checkPartners(of: object)
      askHook(.validateDelete, of: object)
    }
    for reference in context.oneWayReferences(to: objects) where reference.isRequired {
      try checkHolders(of: objects, reference)
    }
  }

  private mutating func checkPartners(of object: ManagedObject) throws {
    for relationship in context.info(of: object).allRelationships where relationship.deleteRule == .deny {
      let left = try partners(of: object, relationship).filter { !isLeaving($0) }
      let blockers = try living(left, entity: relationship.destination)
      if blockers.isEmpty { continue }
      deny(object, relationship, blockers)
    }
  }

  /// Adds the failure for a delete that remaining partners prevent.
  mutating func deny(_ object: ManagedObject, _ relationship: RelationshipInfo, _ blockers: [AnyObjectID]) {
    fail(
      object, relationship.name, .deniedDelete, "must be empty before the object can be deleted", blockers: blockers)
  }

  private mutating func checkHolders(of objects: [ManagedObject], _ reference: RelationshipInfo) throws {
    let keys = Set(objects.map(\._key))
    var blockers: [Int64: [AnyObjectID]] = [:]
    for holder in try context.holders(of: keys, reference) where !isLeaving(holder._key) {
      let id = AnyObjectID(holder, context.info(of: holder))
      blockers[context.knownReference(of: holder, reference), default: []].append(id)
    }
    for object in objects {
      guard let blockers = blockers[object._key] else { continue }
      fail(
        object, "\(reference.entityName).\(reference.name)", .deniedDelete,
        "must lead elsewhere before the object can be deleted", blockers: blockers)
    }
  }

  /// Checks the remaining partners of a deleted object: their required to-one relationships and their numbers of
  /// members.
  mutating func checkSurvivors(of object: ManagedObject) throws {
    for relationship in context.info(of: object).allRelationships {
      guard let inverse = context.runtime.inverse(of: relationship), inverse.isRequired || inverse.isCounted,
        !context.survivorsKeep(object, relationship, inverse)
      else { continue }
      for key in try partners(of: object, relationship) where !isLeaving(key) {
        guard let survivor = try context.object(key, entity: relationship.destination) else { continue }
        try checkLoss(of: survivor, inverse)
      }
    }
    try checkOneWaySurvivors(of: object)
  }

  /// Checks new and changed objects, because their references are cleared in memory. The store clears the references of
  /// other objects.
  private mutating func checkOneWaySurvivors(of object: ManagedObject) throws {
    let references = context.oneWayReferences(to: [object]).filter { reference in
      reference.isToMany ? reference.isCounted : reference.isRequired && object.phase == .inserted
    }
    if references.isEmpty { return }
    for holder in context.inserted + context.changed where holder.isAlive && !isLeaving(holder._key) {
      for reference in references where context.info(of: holder).relationships.contains(reference) {
        guard context.presentPartners(of: holder, reference).contains(object._key) else { continue }
        try checkLoss(of: holder, reference)
      }
    }
  }

  /// Checks a relationship that loses a deleted object.
  private mutating func checkLoss(of survivor: ManagedObject, _ relationship: RelationshipInfo) throws {
    guard relationship.isToMany else { return fail(survivor, relationship.name, .required, "must be set") }
    let left = try partners(of: survivor, relationship).filter { !isLeaving($0) }
    checkCount(left.count, of: relationship, survivor)
  }

  private func isLeaving(_ key: Int64) -> Bool {
    leaving.contains(key) || context.map[key]?.phase == .deleted
  }

  private func partners(of object: ManagedObject, _ relationship: RelationshipInfo) throws -> [Int64] {
    if relationship.isToMany {
      let keys = context.loadedList(of: object, relationship).keys
      try context.throwPendingFailure()
      return Array(keys)
    }
    let key = context.partnerKey(of: object, relationship)
    try context.throwPendingFailure()
    return key > 0 ? [key] : []
  }

  /// The identifiers of the existing objects among some keys.
  private func living(_ keys: [Int64], entity: Int) throws -> [AnyObjectID] {
    let missing = keys.filter { context.map[$0] == nil }
    if !missing.isEmpty { try context.loadObjects(missing, entity: entity) }
    return keys.compactMap { context.map[$0] }.map { AnyObjectID($0, context.info(of: $0)) }
  }
}

extension ManagedObjectContext {
  /// The living objects that refer to one of some objects by a one-way to-one relationship.
  fileprivate func holders(of keys: Set<Int64>, _ reference: RelationshipInfo) throws -> [ManagedObject] {
    var found: [Int64: ManagedObject] = [:]
    // Unsaved references are searched in memory, because in a predicate a reference to a deleted object is nil.
    for object in try stored(reference.holders(of: keys.sorted())) + inserted + changed where object.isAlive {
      guard info(of: object).relationships.contains(reference) else { continue }
      if keys.contains(knownReference(of: object, reference)) { found[object._key] = object }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  /// The object with a key, from memory or from the store.
  func object(_ key: Int64, entity: Int) throws -> ManagedObject? {
    try map[key] ?? loadObjects([key], entity: entity).first
  }
}
