import TrellisModel

/// Makes the other ends of relationships show what rows hold, after an operation that restores each end by itself: an
/// undo, a redo, an undelete.
///
/// ``GraphLinks`` changes both ends in one step, so that they agree. These operations restore what an end recorded, and
/// another context may have changed the other end, or its partner, since then. Of a relationship that is stored in a
/// row, the row decides; what the other end shows is derived from it. The pass costs a comparison for each to-one of
/// the restored objects.
extension ObjectGraph {
  /// Makes partners show the references in the rows of objects, and the objects those in their partners' rows.
  ///
  /// - Complexity: linear in the number of objects and relationships.
  func agreeLinks(around objects: some Sequence<ManagedObject>) {
    var seen: Set<Int64> = []
    // Looked up once for each run of objects of one entity.
    var (entity, relationships): (Int, [Relationship]) = (-1, [])
    for object in objects where object.isAlive {
      let number = type(of: object)._entity
      if number != entity { (entity, relationships) = (number, runtime.info(number).toOnes) }
      if relationships.isEmpty || !seen.insert(object._key).inserted { continue }
      for relationship in relationships {
        guard let inverse = runtime.inverse(of: relationship) else { continue }
        if !relationship.isColumn {
          dropUnconfirmedPartner(of: object, relationship, inverse)
        } else if !inverse.isColumn, !object.accessFlags.contains(.fault) {
          showReference(of: object, relationship, inverse)
        }
      }
    }
  }

  /// Invalidates the to-manys whose recorded members' rows do not confirm them: a row that is not loaded is as the
  /// store has it, and a loaded one contradicts the list.
  func forgetUnconfirmed(_ members: some Sequence<RecordedMember>) {
    for member in members {
      guard member.relationship.home == .inverseColumn, let owner = member.owner, owner.isAlive else { continue }
      if let object = map[member.trace.key], !object.accessFlags.contains(.fault) {
        guard object.phase == .persistent, let inverse = runtime.inverse(of: member.relationship),
          let list = owner.list(of: member.relationship.property), list.isLoaded
        else { continue }
        let isMember = object._reference(inverse.property) == owner._key
        if isMember == list.contains(object._key) || object.hasOwnReference(inverse) { continue }
      }
      forgetViews(of: [(owner, member.relationship)])
    }
  }

  /// Makes an object that was inserted again show the objects that the delete rule `noAction` has left referring to it.
  ///
  /// - Complexity: linear in the number of objects in memory, and one read of the store, for each such relationship.
  func showReferencesLeft(to object: ManagedObject) throws {
    for relationship in info(of: object).allRelationships where relationship.deleteAction == .leaveReferences {
      guard let inverse = runtime.inverse(of: relationship), inverse.isColumn else { continue }
      for key in try referencesLeft(to: object._key, relationship, inverse) {
        if relationship.isToMany || object.notedPartner(of: relationship.property) ?? 0 == 0 {
          show(key, at: object, relationship)
        }
      }
    }
  }

  /// The keys of the objects that refer to a deleted object, in ascending order.
  func referencesLeft(
    to key: Int64, _ relationship: Relationship, _ inverse: Relationship
  ) throws -> [Int64] {
    var found: Set<Int64> = []
    try connection(reading: relationship.destination).memberKeys(of: relationship.number, owners: [key]) {
      _, member, _ in
      if map[member]?.accessFlags.contains(.fault) != false { found.insert(member) }
    }
    map.forEach { member in
      guard member.isAlive, !member.accessFlags.contains(.fault), info(of: member).relationships.contains(inverse),
        member._reference(inverse.property) == key
      else { return }
      found.insert(member._key)
    }
    return found.sorted()
  }

  /// Makes the partner in an object's row show the object.
  private func showReference(
    of object: ManagedObject, _ relationship: Relationship, _ inverse: Relationship
  ) {
    guard let partner = map[object._reference(relationship.property)], partner.isAlive else { return }
    if object.hasOwnReference(relationship) {
      // A partner that was given to another object in this context keeps it until a save settles the conflict.
      if !inverse.isToMany && isGivenElsewhere(partner, inverse, than: object) { return }
      show(object._key, at: partner, inverse)
      if partner.phase == .persistent { noteContestedPartner(partner, inverse) }
    } else if contradicts(partner, inverse, object) {
      forgetViews(of: [(partner, inverse)])
    }
  }

  /// Whether an object's view of a relationship lacks a partner whose row refers to it as the store does.
  private func contradicts(
    _ object: ManagedObject, _ relationship: Relationship, _ partner: ManagedObject
  ) -> Bool {
    if relationship.isToMany {
      guard let list = object.list(of: relationship.property) else { return false }
      return list.isLoaded ? !list.contains(partner._key) : list.removed.contains(partner._key)
    }
    guard let shown = object.notedPartner(of: relationship.property) else { return false }
    return shown != partner._key && !isGivenElsewhere(object, relationship, than: partner)
  }

  /// Drops the partner of a to-one if the partner's row contradicts it. The partner is read from the store at the next
  /// use.
  private func dropUnconfirmedPartner(
    of object: ManagedObject, _ relationship: Relationship, _ inverse: Relationship
  ) {
    guard let shown = object.notedPartner(of: relationship.property), shown > 0, let partner = map[shown],
      partner.isAlive, !partner.accessFlags.contains(.fault), !refers(partner, inverse, to: object._key)
    else { return }
    if object.phase == .inserted {
      object.announce(relationship.property)
      object.setPartner(of: relationship.property, 0)
    } else {
      forgetViews(of: [(object, relationship)])
    }
  }

  /// Whether a to-one shows another object, whose row was set in this context.
  func isGivenElsewhere(
    _ partner: ManagedObject, _ relationship: Relationship, than object: ManagedObject
  ) -> Bool {
    guard let shown = partner.notedPartner(of: relationship.property), shown != object._key, let other = map[shown],
      let inverse = runtime.inverse(of: relationship)
    else { return false }
    return refers(other, inverse, to: partner._key) && other.hasOwnReference(inverse)
  }

  /// Drops the members of an object's to-manys whose rows contradict it, because they changed while the object was
  /// deleted.
  ///
  /// - Complexity: linear in the number of members in memory.
  func dropUnconfirmedMembers(of object: ManagedObject) {
    for list in object.lists {
      guard let relationship = relationship(list.property, of: object), !relationship.isTransient,
        let inverse = runtime.inverse(of: relationship), inverse.isColumn
      else { continue }
      let wrong = list.keys.filter { key in
        guard let member = map[key], member.isAlive, !member.accessFlags.contains(.fault) else { return false }
        return member._reference(inverse.property) != object._key
      }
      if wrong.isEmpty { continue }
      object.announce(list.property)
      list.forget(Set(wrong))
    }
  }

  private func refers(_ object: ManagedObject, _ relationship: Relationship, to key: Int64) -> Bool {
    object.isAlive && !object.accessFlags.contains(.fault) && object._reference(relationship.property) == key
  }
}
