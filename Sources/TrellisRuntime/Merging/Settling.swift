import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Merges the changes in the backlog, as far as possible.
  ///
  /// - Parameters:
  ///   - readsEdited: Whether the rows of edited objects are read as well. Otherwise they wait for a save, where the store
  ///     compares them with the rows that were last read. A row whose conflict is resolved is always read.
  ///   - hasMerged: Whether changes of others were merged before, or changes of this context were taken back.
  /// - Complexity: linear in the size of the backlog, and in the number of changed objects if anything was merged.
  func settleBacklog(readingEdited readsEdited: Bool = false, after hasMerged: Bool = true) {
    var unread: [ManagedObject] = []
    var gone: [ManagedObject] = []
    defer {
      settleCouples(around: unread)
      if hasMerged || !unread.isEmpty || !gone.isEmpty { followUnsavedLinks() }
    }
    if backlog.isEmpty { return }
    for key in backlog.keys {
      guard let object = map[key], object.phase != .inserted else {
        backlog.remove(key)
        continue
      }
      // A deleted object waits for the save, or until its delete is reverted.
      if object.phase == .deleted { continue }
      if backlog.gone.contains(key) {
        // Changes that the object's lists had noted may have been reverted.
        forgetViews(of: object)
        if !object.hasChangesOfItsOwn { gone.append(object) }
      } else if isToBeRead(object), readsEdited || !object.isEdited || backlog.conflicts[key] != nil {
        forgetViews(of: object)
        unread.append(object)
      }
    }
    removeFromGraph(gone)
    if !unread.isEmpty { mergeRows(of: unread) }
  }

  /// Removes the saved objects from the backlog and merges the rest, after a save wrote all changes of the context.
  func settleBacklog(afterSaving updated: ContiguousArray<(object: ManagedObject, mask: ColumnMask)>) {
    backlog.forgetLinks()
    if backlog.isEmpty { return }
    for (object, _) in updated { backlog.remove(object._key) }
    settleBacklog()
  }

  /// Whether the stored row has not been read yet, or a conflict is resolved because a conflicting property was set
  /// back to its former value.
  private func isToBeRead(_ object: ManagedObject) -> Bool {
    if backlog.unread.contains(object._key) { return true }
    guard let conflict = backlog.conflicts[object._key] else { return false }
    return !conflict.isSubset(of: object.changedNumbers)
  }

  /// Deletes objects without changes that other contexts have deleted.
  private func removeFromGraph(_ objects: [ManagedObject]) {
    if objects.isEmpty { return }
    forgetUnchanged(objects)
    forgetMembers(Set(objects.lazy.map(\._key)))
    announceReferences(to: Set(objects.lazy.map(\._key)))
    for object in objects {
      let partners = partnersInRow(of: object)
      backlog.remove(object._key)
      markDeletedInStore(object)
      forgetViews(of: partners)
    }
    pending.dropUnchanged()
  }

  /// Reads the rows of objects and merges them property by property.
  private func mergeRows(of objects: [ManagedObject]) {
    // The earlier changes of this context belong to an undo step; changes of other contexts belong to none.
    undo.collectUntilNow()
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
    recordConsequences()
  }

  /// Adds what a merge has unlinked here to the undo step before it: it follows from the changes of that step, and is
  /// undone with them.
  private func recordConsequences() {
    guard let recorder, undo.isEnabled, !undo.isSaveRecorded else { return }
    undo.add([recorder.take(self)])
  }

  /// Adopts the stored references of an object before its edits are rolled back. Its former partners may have been
  /// assigned to other objects meanwhile, so it returns to the partners in the store.
  func adoptStoredReferences(of object: ManagedObject, _ properties: [Int]) throws {
    guard backlog.contains(object._key), object.phase == .persistent,
      let theirs = try storedVersions(of: [object])[object._key]
    else { return }
    try RowMerge(object, theirs, self).adoptReferences(Set(properties).intersection(object.changedNumbers), self)
  }

  /// Reads the row of an edited object and reapplies the edits to it. None of them is in conflict any more, because the
  /// caller refreshes the object.
  func mergeRow(of object: ManagedObject) throws {
    undo.collectUntilNow()
    let stored = try storedVersions(of: [object])
    guard let theirs = stored[object._key] else { return removeFromGraph([object]) }
    RowMerge(object, theirs, self).apply(self)
    backlog.remove(object._key)
    recordConsequences()
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
}
