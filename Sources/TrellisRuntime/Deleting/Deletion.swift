extension ManagedObjectContext {
  /// Deletes an object at once in this context, and in the store at the next save.
  ///
  /// What its relationships' rules demand happens at once too: cascades delete, nullified partners let go. A deny is judged
  /// at save. The object's values stay readable until it is released.
  ///
  /// Inside the hook `willDelete`, an object whose delete is under way is left to that.
  ///
  /// - Throws: ``StoreError`` when partners have to be loaded and the store fails; then nothing is deleted. ``ContextError`` with
  ///   the code `foreign-object` when the object belongs to another context, and with `endless-hooks` when hooks have called
  ///   each other too often.
  /// - Complexity: linear in the number of objects that are deleted or let go.
  public func delete(_ object: ManagedObject) throws {
    try checkOwn(object, "was not deleted")
    try deleteAll([object])
  }

  /// Deletes objects of this context together: they keep each other.
  ///
  /// - Parameters:
  ///   - callsHooks: Whether the hooks of what is deleted are called before.
  ///   - cascades: Whether the delete rules take others along.
  func deleteAll(_ objects: [ManagedObject], callsHooks: Bool = true, cascades: Bool = true) throws {
    var deletion = Deletion()
    defer { leaving.subtract(deletion.leaving) }
    deletion.callsHooks = callsHooks
    // Only what was loaded can be made again after the save.
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

  /// Deletes what was collected.
  func carryOut(_ deletion: Deletion, into closure: inout DeletedClosure) throws {
    let holders = recorder == nil ? [] : try loadToRestore(deletion.victims)
    closure.add(deletion.victims)
    closure.cascades += deletion.cascades
    for victim in deletion.victims { unlinkPartners(victim, noting: &closure) }
    unlinkOneWay(from: deletion.victims, inserted + changed + holders, noting: &closure)
    for victim in deletion.victims { markDeleted(victim) }
  }

  /// The partners of a victim that survive let go of it. Victims keep their own values, and each other.
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

  /// Whether a survivor's to-one goes on leading to the victim, although it reads nil: no action leaves it, and a denial
  /// is judged by who still refers to the victim. A to-many never shows who is deleted.
  func survivorsKeep(
    _ victim: ManagedObject, _ relationship: RelationshipInfo, _ inverse: RelationshipInfo
  ) -> Bool {
    guard !inverse.isToMany else { return false }
    switch relationship.deleteRule {
    // A new victim is in no store that could refuse its delete.
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

  /// The partners that are in memory, without asking the store.
  func presentPartners(of object: ManagedObject, _ relationship: RelationshipInfo) -> [Int64] {
    if relationship.isToMany { return object.extras?.list(relationship.property).map { Array($0.keys) } ?? [] }
    let known = knownReference(of: object, relationship)
    return known > 0 ? [known] : []
  }
}
