import TrellisStorage

/// One save of a context.
///
/// ```
///  1 take over      what other contexts saved is merged, without reading edited rows
///  2 hooks          willSave; whatever it changes belongs to the save
///  3 agree      ┌─▶ both halves of each one-to-one that is its own inverse
///  4 plan       │   the objects to write, compared with their committed rows
///  5 check      │   every rule that memory can answer
///  6 prepare    │   cascades, order keys, join rows, checks left to the store
///  7 write      │   one transaction, all or nothing
///     refused ──┤   by references that appeared meanwhile · by rows that are others by now
///               └──  · by unique keys · by one-to-one partners: settled in memory, and once more
///  8 finish         committed rows move on, and nothing is pending
///  9 publish        other contexts and live results are told; didSave
/// ```
/// Invariants:
/// 1. Nothing in memory counts as saved before the transaction of step 7 has ended well.
/// 2. Steps 3 to 7 change memory only by ``SaveMerge`` and ``ConcurrentReferences``, which can take all of it back. Both are taken back, the
///    merge first, whenever the save throws. Order keys that a plan has assigned are taken back with that plan.
/// 3. What willSave changed is taken back after these, by ``ManagedObjectContext/withWillSave(_:)``.
/// 4. A refusal is settled at most ``attempts`` times; one whose reason cannot be found is believed after three.
/// 5. After step 8 ``PendingChanges`` is empty, and no object is marked as changed.
struct SaveOperation {
  /// Hands a plan to the store.
  typealias Sending = (SavePlan) throws -> SaveOutcome

  /// How often a save is tried while other contexts write the same objects faster than it can merge them.
  private static let attempts = 64

  private let context: ManagedObjectContext
  private let send: Sending
  private var concurrentReferences: ConcurrentReferences
  private var merge: SaveMerge

  private init(_ context: ManagedObjectContext, _ policy: MergePolicy, _ send: @escaping Sending) {
    self.context = context
    self.send = send
    concurrentReferences = ConcurrentReferences(context)
    merge = SaveMerge(context, policy)
  }

  // MARK: Ways in

  /// Saves a context.
  ///
  /// - Throws: as ``ManagedObjectContext/save(mergePolicy:)``; then memory and the store are as they were.
  static func run(_ context: ManagedObjectContext, _ policy: MergePolicy) throws {
    context.mergeInbox(readingEdited: false)
    context.checkInvariants()
    let plan = try context.withWillSave {
      var operation = SaveOperation(context, policy) { plan in
        // A parent takes over what no store is given, such as to-manys whose members hold the reference.
        try plan.isEmpty && context.parent == nil ? SaveOutcome() : context.connection().save(plan.request)
      }
      return try operation.write()
    }
    context.checkInvariants()
    operationDidEnd(plan, context)
  }

  /// Tries a save to its end and takes everything back.
  ///
  /// - Throws: what a save throws now.
  static func rehearse(_ context: ManagedObjectContext) throws {
    struct Passed: Error {}
    context.mergeInbox(readingEdited: false)
    try context.throwPendingFailure()
    do {
      _ = try context.withWillSave {
        var operation = SaveOperation(context, context.mergePolicy) { plan in
          if !plan.isEmpty && !context.isPinned { try context.connection().rehearse(plan.request) }
          throw Passed()
        }
        return try operation.write()
      }
    } catch is Passed {}
  }

  // MARK: Steps 3 to 8, until the store accepts them

  private mutating func write() throws -> SavePlan {
    try context.core.checkOpen()
    try context.core.keys.check(context.inserted)
    do {
      for _ in 0..<Self.attempts {
        if let plan = try attempt() {
          merge.finish()
          return plan
        }
      }
      throw Self.contended
    } catch {
      // A merge knows everything that was done since it began, and concurrentReferences may have been met before.
      merge.takeBack()
      concurrentReferences.takeBack()
      if let broken = error as? ConstraintViolations { throw try context.validationError(for: broken) }
      throw context.withNames(error)
    }
  }

  private static var contended: StoreError {
    StoreError(
      .contended,
      "Others wrote the same objects each of the \(attempts) times that the save was tried; nothing was saved.",
      remedy:
        "Save again, or let saveRetrying(atMost:) do that; where many write one object, let fewer of them write at a time."
    )
  }

  /// - Returns: what was written; nil when the refusal was settled, so that the save is to be tried again.
  private mutating func attempt() throws -> SavePlan? {
    try merge.agreeCouples()
    var plan = try checkedPlan()
    do {
      try write(&plan)
      return plan
    } catch let error as StoreError where error.code == .danglingReference {
      return try settleDangling(error, plan)
    } catch let broken as ConstraintViolations {
      guard try concurrentReferences.applyDeleteRules(broken.denials) else { throw broken }
    } catch let conflict as SaveConflict {
      try merge.settle(conflict)
    } catch let error as StoreError where error.code == .notUnique {
      let isSettled = try merge.settleKeys(of: plan) || merge.settlePartners(of: plan)
      guard isSettled || merge.isPatient() else { throw error }
    }
    return nil
  }

  /// A reference leads to an object that is not in the store: of a row that appeared meanwhile, of a to-many whose owner is gone, or
  /// to a partner that is gone.
  private mutating func settleDangling(_ error: StoreError, _ plan: SavePlan) throws -> SavePlan? {
    if try concurrentReferences.applyDeleteRules(after: plan) { return nil }
    let owners = try plan.lostOwners(context)
    if !owners.isEmpty {
      try merge.settle(SaveConflict(rows: owners))
      return nil
    }
    let failures = try plan.lostPartners(context)
    if !failures.isEmpty { throw ValidationError(failures: failures) }
    // The checks ask the store which rows need one of the deleted objects.
    try context.validate(plan)
    guard merge.isPatient() else { throw error }
    return nil
  }

  // MARK: Steps 4 and 5

  private func checkedPlan() throws -> SavePlan {
    let leavesToStore = context.pending.deletions.hasCascades
    try context.loadArrangedLists()
    let plan = context.makePlan()
    try context.validate(plan)
    // A hook that validates may have changed something, which it should not; it is not to be lost, though. And what is
    // loaded may turn out to be deleted.
    let isChanged =
      context.runtime.hooks.contains(where: \.isValidation) || leavesToStore != context.pending.deletions.hasCascades
    return isChanged ? context.makePlan() : plan
  }

  // MARK: Steps 6 to 8

  private func write(_ plan: inout SavePlan) throws {
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
    let leavesToStore = context.pending.deletions.hasCascades
    try plan.prepareRequest(context)
    guard leavesToStore != context.pending.deletions.hasCascades else { return }
    // What was loaded for order keys has turned out to be deleted.
    plan.takeBackPlaces()
    plan = context.makePlan()
    try plan.prepareRequest(context)
  }

  /// What was planned is in the store: committed rows move on, and nothing is pending any more.
  private func finish(_ plan: SavePlan) {
    context.saveCount += 1
    context.recorder?.addInserts(of: context)
    for object in plan.inserted {
      object.state.didInsert()
      forgetCommitted(object)
      // An object that was deleted before may have members that other contexts left to it.
      if context.backlog.returning.contains(object._key) { context.forgetViews(of: object) }
    }
    for (object, _) in plan.updated { object.state.didUpdate() }
    for object in context.changed where object.phase == .persistent { forgetCommitted(object) }
    for object in context.deleted { context.detach(object) }
    // Other contexts may have made an object in memory a member of a deleted one.
    for key in plan.outcome.cascaded { if let object = context.map[key] { context.markDeletedInStore(object) } }
    context.forgetOneWayReferences(to: plan.deleted)
    context.pending.didSave()
    context.recorder?.forgetInserts(of: context)
    context.undo.didSave()
    context.settleBacklog(afterSaving: plan.updated)
  }

  private func forgetCommitted(_ object: ManagedObject) {
    object.state.didSave()
    guard let extras = object.extras else { return }
    extras.forgetCommitted()
    for entry in extras.lists { entry.list.didSave() }
  }

  // MARK: Step 9

  /// What the save tells others; nil when nothing listens.
  private func notice(of plan: SavePlan) -> SaveNotice? {
    let isHeard = context.parent == nil && context.core.hub.hasAudience(beside: context.inbox)
    return context.liveResults.isEmpty && !isHeard ? nil : SaveNotice(plan, context)
  }

  private static func operationDidEnd(_ plan: SavePlan, _ context: ManagedObjectContext) {
    if let notice = plan.notice, !plan.isEmpty {
      // What a child saves is not saved for other contexts yet.
      if context.parent == nil { context.core.hub.post(notice, from: context.inbox) }
      context.refreshLiveResults(after: [notice])
    }
    context.runDidSave(plan)
  }
}

extension ManagedObjectContext {
  func makePlan() -> SavePlan {
    dropGoneFromChangedLists()
    return SavePlan(self)
  }

  /// Loads the lists whose order was changed before they were loaded: only a list with all members gives each of them its place.
  fileprivate func loadArrangedLists() throws {
    guard hasArrangements else { return }
    for object in changed where object.phase == .persistent {
      for entry in object.extras?.lists ?? [] where entry.list.arrangement != nil {
        guard let relationship = relationship(entry.property, of: object) else { continue }
        try loadKeys(of: [object], relationship)
      }
    }
    hasArrangements = false
  }
}
