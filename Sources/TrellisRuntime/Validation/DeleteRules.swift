import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ObjectRules {
  /// Checks that nothing forbids deletes: no partner is left where the model denies it, and nobody who stays needs one of the
  /// objects by a one-way reference.
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

  /// An object cannot go, as partners stay that forbid it.
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

  /// Checks those who stay behind when an object goes: what they must have a partner or a number of members for.
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

  /// What is changed or new lets go at once; of others the store clears the references.
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

  /// Checks a relationship that loses one of those who leave.
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

  /// The identities of those of some objects that there are.
  private func living(_ keys: [Int64], entity: Int) throws -> [AnyObjectID] {
    let missing = keys.filter { context.map[$0] == nil }
    if !missing.isEmpty { try context.loadObjects(missing, entity: entity) }
    return keys.compactMap { context.map[$0] }.map { AnyObjectID($0, context.info(of: $0)) }
  }
}

extension ManagedObjectContext {
  /// The living objects that a one-way to-one leads from to one of some objects.
  fileprivate func holders(of keys: Set<Int64>, _ reference: RelationshipInfo) throws -> [ManagedObject] {
    var found: [Int64: ManagedObject] = [:]
    // Unsaved references are looked through here, as a predicate sees no deleted object at the other end.
    for object in try stored(reference.holders(of: keys.sorted())) + inserted + changed where object.isAlive {
      guard info(of: object).relationships.contains(reference) else { continue }
      if keys.contains(knownReference(of: object, reference)) { found[object._key] = object }
    }
    return found.sorted { $0.key < $1.key }.map(\.value)
  }

  /// An object by key, from memory or from the store.
  func object(_ key: Int64, entity: Int) throws -> ManagedObject? {
    try map[key] ?? loadObjects([key], entity: entity).first
  }
}
