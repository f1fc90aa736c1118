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
    for object in objects {
      let partners = partnersInRow(of: object)
      backlog.remove(object._key)
      markGone(object)
      forgetViews(of: partners)
    }
    changed.removeAll { $0.phase == .detached }
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
      report(GraphProblem(.loadFailed, "What others saved could not be read.", cause: error))
    }
    removeFromGraph(gone)
    forgetUnchanged(objects)
  }

  private func merge(_ theirs: StoredVersion, into object: ManagedObject) {
    let partners = partnersInRow(of: object)
    let merge = RowMerge(object, theirs, self)
    if merge.conflicting.isEmpty {
      merge.apply(self)
      backlog.remove(object._key)
    } else {
      merge.applyBesideConflicts(self)
      backlog.noteConflict(object._key, merge.conflicting)
    }
    forgetViews(of: partners + partnersInRow(of: object))
  }

  /// Objects that others have deleted, live on here, and refer to an object in their rows.
  ///
  /// The store does not name them, but as long as they live here they are members.
  func membersGoneInStore(of owner: Int64, _ relationship: RelationshipInfo) -> [Int64] {
    if backlog.gone.isEmpty { return [] }
    guard let inverse = runtime.inverse(of: relationship), inverse.isColumn else { return [] }
    let subtree = runtime.entities[relationship.destination].entity.subtree
    return backlog.gone.sorted().filter { key in
      guard let member = map[key], member.isAlive, subtree.contains(type(of: member)._entity) else { return false }
      return member._reference(inverse.property) == owner
    }
  }
}
