import TrellisModel
import TrellisStorage

/// Drops what was read of relationships, after other contexts have changed it. It is read again when it is next used;
/// changes of this context stay.
extension ObjectGraph {
  /// Drops all to-manys of a saved object that were read, and its to-ones that are stored in the partners' rows.
  func forgetViews(of owner: ManagedObject) {
    guard owner.hasLinkNotes, invalidatesNow(owner) else { return }
    for list in owner.lists {
      guard let relationship = relationship(list.property, of: owner) else { continue }
      forgetList(list, of: owner, relationship)
    }
    owner.removeLists { list in
      !list.hasChanges && relationship(list.property, of: owner)?.isTransient != true
    }
    forgetPartners(of: owner)
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
        guard gone.contains(where: { list.holds($0) || list.hasLost($0) }) else { continue }
        owner.announce(list.property)
        backlog.lostMembers.formUnion(list.forgetStored(gone))
      }
    }
  }

  /// Removes deleted objects from every list and to-one that shows them, including those added in this context.
  ///
  /// - Complexity: linear in the number of objects in memory.
  func forgetMembers(_ gone: Set<Int64>) {
    if gone.isEmpty { return }
    map.forEach { owner in
      guard owner.hasLinkNotes else { return }
      for list in owner.lists where gone.contains(where: { list.holds($0) || list.hasLost($0) }) {
        owner.announce(list.property)
        list.forget(gone)
      }
      for entry in owner.partners where gone.contains(entry.stored) || gone.contains(entry.given) {
        owner.announce(entry.property)
        owner.changePartner(of: entry.property) { partner in
          if gone.contains(partner.stored) { partner.stored = -1 }
          if gone.contains(partner.given) { partner.given = 0 }
        }
      }
    }
  }

  /// Removes the pairs of a deleted object from its partners, including pairs that were added in this context.
  func forgetPairs(of object: ManagedObject) {
    for list in object.lists {
      guard let relationship = relationship(list.property, of: object), relationship.isJoined,
        let inverse = runtime.inverse(of: relationship)
      else { continue }
      for key in list.keys {
        guard let partner = map[key], let list = partner.list(of: inverse.property), list.contains(object._key)
        else { continue }
        partner.announce(inverse.property)
        list.forget([object._key])
      }
    }
  }

  /// Clears references of objects in memory, after the store has cleared them in its rows without increasing the row
  /// versions.
  func forgetReferences(to keys: Set<Int64>, _ references: [Relationship]) {
    map.forEach { holder in
      guard !holder.accessFlags.contains(.fault) else { return }
      for reference in references where info(of: holder).relationships.contains(reference) {
        guard keys.contains(holder._reference(reference.property)), !holder.hasOwnReference(reference) else { continue }
        holder.announce(reference.property)
        holder._setReference(reference.property, 0)
      }
      // A row that another context has written as well is compared with the row that was read.
      guard let committed = holder.committedRow, !backlog.contains(holder._key) else { return }
      let stale = references.filter { reference in
        info(of: holder).relationships.contains(reference) && keys.contains(committed.value(reference.property).key)
      }
      if !stale.isEmpty { holder.setCommittedReferences(stale) { _ in 0 } }
    }
  }

  // MARK: One view

  /// Whether the lists and partners of an object are dropped now. A deleted object is noted instead, so that they are
  /// dropped when its delete is reverted.
  private func invalidatesNow(_ owner: ManagedObject) -> Bool {
    if owner.phase == .deleted { backlog.staleDeleted.insert(owner._key) }
    return owner.phase == .persistent
  }

  private func forgetView(_ relationship: Relationship, of owner: ManagedObject) {
    guard owner.hasLinkNotes, invalidatesNow(owner) else { return }
    if relationship.isToMany {
      if let list = owner.list(of: relationship.property) { forgetList(list, of: owner, relationship) }
    } else {
      forgetPartner(of: owner, relationship)
    }
  }

  private func forgetList(_ list: MemberList, of owner: ManagedObject, _ relationship: Relationship) {
    if relationship.isTransient { return }
    owner.announce(relationship.property)
    unload(list, of: owner, relationship, keepingOrder: true)
    // A list that equalled the store may contain a member whose row was set in this context.
    if list.hasChanges { noteListChanged(owner) }
  }

  /// Drops the members of a to-many that were read, so that it only holds the changes of this context.
  func unload(
    _ list: MemberList, of owner: ManagedObject, _ relationship: Relationship, keepingOrder keepsOrder: Bool
  ) {
    let inverse = relationship.home == .inverseColumn ? runtime.inverse(of: relationship) : nil
    list.unload(keepingOrder: keepsOrder) { key in
      guard let inverse, let member = map[key], !member.accessFlags.contains(.fault) else { return false }
      return member.hasOwnReference(inverse) && member._reference(inverse.property) == owner._key
    }
    if list.isReordered { hasArrangements = true }
  }

  /// Drops the partners of to-ones that were read.
  func forgetPartners(of owner: ManagedObject) {
    for entry in owner.partners {
      if let relationship = relationship(entry.property, of: owner) { forgetPartner(of: owner, relationship) }
    }
  }

  /// Drops the partner of a to-one that was read. A partner whose row was set to the object in this context stays.
  private func forgetPartner(of owner: ManagedObject, _ relationship: Relationship) {
    if relationship.isTransient { return }
    owner.announce(relationship.property)
    owner.changePartner(of: relationship.property) { $0.stored = -1 }
    let inverse = runtime.inverse(of: relationship)
    owner.removePartners { entry in
      guard entry.property == relationship.property else { return false }
      guard let inverse, let holder = map[entry.given], !holder.accessFlags.contains(.fault) else { return true }
      return holder._reference(inverse.property) != owner._key
    }
  }
}

extension ObjectGraph {
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
      return !graph.list(of: self, relationship).difference.added.isEmpty
    }
  }
}
