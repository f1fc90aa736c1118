import TrellisStorage

/// One save of a context.
///
/// ```
///  1 take over      what other contexts saved is merged, without reading edited rows
///  2 hooks          willSave; whatever it changes belongs to the save
///  3 agree      ┌─▶ both halves of each one-to-one that is its own inverse
///  4 plan       │   the objects to write, compared with their committed rows
///  5 check      │   every rule that can be checked in memory
///  6 prepare    │   cascades, order keys, join rows, checks left to the store
///  7 write      │   one transaction, all or nothing
///     refused ──┤   because of concurrent references · changed row versions · unique keys ·
///               └── one-to-one partners: the conflict is settled in memory, and the save tried again
///  8 finish         the written rows become the committed ones, and nothing is pending
///  9 publish        other contexts and live results are notified; didSave
/// ```
/// Invariants:
/// 1. No object in memory counts as saved before the transaction of step 7 has succeeded.
/// 2. Steps 3 to 7 change memory only after ``SaveMerge`` has copied it. If the save throws, the copy is restored. The
///    order keys that a plan has assigned are taken back with that plan.
/// 3. The changes of willSave are taken back after these, by ``ObjectGraph/withWillSave(_:)``.
/// 4. A refusal is settled at most ``attempts`` times. A refusal whose reason cannot be found is retried three times
///    and then thrown.
/// 5. After step 8 ``PendingChanges`` is empty, and no object is marked as changed.
struct SaveOperation {
  /// The number of attempts to save while other contexts write the same objects faster than the save can merge them.
  private static let attempts = 64

  private let graph: ObjectGraph
  private let concurrentReferences: ConcurrentReferences
  private var merge: SaveMerge

  private init(_ graph: ObjectGraph, _ policy: MergePolicy, _ unites: UnitingKeys?) {
    self.graph = graph
    concurrentReferences = ConcurrentReferences(graph)
    merge = SaveMerge(graph, policy, unites)
  }

  // MARK: Ways in

  /// Saves a context.
  ///
  /// - Throws: the same errors as ``ManagedObjectContext/save(mergePolicy:)``. Memory and the store are then unchanged.
  static func run(_ graph: ObjectGraph, _ policy: MergePolicy, unites: UnitingKeys? = nil) throws {
    operationDidEnd(try written(graph, policy, unites), graph)
  }

  private static func written(_ graph: ObjectGraph, _ policy: MergePolicy, _ unites: UnitingKeys?) throws -> SavePlan {
    let watch = LinkWatch(graph, "a save", changing: graph.pending.objects)
    defer { watch.end() }
    graph.mergeInbox(readingEdited: false)
    graph.checkInvariants()
    let plan = try graph.withWillSave {
      var operation = SaveOperation(graph, policy, unites)
      return try operation.write()
    }
    graph.checkInvariants()
    return plan
  }

  // MARK: Steps 3 to 8, until the store accepts them

  private mutating func write() throws -> SavePlan {
    try graph.core.checkOpen()
    try graph.core.keys.check(graph.inserted)
    do {
      for _ in 0..<Self.attempts {
        if let plan = try attempt() {
          merge.finish()
          return plan
        }
      }
      throw Self.contended
    } catch {
      merge.revert()
      if let broken = error as? ConstraintViolations { throw try graph.validationError(for: broken) }
      throw graph.withNames(error)
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

  /// - Returns: the written plan. Nil if the refusal was settled and the save has to be tried again.
  private mutating func attempt() throws -> SavePlan? {
    try merge.agreeCouples()
    let plan = try checkedPlan()
    do {
      return try write(plan)
    } catch let error as StoreError where error.code == .danglingReference {
      return try resolveDangling(error, plan)
    } catch let broken as ConstraintViolations {
      guard try merge.deleting({ try concurrentReferences.applyDeleteRules(broken.denials) }) else { throw broken }
    } catch let conflict as SaveConflict {
      try merge.settle(conflict)
    } catch let error as StoreError where error.code == .notUnique {
      let isSettled = try merge.resolveKeys(of: plan) || merge.resolvePartners(of: plan)
      guard isSettled || merge.isPatient() else { throw error }
    }
    return nil
  }

  /// Settles a refusal because of a reference to an object that is not in the store: a reference of a row that was
  /// added or changed meanwhile, a member of a to-many whose owner was deleted, or a reference to a partner that was
  /// deleted.
  private mutating func resolveDangling(_ error: StoreError, _ plan: SavePlan) throws -> SavePlan? {
    if try merge.deleting({ try concurrentReferences.applyDeleteRules(after: plan) }) { return nil }
    let owners = try plan.lostOwners(graph)
    if !owners.isEmpty {
      try merge.settle(SaveConflict(rows: owners))
      return nil
    }
    let failures = try plan.lostPartners(graph)
    if !failures.isEmpty { throw ValidationError(failures: failures) }
    // The checks ask the store which rows require one of the deleted objects.
    try graph.validate(plan)
    guard merge.isPatient() else { throw error }
    return nil
  }

  // MARK: Steps 4 and 5

  private func checkedPlan() throws -> SavePlan {
    let leavesToStore = graph.pending.deletions.hasCascades
    try graph.loadArrangedLists()
    let plan = graph.makePlan()
    try graph.validate(plan)
    // A validation hook should change nothing, but if it does, the change must not be lost. Loading may also find
    // objects that are deleted.
    let isChanged =
      graph.runtime.hooks.contains(where: \.isValidation) || leavesToStore != graph.pending.deletions.hasCascades
    return isChanged ? graph.makePlan() : plan
  }

  // MARK: Steps 6 to 8

  /// - Returns: the written plan.
  private func write(_ first: SavePlan) throws -> SavePlan {
    var plan = first
    do {
      try prepare(&plan)
      // A parent also takes over changes that a store does not get, such as to-manys whose members hold the reference.
      if !plan.isEmpty || graph.parent != nil { plan.outcome = try graph.connection().save(plan.request) }
    } catch {
      plan.revertPlaces()
      throw error
    }
    plan.notice = notice(of: plan)
    finish(plan)
    return plan
  }

  private func prepare(_ plan: inout SavePlan) throws {
    let leavesToStore = graph.pending.deletions.hasCascades
    try plan.prepareRequest(graph)
    guard leavesToStore != graph.pending.deletions.hasCascades else { return }
    // Loading for the order keys has found objects that are deleted.
    plan.revertPlaces()
    plan = graph.makePlan()
    try plan.prepareRequest(graph)
  }

  /// Marks everything in the plan as saved: the written rows become the committed ones, and nothing is pending any
  /// more.
  private func finish(_ plan: SavePlan) {
    graph.saves += 1
    if !graph.notes.isEmpty { graph.notes = [] }
    graph.recorder?.addInserts(of: graph)
    for object in plan.inserted {
      object.state.didInsert(after: graph.takeFormerVersion(of: object))
      forgetEdits(object)
      // If other contexts had deleted the object, objects here may still refer to it and be members again.
      if graph.backlog.returning.contains(object._key) { graph.forgetViews(of: object) }
    }
    for (object, _) in plan.updated { object.state.didUpdate() }
    for object in graph.changed where object.phase == .persistent { forgetEdits(object) }
    let hasChildren = !graph.childGraphs.isEmpty
    for object in graph.deleted {
      // An undo in a child may insert the object again.
      if hasChildren { graph.noteFormerVersion(of: object) }
      graph.detach(object)
    }
    // Other contexts may have added an object in memory to a deleted owner.
    for key in plan.outcome.cascaded { if let object = graph.map[key] { graph.markDeletedInStore(object) } }
    graph.forgetOneWayReferences(to: plan.deleted)
    if !graph.pending.deadTargets.keys.isEmpty { graph.forgetDeadMembers(graph.pending.deadTargets.keys) }
    graph.pending.didSave()
    graph.recorder?.forgetInserts(of: graph)
    graph.undo.didSave()
    graph.settleBacklog(afterSaving: plan.updated)
  }

  private func forgetEdits(_ object: ManagedObject) {
    graph.commitLinks(of: object)
    object.forgetEdits()
  }

  // MARK: Step 9

  /// The notice of the save for other contexts and live results. Nil if there is no audience.
  private func notice(of plan: SavePlan) -> SaveNotice? {
    let isHeard = graph.parent == nil && graph.core.hub.hasAudience(beside: graph.inbox)
    return graph.liveResults?.wantsSaves != true && !isHeard ? nil : SaveNotice(plan, graph)
  }

  private static func operationDidEnd(_ plan: SavePlan, _ graph: ObjectGraph) {
    if let notice = plan.notice, !plan.isEmpty {
      // The changes of a child are not saved for other contexts yet.
      if graph.parent == nil { graph.core.hub.post(notice, from: graph.inbox) }
      graph.liveResults?.didSave([notice], in: graph)
    }
    graph.runDidSave(plan)
  }
}

extension ObjectGraph {
  func makePlan() -> SavePlan {
    hideDeadInChangedLists()
    return SavePlan(self)
  }

  /// Loads the lists that were reordered before they were loaded. Only a complete list assigns a place to each member.
  fileprivate func loadArrangedLists() throws {
    guard hasArrangements else { return }
    for object in changed where object.phase == .persistent {
      for list in object.lists where list.isReordered {
        guard let relationship = relationship(list.property, of: object) else { continue }
        try loadKeys(of: [object], relationship)
      }
    }
    hasArrangements = false
  }
}

// MARK: - Saving

extension ObjectGraph {
  /// Writes all changes since the last save in one transaction, or none of them.
  ///
  /// - Parameter unites: The unique keys by which the save may unite objects; nil if the policy alone decides.
  func save(mergePolicy: MergePolicy? = nil, unites: UnitingKeys? = nil) throws {
    try checkAllowed("save")
    try checkNotPinned()
    try throwPendingFailure()
    try SaveOperation.run(self, mergePolicy ?? self.mergePolicy, unites: unites)
  }
}
