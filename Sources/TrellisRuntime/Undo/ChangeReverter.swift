import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Reverts changes in reverse order. The reverting changes are recorded in turn, so that they can be reverted as
  /// well.
  ///
  /// References, pairs and lives return to what they were; what other contexts have changed beside them stays. Positions
  /// follow at last, each behind the member that it followed.
  ///
  /// - Parameter isExact: Whether only the recorded changes are reverted, because all objects are in the state right
  ///   after them. Otherwise deleting an object again applies its delete rules, and both ends of one-to-one
  ///   relationships are made consistent.
  /// - Throws: ``StoreError`` if objects have to be loaded and the store fails; then nothing is reverted.
  func revert(_ changes: ChangeSet, isExact: Bool = false) throws {
    let lost = try prepareToRevert(changes)
    var reverter = ChangeReverter(self, changes, isExact: isExact, lost: lost)
    for change in changes.changes.reversed() { try reverter.revert(change, of: changes) }
    try reverter.finish(withdrawing: changes.inserted)
    forgetUnchanged(changes.touched)
    forgetUnchanged(reverter.touched)
  }

  /// Loads partners.
  ///
  /// - Returns: the keys of those that no longer exist.
  @inline(never) private func lostPartners(_ wanted: [(entity: Int, key: Int64)]) throws -> Set<Int64> {
    var lost: Set<Int64> = []
    for (entity, group) in Dictionary(grouping: wanted, by: \.entity).sortedByKey {
      let missing = Set(group.map(\.key))
      lost.formUnion(missing.subtracting(try loadObjects(missing.sorted(), entity: entity).map(\._key)))
    }
    return lost
  }

  /// The references that differ from recorded values.
  @inline(never) fileprivate func differingReferences(_ values: RecordedValues) -> [Relationship] {
    info(of: values.object).references.filter { values.differs(in: $0.property) }
  }

  /// Loads the former partners of an object, and the lists in which it has a position.
  @inline(never) private func prepareReferences(_ values: RecordedValues, _ wanted: inout [(entity: Int, key: Int64)])
    throws
  {
    for reference in differingReferences(values) {
      let former = values.row.value(reference.property).key
      wanted.append((reference.destination, former))
      for key in [former, values.object._reference(reference.property)] where key > 0 {
        try prepareRecording(values.object, reference, key)
      }
    }
  }

  /// Loads the objects that reverting the changes needs, so that a failure leaves nothing half done.
  ///
  /// - Returns: the keys of partners that no longer exist.
  private func prepareToRevert(_ changes: ChangeSet) throws -> Set<Int64> {
    var leaving = changes.inserted
    var wanted: [(entity: Int, key: Int64)] = []
    for change in changes.changes {
      switch change {
      case .values(let number):
        let object = changes.values[number].object
        if object.isAlive && object.accessFlags.contains(.fault) { try refreshRows([object]) }
        if changes.setsReferences { try prepareReferences(changes.values[number], &wanted) }
      case .pair(let pair):
        if pair.wasLinked {
          wanted += [(pair.relationship.destination, pair.member), (pair.relationship.entity, pair.owner)]
        }
        if let owner = map[pair.owner], owner.isAlive, pair.relationship.isOrdered {
          try loadedList(of: owner, pair.relationship)
        }
      case .place(let place):
        if let owner = map[place.owner], owner.isAlive { try loadedList(of: owner, place.relationship) }
      case .order(let order):
        if order.owner.isAlive { try loadedList(of: order.owner, order.relationship) }
      // The object keeps its former partners in memory, because a delete rule of `deny` still has to find them.
      case .revived(let object): leaving.append(object)
      case .partner, .deleted: break
      }
    }
    _ = try loadToRestore(leaving.filter(\.isAlive))
    wanted.removeAll { $0.key <= 0 || map.contains($0.key) }
    return wanted.isEmpty ? [] : try lostPartners(wanted)
  }
}

extension ObjectGraph {
  /// Registers a new object with the key of one that was deleted in the store.
  ///
  /// - Throws: ``StoreError`` if references that the delete has left cannot be read.
  func registerReturned(_ object: ManagedObject) throws {
    registerInserted(object)
    backlog.returning.insert(object._key)
    try showReferencesLeft(to: object)
  }
}

/// A reference that a delete clears when it is done again.
private struct ClearedAgain: Hashable {
  private let holder: Int64
  private let property: Int
  private let victim: Int64

  init(_ reference: ClearedReference) {
    (holder, property, victim) = (reference.holder._key, reference.relationship.property, reference.victim)
  }
}

/// Reverts one set of changes.
private struct ChangeReverter {
  private let graph: ObjectGraph
  private let isExact: Bool
  /// The keys of partners that are not in the store and not in memory. The set may make some of them new again.
  private let lost: Set<Int64>
  /// Objects whose restoring is reverted, by key.
  private var redeleted: [Int64: ManagedObject] = [:]
  /// Objects that are alive again, by key.
  private var revived: [Int64: ManagedObject] = [:]
  /// Those of them whose delete was saved: they are new again.
  private var reinserted: [ManagedObject] = []
  /// References that were restored, with the keys of the partners before.
  private var restored: [(object: ManagedObject, relationship: Relationship, former: Int64)] = []
  private var pairs: [RecordedPair] = []
  /// The changes of positions, the last one first.
  private var positions: [RecordedChange] = []
  /// References that deletes of the set have cleared.
  private let cleared: [ClearedReference]
  /// Those of them whose targets are deleted again.
  private let clearedAgain: Set<ClearedAgain>
  /// Objects that were changed beside those of the set.
  private(set) var touched: [ManagedObject] = []

  init(_ graph: ObjectGraph, _ changes: ChangeSet, isExact: Bool, lost: Set<Int64>) {
    self.graph = graph
    self.isExact = isExact
    self.lost = lost
    cleared = isExact ? [] : changes.cleared
    let redeleted = cleared.isEmpty ? [] : changes.redeleted
    clearedAgain =
      redeleted.isEmpty ? [] : Set(cleared.lazy.filter { redeleted.contains($0.victim) }.map(ClearedAgain.init))
  }

  mutating func revert(_ change: RecordedChange, of changes: ChangeSet) throws {
    switch change {
    case .values(let number):
      try restore(changes.values[number], withReferences: changes.setsReferences)
    case .pair(let pair): pairs.append(pair)
    case .place, .order: positions.append(change)
    case .partner(let object, let relationship, let key): graph.setTransient(object, relationship, to: key)
    case .deleted(let object): revive(object)
    case .revived(let object): redeleted[object._key] = object
    }
  }

  // MARK: Values

  private mutating func restore(_ values: RecordedValues, withReferences mayDiffer: Bool) throws {
    let object = values.object
    if object.isAlive { try graph.fulfilIfFault(object) }
    object.willChangeValues()
    var references = mayDiffer ? graph.differingReferences(values) : []
    let kept = references.filter { isLeftToDelete(values, $0) }.map(\.property)
    if !kept.isEmpty { references.removeAll { kept.contains($0.property) } }
    let former = mayDiffer ? references.map { object._reference($0.property) } : []
    object.announceAll()
    let isCommitted = object.isCommitted(values.row)
    values.forEachMask(except: kept) { mask in
      object.restore(mask, from: values.row)
      // Committed values are no changes. The last bit may stand for several properties.
      if isCommitted && mask.bits & ColumnMask.bit(of: 63) == 0 {
        object.state.unmark(mask.bits)
      } else {
        object.state.markAssigned(mask.bits)
      }
    }
    if !mayDiffer { return }
    for (reference, former) in zip(references, former) {
      // A position is one in the list of the partner that the object had until now.
      object._setPlace(reference.property, nil)
      graph.targetDidChange(of: object, reference, from: former)
      restored.append((object, reference, former))
    }
  }

  /// Whether a reference is cleared by a delete that the set repeats, under the rules that apply to the victim now: an
  /// object that was new may be stored, so that its delete can be denied.
  private func isLeftToDelete(_ values: RecordedValues, _ reference: Relationship) -> Bool {
    if clearedAgain.isEmpty || values.row.value(reference.property).key != 0 { return false }
    let present = ClearedReference(
      holder: values.object, relationship: reference, victim: values.object._reference(reference.property))
    return clearedAgain.contains(ClearedAgain(present))
  }

  // MARK: Life

  private mutating func revive(_ object: ManagedObject) {
    switch object.phase {
    case .deleted: object.state.revive()
    case .detached where graph.map[object._key] == nil: becomeNew(object)
    default:
      // The object was deleted and restored in one step.
      redeleted[object._key] = nil
      return
    }
    revived[object._key] = object
    graph.recorder?.record(.revived(object))
  }

  private mutating func becomeNew(_ object: ManagedObject) {
    graph.noteFormerVersion(of: object)
    // All values of a new object count as changed.
    object.state.becomeNew(changed: graph.info(of: object).storedMask.bits)
    object.committedRow = nil
    graph.forgetStore(of: object)
    graph.pending.deadTargets.remove(object._key)
    graph.map.insert(object, for: object._key)
    graph.backlog.returning.insert(object._key)
    reinserted.append(object)
  }

  // MARK: At last

  mutating func finish(withdrawing inserted: [ManagedObject]) throws {
    if !revived.isEmpty {
      graph.pending.deletions.removeVictims(Set(revived.keys))
      graph.pending.dropRevived()
    }
    if !reinserted.isEmpty {
      graph.recorder?.addInserts(of: graph)
      graph.pending.moveToEnd(ofInserted: reinserted)
      graph.recorder?.forgetInserts(of: graph)
      try graph.forgetLostPartners(of: reinserted)
    }
    let redeleted = redeleted
    if !revived.isEmpty { try graph.showAgain(revived.sortedByKey.map(\.value)) { redeleted[$0.victim] != nil } }
    for object in reinserted { try graph.showReferencesLeft(to: object) }
    // A delete that the opposite set repeats clears them as well.
    for reference in cleared where revived[reference.victim] != nil { graph.recorder?.noteCleared(reference) }
    for (object, relationship, former) in restored { settle(object, relationship, former) }
    for pair in pairs { restore(pair) }
    if !positions.isEmpty { graph.restorePositions(positions) }
    if !isExact { for object in reinserted { try restoreLostReferences(to: object) } }
    if redeleted.isEmpty && inserted.isEmpty { return }
    try graph.deleteAll(redeleted.sortedByKey.map(\.value) + inserted, callsHooks: false, cascades: !isExact)
  }

  private func restore(_ pair: RecordedPair) {
    if pair.wasLinked, [pair.owner, pair.member].contains(where: { lost.contains($0) && graph.map[$0] == nil }) {
      return
    }
    if let owner = graph.map[pair.owner] {
      if isLinked(owner, pair) == pair.wasLinked { return }
      // What was as in the store is so again, even if others have changed it there.
      if pair.wasStored, pair.saves == graph.saves,
        let isStored = graph.isStoredPair(owner, pair.relationship, pair.member)
      {
        // Ends that were read at different moments may differ without an edit.
        if isEdited(owner, pair), isLinked(owner, pair) != isStored {
          graph.setPair(pair.owner, pair.relationship, pair.member, isLinked: isStored)
        }
        return
      }
    }
    if pair.wasLinked, graph.map[pair.owner] == nil, graph.map[pair.member] == nil { return }
    graph.setPair(pair.owner, pair.relationship, pair.member, isLinked: pair.wasLinked)
  }

  /// Whether both ends show a pair; nil if they differ, or are not known.
  private func isLinked(_ owner: ManagedObject, _ pair: RecordedPair) -> Bool? {
    let here = graph.isKnownMember(pair.member, of: owner, pair.relationship)
    guard let inverse = graph.runtime.inverse(of: pair.relationship), let member = graph.map[pair.member] else {
      return here
    }
    return graph.isKnownMember(pair.owner, of: member, inverse) == here ? here : nil
  }

  /// Whether either end shows a pair otherwise than it was read.
  private func isEdited(_ owner: ManagedObject, _ pair: RecordedPair) -> Bool {
    if owner.list(of: pair.relationship.property)?.isEdited(pair.member) == true { return true }
    guard let inverse = graph.runtime.inverse(of: pair.relationship), let member = graph.map[pair.member] else {
      return false
    }
    return member.list(of: inverse.property)?.isEdited(pair.owner) == true
  }

  // MARK: One-to-ones

  /// Makes the two ends of a restored reference agree where others have changed one of them.
  private mutating func settle(_ object: ManagedObject, _ relationship: Relationship, _ former: Int64) {
    let key = object._reference(relationship.property)
    if key > 0, lost.contains(key), graph.map[key] == nil, !relationship.isLeftAlone {
      graph.setReference(of: object, relationship, to: 0)
      if revived[object._key] == nil && redeleted[object._key] == nil {
        graph.undo.noteLost(LostReference(object: object, relationship: relationship), to: key)
      }
      return
    }
    guard object.isAlive, !isExact, let inverse = graph.runtime.inverse(of: relationship), !inverse.isToMany else {
      return
    }
    if inverse.isColumn { return settleCouple(object, relationship, former, key) }
    guard let target = graph.map[key], object.hasOwnReference(relationship) else { return }
    for rival in graph.holders(of: target, inverse)
    where rival !== object && rival.isAlive && rival.hasOwnReference(relationship) {
      graph.setReference(of: rival, relationship, to: 0)
      touched.append(rival)
    }
    graph.showAtTarget(object, relationship)
  }

  private mutating func settleCouple(
    _ object: ManagedObject, _ relationship: Relationship, _ former: Int64, _ key: Int64
  ) {
    if former > 0, former != key, let partner = graph.map[former], partner !== object, partner.isAlive,
      redeleted[former] == nil, !partner.accessFlags.contains(.fault)
    {
      graph.unlink(partner, relationship, object._key)
      touched.append(partner)
    }
    guard let partner = graph.map[key], partner.isAlive else { return }
    let other = graph.knownReference(of: partner, relationship)
    if other == object._key { return }
    if !object.hasOwnReference(relationship) {
      // A half that was set here decides.
      if partner.hasOwnReference(relationship) { return graph.unlink(object, relationship, key) }
      // Both halves are as in the store, where the partner's is read after this.
      if graph.backlog.contains(key) { return }
    }
    if let other = graph.map[other], other !== partner, other.isAlive { graph.unlink(other, relationship, key) }
    graph.setReference(of: partner, relationship, to: object._key)
    touched.append(partner)
  }

  /// Restores references that an earlier undo could not restore because the object did not exist, unless they have
  /// another target since.
  private mutating func restoreLostReferences(to object: ManagedObject) throws {
    for lost in graph.undo.takeLostReferences(to: object._key) {
      let (holder, relationship) = (lost.object, lost.relationship)
      guard holder.isAlive, graph.map[holder._key] === holder else { continue }
      // The reverted changes include one of the reference, so it is as it was before.
      if restored.contains(where: { $0.object === holder && $0.relationship.isSame(as: relationship) }) { continue }
      try graph.fulfilIfFault(holder)
      guard holder._reference(relationship.property) == 0 else { continue }
      if let inverse = graph.runtime.inverse(of: relationship), !inverse.isToMany {
        if try graph.partnerKey(of: object, inverse) != 0 { continue }
        if inverse.isColumn { graph.setReference(of: object, inverse, to: holder._key) }
      }
      graph.setReference(of: holder, relationship, to: object._key)
      touched += [holder, object]
    }
  }
}
