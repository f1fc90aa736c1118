import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Reverts a delete that is not saved yet: the object is restored together with everything that its delete cascaded
  /// to and with the relationships that it had.
  func undelete(_ object: ManagedObject) {
    do { try checkOwn(object, "was not brought back") } catch { return report(error) }
    guard let number = pending.deletions.closures.lastIndex(where: { $0.takes(object) }) else { return }
    reporting { try revertDelete(number) }
  }

  /// Reverts one of the unsaved deletes.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  private func revertDelete(_ number: Int) throws {
    let watch = LinkWatch(unchecked: self)
    defer { watch.end() }
    let closure = pending.deletions.closures.remove(at: number)
    pending.deletions.noteCascades()
    bringBack(closure.victims)
    // Changes of other contexts were not merged into the objects while they were deleted.
    var stale: Set<Int64> = []
    for victim in closure.victims {
      let isStale = backlog.staleDeleted.remove(victim.object._key) != nil
      if isStale || backlog.contains(victim.object._key) {
        forgetViews(of: victim.object, comparingPairs: false)
        stale.insert(victim.object._key)
      }
    }
    let restored = closure.links + pending.deletions.lateLinks(to: closure.keys)
    for victim in closure.victims where victim.object.isAlive {
      try partFromDeleted(victim.object, except: restored)
    }
    for victim in closure.victims where victim.object.isAlive { showToDeleted(victim.object) }
    try relinkLate(Set(closure.keys))
    for link in closure.links.reversed() { try relink(link) }
    // Only now both ends can tell whether a pair is still an unsaved change.
    for link in closure.links where link.relationship.isJoined && stale.contains(link.victim) {
      forgetViews(of: [(link.owner, link.relationship)])
    }
    for victim in closure.victims where victim.object.isAlive { dropUnconfirmedMembers(of: victim.object) }
    agreeLinks(around: closure.victims.map(\.object) + closure.links.map(\.owner))
    settleBacklog()
  }

  /// Unlinks a restored object from the partners that other deletes have deleted. It kept them while it was deleted
  /// itself.
  ///
  /// - Parameter links: The links that are restored anyway.
  func partFromDeleted(_ object: ManagedObject, except links: [DeletedClosure.Link]) throws {
    if pending.deletions.closures.isEmpty { return }
    for relationship in info(of: object).allRelationships {
      let inverse = runtime.inverse(of: relationship)
      // One-way to-manys look for deleted members by themselves.
      if inverse == nil && !relationship.isColumn { continue }
      for key in presentPartners(of: object, relationship) {
        guard let (number, partner) = deletedPartner(key), !keeps(object, relationship, partner),
          !links.contains(where: { link in
            link.owner === partner && link.victim == object._key && inverse?.isSame(as: link.relationship) == true
          })
        else { continue }
        try prepareRecording(object, relationship, key)
        pending.deletions.closures[number].note(link(object, relationship, key))
        unlink(object, relationship, key)
      }
    }
  }

  /// Adds a restored object to the lists of its deleted owners, where it denies their delete.
  private func showToDeleted(_ object: ManagedObject) {
    for relationship in info(of: object).allRelationships where relationship.isColumn {
      guard let owner = map[object._reference(relationship.property)], owner.phase == .deleted,
        let inverse = runtime.inverse(of: relationship), inverse.isToMany,
        let list = owner.list(of: inverse.property), list.isLoaded
      else { continue }
      list.include(object._key)
    }
  }

  private func deletedPartner(_ key: Int64) -> (closure: Int, object: ManagedObject)? {
    for number in pending.deletions.closures.indices.reversed() {
      let closure = pending.deletions.closures[number]
      guard closure.keys.contains(key) else { continue }
      if let victim = closure.victims.first(where: { $0.object._key == key && $0.isGone }) {
        return (number, victim.object)
      }
    }
    return nil
  }

  /// Whether a reference to a deleted object is kept.
  private func keeps(_ object: ManagedObject, _ relationship: Relationship, _ victim: ManagedObject) -> Bool {
    guard let inverse = runtime.inverse(of: relationship) else {
      return relationship.isRequired && victim.phase == .deleted
    }
    return survivorsKeep(victim, inverse, relationship)
  }

  private func bringBack(_ victims: [DeletedClosure.Victim]) {
    for victim in victims where victim.isGone {
      victim.object.state.revive(asInserted: victim.wasInserted)
      if victim.wasInserted { map.insert(victim.object, for: victim.object._key) }
      recorder?.record(.revived(victim.object))
      // Members may have left it while it was deleted.
      if victim.object.hasChangedLists { noteListChanged(victim.object) }
    }
    pending.dropRevived()
  }

  /// Restores objects in the to-manys that were found to contain them only while they were deleted. That these did not
  /// show them was not recorded, and neither is this.
  ///
  /// - Parameter unlessMembers: Whether objects that are members again already keep their positions.
  func relinkLate(_ victims: Set<Int64>, unlessMembers: Bool = false) throws {
    pending.deletionLog.remove(victims)
    for victim in victims.sorted() {
      let links = pending.deletions.takeLate(victim).reversed()
      try withoutRecording {
        for link in links where !(unlessMembers && showsVictim(link)) { try relink(link) }
      }
    }
  }

  /// Restores pairs of partners that do not show the restored objects again.
  ///
  /// - Returns: these links.
  func relinkUnlessMembers(_ links: [DeletedClosure.Link]) throws -> [DeletedClosure.Link] {
    let missing = links.reversed().filter { !showsVictim($0) }
    try withoutRecording { for link in missing { try relink(link) } }
    return missing
  }

  private func showsVictim(_ link: DeletedClosure.Link) -> Bool {
    list(of: link.owner, link.relationship).contains(link.victim)
  }

  /// Restores a link of a partner, unless either end is linked to another object now.
  private func relink(_ link: DeletedClosure.Link) throws {
    guard let victim = map[link.victim], victim.isAlive else { return }
    if let number = pending.deletions.closures.lastIndex(where: { $0.takes(link.owner) }) {
      return try relink(link, victim, in: number)
    }
    let present = link.relationship.isToMany ? 0 : knownReference(of: link.owner, link.relationship)
    guard link.owner.isAlive, present <= 0 || present == link.victim else {
      if let inverse = runtime.inverse(of: link.relationship) { unlink(victim, inverse, link.owner._key) }
      return
    }
    guard let trace = link.trace else {
      // If the partner is not known, the store or the victim's row determines it.
      if present == 0 || refersByEdit(victim, to: link.owner, link.relationship) {
        linkEnd(link.owner, link.relationship, link.victim)
        // The store may have another partner, which shows again if this one is unlinked.
        if present < 0 { noteContestedPartner(link.owner, link.relationship) }
        showEdit(of: link.owner, link.relationship, to: victim)
      }
      return
    }
    revert(trace, in: list(of: link.owner, link.relationship), of: link.owner, link.owner._key, link.relationship)
  }

  /// Whether a reference of an object's row was set in this context and is not in the store.
  private func refersByEdit(
    _ object: ManagedObject, to owner: ManagedObject, _ relationship: Relationship
  ) -> Bool {
    guard let inverse = runtime.inverse(of: relationship), inverse.isColumn else { return false }
    return object.hasOwnReference(inverse) && object._reference(inverse.property) == owner._key
  }

  /// Makes a restored object show a member that refers to it by an edit, although another context may have removed the
  /// member in the store.
  private func showEdit(of member: ManagedObject, _ relationship: Relationship, to owner: ManagedObject) {
    guard relationship.isColumn, let inverse = runtime.inverse(of: relationship), !inverse.isColumn,
      member.hasOwnReference(relationship)
    else { return }
    show(member._key, at: owner, inverse)
  }

  /// Restores a link whose owner was deleted by another delete. The result is as if only that delete had been made: the
  /// owner keeps the object, and the object has no owner until the owner is restored.
  private func relink(_ link: DeletedClosure.Link, _ object: ManagedObject, in closure: Int) throws {
    let (owner, relationship) = (link.owner, link.relationship)
    let inverse = runtime.inverse(of: relationship)
    if let inverse, !mayBePartner(object, inverse, owner._key) { return }
    if let trace = link.trace {
      revert(trace, in: list(of: owner, relationship), of: owner, owner._key, relationship)
    } else if let key = presentPartners(of: owner, relationship).first, key != object._key {
      if let inverse { unlink(object, inverse, owner._key) }
      return
    } else {
      keep(owner, relationship, object._key)
    }
    guard let inverse, !survivorsKeep(owner, relationship, inverse) else { return }
    try prepareRecording(owner, relationship, object._key)
    pending.deletions.closures[closure].note(self.link(object, inverse, owner._key))
    unlink(object, inverse, owner._key)
  }

  /// Whether an object has a partner, as far as is known in memory. Pairs without a note are as the store has them.
  private func mayBePartner(_ object: ManagedObject, _ relationship: Relationship, _ key: Int64) -> Bool {
    guard relationship.isJoined else { return presentPartners(of: object, relationship).contains(key) }
    guard let list = object.list(of: relationship.property) else { return true }
    return list.isLoaded ? list.contains(key) : !list.removed.contains(key)
  }

  /// Links a deleted object to a partner.
  private func keep(_ object: ManagedObject, _ relationship: Relationship, _ key: Int64) {
    if relationship.isColumn {
      object.willChangeValues()
      object.state.markAssigned(ColumnMask.bit(of: relationship.property))
      object._setReference(relationship.property, key)
    } else {
      recorder?.record(.partner(object, relationship, max(0, knownReference(of: object, relationship))))
      object.setPartner(of: relationship.property, key)
    }
  }
}

extension DeletedClosure {
  /// Whether an object is deleted by this closure.
  fileprivate func takes(_ object: ManagedObject) -> Bool {
    keys.contains(object._key) && victims.contains { $0.object === object && $0.isGone }
  }
}

extension DeletedClosure.Victim {
  fileprivate var isGone: Bool { object.phase == (wasInserted ? .detached : .deleted) }
}
