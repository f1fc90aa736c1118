import TrellisStorage

extension ManagedObjectContext {
  /// Writes every change since the last save: all of it or nothing.
  ///
  /// First the plan, then the checks, then one transaction, and only then do the objects count as saved. Whatever fails, the
  /// store and the context are as they were.
  ///
  /// - Throws: ``ValidationError`` with every rule that is broken; ``SaveConflict`` when somebody else changed or deleted a
  ///   row meanwhile; ``StoreError`` when the store fails; ``GraphProblem`` when a lazy load failed before, inside
  ///   a hook, and when hooks keep changing each other's objects; what a `willSave` hook throws.
  /// - Complexity: linear in the number of changed objects, whatever else is in memory.
  public func save() throws {
    try checkAllowed("save")
    try throwPendingFailure()
    mergeInbox()
    let plan = try withWillSave { try write() }
    if let notice = plan.notice { core.hub.post(notice, from: inbox) }
    runDidSave(plan)
  }

  /// Checks everything and writes it.
  private func write() throws -> SavePlan {
    var plan = makePlan()
    try validate(plan)
    // A hook that validates may have changed something, which it should not; it is not to be lost, though.
    if runtime.hooks.contains(where: \.isValidation) { plan = makePlan() }
    do {
      try plan.prepareRequest(self)
      if !plan.isEmpty { try connection().save(plan.request) }
    } catch {
      plan.takeBackPlaces()
      throw withNames(error)
    }
    plan.notice = makeNotice(plan)
    finish(plan)
    return plan
  }

  func makePlan() -> SavePlan {
    dropGoneFromChangedLists()
    return SavePlan(self)
  }

  /// What was planned is in the store: snapshots move, and nothing is pending any more.
  private func finish(_ plan: SavePlan) {
    recorder?.addInserts(of: self)
    for object in plan.inserted {
      object.phase = .persistent
      object.version = 1
      settle(object)
    }
    for (object, _) in plan.updated { object.version += 1 }
    for object in changed where object.phase == .persistent { settle(object) }
    for object in deleted { detach(object) }
    forgetOneWayReferences(to: plan.deleted)
    gone.didSave()
    waiting.lists.removeAll()
    inserted.removeAll(keepingCapacity: inserted.count < 1024)
    changed.removeAll(keepingCapacity: changed.count < 1024)
    deleted.removeAll(keepingCapacity: deleted.count < 1024)
    deletions = PendingDeletes()
    recorder?.forgetInserts(of: self)
    undo.didSave()
  }

  private func settle(_ object: ManagedObject) {
    object._changed = 0
    object.isNoted = false
    guard let extras = object.extras else { return }
    extras.forgetCommitted()
    for entry in extras.lists { entry.list.didSave() }
  }

  /// What other contexts have to know, while the committed rows still tell who had what partners; nil when there are none.
  private func makeNotice(_ plan: SavePlan) -> SaveNotice? {
    guard core.hub.hasOthers(than: inbox) else { return nil }
    var notice = SaveNotice()
    for (object, _) in plan.updated {
      notice.updated.append(object._key)
      notice.addPartners(of: object, self)
    }
    for object in plan.relinked { notice.relinked.append(object._key) }
    for object in plan.deleted {
      notice.deleted.append(object._key)
      notice.addPartners(of: object, self)
    }
    for object in plan.inserted { notice.addPartners(of: object, self) }
    return notice
  }
}
