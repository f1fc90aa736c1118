import TrellisStorage

/// For which objects the store is asked to settle a backlog.
enum BacklogReading {
  /// For none: objects without changes become faults, the others wait.
  case none
  /// For those without edits in their rows.
  case unedited
  case all
}

extension ManagedObjectContext {
  /// Takes over what waits, as far as it can be.
  ///
  /// - Complexity: linear in the size of the backlog.
  func settleBacklog(reading: BacklogReading = .none) {
    if backlog.isEmpty { return }
    var clean: [ManagedObject] = []
    var unread: [ManagedObject] = []
    for key in backlog.keys {
      guard let object = map[key], object.phase != .inserted else {
        backlog.remove(key)
        continue
      }
      // It waits for the save, or until it is back.
      if object.phase == .deleted { continue }
      if !object.hasChanges {
        clean.append(object)
      } else if backlog.unread.contains(key), reading == .all || reading == .unedited && !object.isEdited {
        unread.append(object)
      }
    }
    if !clean.isEmpty { takeOver(clean) }
    if !unread.isEmpty { mergeRows(of: unread) }
  }

  /// A save has written the context's changes: nothing of them waits any more.
  func settleBacklog(afterSaving updated: [(object: ManagedObject, mask: ColumnMask)]) {
    if backlog.isEmpty { return }
    for (object, _) in updated { backlog.remove(object._key) }
    settleBacklog()
  }

  /// Objects without changes become what others have made of them.
  private func takeOver(_ objects: [ManagedObject]) {
    for object in objects { forgetViews(of: object) }
    forgetUnchanged(objects)
    for object in objects {
      let partners = partnersInRow(of: object)
      if backlog.gone.contains(object._key) { markGone(object) } else { turnIntoFault(object) }
      backlog.remove(object._key)
      // They ask for the object's row, which is not the one that it was.
      forgetViews(of: partners)
    }
  }

  /// Reads the rows of objects with changes, and merges them property by property.
  private func mergeRows(of objects: [ManagedObject]) {
    // What the user did before is a step of its own; what others did is none.
    undo.suspend()
    do {
      let stored = try storedVersions(of: objects)
      for object in objects {
        guard let theirs = stored[object._key] else {
          noteMissingRow(of: object)
          continue
        }
        forgetViews(of: object)
        let merge = RowMerge(object, theirs, self)
        if merge.conflicting.isEmpty {
          merge.apply(self)
          backlog.remove(object._key)
        } else {
          merge.applyBesideConflicts(self)
          backlog.noteConflict(object._key)
        }
      }
    } catch {
      report(GraphProblem(.loadFailed, "What others saved could not be read.", cause: error))
    }
  }

  private func noteMissingRow(of object: ManagedObject) {
    backlog.noteGone(object._key)
    forgetViews(of: partnersInRow(of: object))
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
