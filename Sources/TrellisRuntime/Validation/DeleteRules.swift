import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ObjectRules {
  /// Checks that nothing forbids a delete: no partner is left where the model denies it.
  mutating func checkDeleted(_ object: ManagedObject) throws {
    for relationship in context.info(of: object).allRelationships where relationship.deleteRule == .deny {
      let left = try partners(of: object, relationship).filter { !isLeaving($0) }
      guard !left.isEmpty else { continue }
      let blockers = try ids(of: left, entity: relationship.destination)
      fail(
        object, relationship.name, .deniedDelete, "must be empty before the object can be deleted", blockers: blockers)
    }
  }

  /// Checks that nobody who stays needs one of these objects by a one-way reference.
  mutating func checkHolders(of objects: [ManagedObject]) throws {
    let keys = Set(objects.map(\._key))
    for reference in context.oneWayReferences(to: objects) where reference.isRequired {
      for holder in try context.holders(of: keys, reference) where !isLeaving(holder._key) {
        fail(holder, reference.name, .required, "must be set")
      }
    }
  }

  /// Checks those who stay behind when an object goes: what they must have a partner or a number of members for.
  mutating func checkSurvivors(of object: ManagedObject) throws {
    for relationship in context.info(of: object).allRelationships where relationship.deleteRule == .nullify {
      guard let inverse = context.runtime.inverse(of: relationship) else { continue }
      guard inverse.isRequired || inverse.minimumCount != nil else { continue }
      for key in try partners(of: object, relationship) where !isLeaving(key) {
        guard let survivor = try context.object(key, entity: relationship.destination) else { continue }
        if inverse.isRequired { fail(survivor, inverse.name, .required, "must be set") }
        guard inverse.isToMany else { continue }
        let left = try partners(of: survivor, inverse).filter { !isLeaving($0) }
        checkCount(left.count, of: inverse, survivor)
      }
    }
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

  private func ids(of keys: [Int64], entity: Int) throws -> [AnyObjectID] {
    let missing = keys.filter { context.map[$0] == nil }
    if !missing.isEmpty { try context.loadObjects(missing, entity: entity) }
    return keys.map { key in
      let info = context.map[key].map(context.info) ?? context.runtime.entities[entity]
      return AnyObjectID(entity: info.name, key: key)
    }
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
