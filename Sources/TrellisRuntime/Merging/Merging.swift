extension ManagedObjectContext {
  /// Takes over what other contexts of the container saved, and what other programs wrote to the same file: unchanged objects
  /// are read again when they are next used, edits stay.
  ///
  /// The context does this by itself at each fetch and save. The main context does it whenever somebody saves; another one
  /// does with ``mergeContinuously()``.
  public func mergeSavesOfOthers() { mergeInbox() }

  /// Takes over what others save as soon as they do, until the task is cancelled.
  ///
  /// ```swift
  /// actor Ledger {
  ///   let context: ManagedObjectContext
  ///   func follow() async { await context.mergeContinuously() }
  /// }
  /// ```
  /// It runs where the caller runs, between other work there, so objects never change in the middle of a piece of work
  /// that does not await. Several saves are taken over together when they come close to each other. The context stays alive
  /// as long as this runs.
  ///
  /// - Complexity: linear in the number of changed objects that the context has in memory.
  public nonisolated(nonsending) func mergeContinuously() async {
    mergeInbox()
    let strangers = core.strangers.watch()
    for await _ in inbox.listen() { mergeInbox() }
    _ = strangers
  }

  func mergeInbox() {
    guard !isPinned else { return }
    parent?.mergeInbox()
    core.strangers.look(through: openConnection)
    let notices = inbox.takeAll()
    if notices.isEmpty { return }
    for notice in notices { merge(notice) }
    refreshLiveResults(after: notices)
  }

  private func merge(_ notice: SaveNotice) {
    if notice.isUnknown { return forgetUnchanged() }
    for row in notice.updated {
      guard let object = map[row.key], object.phase == .persistent, !object.hasChanges else { continue }
      forgetMembership(with: object)
      turnIntoFault(object)
    }
    for key in notice.deleted.map(\.key) + notice.cascaded {
      guard let object = map[key], object.phase == .persistent else { continue }
      forgetMembership(with: object)
      // An edited object keeps its edits, so that the save tells of the conflict.
      if !object.hasChanges { markGone(object) }
    }
    if !notice.cascaded.isEmpty || notice.movesMembers { map.forEach(forgetUnchangedLists) }
    if !notice.cleared.isEmpty {
      let references = notice.cleared.compactMap(runtime.relationship)
      forgetReferences(to: Set(notice.deleted.map(\.key) + notice.cascaded), references)
    }
    for key in notice.relinked.map(\.key) + notice.referred {
      guard let object = map[key], object.phase == .persistent else { continue }
      forgetUnchangedLists(of: object)
    }
  }

  /// Anything may have changed.
  private func forgetUnchanged() {
    map.forEach { object in
      guard object.phase == .persistent else { return }
      if object.isNoted { forgetUnchangedLists(of: object) } else { turnIntoFault(object) }
    }
  }

  /// The lists and partners that show an object by what it referred to so far are asked for anew.
  private func forgetMembership(with object: ManagedObject) {
    guard !object._attention.contains(.fault) else { return }
    for relationship in info(of: object).allRelationships where relationship.isColumn && relationship.inverse != nil {
      let key = object._reference(relationship.property)
      if key > 0, let partner = map[key], partner.phase == .persistent { forgetUnchangedLists(of: partner) }
    }
  }

  private func forgetUnchangedLists(of object: ManagedObject) {
    guard let extras = object.extras, !object.isNoted else { return }
    extras.lists.removeAll { !$0.list.hasChanges }
    extras.partners.removeAll()
  }
}
