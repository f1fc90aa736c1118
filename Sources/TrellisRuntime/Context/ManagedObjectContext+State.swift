import TrellisStorage

extension ManagedObjectContext {
  /// Whether there are unsaved changes.
  ///
  /// - Complexity: linear in the number of objects that were written to.
  public var hasChanges: Bool {
    !deleted.isEmpty || inserted.contains { $0.phase == .inserted } || changed.contains { $0.isUpdated }
      || pending.deferredLists.lists.values.contains { $0.hasChanges }
  }

  /// The objects that the next save will insert, in the order in which they were created.
  public var insertedObjects: [ManagedObject] { inserted.filter { $0.phase == .inserted } }
  /// The saved objects with unsaved changes.
  public var updatedObjects: [ManagedObject] { changed.filter(\.isUpdated) }
  /// The objects that the next save will delete.
  public var deletedObjects: [ManagedObject] { Array(deleted) }
  /// The number of objects in memory.
  public var registeredCount: Int { map.count }

  /// Returns the object with an identifier if it is in memory. The store is not accessed.
  public func registeredObject<Object: ManagedObject>(with id: ObjectID<Object>) -> Object? {
    map[id.key].flatMap { $0.phase == .deleted ? nil : $0 as? Object }
  }

  // MARK: Saving

  /// Writes all changes since the last save in one transaction, or none of them.
  ///
  /// A save plans the writes, checks the objects, and writes them in one transaction. Only then do the objects count as
  /// saved. If any step fails, the store and the context are unchanged.
  ///
  /// If another context has written the same objects meanwhile, edits of different properties are merged and checked
  /// again. The policy settles changes of the same property; see ``MergePolicy``.
  ///
  /// - Parameter mergePolicy: The policy for conflicts in this save; ``mergePolicy`` by default.
  /// - Throws: ``ValidationError`` with every broken rule, whether the violation is in memory or was written by another
  ///   context since; ``SaveConflict`` if another context changed or deleted a row meanwhile and the policy does not
  ///   settle the conflict; ``StoreError`` if the store fails, with the code `contended` if other contexts kept writing
  ///   the same objects during many attempts; ``ContextError`` if a lazy load failed before, if this is called
  ///   inside a hook, and if hooks keep changing each other's objects; the errors of `willSave` hooks.
  /// - Complexity: linear in the number of changed objects, independent of the other objects in memory.
  public func save(mergePolicy: MergePolicy? = nil) throws {
    try checkAllowed("save")
    try checkNotPinned()
    try throwPendingFailure()
    try SaveOperation.run(self, mergePolicy ?? self.mergePolicy)
  }

  // MARK: Undoing what was not saved

  /// Discards all changes since the last save: new objects belong to no context any more, deleted objects are restored,
  /// and values and relationships are as they were last fetched or saved.
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

  /// Discards all changes and all objects. Objects that are still referenced keep their values and become read-only.
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

  /// Reads an object from the store again. An object without a row in the store is deleted.
  ///
  /// - Parameters:
  ///   - object: An object of this context. New objects are unchanged.
  ///   - discardingChanges: Whether edits are discarded as well; otherwise they are applied to the new values. The
  ///     other ends of the object's relationships follow. Unsaved references in the rows of other objects stay.
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` with the code `foreign-object` if the object belongs
  ///   to another context.
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

  /// Makes all unchanged objects read from the store again when they are next used. Changed objects keep their edits.
  public func refreshAll() {
    map.forEach { object in
      guard object.phase == .persistent, !(object.isInChangedList && object.hasChanges) else { return }
      if object.isInChangedList { forgetViews(of: object) }
      turnIntoFault(object)
    }
  }

  /// Removes the unchanged objects from memory that only the context references.
  ///
  /// The context does so automatically whenever the number of its objects has doubled, but then spares objects that
  /// were loaded since the time before.
  ///
  /// - Returns: the number of removed objects.
  /// - Complexity: linear in the number of objects in memory.
  @discardableResult public func dropUnusedObjects() -> Int {
    sweep(sparingRecent: false)
  }

  // MARK: Steps

  /// Removes a deleted object from the context.
  func detach(_ object: ManagedObject) {
    leave(object, isDeleted: true)
  }

  /// Removes an object from the context.
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

  /// Restores the row of an object that was last fetched or saved. Its to-many relationships are loaded again.
  private func restore(_ object: ManagedObject) {
    object.restoreCommitted(ColumnMask(bits: object.changedBits))
    object.extras?.forgetCommitted()
    object.state.didSave()
    object.extras?.lists.removeAll()
    object.extras?.partners.removeAll()
  }

  /// Makes a saved object without changes read its row again when it is next used. Values that exist only in memory
  /// stay, and so does a partner whose own row was changed here.
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
