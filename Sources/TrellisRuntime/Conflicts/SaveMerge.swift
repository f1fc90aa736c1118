import TrellisSchema
import TrellisStorage

/// What one save takes over of what others have written, so that it can be tried again; and how to take that back.
///
/// Everything is decided before anything is done, so a conflict that the policy does not settle leaves no trace.
struct SaveMerge {
  let context: ManagedObjectContext
  let policy: MergePolicy
  private(set) var trace: MergeTrace?
  /// How often a refusal may still be without a reason that can be found.
  private var patience = 3

  init(_ context: ManagedObjectContext, _ policy: MergePolicy) {
    self.context = context
    self.policy = policy
  }

  /// What is to be done to one object.
  private enum Step {
    case merge(RowMerge)
    /// It is deleted in the store: here, too.
    case delete(ManagedObject)
    /// Both have deleted it.
    case forget(ManagedObject)
    /// The delete goes on, whatever the row holds by now.
    case insist(ManagedObject, StoredVersion)
    case bringBack(ManagedObject, StoredVersion)
  }

  /// Takes over the rows that a save has found to be others than it knew.
  ///
  /// - Throws: ``SaveConflict`` with all values where the policy does not say who wins.
  mutating func settle(_ conflict: SaveConflict) throws {
    let objects = conflict.rows.compactMap { context.map[$0.key] }
    let stored = try context.storedVersions(of: objects)
    // A store that refuses a row which is as it was read would refuse it again.
    if objects.contains(where: { stored[$0._key]?.version == $0.version }) { throw conflict }
    var unsettled: [SaveConflict.Row] = []
    let steps = objects.compactMap { step(for: $0, stored[$0._key], &unsettled) }
    if !unsettled.isEmpty { throw SaveConflict(rows: unsettled) }
    // Without an object there is nothing to merge, and trying again would not help.
    guard !steps.isEmpty else { throw conflict }
    begin()
    guard let trace else { return }
    for object in objects {
      trace.note(object, stored[object._key]?.row)
      if stored[object._key] == nil { notePartners(of: object, in: trace) }
    }
    defer { trace.close() }
    let couples = CoupleMatching(objects, stored, context)
    for step in steps { try carryOut(step) }
    context.pending.dropRevived()
    try couples.match()
  }

  /// Makes both halves of every couple agree that the save writes.
  mutating func agreeCouples() throws {
    let disagreements = try context.coupleDisagreements()
    if disagreements.isEmpty { return }
    begin()
    for disagreement in disagreements {
      for object in disagreement.objects { trace?.note(object) }
      disagreement.carryOut(context)
    }
    trace?.close()
  }

  /// Objects that are found to have the same unique key become one, as the policy says.
  ///
  /// - Returns: whether there were any.
  /// - Throws: ``ValidationError`` where the policy does not say who wins.
  mutating func settleKeys(of plan: SavePlan) throws -> Bool {
    var search = UniqueConflictFinder(context)
    for object in plan.inserted { search.add(object, .all) }
    for (object, mask) in plan.updated { search.add(object, mask) }
    let clashes = try search.clashes()
    if clashes.isEmpty { return false }
    var union = UniqueKeyMerge(context, policy)
    try union.decide(clashes)
    begin()
    guard let trace else { return false }
    trace.close()
    defer { trace.close(uniting: union.replaced) }
    try union.carryOut(trace)
    return true
  }

  /// Partners of one-to-ones that others have given to somebody else stay where they are or come here, as the policy says.
  ///
  /// - Returns: whether there were any.
  /// - Throws: ``SaveConflict`` where the policy does not say who wins.
  mutating func settlePartners(of plan: SavePlan) throws -> Bool {
    var search = OneToOneConflictFinder(context)
    for object in plan.inserted { search.add(object, .all) }
    for (object, mask) in plan.updated { search.add(object, mask) }
    let clashes = try search.clashes()
    if clashes.isEmpty { return false }
    if policy == .error { throw SaveConflict(rows: try clashes.map { try $0.conflict(context) }) }
    begin()
    defer { trace?.close() }
    for clash in clashes {
      for object in [clash.object, clash.holder, context.map[clash.partner]] { if let object { trace?.note(object) } }
      switch policy {
      case .storeTrump where clash.isStored, .rollback where clash.isStored:
        try clash.yield(context, isWhole: policy == .rollback)
      default: try clash.insist(context)
      }
    }
    try context.throwPendingFailure()
    return true
  }

  /// Whether a save is to be tried again that the store has refused for a reason which was gone when it was looked for, as
  /// others have put it right meanwhile. A store that goes on refusing is believed.
  mutating func isPatient() -> Bool {
    patience -= 1
    return patience >= 0
  }

  /// Notes from now on what changes, so that it can be taken back.
  private mutating func begin() {
    if trace != nil { return }
    trace = MergeTrace(context)
    // Both halves of a couple are settled here.
    context.backlog.contestedHalves = [:]
  }

  /// Keeps what was taken over. Merges are no steps to be undone.
  func finish() { trace?.finish() }

  /// Takes everything back: the save has failed.
  func takeBack() { trace?.takeBack() }

  // MARK: Deciding

  private func step(
    for object: ManagedObject, _ theirs: StoredVersion?, _ unsettled: inout [SaveConflict.Row]
  ) -> Step? {
    switch (object.phase, theirs) {
    case (.deleted, nil): return .forget(object)
    case (.deleted, let theirs?):
      switch policy {
      case .objectTrump, .overwrite: return .insist(object, theirs)
      case .storeTrump, .rollback: return .bringBack(object, theirs)
      case .error: unsettled.append(ConflictedRow(object, context).deletedHere(theirs))
      }
    case (.persistent, nil):
      if policy == .storeTrump || policy == .rollback { return .delete(object) }
      unsettled.append(ConflictedRow(object, context).deletedByOthers())
    case (.persistent, let theirs?):
      let merge = RowMerge(object, theirs, context)
      if policy != .error || merge.conflicting.isEmpty { return .merge(merge) }
      unsettled.append(ConflictedRow(object, context).changedByBoth(merge))
    default: break
    }
    return nil
  }

  // MARK: Doing

  private func carryOut(_ step: Step) throws {
    switch step {
    case .merge(let merge): try carryOut(merge)
    case .delete(let object):
      try giveBackMembers(of: object)
      try context.deleteAll([object], callsHooks: false)
      context.markDeletedInStore(object)
    case .forget(let object):
      context.forgetMembers([object._key])
      context.markDeletedInStore(object)
    case .insist(let object, let theirs): object.state.takeVersion(theirs.version)
    case .bringBack(let object, let theirs):
      context.undelete(object)
      guard object.phase == .persistent else { return }
      // Its edits may have given it members, too.
      context.forgetViews(of: object)
      try carryOut(RowMerge(object, theirs, context))
    }
  }

  /// Notes the partners by pairs of an object that others have deleted, which lose the pairs with it.
  private func notePartners(of object: ManagedObject, in trace: MergeTrace) {
    for entry in object.extras?.lists ?? [] {
      for key in entry.list.keys { if let partner = context.map[key] { trace.note(partner) } }
    }
  }

  /// Saved objects that were given to one here that others have deleted are given back: its delete is not to take them along.
  private func giveBackMembers(of owner: ManagedObject) throws {
    for relationship in context.info(of: owner).allRelationships {
      guard let inverse = context.runtime.inverse(of: relationship), inverse.isColumn else { continue }
      for key in context.presentPartners(of: owner, relationship) where key != owner._key {
        guard let member = context.map[key], member.phase == .persistent, member.hasOwnReference(inverse) else {
          continue
        }
        try context.rollback(member, [inverse.property])
      }
    }
  }

  private func carryOut(_ merge: RowMerge) throws {
    // What is given up may have hidden from a partner what others have given it.
    let partners = context.partnersInRow(of: merge.object)
    defer { context.forgetViews(of: partners) }
    switch policy {
    case .error, .objectTrump: merge.apply(context)
    case .storeTrump:
      // What is given up goes back to what was read, with the other ends of relationships.
      if !merge.conflicting.isEmpty {
        try merge.adoptReferences(merge.conflicting, context)
        try context.rollback(merge.object, merge.conflicting)
      }
      // A former partner may be gone; what is there stands all the same.
      merge.apply(context, yielding: merge.conflicting)
    case .overwrite: merge.apply(context, keepingAll: true)
    case .rollback:
      try merge.adoptReferences(merge.mine, context)
      try context.discardChanges(of: merge.object)
      merge.apply(context, yielding: Set(merge.object.changedNumbers))
    }
  }
}
