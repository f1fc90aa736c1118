import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Moves the relationships of an object to another one of the same entity, and deletes it. It has none left by then,
  /// so no delete rule applies.
  ///
  /// - Throws: ``ContextError`` or ``StoreError``.
  func unite(_ object: ManagedObject, with survivor: ManagedObject) throws {
    for relationship in info(of: object).allRelationships {
      if relationship.isToMany {
        try moveMembers(of: object, to: survivor, relationship)
      } else {
        movePartner(of: object, to: survivor, relationship)
      }
      try throwPendingFailure()
    }
    for relationship in oneWayReferences(to: [object]) {
      try moveHolders(of: object, to: survivor, relationship)
      try throwPendingFailure()
    }
    try delete(object)
  }

  private func moveMembers(
    of object: ManagedObject, to survivor: ManagedObject, _ relationship: Relationship
  ) throws {
    let property = relationship.property
    let known = Set(try memberObjects(of: survivor, relationship).map(\._key))
    for member in try memberObjects(of: object, relationship) {
      let isInside = member === survivor || member === object
      // A member with one owner leaves the object by this.
      if !isInside && !known.contains(member._key) { survivor.addMember(property, member, at: nil) }
      if object.hasMember(property, member) { object.removeMember(property, member) }
    }
  }

  private func movePartner(of object: ManagedObject, to survivor: ManagedObject, _ relationship: Relationship) {
    let property = relationship.property
    guard let partner = object._findPartner(property) else { return }
    let isInside = partner === survivor || partner === object
    if isInside || survivor._findPartner(property) != nil {
      object._setPartner(property, nil)
    } else {
      survivor._setPartner(property, partner)
      if object._findPartner(property) != nil { object._setPartner(property, nil) }
    }
  }

  /// Moves the one-way references to an object.
  private func moveHolders(
    of object: ManagedObject, to survivor: ManagedObject, _ relationship: Relationship
  ) throws {
    let property = relationship.property
    var keys: [Int64] = []
    try connection().fetchKeys(relationship.holders(of: [object._key])) { key, _ in keys.append(key) }
    for holder in try loadObjects(keys, entity: relationship.entity) where holder.isAlive {
      // What is not saved yet may have changed.
      guard relationship.isToMany ? holder.hasMember(property, object) : holder._findPartner(property) === object
      else { continue }
      if relationship.isToMany {
        let place =
          relationship.isOrdered
          ? try memberObjects(of: holder, relationship).firstIndex { $0 === object } : nil
        if !holder.hasMember(property, survivor) { holder.addMember(property, survivor, at: place) }
        holder.removeMember(property, object)
      } else {
        holder._setPartner(property, survivor)
      }
    }
  }
}
