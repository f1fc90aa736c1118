import TrellisModel
import TrellisStorage

/// What living objects show of deleted ones: nothing. A deleted object keeps its references, its pairs and its positions,
/// so that it returns to them.
extension ObjectGraph {
  func markDeleted(_ victim: ManagedObject) {
    recorder?.record(.deleted(victim))
    if info(of: victim).oneWayReferences.contains(where: { $0.relationship.isJoined }) {
      pending.deadTargets.add(victim._key)
    }
    if victim.phase == .inserted { return detach(victim) }
    victim.announceAll()
    victim.state.delete()
    pending.addDeleted(victim)
  }

  /// Hides a deleted object in the relationships of living ones.
  func hide(_ victim: ManagedObject) {
    for relationship in info(of: victim).allRelationships {
      guard let inverse = runtime.inverse(of: relationship), !inverse.isColumn else { continue }
      for key in partnersWithHidden(of: victim, relationship) {
        guard let partner = map[key], partner.isAlive else { continue }
        partner.announce(inverse.property)
        if inverse.isToMany { list(of: partner, inverse).hide(victim._key) }
        noteListChanged(partner)
      }
    }
  }

  /// Records the pairs and the positions of objects that are about to be deleted. A save of the delete drops them.
  ///
  /// - Parameter holders: More objects that may have one-way references to them.
  func recordLinks(of victims: [ManagedObject], _ holders: [ManagedObject]) {
    var places = PlacesLeft()
    for victim in victims {
      for relationship in info(of: victim).allRelationships {
        guard let inverse = runtime.inverse(of: relationship), inverse.isToMany else { continue }
        for key in presentPartners(of: victim, relationship) {
          if relationship.isJoined { recordPair(victim, relationship, key, wasLinked: true) }
          guard let partner = map[key], let list = partner.list(of: inverse.property) else { continue }
          places.add(victim._key, in: list, of: partner, inverse)
        }
      }
    }
    defer { record(places) }
    let references = oneWayReferences(to: victims).filter(\.isToMany)
    if references.isEmpty { return }
    let keys = Set(victims.map(\._key))
    for holder in inserted + changed + holders where holder.isAlive && !keys.contains(holder._key) {
      for reference in references where info(of: holder).relationships.contains(reference) {
        let list = list(of: holder, reference)
        for key in list.keys where keys.contains(key) {
          recordPair(holder, reference, key, wasLinked: true)
          places.add(key, in: list, of: holder, reference)
        }
      }
    }
  }

  /// The partners in memory, those included that are deleted here.
  func partnersWithHidden(of object: ManagedObject, _ relationship: Relationship) -> ContiguousArray<Int64> {
    if relationship.isToMany { return object.list(of: relationship.property)?.keysWithHidden ?? [] }
    let key = relationship.isColumn ? object._reference(relationship.property) : holder(of: object, relationship)
    return key > 0 ? [key] : []
  }

  /// Shows objects that are alive again in the relationships of other objects, and removes links that were cleared
  /// meanwhile.
  ///
  /// - Parameter isKept: Whether the reference of an object to an object that is deleted stays as it is.
  func showAgain(
    _ objects: [ManagedObject], keeping isKept: (ClearedReference) -> Bool = { _ in false }
  ) throws {
    let keys = Set(objects.map(\._key))
    for key in keys { pending.deadTargets.remove(key) }
    // Changes of other contexts were not merged into the objects while they were deleted.
    for object in objects {
      let isStale = backlog.staleDeleted.remove(object._key) != nil
      if isStale || backlog.contains(object._key) { forgetViews(of: object) }
    }
    // Owners of lists that hide anything are changed.
    for owner in inserted + changed where owner.hasLists {
      for list in owner.lists where !list.hiddenKeys.isDisjoint(with: keys) {
        owner.announce(list.property)
        for key in list.hiddenKeys.intersection(keys) { list.show(key) }
      }
    }
    for object in objects where object.isAlive {
      for relationship in info(of: object).allRelationships {
        if relationship.isColumn {
          try showAgain(object, relationship, keeping: isKept)
        } else if relationship.isToMany {
          showMembersAgain(of: object, relationship)
        }
      }
    }
  }

  /// Shows an object again at the target of its reference. If the target was given to another object meanwhile, or is
  /// deleted itself, the object loses the reference.
  private func showAgain(
    _ object: ManagedObject, _ relationship: Relationship, keeping isKept: (ClearedReference) -> Bool
  ) throws {
    let key = object._reference(relationship.property)
    guard key > 0, !object.accessFlags.contains(.fault) else { return }
    let inverse = runtime.inverse(of: relationship)
    if let (number, target) = pending.deletions.closure(of: key) {
      let keeps =
        inverse.map { survivorsKeep(target, $0, relationship) } ?? (relationship.isRequired && target.phase == .deleted)
      let reference = ClearedReference(holder: object, relationship: relationship, victim: key)
      if keeps || isKept(reference) { return }
      if let inverse { try prepareRecording(target, inverse, object._key) }
      pending.deletions.closures[number].note(reference)
      return setReference(of: object, relationship, to: 0, keepingPlace: true)
    }
    guard let inverse, !inverse.isColumn, let target = map[key] else { return }
    if !inverse.isToMany, let other = holders(of: target, inverse).first(where: { $0 !== object && $0.isAlive }),
      other.hasOwnReference(relationship) || object.hasOwnReference(relationship)
    {
      return setReference(of: object, relationship, to: 0)
    }
    showAtTarget(object, relationship)
  }

  /// Makes the members of an object's to-many show it again.
  private func showMembersAgain(of object: ManagedObject, _ relationship: Relationship) {
    guard let list = object.list(of: relationship.property), !relationship.isTransient,
      let inverse = runtime.inverse(of: relationship)
    else { return }
    for key in list.keysWithHidden {
      guard let member = map[key] else {
        if pending.deletions.closure(of: key) != nil {
          // A new object that is deleted is in no context.
          list.hide(key)
        } else if inverse.isColumn, list.hasRead(key).map(!) ?? list.contains(key) {
          // A member that was added here is in memory, unless another context has deleted it.
          list.forget([key])
        }
        continue
      }
      // The row of a fault is that of the store, from which the list was read.
      if inverse.isColumn, !member.accessFlags.contains(.fault), member._reference(inverse.property) != object._key {
        letGo(member, inverse, object, relationship)
      } else if !member.isAlive {
        list.hide(key)
      } else {
        list.show(key)
        if inverse.isJoined { showPair(object._key, at: member, inverse, isEdited: list.isEdited(key)) }
      }
    }
    if list.hasChanges { noteListChanged(object) }
  }

  /// - Parameter isEdited: Whether the pair was made here. The member may have dropped its list since, because it showed
  ///   no change.
  private func showPair(_ key: Int64, at member: ManagedObject, _ relationship: Relationship, isEdited: Bool) {
    guard let list = isEdited ? list(of: member, relationship) : member.list(of: relationship.property) else { return }
    member.announce(relationship.property)
    list.show(key)
    if !list.contains(key) && (list.isLoaded || isEdited) { list.include(key) }
    if list.hasChanges { noteListChanged(member) }
  }

  /// Removes an object from a to-many that was deleted when the reference to it was cleared, and that has returned without
  /// the object.
  func letGo(_ holder: ManagedObject, _ reference: Relationship, _ target: ManagedObject, _ inverse: Relationship) {
    guard let list = target.list(of: inverse.property), list.holds(holder._key) else { return }
    target.announce(inverse.property)
    list.remove(holder._key, isStored: isStored(holder, reference, target._key))
  }
}

// MARK: - One-way to-manys

extension ObjectGraph {
  /// Hides the members of a one-way to-many that were deleted since it was last used. A deleted owner keeps them until
  /// its own delete is reverted.
  func hideDead(in list: MemberList, of owner: ManagedObject) {
    let dead = pending.deadTargets
    guard list.seenDead != dead.changes, owner.isAlive else { return }
    list.seenDead = dead.changes
    for key in list.hiddenKeys where !dead.keys.contains(key) { list.show(key) }
    if dead.keys.isEmpty { return }
    for key in list.keys where dead.keys.contains(key) {
      list.hide(key)
      noteListChanged(owner)
    }
  }

  /// Removes deleted objects that cannot return to them from the one-way to-manys of living owners. An owner whose own delete
  /// was saved loses them when an undo inserts it again.
  ///
  /// - Complexity: linear in the numbers of objects and of members in memory, if there are such objects.
  func forgetDeadMembers(_ keys: Set<Int64>) {
    let gone = keys.intersection(pending.deadTargets.keys)
    if gone.isEmpty { return }
    map.forEach { owner in
      for list in owner.lists where relationship(list.property, of: owner)?.inverse == nil {
        if list.keysWithHidden.contains(where: gone.contains) { list.forget(gone) }
      }
    }
  }

  /// Hides deleted objects in every one-way to-many that is about to be saved.
  func hideDeadInChangedLists() {
    if pending.deadTargets.keys.isEmpty { return }
    for object in inserted + changed where object.isAlive {
      for list in object.lists {
        guard let relationship = relationship(list.property, of: object), relationship.inverse == nil else { continue }
        hideDead(in: list, of: object)
      }
    }
  }
}
