extension ManagedObjectContext {
  /// Deletes an object in this context immediately, and in the store at the next save.
  ///
  /// Delete rules are applied immediately as well: cascades delete, and nullify unlinks the partners. A deny rule is
  /// checked at the next save. The object's values stay readable until it is released.
  ///
  /// Inside the hook `willDelete`, this does nothing for an object that is already being deleted.
  ///
  /// - Throws: ``StoreError`` if partners have to be loaded and the store fails; then nothing is deleted.
  ///   ``ContextError`` with the code `foreign-object` if the object belongs to another context, and with
  ///   `endless-hooks` if hooks have called each other too often.
  /// - Complexity: linear in the number of objects that are deleted or unlinked.
  public func delete(_ object: ManagedObject) throws {
    try checkOwn(object, "was not deleted")
    try deleteAll([object])
  }

  /// Deletes objects of this context together. They stay linked to each other.
  ///
  /// - Parameters:
  ///   - callsHooks: Whether the hooks of the deleted objects are called before.
  ///   - cascades: Whether delete rules cascade to other objects.
  func deleteAll(_ objects: [ManagedObject], callsHooks: Bool = true, cascades: Bool = true) throws {
    var deletion = Deletion()
    defer { leaving.subtract(deletion.leaving) }
    deletion.callsHooks = callsHooks
    // Only objects that were loaded can be recreated after the save.
    deletion.loadsEverything = recorder != nil
    if cascades {
      try deletion.collect(objects.filter(\.isAlive), in: self)
      if deletion.victims.isEmpty { return }
      try deletion.settle(in: self)
    } else {
      deletion.collectOnly(objects.filter(\.isAlive))
      if deletion.victims.isEmpty { return }
    }
    var closure = DeletedClosure()
    try carryOut(deletion, into: &closure)
    pending.deletions.add(closure)
  }

  /// Deletes the collected objects.
  func carryOut(_ deletion: Deletion, into closure: inout DeletedClosure) throws {
    let holders = recorder == nil ? [] : try loadToRestore(deletion.victims)
    // The loads may have found that another context has deleted a victim.
    let victims = deletion.victims.filter(\.isAlive)
    closure.add(victims)
    closure.cascades += deletion.cascades
    for victim in victims { unlinkPartners(victim, noting: &closure) }
    unlinkOneWay(from: victims, inserted + changed + holders, noting: &closure)
    for victim in victims { markDeleted(victim) }
  }

  /// Unlinks the surviving partners of a victim. Victims keep their own values and the links to each other.
  private func unlinkPartners(_ victim: ManagedObject, noting closure: inout DeletedClosure) {
    for relationship in info(of: victim).allRelationships {
      guard let inverse = runtime.inverse(of: relationship), !survivorsKeep(victim, relationship, inverse) else {
        continue
      }
      if relationship.isOwnInverse && !backlog.contestedHalves.isEmpty {
        releaseContestedHalf(of: victim, relationship)
      }
      for key in presentPartners(of: victim, relationship) where !closure.keys.contains(key) {
        guard let partner = map[key], partner.isAlive else { continue }
        prepareRecording(victim, relationship, key)
        closure.note(link(partner, inverse, victim._key))
        unlink(partner, inverse, victim._key)
      }
    }
  }

  /// Whether a survivor's to-one keeps its reference to the victim, although it reads nil: the rule `noAction` leaves
  /// the reference, and `deny` is checked by the references that still lead to the victim. A to-many never shows a
  /// deleted object.
  func survivorsKeep(
    _ victim: ManagedObject, _ relationship: RelationshipInfo, _ inverse: RelationshipInfo
  ) -> Bool {
    guard !inverse.isToMany else { return false }
    switch relationship.deleteRule {
    // A new victim has no row in the store, which could refuse its delete.
    case .deny: return victim.phase == .persistent
    case .noAction: return inverse.isColumn
    case .nullify, .cascade: return false
    }
  }

  func markDeleted(_ victim: ManagedObject) {
    recorder?.record(.deleted(victim))
    logDeletion(victim)
    if victim.phase == .inserted { return detach(victim) }
    victim.state.delete()
    pending.addDeleted(victim)
  }

  /// The keys of the partners that are in memory, without reading the store.
  func presentPartners(of object: ManagedObject, _ relationship: RelationshipInfo) -> [Int64] {
    if relationship.isToMany { return object.extras?.list(relationship.property).map { Array($0.keys) } ?? [] }
    let known = knownReference(of: object, relationship)
    return known > 0 ? [known] : []
  }
}
