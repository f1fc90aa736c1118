import TrellisStorage

// What discards the changes of a context, or reads its objects again.

extension ObjectGraph {
  /// Discards all changes since the last save.
  func rollback() {
    guard isAllowed("rollback") else { return }
    for object in inserted where object.phase == .inserted { leave(object) }
    for object in deleted { revive(object) }
    for object in changed { restore(object) }
    pending.didRollBack()
    pendingFailure = nil
    undo.clear()
    backlog.forgetLinks()
    settleBacklog()
  }

  /// Discards all changes and all objects.
  func reset() {
    guard isAllowed("reset") else { return }
    map.forEach { $0.state.detach() }
    map.removeAll()
    pending = PendingChanges()
    backlog = MergeBacklog()
    batches = FetchBatches()
    pendingFailure = nil
    undo.clear()
  }

  /// Reads an object from the store again.
  func refresh(_ object: ManagedObject, discardingChanges: Bool = false) throws {
    try checkOwn(object, "was not refreshed")
    guard object.phase == .persistent else { return }
    if discardingChanges {
      try adoptStoredReferences(of: object, object.changedNumbers)
      try discardChanges(of: object)
    }
    let partners = partnersInRow(of: object)
    if object.isEdited { try mergeRow(of: object) } else { try refreshRows([object]) }
    forgetViews(of: partners + partnersInRow(of: object))
  }

  /// Makes all unchanged objects read from the store again when they are next used.
  func refreshAll() {
    map.forEach { object in
      guard object.phase == .persistent, !(object.isInChangedList && object.hasChanges) else { return }
      if object.isInChangedList { forgetViews(of: object) }
      turnIntoFault(object)
    }
  }

  // MARK: Steps

  private func revive(_ object: ManagedObject) {
    object.announceAll()
    object.state.revive()
    if !object.isInChangedList { restore(object) }
  }

  /// Restores the row of an object that was last fetched or saved. Its to-many relationships are loaded again.
  private func restore(_ object: ManagedObject) {
    object.restoreCommitted(ColumnMask(bits: object.changedBits))
    object.extras?.forgetCommitted()
    object.state.didSave()
    object.extras?.lists.removeAll()
    object.extras?.partners.removeAll()
  }
}

// MARK: - Pinning

extension ObjectGraph {
  /// Reads one moment of the store during a call.
  func pinned<Result>(_ body: () throws -> Result) throws -> Result {
    if isPinned { return try body() }
    mergeInbox()
    let connection = try connection()
    try connection.pin()
    isPinned = true
    defer {
      isPinned = false
      connection.unpin()
    }
    return try body()
  }

  func checkNotPinned() throws {
    guard isPinned else { return }
    throw StoreError(
      .readOnly, "A save was refused, since the context shows one moment of the store.",
      remedy: "Save after the call of pinned.")
  }
}
