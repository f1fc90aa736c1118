import TrellisModel
import TrellisStorage

/// One save of a child. The changes are applied to the parent through the same functions as all of its changes, so the
/// other ends of relationships, observers and the undo history follow.
struct ChildSave {
  /// An object of the child, the same object of the parent, and the stored properties that are passed up.
  private struct Pair {
    let object: ManagedObject
    let twin: ManagedObject
    let properties: [Int]
    /// Whether all properties are passed up, not only the changed ones.
    let isWhole: Bool
  }

  private let connection: ParentConnection
  private let child: ObjectGraph
  private let parent: ObjectGraph
  private let inserted: [ManagedObject]
  private let updated: [ManagedObject]
  private let deleted: [ManagedObject]

  /// Loads everything needed, so that few errors are possible later.
  ///
  /// - Throws: ``StoreError`` with the code `danglingReference` if a reference leads to an object that the parent has
  ///   deleted.
  init(
    _ request: SaveRequest, from child: ObjectGraph, through connection: ParentConnection
  ) throws {
    self.child = child
    self.connection = connection
    parent = connection.parent
    inserted = request.inserts.flatMap(\.records).compactMap { $0 as? ManagedObject }
    updated = request.updates.flatMap(\.records).compactMap { $0 as? ManagedObject }
    deleted = Array(child.deleted)
    try checkPartners()
  }

  func carryOut() throws {
    try bringBack()
    // What was new when it was deleted in the parent comes with its own members.
    if !parent.pending.deadTargets.keys.isEmpty { parent.forgetDeadMembers(Set(inserted.map(\._key))) }
    let pairs = try inserted.map(insert) + updated.compactMap(pair)
    for pair in pairs { setValues(pair) }
    for pair in pairs { try setPartners(pair) }
    let lists = try changedLists()
    for list in lists { try list.link(in: parent) }
    for list in lists { try list.arrange(in: parent) }
    try delete()
  }

  // MARK: Before

  private func checkPartners() throws {
    var wanted: [Int: Set<Int64>] = [:]
    // The targets of references that may outlive them. They are loaded if they exist.
    var left: [Int: Set<Int64>] = [:]
    for object in inserted + updated {
      let changed = Set(object.changedNumbers)
      for relationship in child.info(of: object).allRelationships where relationship.isColumn {
        guard object.phase == .inserted || changed.contains(relationship.property) else { continue }
        let key = object._reference(relationship.property)
        if relationship.isLeftAlone {
          if key > 0 { left[relationship.destination, default: []].insert(key) }
        } else {
          wanted[relationship.destination, default: []].insert(key)
        }
      }
    }
    for owner in child.inserted + child.changed where owner.isAlive {
      for list in owner.lists {
        guard let relationship = child.relationship(list.property, of: owner), relationship.isJoined else { continue }
        let added = owner.phase == .inserted ? Array(list.keys) : list.difference.added
        wanted[relationship.destination, default: []].formUnion(added)
      }
    }
    for (entity, keys) in left.sortedByKey { _ = try connection.objects(keys.sorted(), of: entity) }
    for (entity, keys) in wanted.sortedByKey { try check(keys, entity) }
  }

  private func check(_ keys: Set<Int64>, _ entity: Int) throws {
    let known = keys.filter { $0 > 0 && child.map[$0]?.phase != .inserted }.sorted()
    guard try connection.objects(known, of: entity).count < known.count else { return }
    throw StoreError(
      .danglingReference, "A change of a child context leads to an object that its parent has deleted.",
      remedy: "Roll back the child, or give the object another partner.",
      entity: parent.runtime.info(entity).name)
  }

  // MARK: Objects

  /// Restores objects that are deleted in the parent and restored in the child. The other objects of the same delete
  /// return with them and are deleted again.
  private func bringBack() throws {
    let gone = inserted.compactMap { parent.map[$0._key] }.filter { $0.phase == .deleted }
    guard !gone.isEmpty else { return }
    let victims = parent.pending.deletions.closures.flatMap(\.victims).map(\.object).filter { !$0.isAlive }
    for object in gone where object.phase == .deleted { parent.undelete(object) }
    let wanted = Set(inserted.map(\._key))
    try parent.deleteAll(
      victims.filter { $0.isAlive && !wanted.contains($0._key) }, callsHooks: false, sparing: wanted)
    // What stays deleted was deleted together with what returns, and is no partner of it in the child.
    for victim in parent.deleted where !victim.isAlive { loosen(victim, from: wanted) }
  }

  /// Clears references of a deleted object, which would make returned objects deny its delete.
  private func loosen(_ victim: ManagedObject, from returned: Set<Int64>) {
    for relationship in parent.info(of: victim).allRelationships
    where relationship.isColumn && relationship.deleteAction == .refuse {
      let key = victim._reference(relationship.property)
      if returned.contains(key) { parent.unlink(victim, relationship, key) }
    }
  }

  /// Creates the parent's object for a new object of the child. An object that was restored in the child may still
  /// exist in the parent.
  private func insert(_ object: ManagedObject) throws -> Pair {
    let info = child.info(of: object)
    let properties = info.entity.storedProperties
    if connection.seen.contains(object._key),
      let known = try connection.objects([object._key], of: info.number).first
    {
      return Pair(object: object, twin: known, properties: properties, isWhole: true)
    }
    let made = info.type.init(connection.show(object, in: child, version: 0), in: parent.link)
    made.state.becomeInserted(changed: object.changedBits)
    // The references are set later, with their other ends.
    for relationship in info.allRelationships where relationship.isColumn {
      made._setReference(relationship.property, 0)
      made._setPlace(relationship.property, nil)
    }
    parent.registerInserted(made)
    // An object that is inserted again after its delete was saved here.
    if child.backlog.returning.contains(object._key) {
      try parent.showReferencesLeft(to: made)
      // The parent's own parent has to show them as well.
      parent.backlog.returning.insert(object._key)
    }
    return Pair(
      object: object, twin: made, properties: properties.filter { info.relationships[$0] != nil }, isWhole: true)
  }

  private func pair(_ object: ManagedObject) -> Pair? {
    parent.map[object._key].map {
      Pair(object: object, twin: $0, properties: object.changedNumbers, isWhole: false)
    }
  }

  private func setValues(_ pair: Pair) {
    let relationships = parent.info(of: pair.twin).relationships
    let attributes = pair.properties.filter { relationships[$0] == nil }
    guard !attributes.isEmpty else { return }
    pair.twin.willChangeValues()
    for attribute in attributes { pair.twin.announce(attribute) }
    let row = pair.object._copyRow()
    for mask in ColumnMask.masks(of: attributes) {
      pair.twin._restore(mask, from: row)
      pair.twin.state.markAssigned(mask.bits)
    }
  }

  private func setPartners(_ pair: Pair) throws {
    let twin = pair.twin
    for property in pair.properties {
      guard let relationship = parent.relationship(property, of: twin) else { continue }
      let (wanted, present) = (pair.object._reference(property), try parent.partnerKey(of: twin, relationship))
      if wanted == present { continue }
      if wanted <= 0 {
        try parent.prepareAndDisconnect(twin, relationship, present)
      } else if let partner = parent.map[wanted], partner.isAlive {
        try parent.prepareAndConnect(twin, relationship, partner)
      } else {
        if present > 0 { try parent.prepareAndDisconnect(twin, relationship, present) }
        // The object is a member again if its owner is restored.
        parent.setReference(of: twin, relationship, to: wanted)
      }
    }
  }

  /// Deletes objects. Their changed links are merged first, because the delete must not affect partners that an object
  /// lost before. Objects that one call has deleted in the child are deleted by one call, so that each delete is
  /// reverted by itself.
  private func delete() throws {
    let pairs = deleted.compactMap(pair)
    for pair in pairs { try unlink(pair) }
    for list in try changedLists(of: deleted) { try list.link(in: parent) }
    var twins = Dictionary(pairs.map { ($0.twin._key, $0.twin) }) { first, _ in first }
    for closure in child.pending.deletions.closures {
      try parent.deleteAll(
        closure.victims.compactMap { twins.removeValue(forKey: $0.object._key) }, callsHooks: false)
    }
    try parent.deleteAll(pairs.map(\.twin).filter { twins[$0._key] != nil }, callsHooks: false)
  }

  private func unlink(_ pair: Pair) throws {
    for property in pair.properties {
      guard let relationship = parent.relationship(property, of: pair.twin) else { continue }
      let present = try parent.partnerKey(of: pair.twin, relationship)
      if present > 0 && present != pair.object._reference(property) {
        try parent.prepareAndDisconnect(pair.twin, relationship, present)
      }
    }
  }

  // MARK: To-manys

  private func changedLists() throws -> [ChildListMerge] {
    var lists = try changedLists(of: (child.inserted + child.changed).filter(\.isAlive))
    for (id, list) in child.pending.deferredLists.lists {
      guard let relationship = parent.runtime.info(id.entity).relationships[id.property],
        let twin = try connection.objects([id.owner], of: id.entity).first
      else { continue }
      lists.append(try ChildListMerge(list, of: twin, relationship, isNew: false, in: parent))
    }
    return lists
  }

  private func changedLists(of owners: [ManagedObject]) throws -> [ChildListMerge] {
    var lists: [ChildListMerge] = []
    for owner in owners {
      guard let twin = parent.map[owner._key], twin.isAlive else { continue }
      for list in owner.lists where list.hasChanges || owner.phase == .inserted {
        guard let relationship = parent.relationship(list.property, of: twin), !relationship.isTransient else {
          continue
        }
        lists.append(
          try ChildListMerge(list, of: twin, relationship, isNew: owner.phase == .inserted, in: parent))
      }
    }
    return lists
  }
}

// MARK: - Child list merge

/// The changes of one to-many relationship in a child, applied to the same relationship in the parent.
struct ChildListMerge {
  private let list: MemberList
  private let owner: ManagedObject
  private let relationship: Relationship
  private let isNew: Bool
  /// The members in the parent, if the list of the child cannot tell which of its members the parent has; otherwise nil.
  private let former: Set<Int64>?

  /// - Parameters:
  ///   - list: The list of the child.
  ///   - owner: The object of the parent.
  ///   - isNew: Whether the owner is new in the child.
  ///   - parent: The parent, before any list is linked in it: links add members at their other ends.
  init(
    _ list: MemberList, of owner: ManagedObject, _ relationship: Relationship, isNew: Bool, in parent: ObjectGraph
  ) throws {
    self.list = list
    self.owner = owner
    self.relationship = relationship
    self.isNew = isNew
    let needsFormer = relationship.isOrdered && relationship.isJoined && !list.isLoaded && !list.keys.isEmpty
    former = needsFormer ? Set(try parent.loadedList(of: owner, relationship).keys) : nil
  }

  /// Adds and removes the members that were added and removed in the child. Members that the parent has added or
  /// removed meanwhile stay as they are there.
  func link(in parent: ObjectGraph) throws {
    // Where members hold the reference, setting it has linked them already, except those of a new owner that was
    // deleted in the parent.
    guard relationship.isJoined else { return isNew ? try showMembersLeft(in: parent) : () }
    let present = try parent.loadedList(of: owner, relationship)
    let difference = isNew ? whole(beside: present) : list.difference
    for key in difference.removed where present.contains(key) {
      try parent.prepareAndDisconnect(owner, relationship, key)
    }
    for key in difference.added where !present.contains(key) {
      guard let member = parent.map[key], member.isAlive else { continue }
      try parent.prepareAndConnect(owner, relationship, member)
    }
  }

  private func showMembersLeft(in parent: ObjectGraph) throws {
    guard let inverse = parent.runtime.inverse(of: relationship), inverse.isColumn, relationship.isToMany else {
      return
    }
    for key in list.keys {
      guard let member = parent.map[key], member.isAlive, parent.knownReference(of: member, inverse) == owner._key,
        !parent.list(of: owner, relationship).contains(key)
      else { continue }
      try parent.connect(owner, relationship, member)
    }
  }

  /// The changes that make the parent's list equal to the child's.
  private func whole(beside present: MemberList) -> (added: [Int64], removed: [Int64]) {
    let kept = Set(list.keys)
    return (Array(list.keys), present.keys.filter { !kept.contains($0) })
  }

  /// Places members that were moved in the child behind the same members as there. Members that are behind all others
  /// there stay so.
  func arrange(in parent: ObjectGraph) throws {
    guard relationship.isOrdered else { return }
    let present = try parent.loadedList(of: owner, relationship)
    parent.arrange(owner, relationship, merged(into: present.keys))
  }

  private func merged(into present: ContiguousArray<Int64>) -> [Int64] {
    let moved = moved
    if list.isLoaded && Set(present) == Set(list.keys) && (isNew || isSameOrder(present, without: moved)) {
      return Array(list.keys)
    }
    let isPresent = Set(present)
    guard list.isLoaded else {
      return present.filter { !moved.contains($0) } + list.keys.filter { moved.contains($0) && isPresent.contains($0) }
    }
    return Array(MemberOrder.merged(moved, as: ContiguousArray(list.keys.filter(isPresent.contains)), into: present))
  }

  /// The members that the child has moved. The other members keep the order that the child has read.
  private var moved: Set<Int64> {
    guard list.isLoaded else {
      return Set(list.tail.filter { $0.isMoved || former?.contains($0.key) == false }.map(\.key))
    }
    return isNew ? Set(list.keys) : list.placedOrAdded
  }

  /// Whether the members that the child has not moved have the same order in the parent as in the child.
  private func isSameOrder(_ present: ContiguousArray<Int64>, without moved: Set<Int64>) -> Bool {
    present.filter { !moved.contains($0) } == list.keys.filter { !moved.contains($0) }
  }
}
