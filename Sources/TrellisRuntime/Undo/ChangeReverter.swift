import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// Reverts changes in reverse order. The reverting changes are recorded in turn, so that they can be reverted as
  /// well.
  ///
  /// - Parameter isExact: Whether only the recorded changes are reverted, because all objects are in the state right
  ///   after them. Otherwise deleting an object again applies its delete rules, and both ends of one-to-one
  ///   relationships are made consistent.
  /// - Throws: ``StoreError`` if objects have to be loaded and the store fails; then nothing is reverted.
  func revert(_ changes: ChangeSet, isExact: Bool = false) throws {
    try prepareToRevert(changes)
    var reverter = ChangeReverter(self, isExact: isExact)
    for change in changes.changes.reversed() { try reverter.revert(change, of: changes) }
    try reverter.finish(withdrawing: changes.inserted)
    if !isExact {
      agreeLinks(around: changes.touched)
      agreeLinks(around: reverter.corrected)
      forgetUnconfirmed(changes.members)
    }
    forgetUnchanged(changes.touched)
    forgetUnchanged(reverter.corrected)
  }
}

extension ObjectGraph {
  /// Loads the objects that reverting the changes needs, so that a failure leaves nothing half done.
  fileprivate func prepareToRevert(_ changes: ChangeSet) throws {
    var leaving = changes.inserted
    for change in changes.changes {
      switch change {
      case .values(let number):
        let object = changes.values[number].object
        if object.isAlive && object.accessFlags.contains(.fault) { try refreshRows([object]) }
      case .member(let member):
        let owner = member.owner ?? map[member.ownerKey]
        if let owner, owner.isAlive, member.relationship.isOrdered { try loadedList(of: owner, member.relationship) }
      case .order(let order):
        if order.owner.isAlive { try loadedList(of: order.owner, order.relationship) }
      // The object keeps its former partners in memory, because a delete rule of `deny` still has to find them.
      case .revived(let object): leaving.append(object)
      case .partner, .deleted: break
      }
    }
    _ = try loadToRestore(leaving.filter(\.isAlive))
  }
}

/// Reverts one set of changes.
private struct ChangeReverter {
  private let graph: ObjectGraph
  private let isExact: Bool
  /// Objects whose restoring is reverted, by key.
  private var redeleted: [Int64: ManagedObject] = [:]
  /// Objects that are restored after their delete was saved: they are new again.
  private var reinserted: [ManagedObject] = []
  /// The keys of all restored objects.
  private var revived: Set<Int64> = []
  /// References that were restored, with the keys of the partners before.
  private var restored: [(object: ManagedObject, relationship: Relationship, former: Int64)] = []
  /// Members that were added to a to-many again, some of which may no longer exist.
  private var returned: [(owner: Int64, list: MemberList, key: Int64, relationship: Relationship)] = []
  /// The ends of pairs that the reverted changes have recorded.
  private var recorded: Set<PairEnd> = []
  /// To-ones that show a partner whose row holds the reference.
  private var shown: [(object: ManagedObject, relationship: Relationship)] = []
  /// Objects whose lists or partners were corrected to match the references to them.
  private(set) var corrected: [ManagedObject] = []

  init(_ graph: ObjectGraph, isExact: Bool) {
    self.graph = graph
    self.isExact = isExact
  }

  /// One end of a pair in a join table.
  private struct PairEnd: Hashable {
    let owner: Int64
    let relationship: RelationshipNumber
    let member: Int64
  }

  mutating func revert(_ change: RecordedChange, of changes: ChangeSet) throws {
    switch change {
    case .values(let number): try restore(changes.values[number])
    case .member(let member): try restore(member)
    case .order(let order): try reorder(order)
    case .partner(let object, let relationship, let key): setPartner(of: object, relationship, key)
    case .deleted(let object): revive(object)
    case .revived(let object): redeleted[object._key] = object
    }
  }

  // MARK: Values

  private mutating func restore(_ values: RecordedValues) throws {
    let object = values.object
    if object.isAlive { try graph.fulfilIfFault(object) }
    object.willChangeValues()
    graph.read(object) { info in
      for relationship in info.references where values.differs(in: relationship.property) {
        restored.append((object, relationship, object._reference(relationship.property)))
      }
    }
    object.announceAll()
    let isCommitted = object.isCommitted(values.row)
    values.forEachMask { mask in
      object.restore(mask, from: values.row)
      // Committed values are no changes. The last bit may stand for several properties.
      if isCommitted && mask.bits & ColumnMask.bit(of: 63) == 0 {
        object.state.unmark(mask.bits)
      } else {
        object.state.markAssigned(mask.bits)
      }
    }
    // A position is one in the list of the partner that the object had until now.
    graph.read(object) { info in
      for relationship in info.references where values.differs(in: relationship.property) {
        object._setPlace(relationship.property, nil)
      }
    }
  }

  // MARK: Relationships

  private mutating func restore(_ member: RecordedMember) throws {
    let relationship = member.relationship
    recorded.insert(
      PairEnd(owner: member.ownerKey, relationship: relationship.number, member: member.trace.key))
    let list: MemberList
    let owner = member.owner ?? graph.map[member.ownerKey]
    if let owner {
      list = try self.list(of: owner, relationship)
    } else {
      list = graph.deferredList(of: member.ownerKey, relationship)
    }
    graph.revert(member.trace, in: list, of: owner, member.ownerKey, relationship)
    if member.trace.wasMember { returned.append((member.ownerKey, list, member.trace.key, relationship)) }
  }

  /// The list of a to-many, loaded if the order matters. The list of an object that is restored only later is in the
  /// state in which it was left.
  private func list(of owner: ManagedObject, _ relationship: Relationship) throws -> MemberList {
    try relationship.isOrdered && owner.isAlive
      ? graph.loadedList(of: owner, relationship) : graph.list(of: owner, relationship)
  }

  private func reorder(_ order: RecordedOrder) throws {
    let present = try list(of: order.owner, order.relationship)
    let former = present.order(before: order, at: graph.moment)
    graph.arrange(order.owner, order.relationship, former.keys, moving: former.moved)
  }

  private mutating func setPartner(of object: ManagedObject, _ relationship: Relationship, _ key: Int64) {
    shown.append((object, relationship))
    graph.recorder?.record(
      .partner(object, relationship, max(0, graph.knownReference(of: object, relationship))))
    object.setPartner(of: relationship.property, key)
    graph.noteListChanged(object)
  }

  /// Makes the other ends of a reference show it. Ends that were not in memory when the reference was set have no note
  /// of it and may have been loaded since.
  private mutating func correctViews(
    of object: ManagedObject, _ relationship: Relationship, _ former: Int64
  ) throws {
    guard object.isAlive else { return }
    let wanted = object._reference(relationship.property)
    let isLost = try graph.unlinkLostPartner(object, relationship)
    // An object that is deleted again, or was restored itself, is linked again by what the target has kept of it.
    let isItselfRestored = revived.contains(object._key) || redeleted[object._key] != nil
    if isLost, !isItselfRestored {
      graph.undo.noteLost(LostReference(object: object, relationship: relationship), to: wanted)
    }
    guard let inverse = graph.runtime.inverse(of: relationship), !(isExact && inverse.isColumn) else { return }
    let present = object._reference(relationship.property)
    // A partner that is deleted again keeps its own lists.
    if former > 0, former != present, let partner = graph.map[former], partner.isAlive, redeleted[former] == nil {
      if inverse.isToMany {
        if let list = partner.list(of: inverse.property), list.contains(object._key) { list.remove(object._key) }
      } else if inverse.isColumn {
        // Both rows hold the reference, and another context may have written one of them since.
        if partner !== object, !partner.accessFlags.contains(.fault) { graph.unlink(partner, inverse, object._key) }
      } else if partner.notedPartner(of: inverse.property) == object._key {
        partner.setPartner(of: inverse.property, 0)
      }
      graph.noteListChanged(partner)
      corrected.append(partner)
    }
    guard present > 0, let partner = try graph.object(present, entity: relationship.destination), partner.isAlive
    else {
      return
    }
    if inverse.isToMany {
      let list = graph.list(of: partner, inverse)
      if !list.contains(object._key) { list.insert(object._key) }
    } else if inverse.isColumn {
      let other = graph.knownReference(of: partner, inverse)
      if other == object._key { return }
      if let other = graph.map[other], other !== partner, other.isAlive {
        graph.unlink(other, relationship, present)
      }
      graph.linkEnd(partner, inverse, object._key)
    } else {
      // A partner that was given to another object in this context keeps it until a save settles the conflict.
      if !object.hasOwnReference(relationship), graph.isGivenElsewhere(partner, inverse, than: object) { return }
      unlinkRival(of: object, relationship, at: partner, inverse)
      partner.setPartner(of: inverse.property, object._key)
      // Another context may have given the partner to another object since.
      if partner.phase == .persistent { graph.noteContestedPartner(partner, inverse) }
    }
    graph.noteListChanged(partner)
    corrected.append(partner)
  }

  /// Unlinks another restored object from a partner. Before the change, the partner had one object in this context and
  /// another one in the store, and only one of them can be saved.
  private func unlinkRival(
    of object: ManagedObject, _ relationship: Relationship, at partner: ManagedObject, _ inverse: Relationship
  ) {
    guard !isExact, let key = partner.notedPartner(of: inverse.property), key > 0, key != object._key,
      let rival = graph.map[key], rival.isAlive,
      restored.contains(where: { $0.object === rival && $0.relationship.isSame(as: relationship) })
    else { return }
    graph.unlink(rival, relationship, partner._key)
  }

  /// Forgets a partner whose row contradicts it, because another context has written the row; it is read from the store
  /// again.
  private func forgetWrongPartner(of object: ManagedObject, _ relationship: Relationship) {
    guard object.phase == .persistent, !relationship.isTransient,
      let inverse = graph.runtime.inverse(of: relationship),
      let key = object.notedPartner(of: relationship.property)
    else { return }
    if key > 0, let partner = graph.map[key], !partner.accessFlags.contains(.fault),
      partner._reference(inverse.property) == object._key,
      // A deleted partner is not shown, but some delete rules leave the reference.
      partner.isAlive || graph.survivorsKeep(partner, inverse, relationship)
    {
      return
    }
    object.announce(relationship.property)
    object.removePartners { $0.property == relationship.property }
  }

  /// Restores a reference at the partners' end. Partners that had been in memory while the object was deleted, or were
  /// loaded after that, do not show it.
  private func showAgain(_ object: ManagedObject) {
    for relationship in graph.info(of: object).allRelationships where relationship.isColumn {
      guard let inverse = graph.runtime.inverse(of: relationship) else { continue }
      let key = object._reference(relationship.property)
      guard key > 0, let partner = graph.map[key] else { continue }
      if inverse.isToMany {
        guard let list = partner.list(of: inverse.property), list.isLoaded || list.removed.contains(object._key) else {
          continue
        }
        if !list.contains(object._key) { list.putBack(object._key) }
        // Unless the object is a member in the store, the list has an unsaved change.
        if list.hasChanges { graph.noteListChanged(partner) }
      } else if partner.notedPartner(of: inverse.property) == 0 {
        partner.setPartner(of: inverse.property, object._key)
      }
    }
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
    revived.insert(object._key)
    graph.recorder?.record(.revived(object))
  }

  private mutating func becomeNew(_ object: ManagedObject) {
    // All values of a new object count as changed.
    object.state.becomeNew(changed: graph.info(of: object).storedMask.bits)
    object.committedRow = nil
    for list in object.lists { list.load([]) }
    graph.map.insert(object, for: object._key)
    graph.backlog.returning.insert(object._key)
    reinserted.append(object)
  }

  private func unrecordedPairs(_ links: [DeletedClosure.Link]) -> [DeletedClosure.Link] {
    links.filter { link in
      guard link.relationship.isJoined else { return false }
      let end = PairEnd(owner: link.owner._key, relationship: link.relationship.number, member: link.victim)
      return !recorded.contains(end)
    }
  }

  mutating func finish(withdrawing inserted: [ManagedObject]) throws {
    // A delete that an undo has repeated may have removed pairs that were not there at the first time.
    let unlinked = isExact ? [] : unrecordedPairs(graph.pending.deletions.removeVictims(revived))
    graph.pending.dropRevived()
    try graph.relinkLate(revived, unlessMembers: true)
    let relinked = try graph.relinkUnlessMembers(unlinked)
    for key in revived { if let object = graph.map[key], object.phase == .persistent { showAgain(object) } }
    if !isExact {
      for object in revived.sorted().compactMap({ graph.map[$0] }) where object.isAlive {
        try graph.partFromDeleted(object, except: relinked)
      }
    }
    for (object, relationship, former) in restored { try correctViews(of: object, relationship, former) }
    for (object, relationship) in shown { forgetWrongPartner(of: object, relationship) }
    if !reinserted.isEmpty {
      graph.recorder?.addInserts(of: graph)
      graph.pending.moveToEnd(ofInserted: reinserted)
      graph.recorder?.forgetInserts(of: graph)
      try graph.forgetLostPartners(of: reinserted)
      for object in reinserted {
        try graph.reunite(object)
        try graph.showReferencesLeft(to: object)
        if !isExact { try restoreLostReferences(to: object) }
      }
    }
    try forgetLost()
    if !isExact { showOwners() }
    forgetWrongMembers()
    let back = redeleted.sortedByKey.map(\.value)
    // Restoring these objects was reverted already, but the delete has to note their partners.
    for object in back + inserted where object.isAlive { try graph.reunite(object) }
    try graph.deleteAll(back + inserted, callsHooks: false, cascades: !isExact)
  }
}

extension ChangeReverter {
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
      if let inverse = graph.runtime.inverse(of: relationship) {
        if !inverse.isToMany, try graph.partnerKey(of: object, inverse) != 0 { continue }
        graph.linkEnd(object, inverse, holder._key)
      }
      graph.linkEnd(holder, relationship, object._key)
      corrected += [holder, object]
    }
  }

  /// Removes members whose rows contradict the list, because other contexts have written the rows.
  private func forgetWrongMembers() {
    for (owner, list, key, relationship) in returned {
      guard let inverse = graph.runtime.inverse(of: relationship), inverse.isColumn, let member = graph.map[key],
        member.isAlive, !member.accessFlags.contains(.fault), member._reference(inverse.property) != owner
      else { continue }
      if list.contains(key) { list.remove(key) }
    }
  }

  /// Shows members the owners that have them again. The members' own lists were dropped if another context has deleted
  /// or changed these objects since.
  private func showOwners() {
    for (owner, list, key, relationship) in returned where relationship.isJoined {
      guard list.contains(key), let inverse = graph.runtime.inverse(of: relationship), inverse.isToMany,
        let member = graph.map[key], member.isAlive, graph.map[owner]?.isAlive == true
      else { continue }
      let owners = graph.list(of: member, inverse)
      // A list that is not loaded shows the pairs that are in the store.
      let isShown = owners.contains(owner) || !owners.isLoaded && !owners.removed.contains(owner) && list.hasRead(key)
      if isShown { continue }
      graph.linkEnd(member, inverse, owner)
    }
  }

  /// Removes members that were deleted from the store meanwhile.
  private func forgetLost() throws {
    for (destination, members) in Dictionary(grouping: returned, by: \.relationship.destination) {
      let missing = Set(members.map(\.key).filter { graph.map[$0] == nil })
      if missing.isEmpty { continue }
      let lost = missing.subtracting(try graph.loadObjects(missing.sorted(), entity: destination).map(\._key))
      if !lost.isEmpty { for member in members where lost.contains(member.key) { member.list.forget([member.key]) } }
    }
  }
}

// MARK: - Relationship restore

// The relationships of restored objects.

extension ObjectGraph {
  /// Links the partners that an object kept while it was deleted to it again, unless they are linked to another object.
  func reunite(_ object: ManagedObject) throws {
    for relationship in info(of: object).allRelationships {
      guard let inverse = runtime.inverse(of: relationship) else { continue }
      for key in presentPartners(of: object, relationship) {
        guard let partner = map[key], partner.isAlive else { continue }
        try prepareRecording(object, relationship, key)
        if inverse.isToMany {
          if !list(of: partner, inverse).contains(object._key) { linkEnd(partner, inverse, object._key) }
        } else {
          let taken = try partnerKey(of: partner, inverse)
          if taken == 0 { linkEnd(partner, inverse, object._key) }
          // The partner already shows the object, which is an unsaved change all the same.
          if taken == object._key { noteListChanged(partner) }
          if taken != 0 && taken != object._key { unlink(object, relationship, key) }
        }
      }
    }
  }

  /// Unlinks a partner that was deleted meanwhile, unless the delete rule is `noAction`.
  ///
  /// - Returns: whether the partner was unlinked.
  func unlinkLostPartner(_ object: ManagedObject, _ relationship: Relationship) throws -> Bool {
    let key = object._reference(relationship.property)
    guard key > 0, map[key] == nil, !relationship.isLeftAlone,
      try storedObject(key, entity: relationship.destination) == nil
    else { return false }
    unlink(object, relationship, key)
    return true
  }

  /// Unlinks objects, restored after a saved delete, from partners that were deleted meanwhile.
  func forgetLostPartners(of objects: [ManagedObject]) throws {
    for object in objects {
      for relationship in info(of: object).allRelationships {
        // References that the rule `noAction` left behind stay.
        if relationship.isLeftAlone { continue }
        let missing = presentPartners(of: object, relationship).filter { map[$0] == nil }
        if missing.isEmpty { continue }
        let found = try loadObjects(missing, entity: relationship.destination)
        let lost = Set(missing).subtracting(found.map(\._key))
        if relationship.isToMany {
          list(of: object, relationship).forget(lost)
        } else {
          for key in lost { unlink(object, relationship, key) }
        }
      }
    }
  }
}
