import TrellisStorage

extension ManagedObjectContext {
  /// Whether there is anything to save.
  ///
  /// - Complexity: linear in the number of objects that were written to.
  public var hasChanges: Bool {
    !deleted.isEmpty || inserted.contains { $0.phase == .inserted } || changed.contains { $0.isUpdated }
      || pending.waiting.lists.values.contains { $0.hasChanges }
  }

  /// The objects that the next save will insert, in the order in which they were made.
  public var insertedObjects: [ManagedObject] { inserted.filter { $0.phase == .inserted } }
  /// The saved objects that have changes to save.
  public var updatedObjects: [ManagedObject] { changed.filter(\.isUpdated) }
  /// The objects that the next save will delete.
  public var deletedObjects: [ManagedObject] { Array(deleted) }
  /// How many objects the context has in memory.
  public var registeredCount: Int { map.count }

  /// The object of an identity if it is in memory. No store is asked.
  public func registeredObject<Object: ManagedObject>(with id: ObjectID<Object>) -> Object? {
    map[id.key].flatMap { $0.phase == .deleted ? nil : $0 as? Object }
  }

  // MARK: Saving

  /// Writes every change since the last save: all of it or nothing.
  ///
  /// First the plan, then the checks, then one transaction, and only then do the objects count as saved. Whatever fails, the
  /// store and the context are as they were.
  ///
  /// When somebody else has written the same objects meanwhile, edits of different properties are merged, and checked again.
  /// Where both sides changed the same one the policy decides; see ``MergePolicy``.
  ///
  /// - Parameter mergePolicy: How conflicts are settled in this save; ``mergePolicy`` unless given.
  /// - Throws: ``ValidationError`` with every rule that is broken, by what is in memory or by what others have written since;
  ///   ``SaveConflict`` when somebody else changed or deleted a row meanwhile and the policy does not say who wins;
  ///   ``StoreError`` when the store fails, with the code `contended` when others kept writing the same objects while the
  ///   save was tried many times; ``ContextError`` when a lazy load failed before, inside
  ///   a hook, and when hooks keep changing each other's objects; what a `willSave` hook throws.
  /// - Complexity: linear in the number of changed objects, whatever else is in memory.
  public func save(mergePolicy: MergePolicy? = nil) throws {
    try checkAllowed("save")
    try checkNotPinned()
    try throwPendingFailure()
    try SaveOperation.run(self, mergePolicy ?? self.mergePolicy)
  }

  // MARK: Undoing what was not saved

  /// Takes back everything since the last save: new objects are no objects any more, deleted ones are back, values and
  /// relationships are as they were last fetched or saved.
  ///
  /// - Complexity: linear in the number of changes.
  public func rollback() {
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

  /// Forgets everything: changes, objects, what was loaded. Objects that somebody still holds keep their values, read-only.
  public func reset() {
    guard isAllowed("reset") else { return }
    map.forEach { $0.state.detach() }
    map.removeAll()
    pending = PendingChanges()
    backlog = MergeBacklog()
    batches = FetchBatches()
    pendingFailure = nil
    undo.clear()
  }

  /// Reads an object from the store again. One whose row is gone is deleted.
  ///
  /// - Parameters:
  ///   - object: An object of this context. New objects stay as they are.
  ///   - discardingChanges: Whether edits are given up too; otherwise they stay on top of the new values. The other ends of
  ///     its relationships follow. Who refers to the object in a row of its own still does.
  /// - Throws: ``StoreError`` when the store fails; ``ContextError`` with the code `foreign-object` when the object belongs to
  ///   another context.
  public func refresh(_ object: ManagedObject, discardingChanges: Bool = false) throws {
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

  /// Makes all unchanged objects read from the store again when they are next used; changed ones keep their edits.
  public func refreshAll() {
    map.forEach { object in
      guard object.phase == .persistent, !(object.isInChangedList && object.hasChanges) else { return }
      if object.isInChangedList { forgetViews(of: object) }
      turnIntoFault(object)
    }
  }

  /// Drops the unchanged objects that nobody but the context holds.
  ///
  /// The context does so by itself whenever the number of its objects has doubled; then those are spared that were loaded
  /// since the time before.
  ///
  /// - Returns: how many objects were dropped.
  /// - Complexity: linear in the number of objects in memory.
  @discardableResult public func dropUnusedObjects() -> Int {
    sweep(sparingRecent: false)
  }

  // MARK: Steps

  /// Makes a deleted object one of no context.
  func detach(_ object: ManagedObject) {
    leave(object, isDeleted: true)
  }

  /// Makes an object one of no context.
  private func leave(_ object: ManagedObject, isDeleted: Bool = false) {
    object.announceAll()
    map.remove(object._key)
    object.state.detach(isDeleted: isDeleted)
  }

  private func revive(_ object: ManagedObject) {
    object.announceAll()
    object.state.revive()
    if !object.isInChangedList { restore(object) }
  }

  /// Gives an object the row that was last fetched or saved. Its to-manys are asked for anew.
  private func restore(_ object: ManagedObject) {
    object.restoreCommitted(ColumnMask(bits: object.changedBits))
    object.extras?.forgetCommitted()
    object.state.didSave()
    object.extras?.lists.removeAll()
    object.extras?.partners.removeAll()
  }

  /// Makes a saved object without changes read its row again when it is next used. What lives in memory only stays, and so does
  /// a partner whose own row was changed here.
  func turnIntoFault(_ object: ManagedObject) {
    object.announceAll()
    let info = info(of: object)
    object.state.becomeFault(keeping: info.transients.bits)
    guard let extras = object.extras else { return }
    object.extras = nil
    let isTransient = { (property: Int) in info.relationships[property]?.isTransient == true }
    let lists = extras.lists.filter { isTransient($0.property) }
    let partners = extras.partners.filter { object.isInChangedList || isTransient($0.property) }
    if lists.isEmpty && partners.isEmpty && object.changedBits == 0 { return }
    extras.lists = lists
    extras.partners = partners
    if object.changedBits == 0 { extras.forgetCommitted() }
    object.extras = extras
  }
}
