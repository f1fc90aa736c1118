import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// - Parameter readsEdited: Whether edited objects get the saved values at once. A save passes false, because the
  ///   store compares their rows and the merge policy resolves conflicts.
  func mergeInbox(readingEdited readsEdited: Bool = true) {
    // A merge needs the store, so it waits for the end of a suspension.
    guard !isPinned, !core.isSuspended else { return }
    parent?.mergeInbox()
    core.externalChanges.look(through: openConnection)
    let notices = inbox.takeAll()
    let watch = LinkWatch(self, "a merge", changing: backlog.keys.compactMap { map[$0] })
    for notice in notices { merge(notice) }
    // A save of a child context passes its changes to the parent, which merges them with its own.
    var hasMerged = !notices.isEmpty
    if readsEdited && parent != nil, let connection = openConnection as? ParentConnection {
      if connection.mergeChanges(into: self) { hasMerged = true }
    }
    if hasMerged || parent != nil || !backlog.isEmpty { settleBacklog(readingEdited: readsEdited, after: hasMerged) }
    checkInvariants()
    watch.end(touching: keys(touchedBy: notices), hasMerged: readsEdited)
    if !notices.isEmpty { liveResults?.didSave(notices, in: self) }
  }

  /// The keys of the objects that a merge may have changed.
  private func keys(touchedBy notices: [SaveNotice]) -> [Int64] {
    var keys = parent.map { Array($0.keysOfChanges) } ?? []
    for notice in notices {
      keys += (notice.inserted + notice.updated + notice.relinked).map(\.key) + notice.referred
    }
    return keys
  }

  /// Merges the saves of others into the context and its descendants.
  func mergeInboxes() {
    mergeInbox()
    for child in childGraphs { child.mergeInboxes() }
  }

  /// Invalidates what a save has made stale. Nothing is read.
  private func merge(_ notice: SaveNotice) {
    if notice.isUnknown { return forgetEverything() }
    // The changed objects whose rows are not in memory.
    var unread: Set<Int64> = []
    for row in notice.updated {
      if map[row.key]?.accessFlags.contains(.fault) != false { unread.insert(row.key) }
      guard let object = map[row.key] else { continue }
      let partners = partnersInRow(of: object)
      forgetViews(of: object)
      forgetRow(of: object)
      forgetViews(of: partners)
    }
    let gone = notice.deleted.map(\.key) + notice.cascaded
    for key in gone { if let object = map[key] { noteGoneInStore(object) } }
    for row in notice.inserted { noteBack(row.key) }
    announceReferences(to: Set(gone))
    forgetMembers(gone, notice)
    if !notice.cleared.isEmpty {
      forgetReferences(to: Set(gone), notice.cleared.compactMap(runtime.relationship))
    }
    let returning = backlog.returning
    let stale = returning.isEmpty ? [] : unread.union(gone.filter(isGone))
    for key in notice.relinked.map(\.key) + notice.referred {
      guard let object = map[key] else { continue }
      forgetViews(of: object)
      if object.phase == .inserted, returning.contains(key) { readReferencesLeft(to: object, stale) }
      // The lists and partners of a deleted object are invalidated when its delete is reverted.
      if object.phase == .deleted { backlog.noteNewRow(key) }
    }
  }

  /// Whether an object that is deleted in the store is neither new here nor deleted here, so that it cannot return.
  private func isGone(_ key: Int64) -> Bool {
    switch map[key]?.phase {
    case .inserted, .deleted: false
    case .persistent, .detached, nil: true
    }
  }

  private func forgetMembers(_ gone: [Int64], _ notice: SaveNotice) {
    let isCertain = notice.cascaded.isEmpty && !notice.movesMembers
    if !isCertain { map.forEach(forgetViews) }
    if listed.isEmpty || gone.isEmpty { return }
    forgetStoredMembers(Set(gone), of: isCertain ? Set(notice.deleted.map(\.entity)) : nil)
  }

  /// Invalidates all objects, after a change of unknown extent.
  private func forgetEverything() {
    map.forEach { object in
      forgetViews(of: object)
      forgetRow(of: object)
    }
  }

  /// Invalidates the row of an object, because the stored row has changed.
  func forgetRow(of object: ManagedObject) {
    switch object.phase {
    case .persistent where object.isInChangedList: backlog.noteNewRow(object._key)
    // Nothing but the rows of its partners tells which of them a new object has.
    case .persistent where partnersInRow(of: object).contains { $0.partner.phase == .inserted }:
      backlog.noteNewRow(object._key)
    case .persistent:
      turnIntoFault(object)
    case .deleted: backlog.noteNewRow(object._key)
    case .inserted, .detached: break
    }
  }

  /// Handles an object that another context had deleted and that is in the store again.
  func noteBack(_ key: Int64) {
    backlog.lostMembers.remove(key)
    if let object = map[key], object.phase == .inserted { return adopt(object) }
    if backlog.gone.contains(key) {
      backlog.remove(key)
      guard let object = map[key] else { return }
      // The new row's versions start over and cannot be compared with the version that was read.
      if object.phase != .inserted { object.state.forgetVersion() }
      forgetRow(of: object)
    }
  }

  /// Turns a new object into a changed one. It is new because its saved delete was undone here, and it is in the store
  /// because another context undid the same delete. Its values become edits of the stored row.
  private func adopt(_ object: ManagedObject) {
    do {
      guard let theirs = try storedVersions(of: [object])[object._key] else { return }
      object.state.adoptRow(version: theirs.version, edits: info(of: object).storedMask.bits)
      recorder?.addInserts(of: self)
      pending.dropFormerInserts()
      recorder?.forgetInserts(of: self)
      object.commit(theirs.row)
      noteChanged(object)
      forgetViews(of: object)
    } catch {
      report(ContextError(.loadFailed, "What others saved could not be read.", cause: error))
    }
  }

  /// Handles an object whose row is gone from the store. An object that was changed here is kept, so that the save
  /// reports the conflict.
  func noteGoneInStore(_ object: ManagedObject) {
    // The object of a child context may still be alive in its parent.
    if let parent, parent.map[object._key]?.isAlive == true { return forgetRow(of: object) }
    let partners = partnersInRow(of: object)
    defer { forgetViews(of: partners) }
    forgetViews(of: object)
    if object.phase == .deleted || object.phase == .persistent && object.hasChangesOfItsOwn {
      backlog.noteDeletedInStore(object._key)
    } else if object.phase == .persistent {
      backlog.remove(object._key)
      markDeletedInStore(object)
    }
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
    if isPast { throw HistoryError.past(core.store.name) }
    throw StoreError(
      .readOnly, "A save was refused, since the context shows one moment of the store.",
      remedy: "Save after the call of pinned.")
  }
}
