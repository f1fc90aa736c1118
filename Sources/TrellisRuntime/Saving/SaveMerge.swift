import TrellisModel
import TrellisStorage

/// The changes of other contexts that one save merges so that it can be tried again, and the means to take them back.
///
/// All decisions are made before any change, so a conflict that the policy does not settle leaves no trace.
struct SaveMerge {
  let graph: ObjectGraph
  let policy: MergePolicy
  private let unites: UnitingKeys?
  private(set) var trace: MergeTrace?
  /// The number of further refusals for which no reason is found before the save gives up.
  private var patience = 3

  init(_ graph: ObjectGraph, _ policy: MergePolicy, _ unites: UnitingKeys?) {
    self.graph = graph
    self.policy = policy
    self.unites = unites
  }

  /// The action for one object.
  private enum Step {
    case merge(RowMerge)
    /// The object is deleted in the store, so it is deleted here as well.
    case delete(ManagedObject)
    /// The object is deleted here and in the store.
    case forget(ManagedObject)
    /// The object is deleted regardless of changes to its row.
    case insist(ManagedObject, StoredVersion)
    case bringBack(ManagedObject, StoredVersion)

    /// The key of an object that is deleted in the store.
    var keyOfDeleted: Int64? {
      switch self {
      case .delete(let object), .forget(let object): object._key
      case .merge, .insist, .bringBack: nil
      }
    }
  }

  /// Merges the rows whose versions a save has found to be changed.
  ///
  /// - Throws: ``SaveConflict`` with all values if the policy does not settle the conflict.
  mutating func settle(_ conflict: SaveConflict) throws {
    let objects = conflict.rows.compactMap { graph.map[$0.key] }
    let stored = try graph.storedVersions(of: objects)
    // If a row still has the version that was read, the store would refuse it again.
    if objects.contains(where: { stored[$0._key]?.version == $0.version }) { throw conflict }
    var unsettled: [SaveConflict.Row] = []
    let steps = objects.compactMap { step(for: $0, stored[$0._key], &unsettled) }
    if !unsettled.isEmpty { throw SaveConflict(rows: unsettled) }
    // Without an object there is nothing to merge, and another attempt would not help.
    guard !steps.isEmpty else { throw conflict }
    begin()
    defer { trace?.close() }
    // Before any delete, since the delete of one owner may cascade to another one.
    for case .delete(let object) in steps { try giveBackMembers(of: object, stored) }
    for step in steps { try carryOut(step) }
    // One walk through memory for all of them, after steps that may show some of them again.
    graph.forgetMembers(Set(steps.compactMap(\.keyOfDeleted)))
    graph.pending.dropRevived()
  }

  /// Makes both halves of every couple that the save writes agree.
  mutating func agreeCouples() throws {
    let disagreements = try graph.coupleDisagreements()
    if disagreements.isEmpty { return }
    begin()
    for disagreement in disagreements { disagreement.carryOut(graph) }
    trace?.close()
  }

  /// Makes one object of objects with the same unique key, as the policy determines.
  ///
  /// - Returns: whether there were any.
  /// - Throws: ``ValidationError`` if the policy does not settle the conflict.
  mutating func resolveKeys(of plan: SavePlan) throws -> Bool {
    var search = UniqueConflictFinder(graph)
    for object in plan.inserted { search.add(object, .all) }
    for (object, mask) in plan.updated { search.add(object, mask) }
    let clashes = try search.clashes()
    if clashes.isEmpty { return false }
    var union = UniqueKeyMerge(graph, policy, unites)
    try union.decide(clashes)
    begin()
    guard let trace else { return false }
    trace.close()
    defer { trace.close(uniting: union.replaced) }
    try union.carryOut()
    return true
  }

  /// Settles conflicts about the partners of one-to-one relationships that other contexts have assigned to other
  /// objects: the partner stays there or comes here, as the policy determines.
  ///
  /// - Returns: whether there were any.
  /// - Throws: ``SaveConflict`` if the policy does not settle the conflict.
  mutating func resolvePartners(of plan: SavePlan) throws -> Bool {
    var search = OneToOneConflictFinder(graph)
    for object in plan.inserted { search.add(object, .all) }
    for (object, mask) in plan.updated { search.add(object, mask) }
    let clashes = try search.clashes()
    if clashes.isEmpty { return false }
    if policy == .error { throw SaveConflict(rows: try clashes.map { try $0.conflict(graph) }) }
    begin()
    defer { trace?.close() }
    for clash in clashes {
      if policy.storeWins && clash.isStored {
        try clash.yield(graph, isWhole: policy.isWhole)
      } else {
        try clash.insist(graph)
      }
    }
    return true
  }

  /// Runs a closure that applies delete rules to rows of other contexts. What it changes belongs to the step that is
  /// saved, as the deletes do.
  mutating func deleting(_ body: () throws -> Bool) throws -> Bool {
    begin()
    trace?.close()
    defer { trace?.closeDeletes() }
    return try body()
  }

  /// Whether to try again a save that the store has refused for a reason that was not found, because other contexts may
  /// have resolved it meanwhile. False after three such refusals, so that the store's error is thrown.
  mutating func isPatient() -> Bool {
    patience -= 1
    return patience >= 0
  }

  /// Copies the state of the context, so that it can be restored.
  private mutating func begin() {
    if trace != nil { return }
    trace = MergeTrace(graph)
  }

  /// Keeps the changes. Merges are no undo steps.
  func finish() { trace?.finish() }

  /// Restores the state from before, after the save has failed.
  func revert() { trace?.revert() }

  // MARK: Deciding

  private func step(
    for object: ManagedObject, _ theirs: StoredVersion?, _ unsettled: inout [SaveConflict.Row]
  ) -> Step? {
    switch (object.phase, theirs) {
    case (.deleted, nil): return .forget(object)
    case (.deleted, let theirs?):
      if policy.contextWins { return .insist(object, theirs) }
      if policy.storeWins { return .bringBack(object, theirs) }
      unsettled.append(ConflictedRow(object, graph).deletedHere(theirs))
    case (.persistent, nil):
      if policy.storeWins { return .delete(object) }
      unsettled.append(ConflictedRow(object, graph).deletedByOthers())
    case (.persistent, let theirs?):
      let merge = RowMerge(object, theirs, graph)
      if policy != .error || merge.conflicting.isEmpty { return .merge(merge) }
      unsettled.append(ConflictedRow(object, graph).changedByBoth(merge))
    default: break
    }
    return nil
  }

  // MARK: Doing

  private func carryOut(_ step: Step) throws {
    switch step {
    case .merge(let merge): try carryOut(merge)
    case .delete(let object):
      try graph.deleteAll([object], callsHooks: false)
      graph.markDeletedInStore(object)
    case .forget(let object): graph.markDeletedInStore(object)
    case .insist(let object, let theirs): object.state.takeVersion(theirs.version)
    case .bringBack(let object, let theirs):
      graph.undelete(object)
      guard object.phase == .persistent else { return }
      // Edits of the object may have added members, too.
      graph.forgetViews(of: object)
      try carryOut(RowMerge(object, theirs, graph))
    }
  }

  /// Returns saved objects that were added here to an owner that another context has deleted to their former owner,
  /// because the delete of the owner must not cascade to them. The same holds for the members of new members, and of
  /// those that the delete cascades to.
  ///
  /// - Parameter stored: The rows that differ from those that were read. Their objects return to the stored owners.
  private func giveBackMembers(of owner: ManagedObject, _ stored: [Int64: StoredVersion]) throws {
    var owners = [owner]
    var seen: Set<Int64> = [owner._key]
    while let owner = owners.popLast() {
      for relationship in graph.info(of: owner).allRelationships {
        guard let inverse = graph.runtime.inverse(of: relationship), inverse.isColumn else { continue }
        for key in graph.presentPartners(of: owner, relationship) where key != owner._key {
          guard let member = graph.map[key] else { continue }
          if member.phase == .persistent && member.hasOwnReference(inverse) {
            if let theirs = stored[key] {
              try RowMerge(member, theirs, graph).adoptReferences([inverse.property], graph)
            }
            try graph.rollback(member, [inverse.property])
          } else if member.phase == .inserted
            || member.phase == .persistent && relationship.deleteAction == .deletePartners
          {
            if seen.insert(key).inserted { owners.append(member) }
          }
        }
      }
    }
  }

  private func carryOut(_ merge: RowMerge) throws {
    // The discarded edits may have hidden changes of other contexts from the partners.
    let partners = graph.partnersInRow(of: merge.object)
    defer { graph.forgetViews(of: partners) }
    switch policy {
    case .error, .objectTrump: merge.apply(graph)
    case .storeTrump:
      // Conflicting properties return to the values that were read, including the other ends of relationships.
      if !merge.conflicting.isEmpty {
        try merge.adoptReferences(merge.conflicting, graph)
        try graph.rollback(merge.object, merge.conflicting)
      }
      // A former partner may be deleted; the stored values apply regardless.
      merge.apply(graph, yielding: merge.conflicting)
    case .overwrite: merge.apply(graph, keepingAll: true)
    case .rollback:
      try merge.adoptReferences(merge.mine, graph)
      try graph.discardChanges(of: merge.object)
      merge.apply(graph, yielding: Set(merge.object.changedNumbers))
    }
  }
}

// MARK: - Merge trace

/// The state of a context before a save merges the changes of other contexts. It is restored if the save fails.
///
/// A merge may change any object that is linked to a merged one, so every object with changes or with lists in memory
/// is copied. Other objects are as the store has them: those that the merge has touched are read again.
final class MergeTrace {
  private let graph: ObjectGraph
  /// The recorder of the context's changes; nil if nothing is undone.
  private let recorder: ChangeRecorder?
  /// Objects that were replaced by the survivors of their unique keys, by key, and the changes of that replacement.
  private var replaced: [Int64: ManagedObject] = [:]
  private var unions: [ChangeSet] = []
  private var deletes: [ChangeSet] = []
  @exclusivity(unchecked) private var copies: ContiguousArray<ObjectCopy> = []
  /// The objects that were as the store has them.
  @exclusivity(unchecked) private var plain: ContiguousArray<ManagedObject> = []
  /// New objects that the merge only withdraws: it changes none of their values.
  @exclusivity(unchecked) private var withdrawn: ContiguousArray<(object: ManagedObject, state: ObjectState)> = []
  private let pending: PendingChanges
  private let deferredLists: DeferredMemberLists
  private let backlog: MergeBacklog

  /// - Complexity: linear in the number of objects in memory.
  init(_ graph: ObjectGraph) {
    self.graph = graph
    // The changes before the save are an undo step of their own.
    graph.undo.collectUntilNow()
    graph.undo.isSaveRecorded = true
    recorder = graph.recorder
    pending = graph.pending
    deferredLists = graph.pending.deferredLists.copy()
    backlog = graph.backlog
    plain.reserveCapacity(max(0, graph.map.count - pending.inserted.count))
    graph.map.forEach { object in
      if object.phase == .persistent && !object.isInChangedList && !object.hasLinkNotes {
        plain.append(object)
      } else if object.replacement != 0 && object.hasNoLinks(graph.info(of: object)) {
        withdrawn.append((object, object.state))
      } else {
        copies.append(ObjectCopy(object, graph))
      }
    }
    // New objects that were deleted are in no identity map, and return with an undelete.
    for victim in pending.deletions.closures.lazy.flatMap(\.victims) where victim.object.phase == .detached {
      copies.append(ObjectCopy(victim.object, graph))
    }
  }

  /// Separates the changes until now from later ones: they are no undo step.
  func close() { _ = recorder?.take(graph) }

  /// Separates the changes that applying delete rules has made. They are undone together with the deletes.
  func closeDeletes() {
    guard let changes = recorder?.take(graph), !changes.isEmpty else { return }
    deletes.append(changes)
  }

  /// Separates the changes that the replacement of objects has made. They are undone together with the objects.
  func close(uniting objects: some Sequence<ManagedObject>) {
    guard let recorder else { return }
    unions.append(recorder.take(graph))
    for object in objects { replaced[object._key] = object }
  }

  func finish() {
    graph.undo.isSaveRecorded = false
    if !deletes.isEmpty { graph.undo.add(deletes) }
    if !replaced.isEmpty { graph.undo.unite(unions, replaced) }
  }

  /// Restores the state before the merge.
  func revert() {
    _ = recorder?.take(graph)
    graph.undo.isSaveRecorded = false
    var loaded: ContiguousArray<ManagedObject> = []
    var known = Set([plain.map(ObjectIdentifier.init), copies.map { ObjectIdentifier($0.object) }].joined())
    known.formUnion(withdrawn.lazy.map { ObjectIdentifier($0.object) })
    graph.map.forEach { object in if !known.contains(ObjectIdentifier(object)) { loaded.append(object) } }
    for object in plain + loaded { readAgain(object) }
    for copy in copies { copy.restore(in: graph) }
    for (object, state) in withdrawn { bringBack(object, state) }
    graph.pending = pending
    graph.pending.deferredLists = deferredLists
    graph.backlog = backlog
    graph.hasArrangements = true
    recorder?.forgetInserts(of: graph)
  }

  private func bringBack(_ object: ManagedObject, _ state: ObjectState) {
    object.announceAll()
    object.state = state
    object.state.replace(by: 0)
    // The recorder's set was taken.
    object.state.setRecorded(false)
    object.forgetLinks()
    graph.map.insert(object, for: object._key)
  }

  /// Makes an object without changes read its row and its lists again, if the merge has touched it.
  private func readAgain(_ object: ManagedObject) {
    let isDetached = graph.map[object._key] !== object
    if object.phase == .persistent && !object.isInChangedList && !object.hasLinkNotes && !isDetached { return }
    object.announceAll()
    if isDetached { graph.map.insert(object, for: object._key) }
    object.state.returnToStore()
    object.forgetLinks()
  }
}

/// The state of an object before a merge.
private struct ObjectCopy {
  let object: ManagedObject
  private let state: ObjectState
  private let row: RowCopyBase
  private let committed: RowCopyBase?
  private let places: [(property: Int, place: Int64?)]
  private let links: LinkCopy

  init(_ object: ManagedObject, _ graph: ObjectGraph) {
    self.object = object
    state = object.state
    row = object.copyValues()
    committed = object.committedRow
    places = object.placesOfReferences(graph)
    links = LinkCopy(object)
  }

  func restore(in graph: ObjectGraph) {
    object.announceAll()
    object.restore(.all, from: row)
    for (property, place) in places { object._setPlace(property, place) }
    object.state = state
    // The recorder's set was taken.
    object.state.setRecorded(false)
    object.state.replace(by: 0)
    object.committedRow = committed
    links.restore(object)
    if state.phase != .detached {
      graph.map.insert(object, for: object._key)
    } else if graph.map[object._key] === object {
      graph.map.remove(object._key)
    }
  }
}
