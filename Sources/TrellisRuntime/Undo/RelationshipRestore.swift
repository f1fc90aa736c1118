// The relationships of restored objects.

extension ManagedObjectContext {
  /// Links the partners that an object kept while it was deleted to it again, unless they are linked to another object.
  func reunite(_ object: ManagedObject) {
    for relationship in info(of: object).allRelationships {
      guard let inverse = runtime.inverse(of: relationship) else { continue }
      for key in presentPartners(of: object, relationship) {
        guard let partner = map[key], partner.isAlive else { continue }
        prepareRecording(object, relationship, key)
        if inverse.isToMany {
          if !list(of: partner, inverse).contains(object._key) { take(partner, inverse, object._key) }
        } else {
          let taken = partnerKey(of: partner, inverse)
          if taken == 0 { take(partner, inverse, object._key) }
          // The partner already shows the object, which is an unsaved change all the same.
          if taken == object._key { noteListChanged(partner) }
          if taken != 0 && taken != object._key { unlink(object, relationship, key) }
        }
      }
    }
  }

  /// Unlinks a partner that was deleted meanwhile, unless the delete rule is `noAction`.
  func letGoOfLost(_ object: ManagedObject, _ relationship: RelationshipInfo) throws {
    let key = object._reference(relationship.property)
    guard key > 0, map[key] == nil, runtime.inverse(of: relationship)?.deleteRule != .noAction else { return }
    if try storedObject(key, entity: relationship.destination) == nil { unlink(object, relationship, key) }
  }

  /// Unlinks objects, restored after a saved delete, from partners that were deleted meanwhile.
  func forgetLostPartners(of objects: [ManagedObject]) throws {
    for object in objects {
      for relationship in info(of: object).allRelationships {
        // References that the rule `noAction` left behind stay.
        if !relationship.isToMany && runtime.inverse(of: relationship)?.deleteRule == .noAction { continue }
        let missing = presentPartners(of: object, relationship).filter { map[$0] == nil }
        if missing.isEmpty { continue }
        let found = try loadObjects(missing, entity: relationship.destination)
        let lost = Set(missing).subtracting(found.map(\._key))
        if relationship.isToMany {
          list(of: object, relationship).forget(lost)
        } else {
          for key in lost { unlink(object, relationship, key) }
        }
      }
    }
  }
}
