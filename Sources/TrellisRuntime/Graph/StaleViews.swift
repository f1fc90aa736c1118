import TrellisModel
import TrellisStorage

/// Invalidates the lists and partners of objects that depend on other rows and on join tables, after these have changed
/// elsewhere. Unchanged parts are read again when they are next used; changes of this context are kept and reapplied to
/// what is read.
extension ObjectGraph {
  /// Invalidates all to-manys of a saved object, and its to-ones that are stored in the partners' rows.
  func forgetViews(of owner: ManagedObject) { forgetViews(of: owner, comparingPairs: true) }

  /// - Parameter comparesPairs: Whether noted pairs are dropped if the partners show that the store has not changed.
  ///   This is false for an object whose delete is reverted, since its partners are linked again after this.
  func forgetViews(of owner: ManagedObject, comparingPairs comparesPairs: Bool) {
    guard owner.hasLinkNotes, invalidatesNow(owner) else { return }
    for list in owner.lists {
      guard let relationship = relationship(list.property, of: owner) else { continue }
      forgetList(list, of: owner, relationship, comparingPairs: comparesPairs)
    }
    owner.removeLists { list in
      !list.hasChanges && relationship(list.property, of: owner)?.isTransient != true
    }
    for entry in owner.partners {
      guard let relationship = relationship(entry.property, of: owner) else { continue }
      forgetPartner(entry.key, of: owner, relationship)
    }
  }

  /// The partners that the object's row refers to or referred to, with their relationships that show the object.
  func partnersInRow(of object: ManagedObject) -> [(partner: ManagedObject, relationship: Relationship)] {
    guard !object.accessFlags.contains(.fault) else { return [] }
    var partners: [(partner: ManagedObject, relationship: Relationship)] = []
    for relationship in info(of: object).allRelationships where relationship.isColumn {
      guard let inverse = runtime.inverse(of: relationship) else { continue }
      var keys: Set<Int64> = [object._reference(relationship.property)]
      if case .integer(let former)? = object.committedRow?.value(relationship.property) { keys.insert(former) }
      for key in keys where key > 0 { if let partner = map[key] { partners.append((partner, inverse)) } }
    }
    return partners
  }

  func forgetViews(of partners: [(partner: ManagedObject, relationship: Relationship)]) {
    for (partner, relationship) in partners { forgetView(relationship, of: partner) }
  }

  /// Invalidates the former and present partners' view of an object whose row was changed by another context.
  func forgetViews(of object: ManagedObject, _ before: [(relationship: Relationship, key: Int64)]) {
    for (relationship, former) in before {
      let present = object._reference(relationship.property)
      guard former != present, let inverse = runtime.inverse(of: relationship) else { continue }
      for key in [former, present] where key > 0 {
        guard let partner = map[key] else { continue }
        if partner.phase == .inserted && !inverse.isColumn {
          key == present ? show(object._key, at: partner, inverse) : drop(object._key, from: partner, inverse)
        } else {
          forgetView(inverse, of: partner)
        }
      }
    }
  }

  /// Makes a new object no longer show a partner, whose row refers to another object now.
  private func drop(_ key: Int64, from owner: ManagedObject, _ relationship: Relationship) {
    if relationship.isToMany {
      guard let list = owner.list(of: relationship.property), list.contains(key) else { return }
      owner.announce(relationship.property)
      list.forget([key])
    } else if owner.notedPartner(of: relationship.property) == key {
      owner.announce(relationship.property)
      owner.setPartner(of: relationship.property, 0)
    }
  }

  /// Makes the partners of an object show the reference of its row in this context, although the store has another one.
  func showAtPartner(_ object: ManagedObject, _ relationship: Relationship, insteadOf stored: Int64) {
    guard let inverse = runtime.inverse(of: relationship), !inverse.isColumn else { return }
    if let former = map[stored], former.isAlive {
      if !inverse.isToMany {
        if former.notedPartner(of: inverse.property) == object._key { former.setPartner(of: inverse.property, 0) }
      } else if let list = former.list(of: inverse.property), list.contains(object._key) {
        former.announce(inverse.property)
        list.remove(object._key)
      }
    }
    guard let partner = map[object._reference(relationship.property)], partner.isAlive else { return }
    show(object._key, at: partner, inverse)
  }

  /// Makes an object show a partner whose row holds the reference.
  func show(_ key: Int64, at owner: ManagedObject, _ relationship: Relationship) {
    if relationship.isToMany {
      let list = list(of: owner, relationship)
      if list.contains(key) { return }
      owner.announce(relationship.property)
      list.include(key)
    } else {
      if owner.notedPartner(of: relationship.property) == key { return }
      owner.announce(relationship.property)
      owner.setPartner(of: relationship.property, key)
    }
    noteListChanged(owner)
  }

  /// Removes objects that are deleted in the store from all to-manys in join tables that show them.
  ///
  /// - Parameter entities: The entities of these objects; nil if any.
  /// - Complexity: linear in the number of objects in memory, if such a to-many was ever used.
  func forgetStoredMembers(_ gone: Set<Int64>, of entities: Set<Int>?) {
    // An object that an undo has brought back is new here, and is a member again where the undo has made it one.
    let gone = gone.filter { map[$0]?.phase != .inserted }
    if gone.isEmpty { return }
    let shown = listed.compactMap(runtime.relationship).filter { relationship in
      guard let entities else { return true }
      return entities.contains(where: runtime.info(relationship.destination).entity.subtree.contains)
    }
    if shown.isEmpty { return }
    map.forEach { owner in
      guard owner.hasLists else { return }
      for list in owner.lists {
        guard let relationship = relationship(list.property, of: owner), shown.contains(where: relationship.isSame)
        else { continue }
        guard gone.contains(where: list.shows) else { continue }
        owner.announce(list.property)
        backlog.lostMembers.formUnion(list.forgetStored(gone))
      }
    }
  }

  // MARK: One view

  /// Whether the lists and partners of an object are invalidated now. A deleted object is noted instead, so that they
  /// are invalidated when its delete is reverted.
  private func invalidatesNow(_ owner: ManagedObject) -> Bool {
    if owner.phase == .deleted { backlog.staleDeleted.insert(owner._key) }
    return owner.phase == .persistent
  }

  private func forgetView(_ relationship: Relationship, of owner: ManagedObject) {
    guard owner.hasLinkNotes, invalidatesNow(owner) else { return }
    if relationship.isToMany {
      if let list = owner.list(of: relationship.property) { forgetList(list, of: owner, relationship) }
    } else if let key = owner.notedPartner(of: relationship.property) {
      forgetPartner(key, of: owner, relationship)
    }
  }

  private func forgetList(
    _ list: MemberList, of owner: ManagedObject, _ relationship: Relationship,
    comparingPairs comparesPairs: Bool = true
  ) {
    if relationship.isTransient { return }
    owner.announce(relationship.property)
    unload(list, of: owner, relationship, keepingOrder: true)
    if comparesPairs && relationship.isJoined { dropNotesOfUnchangedPairs(list, of: owner, relationship) }
    // A list that equalled the store may contain a member whose row was set in this context.
    if list.hasChanges { noteListChanged(owner) }
  }

  /// Unloads a to-many, so that it only holds the changes of this context.
  func unload(
    _ list: MemberList, of owner: ManagedObject, _ relationship: Relationship, keepingOrder keepsOrder: Bool
  ) {
    let wasLoaded = list.isLoaded
    let inverse = relationship.home == .inverseColumn ? runtime.inverse(of: relationship) : nil
    list.unload(keepingOrder: keepsOrder) { key in
      guard let inverse, let member = map[key] else { return false }
      return member.hasOwnReference(inverse)
    }
    if list.arrangement != nil { hasArrangements = true }
    if relationship.isJoined && !deleted.isEmpty {
      // Deleted members that the store still has are found again when the list is loaded.
      let victims = list.removed.filter { map[$0]?.phase == .deleted }
      if !victims.isEmpty { list.forgetRemoved(pending.deletions.dropLinks(of: owner, relationship, to: victims)) }
    }
    guard let inverse else { return }
    // The list follows the members' rows.
    list.keepNotes { key in
      guard let member = map[key], member.isAlive else { return false }
      // A member of an unloaded list may have been moved only, which its row does not record.
      if member.accessFlags.contains(.fault) { return !wasLoaded && keepsOrder }
      guard member._reference(inverse.property) == owner._key else { return false }
      return !wasLoaded && keepsOrder || member.hasOwnReference(inverse)
    } removed: {
      isTakenOut($0, of: owner, inverse)
    }
  }

  /// Drops noted pairs that equal the store. A list that is not loaded cannot distinguish a new pair from a stored one.
  /// If the other end can, and has no note of the pair, nothing has changed.
  private func dropNotesOfUnchangedPairs(
    _ list: MemberList, of owner: ManagedObject, _ relationship: Relationship
  ) {
    guard list.hasChanges, owner.phase != .inserted, let inverse = runtime.inverse(of: relationship) else { return }
    list.keepNotes { key in
      guard key != owner._key, let member = map[key] else { return key == owner._key }
      // The list of a new object is complete from the start, and a deleted object keeps its notes.
      if member.phase != .persistent { return true }
      if member.list(of: inverse.property)?.notes(adding: owner._key) == true { return true }
      list.noteOnlyMoved(key)
      if list.onlyMoves(key) { hasArrangements = true }
      return list.onlyMoves(key)
    } removed: { key in
      guard key != owner._key else { return true }
      guard let member = map[key] else { return deferredNote(of: key, inverse, removing: owner._key) }
      if member.phase != .persistent { return true }
      return member.list(of: inverse.property)?.notes(removing: owner._key) == true
    }
  }

  /// Whether the list of an object that is not in memory notes that a member was removed.
  private func deferredNote(of owner: Int64, _ relationship: Relationship, removing key: Int64) -> Bool {
    pending.deferredLists.lists[DeferredMemberLists.ID(owner, relationship)]?.notes(removing: key) == true
  }

  /// Drops the notes of a to-many that contradict the members' rows, which are authoritative.
  ///
  /// - Parameter stored: The members in the store.
  func checkNotes(
    _ list: MemberList, of owner: ManagedObject, _ relationship: Relationship, _ stored: ContiguousArray<Int64>
  ) {
    guard !list.isLoaded, list.hasChanges, relationship.home == .inverseColumn,
      let inverse = runtime.inverse(of: relationship)
    else { return }
    let stored = Set(stored)
    list.keepNotes { key in
      let member = map[key]
      guard member?.isAlive == true || isDeleted(key, with: owner) else { return false }
      // A new object is not registered any more once it is deleted.
      guard let member else { return true }
      if member.accessFlags.contains(.fault) { return stored.contains(key) }
      return member._reference(inverse.property) == owner._key
        && (stored.contains(key) || member.hasOwnReference(inverse))
    } removed: {
      isTakenOut($0, of: owner, inverse)
    }
  }

  /// Whether one delete has deleted both a member and its owner, which stay linked to each other.
  private func isDeleted(_ member: Int64, with owner: ManagedObject) -> Bool {
    owner.phase == .deleted
      && pending.deletions.closures.contains { $0.keys.contains(owner._key) && $0.keys.contains(member) }
  }

  private func isTakenOut(_ key: Int64, of owner: ManagedObject, _ inverse: Relationship) -> Bool {
    guard let member = map[key], !member.accessFlags.contains(.fault) else { return false }
    return member.phase == .deleted || member._reference(inverse.property) != owner._key
  }

  /// Invalidates a to-one partner. A partner whose row was set to the object in this context is kept, also if it is
  /// deleted here: it gives up its reference when the object is linked elsewhere. Once it is unlinked, the store is read.
  private func forgetPartner(_ key: Int64, of owner: ManagedObject, _ relationship: Relationship) {
    guard !relationship.isTransient, let inverse = runtime.inverse(of: relationship) else { return }
    if key > 0, let partner = map[key], !partner.accessFlags.contains(.fault),
      partner._reference(inverse.property) == owner._key, partner.hasOwnReference(inverse)
    {
      noteContestedPartner(owner, relationship)
      return
    }
    owner.announce(relationship.property)
    owner.removePartners { $0.property == relationship.property }
  }
}

extension ObjectGraph {
  /// Notes that another context has given an object another partner, while the former partner's reference was set in
  /// this context.
  func noteContestedHalves(of object: ManagedObject, _ before: [(relationship: Relationship, key: Int64)]) {
    for (relationship, former) in before where relationship.isOwnInverse {
      guard former > 0, former != object._key, former != object._reference(relationship.property),
        let partner = map[former], partner.isAlive, partner._reference(relationship.property) == object._key
      else { continue }
      backlog.contestedHalves[ContestedPartner(owner: object._key, property: relationship.property)] = former
    }
  }

  /// Notes the partners of an unedited object whose references to it were set in this context, before its row is read
  /// again.
  func noteContestedHalves(of object: ManagedObject) {
    guard !object.accessFlags.contains(.fault) else { return }
    for relationship in info(of: object).allRelationships where relationship.isOwnInverse && relationship.isColumn {
      let key = object._reference(relationship.property)
      guard key > 0, key != object._key, let partner = map[key], partner.isAlive,
        partner._reference(relationship.property) == object._key, partner.hasOwnReference(relationship)
      else { continue }
      backlog.contestedHalves[ContestedPartner(owner: object._key, property: relationship.property)] = key
    }
  }

  /// Unlinks the former partner whose reference still leads to an object, when the object is given another partner in
  /// this context.
  func releaseContestedHalf(of object: ManagedObject, _ relationship: Relationship) {
    let place = ContestedPartner(owner: object._key, property: relationship.property)
    guard let former = backlog.contestedHalves.removeValue(forKey: place), let partner = map[former],
      partner.phase == .persistent, partner !== object, former != object._reference(relationship.property)
    else { return }
    unlink(partner, relationship, object._key)
  }

  /// Notes that the store may have another partner of a to-one than this context.
  func noteContestedPartner(_ owner: ManagedObject, _ relationship: Relationship) {
    if relationship.isToMany || relationship.isColumn { return }
    backlog.contestedPartners.insert(ContestedPartner(owner: owner._key, property: relationship.property))
  }

  /// Whether the store has to be read for the partner of a to-one when the one in this context is unlinked.
  func isContested(_ owner: ManagedObject, _ relationship: Relationship) -> Bool {
    if backlog.contestedPartners.isEmpty { return false }
    return backlog.contestedPartners.contains(ContestedPartner(owner: owner._key, property: relationship.property))
  }

  /// The keys of a to-many's members, without those that were added in this context and deleted by another one since.
  /// These stay in the list, so that a save reports the conflict.
  func shownKeys(_ list: MemberList) -> ContiguousArray<Int64> {
    let lost = backlog.lostMembers
    return lost.isEmpty ? list.keys : list.keys.filter { !lost.contains($0) || map[$0]?.isAlive == true }
  }

  /// Whether a key is among the ``shownKeys(_:)`` of a to-many.
  func shows(_ key: Int64, in list: MemberList) -> Bool {
    guard list.contains(key) else { return false }
    return !backlog.lostMembers.contains(key) || map[key]?.isAlive == true
  }
}

extension ManagedObject {
  /// Whether a reference in the object's row was set in this context since it was last read or saved.
  final func hasOwnReference(_ reference: Relationship) -> Bool {
    if phase == .inserted { return true }
    guard changedBits & ColumnMask.bit(of: reference.property) != 0, let committed = committedRow else {
      return false
    }
    return !_value(reference.property).isSame(as: committed.value(reference.property))
  }
}

extension ManagedObject {
  /// Whether the object's own row was changed in this context, or pairs were added to it.
  ///
  /// Removed and moved pairs are no change of an object that is deleted, and members that hold the reference are
  /// changes of their own rows. A fault has none either: its values can no longer be read, so it cannot stay.
  final var hasChangesOfItsOwn: Bool {
    guard let graph = link.graph, !accessFlags.contains(.fault) else { return false }
    if isEdited { return true }
    return lists.contains { list in
      guard let relationship = graph.relationship(list.property, of: self), relationship.home != .inverseColumn else {
        return false
      }
      let list = graph.list(of: self, relationship)
      return list.difference.added.contains { !list.onlyMoves($0) }
    }
  }
}

extension MemberList {
  /// Whether the list notes that a member was added since the last save.
  func notes(adding key: Int64) -> Bool {
    guard contains(key) else { return false }
    return !isLoaded || committed?.contains(key) == false
  }

  /// Whether the list notes that a member of the store was removed since the last save.
  func notes(removing key: Int64) -> Bool { hasLost(key) }

  /// Whether the list contains a key or notes it as removed.
  func shows(_ key: Int64) -> Bool { contains(key) || removed.contains(key) }
}
