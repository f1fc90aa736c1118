import TrellisStorage

extension ManagedObjectContext {
  /// Takes over what waits, as far as it can be.
  ///
  /// - Parameter readsEdited: Whether the rows of objects with edits are read, too. They wait for a save, which the store
  ///   compares with what was read.
  /// - Complexity: linear in the size of the backlog.
  func settleBacklog(readingEdited readsEdited: Bool = false) {
    if backlog.isEmpty { return }
    var unread: [ManagedObject] = []
    var gone: [ManagedObject] = []
    for key in backlog.keys {
      guard let object = map[key], object.phase != .inserted else {
        backlog.remove(key)
        continue
      }
      // It waits for the save, or until it is back.
      if object.phase == .deleted { continue }
      if backlog.gone.contains(key) {
        // What its lists had noted may have been taken back.
        forgetViews(of: object)
        if !object.hasChangesOfItsOwn { gone.append(object) }
      } else if isToBeRead(object), readsEdited || !object.isEdited {
        forgetViews(of: object)
        unread.append(object)
      }
    }
    removeFromGraph(gone)
    if !unread.isEmpty { mergeRows(of: unread) }
  }

  /// A save has written the context's changes: nothing of them waits any more.
  func settleBacklog(afterSaving updated: [(object: ManagedObject, mask: ColumnMask)]) {
    backlog.forgetLinks()
    if backlog.isEmpty { return }
    for (object, _) in updated { backlog.remove(object._key) }
    settleBacklog()
  }

  /// Whether others' values are not known yet, or a conflict is none any more because the value here was set back.
  private func isToBeRead(_ object: ManagedObject) -> Bool {
    if backlog.unread.contains(object._key) { return true }
    guard let conflict = backlog.conflicts[object._key] else { return false }
    return !conflict.isSubset(of: object.changedNumbers)
  }

  /// Objects without changes that others have deleted are deleted here, too.
  private func removeFromGraph(_ objects: [ManagedObject]) {
    if objects.isEmpty { return }
    forgetUnchanged(objects)
    forgetMembers(Set(objects.lazy.map(\._key)))
    for object in objects {
      let partners = partnersInRow(of: object)
      backlog.remove(object._key)
      markDeletedInStore(object)
      forgetViews(of: partners)
    }
    pending.dropUnchanged()
  }

  /// An object loses the partner that was read as its partner and was given another one here, before its own row was known.
  private func unlinkCouples(of object: ManagedObject) {
    for relationship in info(of: object).allRelationships where relationship.isOwnInverse && relationship.isColumn {
      guard let partner = map[object._reference(relationship.property)], partner !== object, partner.isAlive,
        partner.hasOwnReference(relationship), partner._reference(relationship.property) != object._key,
        partner.extras?.committed?.value(relationship.property).key == object._key
      else { continue }
      unlink(object, relationship, partner._key)
    }
  }

  /// Takes objects that are gone out of everything that shows them, also where they were put here.
  ///
  /// - Complexity: linear in the number of objects in memory.
  func forgetMembers(_ gone: Set<Int64>) {
    if gone.isEmpty { return }
    map.forEach { owner in
      guard let extras = owner.extras else { return }
      for entry in extras.lists where gone.contains(where: entry.list.contains) {
        owner.announce(entry.property)
        entry.list.forget(gone)
      }
      for entry in extras.partners where gone.contains(entry.key) {
        owner.announce(entry.property)
        extras.partners.removeAll { $0.property == entry.property }
      }
    }
  }

  /// Reads the rows of objects, and merges them property by property.
  private func mergeRows(of objects: [ManagedObject]) {
    // What was done here before is a step of its own; what others did is not.
    undo.suspend()
    var gone: [ManagedObject] = []
    do {
      let stored = try storedVersions(of: objects)
      for object in objects {
        if let theirs = stored[object._key] {
          merge(theirs, into: object)
        } else {
          noteGoneInStore(object)
          if object.phase == .persistent && !object.hasChangesOfItsOwn { gone.append(object) }
        }
      }
    } catch {
      report(ContextError(.loadFailed, "What others saved could not be read.", cause: error))
    }
    removeFromGraph(gone)
    forgetUnchanged(objects)
  }

  /// Before edits are given up: the partners that the object had may belong to others by now, so those in the store are the ones
  /// that it goes back to.
  func adoptStoredReferences(of object: ManagedObject, _ properties: [Int]) throws {
    guard backlog.contains(object._key), object.phase == .persistent,
      let theirs = try storedVersions(of: [object])[object._key]
    else { return }
    try RowMerge(object, theirs, self).adoptReferences(Set(properties).intersection(object.changedNumbers), self)
  }

  /// Reads the row of an edited object, and puts the edits on top of it: the object was told to be up to date, so none of them
  /// is in conflict any more.
  func mergeRow(of object: ManagedObject) throws {
    undo.suspend()
    let stored = try storedVersions(of: [object])
    guard let theirs = stored[object._key] else { return removeFromGraph([object]) }
    let couples = CoupleMatching([object], stored, self)
    RowMerge(object, theirs, self).apply(self)
    backlog.remove(object._key)
    try couples.match()
  }

  private func merge(_ theirs: StoredVersion, into object: ManagedObject) {
    let partners = partnersInRow(of: object)
    let merge = RowMerge(object, theirs, self)
    if merge.conflicting.isEmpty {
      merge.apply(self)
      backlog.remove(object._key)
      unlinkCouples(of: object)
    } else {
      merge.applyBesideConflicts(self)
      backlog.noteConflict(object._key, merge.conflicting)
    }
    forgetViews(of: partners + partnersInRow(of: object))
  }

  /// Objects that refer to an object in their rows, as they are here, and that the store does not name: others have deleted
  /// them, and they live on; or they were set here while the object was gone.
  func membersUnknownToStore(of owner: Int64, _ relationship: RelationshipInfo) -> [Int64] {
    if backlog.gone.isEmpty && !backlog.returning.contains(owner) { return [] }
    guard let inverse = runtime.inverse(of: relationship), inverse.isColumn else { return [] }
    let subtree = runtime.entities[relationship.destination].entity.subtree
    var keys = backlog.gone
    if backlog.returning.contains(owner) {
      for member in inserted + changed where info(of: member).relationships.contains(inverse) {
        if member.hasOwnReference(inverse) { keys.insert(member._key) }
      }
    }
    return keys.sorted().filter { key in
      guard let member = map[key], member.isAlive, subtree.contains(type(of: member)._entity) else { return false }
      return member._reference(inverse.property) == owner
    }
  }
}
