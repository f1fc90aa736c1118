import TrellisStorage

extension ManagedObjectContext {
  /// Takes over what other contexts of the container saved, and what other programs wrote to the same file.
  ///
  /// The merge is three-way, between what was last read, what was changed here, and what others saved:
  /// - Objects without changes are read again when they are next used; those that others deleted are deleted.
  /// - Of an object with changes, the properties that were not changed here take the others' values. A property that both have
  ///   changed keeps the value here, and the next save meets the conflict. So does the save of an object that others deleted.
  /// - A to-many shows the members in the store, without those that were taken out here and with those that were added here.
  ///
  /// The context does this by itself at each fetch and save. The main context does it whenever another context saves; another one
  /// does with ``mergeChangesContinuously()``. Observers of what changes are told.
  ///
  /// - Complexity: linear in the number of others' changes and of own unsaved ones.
  public func mergeChanges() { mergeInbox() }

  /// Takes over what others save as soon as they do, until the task is cancelled.
  ///
  /// ```swift
  /// actor Ledger {
  ///   let context: ManagedObjectContext
  ///   func follow() async { await context.mergeChangesContinuously() }
  /// }
  /// ```
  /// It runs where the caller runs, between other work there, so objects never change in the middle of a piece of work
  /// that does not await. Several saves are taken over together when they come close to each other. The context stays alive
  /// as long as this runs.
  ///
  /// - Complexity: linear in the number of changed objects that the context has in memory.
  public nonisolated(nonsending) func mergeChangesContinuously() async {
    mergeInbox()
    let externalChanges = core.externalChanges.watch()
    for await _ in inbox.listen() { mergeInbox() }
    _ = externalChanges
  }

  /// - Parameter readsEdited: Whether objects with edits take over the others' values at once. A save leaves them as they are,
  ///   since the store compares their rows, and the merge policy decides.
  func mergeInbox(readingEdited readsEdited: Bool = true) {
    guard !isPinned else { return }
    parent?.mergeInbox()
    core.externalChanges.look(through: openConnection)
    let notices = inbox.takeAll()
    for notice in notices { merge(notice) }
    // A save hands its changes up, and the parent puts them together with its own.
    if readsEdited && parent != nil { mergeParent() }
    if !backlog.isEmpty { settleBacklog(readingEdited: readsEdited) }
    checkInvariants()
    if !notices.isEmpty { refreshLiveResults(after: notices) }
  }

  /// Forgets what a save has made stale. Nothing is read.
  private func merge(_ notice: SaveNotice) {
    if notice.isUnknown { return forgetEverything() }
    for row in notice.updated {
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
    for key in notice.relinked.map(\.key) + notice.referred {
      guard let object = map[key] else { continue }
      forgetViews(of: object)
      // Its views are forgotten once it is back.
      if object.phase == .deleted { backlog.noteNewRow(key) }
    }
  }

  private func forgetMembers(_ gone: [Int64], _ notice: SaveNotice) {
    let isCertain = notice.cascaded.isEmpty && !notice.movesMembers
    if !isCertain { map.forEach(forgetViews) }
    if listed.isEmpty || gone.isEmpty { return }
    forgetStoredMembers(Set(gone), of: isCertain ? Set(notice.deleted.map(\.entity)) : nil)
  }

  /// Anything may have changed.
  private func forgetEverything() {
    map.forEach { object in
      forgetViews(of: object)
      forgetRow(of: object)
    }
  }

  /// The row of an object is another one in the store.
  func forgetRow(of object: ManagedObject) {
    switch object.phase {
    case .persistent where object.isInChangedList: backlog.noteNewRow(object._key)
    case .persistent: turnIntoFault(object)
    case .deleted: backlog.noteNewRow(object._key)
    case .inserted, .detached: break
    }
  }

  /// An object that others had deleted is in the store again.
  func noteBack(_ key: Int64) {
    backlog.lostMembers.remove(key)
    if let object = map[key], object.phase == .inserted { return adopt(object) }
    if backlog.gone.contains(key) {
      backlog.remove(key)
      guard let object = map[key] else { return }
      // The versions of the new row begin anew, and say nothing about the one that was read.
      if object.phase != .inserted { object.state.forgetVersion() }
      forgetRow(of: object)
    }
  }

  /// An object that is new here, since its delete was undone, is in the store, since others have undone theirs. Its values are edits
  /// on top of the row there.
  private func adopt(_ object: ManagedObject) {
    do {
      guard let theirs = try storedVersions(of: [object])[object._key] else { return }
      object.state.adoptRow(version: theirs.version, edits: info(of: object).storedMask.bits)
      recorder?.addInserts(of: self)
      pending.dropFormerInserts()
      recorder?.forgetInserts(of: self)
      object.needExtras().keep(theirs.row)
      noteChanged(object)
      forgetViews(of: object)
    } catch {
      report(ContextError(.loadFailed, "What others saved could not be read.", cause: error))
    }
  }

  /// The row of an object is gone from the store. An object that was changed here stays, so that the save tells of the conflict.
  func noteGoneInStore(_ object: ManagedObject) {
    // A child asks its parent, where the object may live on.
    if let parent, parent.map[object._key]?.isAlive == true { return forgetRow(of: object) }
    let partners = partnersInRow(of: object)
    defer { forgetViews(of: partners) }
    forgetViews(of: object)
    if object.phase == .deleted || object.phase == .persistent && object.hasChangesOfItsOwn {
      backlog.logDeletion(object._key)
    } else if object.phase == .persistent {
      backlog.remove(object._key)
      markDeletedInStore(object)
    }
  }
}
