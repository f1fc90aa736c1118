import TrellisStorage

extension ManagedObjectContext {
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
  ///   save was tried many times; ``GraphProblem`` when a lazy load failed before, inside
  ///   a hook, and when hooks keep changing each other's objects; what a `willSave` hook throws.
  /// - Complexity: linear in the number of changed objects, whatever else is in memory.
  public func save(mergePolicy: MergePolicy? = nil) throws {
    try checkAllowed("save")
    try checkNotPinned()
    try throwPendingFailure()
    mergeInbox(readingEdited: false)
    checkInvariants()
    let policy = mergePolicy ?? self.mergePolicy
    let plan = try withWillSave {
      // A parent takes over what no store would be told, such as lists whose members carry the reference.
      try write(policy) { $0.isEmpty && parent == nil ? SaveOutcome() : try connection().save($0.request) }
    }
    checkInvariants()
    publish(plan)
    runDidSave(plan)
  }

  /// Tries a save to its end and takes everything back: the context and the store are as they were.
  ///
  /// - Throws: what a save would throw now.
  func rehearseSave() throws {
    struct Passed: Error {}
    mergeInbox(readingEdited: false)
    try throwPendingFailure()
    do {
      _ = try withWillSave {
        try write(mergePolicy) { plan in
          if !plan.isEmpty && !isPinned { try connection().rehearse(plan.request) }
          throw Passed()
        }
      }
    } catch is Passed {}
  }

  /// Hands a plan to the store.
  private typealias Sending = (SavePlan) throws -> SaveOutcome

  /// How often a save is tried, while others write the same objects faster than it can take that over.
  private static let attempts = 64

  /// Checks everything and writes it; when others refer to what is to be deleted, or have written the same, once more with
  /// that.
  private func write(_ policy: MergePolicy, _ send: Sending) throws -> SavePlan {
    try core.checkOpen()
    try core.keys.check(inserted)
    var newcomers = Newcomers(self)
    var merge = SaveMerge(self, policy)
    do {
      for _ in 0..<Self.attempts {
        if let plan = try attempt(&newcomers, &merge, send) {
          merge.finish()
          return plan
        }
      }
      throw Self.contended
    } catch {
      // A merge knows everything that was done since it began, and newcomers may have been met before.
      merge.takeBack()
      newcomers.takeBack()
      if let broken = error as? BrokenRules { throw try validationError(for: broken) }
      throw withNames(error)
    }
  }

  private static var contended: StoreError {
    StoreError(
      .contended,
      "Others wrote the same objects each of the \(attempts) times that the save was tried; nothing was saved.",
      remedy:
        "Save again, or let saving(retries:) do that; where many write one object, let fewer of them write at a time.")
  }

  /// - Returns: what was written; nil when the save is to be tried again with what others have written.
  private func attempt(_ newcomers: inout Newcomers, _ merge: inout SaveMerge, _ send: Sending) throws -> SavePlan? {
    try merge.agreeCouples()
    var plan = try checkedPlan()
    do {
      try write(&plan, send)
      return plan
    } catch let error as StoreError where error.code == .danglingReference {
      if try newcomers.takeAlong(after: plan) { return nil }
      let owners = try plan.lostOwners(self)
      if !owners.isEmpty {
        try merge.settle(SaveConflict(rows: owners))
        return nil
      }
      let failures = try plan.lostPartners(self)
      if !failures.isEmpty { throw ValidationError(failures: failures) }
      // The checks ask the store who needs one of the deleted objects.
      try validate(plan)
      guard merge.isPatient() else { throw error }
      return nil
    } catch let broken as BrokenRules {
      if try newcomers.takeAlong(broken.denials) { return nil }
      throw broken
    } catch let conflict as SaveConflict {
      try merge.settle(conflict)
      return nil
    } catch let error as StoreError where error.code == .notUnique {
      let isSettled = try merge.settleKeys(of: plan) || merge.settlePartners(of: plan)
      guard isSettled || merge.isPatient() else { throw error }
      return nil
    }
  }

  private func checkedPlan() throws -> SavePlan {
    let leavesToStore = pending.deletions.hasCascades
    try loadArrangedLists()
    let plan = makePlan()
    try validate(plan)
    // A hook that validates may have changed something, which it should not; it is not to be lost, though. And what is
    // loaded may turn out to be deleted.
    let isChanged = runtime.hooks.contains(where: \.isValidation) || leavesToStore != pending.deletions.hasCascades
    return isChanged ? makePlan() : plan
  }

  private func write(_ plan: inout SavePlan, _ send: Sending) throws {
    do {
      try prepare(&plan)
      plan.outcome = try send(plan)
    } catch {
      plan.takeBackPlaces()
      throw error
    }
    plan.notice = notice(of: plan)
    finish(plan)
  }

  private func prepare(_ plan: inout SavePlan) throws {
    let leavesToStore = pending.deletions.hasCascades
    try plan.prepareRequest(self)
    guard leavesToStore != pending.deletions.hasCascades else { return }
    // What was loaded for places has turned out to be deleted.
    plan.takeBackPlaces()
    plan = makePlan()
    try plan.prepareRequest(self)
  }

  /// Only a list that has all members says where each of them belongs.
  private func loadArrangedLists() throws {
    guard hasArrangements else { return }
    for object in changed where object.phase == .persistent {
      for entry in object.extras?.lists ?? [] where entry.list.arrangement != nil {
        guard let relationship = relationship(entry.property, of: object) else { continue }
        try loadKeys(of: [object], relationship)
      }
    }
    hasArrangements = false
  }

  func makePlan() -> SavePlan {
    dropGoneFromChangedLists()
    return SavePlan(self)
  }

  /// What was planned is in the store: snapshots move, and nothing is pending any more.
  private func finish(_ plan: SavePlan) {
    saveCount += 1
    recorder?.addInserts(of: self)
    for object in plan.inserted {
      object.state.didInsert()
      settle(object)
      // One that was deleted before may find what others have left to it.
      if backlog.returning.contains(object._key) { forgetViews(of: object) }
    }
    for (object, _) in plan.updated { object.state.didUpdate() }
    for object in changed where object.phase == .persistent { settle(object) }
    for object in deleted { detach(object) }
    // Others may have made an object in memory a member of what went.
    for key in plan.outcome.cascaded { if let object = map[key] { markGone(object) } }
    forgetOneWayReferences(to: plan.deleted)
    pending.didSave()
    recorder?.forgetInserts(of: self)
    undo.didSave()
    settleBacklog(afterSaving: plan.updated)
  }

  private func settle(_ object: ManagedObject) {
    object.state.didSave()
    guard let extras = object.extras else { return }
    extras.forgetCommitted()
    for entry in extras.lists { entry.list.didSave() }
  }

  /// What the save tells others; nil when nobody wants to know.
  private func notice(of plan: SavePlan) -> SaveNotice? {
    let isHeard = parent == nil && core.hub.hasAudience(beside: inbox)
    return liveResults.isEmpty && !isHeard ? nil : SaveNotice(plan, self)
  }

  private func publish(_ plan: SavePlan) {
    guard let notice = plan.notice, !plan.isEmpty else { return }
    // What a child saves is not saved for anybody else.
    if parent == nil { core.hub.post(notice, from: inbox) }
    refreshLiveResults(after: [notice])
  }
}
