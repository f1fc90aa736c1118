import TrellisModel
import TrellisStorage

/// The objects that one call of delete has deleted, and the links that it has removed, so that it can be reverted as a
/// whole.
struct DeletedClosure {
  struct Victim {
    let object: ManagedObject
    let wasInserted: Bool
  }

  /// One end of a relationship that was unlinked from a victim.
  struct Link {
    let owner: ManagedObject
    let relationship: RelationshipInfo
    let victim: Int64
    /// What a to-many held of the victim before.
    let trace: MemberTrace?
    /// The list of a to-many that was found only later to contain the victim. Once the list is dropped, the store tells
    /// whether the victim is a member.
    var list: MemberList?

    /// Whether the owner still has the list that this was noted of.
    var isCurrent: Bool { list == nil || owner.extras?.list(relationship.property) === list }
  }

  private(set) var victims: [Victim] = []
  private(set) var keys: Set<Int64> = []
  private(set) var links: [Link] = []
  /// The cascades that the store carries out with this delete.
  var cascades: [PendingCascade] = []

  init(_ objects: [ManagedObject] = []) { add(objects) }

  /// Adds objects that are about to be deleted.
  mutating func add(_ objects: [ManagedObject]) {
    keys.formUnion(objects.lazy.map(\._key))
    victims += objects.map { Victim(object: $0, wasInserted: $0.phase == .inserted) }
  }

  /// Notes that a partner is about to be unlinked from a victim.
  mutating func note(_ link: Link) { links.append(link) }

  mutating func removeLinks(where isRemoved: (Link) -> Bool) { links.removeAll(where: isRemoved) }
}

/// The unsaved deletes of a context.
struct PendingDeletes {
  var closures: [DeletedClosure] = []
  /// Whether any delete leaves a cascade to the store.
  private(set) var hasCascades = false

  /// Updates ``hasCascades``, after closures or their cascades have changed.
  mutating func noteCascades() { hasCascades = closures.contains { !$0.cascades.isEmpty } }

  mutating func add(_ closure: DeletedClosure) {
    closures.append(closure)
    if !closure.cascades.isEmpty { hasCascades = true }
  }
  /// The to-manys that were found only later to contain a victim, by the key of the victim.
  private var late: [Int64: [DeletedClosure.Link]] = [:]

  /// Notes a list that was not known at the delete and that would show the victim if it were not deleted.
  ///
  /// - Parameter order: The members including the deleted ones, for the position to which the victim returns.
  mutating func noteLate(
    _ owner: ManagedObject, _ relationship: RelationshipInfo, _ victim: Int64,
    in order: ContiguousArray<Int64>
  ) {
    late[victim, default: []].append(
      DeletedClosure.Link(
        owner: owner, relationship: relationship, victim: victim, trace: MemberTrace(ofDeleted: victim, in: order),
        list: owner.extras?.list(relationship.property)))
  }

  /// Drops the links of a to-many to victims, since its members are read from the store again.
  ///
  /// - Parameter victims: Members in the store that the list notes as removed.
  /// - Returns: the victims that were removed by a delete.
  mutating func dropLinks(
    of owner: ManagedObject, _ relationship: RelationshipInfo, to victims: Set<Int64>
  ) -> Set<Int64> {
    var dropped: Set<Int64> = []
    func isDropped(_ link: DeletedClosure.Link) -> Bool {
      guard link.owner === owner, victims.contains(link.victim), link.relationship.isSame(as: relationship),
        let trace = link.trace, trace.wasLoaded || trace.place == nil
      else { return false }
      dropped.insert(link.victim)
      return true
    }
    for index in closures.indices where !closures[index].keys.isDisjoint(with: victims) {
      closures[index].removeLinks(where: isDropped)
    }
    for victim in victims { late[victim]?.removeAll(where: isDropped) }
    return dropped
  }

  /// Removes the links that were noted late, because the victim's delete is being reverted.
  ///
  /// - Returns: these links.
  mutating func takeLate(_ victim: Int64) -> [DeletedClosure.Link] {
    late.isEmpty ? [] : (late.removeValue(forKey: victim) ?? []).filter(\.isCurrent)
  }
}

extension ObjectGraph {
  /// The link of one end in its present state.
  func link(_ owner: ManagedObject, _ relationship: RelationshipInfo, _ victim: Int64) -> DeletedClosure.Link {
    let trace =
      relationship.isToMany ? list(of: owner, relationship).trace(of: victim, isComing: false, saves: saveCount) : nil
    return DeletedClosure.Link(owner: owner, relationship: relationship, victim: victim, trace: trace)
  }
}

// MARK: - Deletion log

/// Deleted objects that one-way to-manys may still contain, in the order of their deletion.
///
/// The holders of a one-way reference to an object are not known. Each list therefore scans this log when it is next
/// used, from the position where it stopped last time.
struct DeletionLog {
  private(set) var keys: ContiguousArray<Int64> = []
  /// The number of keys whose delete is saved.
  private(set) var savedCount = 0
  /// The last position of each key, once any delete was reverted.
  private var places: [Int64: Int]?

  var count: Int { keys.count }

  mutating func add(_ key: Int64) {
    places?[key] = keys.count
    keys.append(key)
  }

  mutating func didSave() { savedCount = keys.count }

  /// Removes the keys whose delete is not saved. Their positions stay, since lists count them.
  mutating func rollBack() {
    for index in savedCount..<keys.count { keys[index] = 0 }
    savedCount = keys.count
  }

  /// Removes the keys of objects whose deletes were reverted, even if saved.
  ///
  /// - Complexity: linear in the number of these keys; in the number of all keys the first time.
  mutating func remove(_ back: Set<Int64>) {
    if keys.isEmpty { return }
    var known = places ?? [:]
    if places == nil { for (place, key) in keys.enumerated() { known[key] = place } }
    places = known
    for key in back { if let place = known[key] { keys[place] = 0 } }
  }
}

extension ObjectGraph {
  func logDeletion(_ victim: ManagedObject) {
    if info(of: victim).oneWayReferences.contains(where: { $0.relationship.isJoined }) {
      pending.deletionLog.add(victim._key)
    }
  }

  /// Removes the members of a one-way to-many that were deleted since it was last used. A deleted owner keeps them
  /// until its own delete is reverted.
  func dropDeleted(from list: MemberList, of owner: ManagedObject, _ relationship: RelationshipInfo) {
    guard list.seenGone < pending.deletionLog.count, owner.isAlive else { return }
    let unseen = list.seenGone..<pending.deletionLog.count
    let order = list.keys
    list.seenGone = pending.deletionLog.count
    for index in unseen where list.contains(pending.deletionLog.keys[index]) {
      if index < pending.deletionLog.savedCount {
        list.forget([pending.deletionLog.keys[index]])
      } else {
        let key = pending.deletionLog.keys[index]
        pending.deletions.noteLate(owner, relationship, key, in: order)
        list.remove(key)
        noteListChanged(owner)
      }
    }
  }

  /// Removes deleted objects from every one-way to-many that is about to be saved.
  func dropGoneFromChangedLists() {
    guard pending.deletionLog.savedCount < pending.deletionLog.count else { return }
    for object in inserted + changed where object.isAlive {
      for case let (property, list) in object.extras?.lists ?? [] {
        guard let relationship = relationship(property, of: object), relationship.inverse == nil else { continue }
        dropDeleted(from: list, of: object, relationship)
      }
    }
  }
}

// MARK: - One way references

extension ObjectGraph {
  /// Unlinks one-way relationships from victims. The store clears the references in its rows; references of changed and
  /// new objects are cleared immediately, because saving these would overwrite that. A required reference to a saved
  /// victim stays and denies the delete.
  ///
  /// - Parameter holders: The objects that may have such references.
  func unlinkOneWay(
    from victims: [ManagedObject], _ holders: some Sequence<ManagedObject>, noting closure: inout DeletedClosure
  ) {
    let references = oneWayReferences(to: victims)
    if references.isEmpty { return }
    let phases = Dictionary(victims.map { ($0._key, $0.phase) }) { first, _ in first }
    for object in holders where object.isAlive && !closure.keys.contains(object._key) {
      for reference in references where info(of: object).relationships.contains(reference) {
        for key in presentPartners(of: object, reference) {
          guard let phase = phases[key], !(reference.isRequired && phase == .persistent) else { continue }
          closure.note(link(object, reference, key))
          unlink(object, reference, key)
        }
      }
    }
  }

  /// Clears one-way references to deleted objects in memory, after the store has cleared them in its rows.
  func forgetOneWayReferences(to victims: [ManagedObject]) {
    let references = oneWayReferences(to: victims).filter(\.isColumn)
    if references.isEmpty { return }
    forgetReferences(to: Set(victims.map(\._key)), references)
  }

  /// Clears references of objects in memory, after the store has cleared them in its rows without increasing the row
  /// versions.
  func forgetReferences(to keys: Set<Int64>, _ references: [RelationshipInfo]) {
    map.forEach { holder in
      guard !holder.accessFlags.contains(.fault) else { return }
      for reference in references where info(of: holder).relationships.contains(reference) {
        guard keys.contains(holder._reference(reference.property)), !holder.hasOwnReference(reference) else { continue }
        holder.announce(reference.property)
        holder._setReference(reference.property, 0)
      }
    }
  }

  /// Notifies observers of references to deleted objects, which read as nil from now on although no row has changed.
  func announceReferences(to gone: Set<Int64>) {
    guard isObserving, !gone.isEmpty else { return }
    map.forEach { holder in
      guard !holder.accessFlags.contains(.fault) else { return }
      for relationship in info(of: holder).allRelationships where relationship.isColumn {
        if gone.contains(holder._reference(relationship.property)) { holder.announce(relationship.property) }
      }
    }
  }

  /// The one-way relationships that lead to the entities of these objects.
  func oneWayReferences(to victims: [ManagedObject]) -> [RelationshipInfo] {
    var found: [RelationshipInfo] = []
    for entity in Set(victims.map { type(of: $0)._entity }).sorted() {
      for reference in runtime.entities[entity].oneWayReferences
      where !found.contains(where: reference.relationship.isSame) {
        found.append(reference.relationship)
      }
    }
    return found
  }
}

extension [RelationshipInfo?] {
  /// Whether an entity has a relationship, declared or inherited.
  func contains(_ relationship: RelationshipInfo) -> Bool {
    indices.contains(relationship.property) && self[relationship.property]?.isSame(as: relationship) == true
  }
}

extension RelationshipInfo {
  /// A request for the objects whose one-way relationship contains any of these keys.
  func holders(of keys: [Int64]) -> StoreRequest {
    let values = keys.map { StoredValue.integer($0) }
    let path = PropertyPath(variable: 0).appending(property)
    guard isToMany else { return StoreRequest(entity: entity, predicate: .isIn(.path(path), values, .integer)) }
    let isVictim = QueryPredicate.isIn(.path(PropertyPath(variable: 1)), values, .integer)
    return StoreRequest(entity: entity, predicate: .quantified(.any, path, variable: 1, isVictim))
  }
}

// MARK: - Undeleting

extension ObjectGraph {
  /// Reverts a delete that is not saved yet: the object is restored together with everything that its delete cascaded to and with the relationships that it had.
  func undelete(_ object: ManagedObject) {
    do { try checkOwn(object, "was not brought back") } catch { return report(error) }
    guard let number = pending.deletions.closures.lastIndex(where: { $0.takes(object) }) else { return }
    reporting { try revertDelete(number) }
  }

  /// Reverts one of the unsaved deletes.
  ///
  /// - Throws: ``ContextError`` with the code `load-failed`.
  private func revertDelete(_ number: Int) throws {
    let closure = pending.deletions.closures.remove(at: number)
    pending.deletions.noteCascades()
    bringBack(closure.victims)
    // Changes of other contexts were not merged into the objects while they were deleted.
    var stale: Set<Int64> = []
    for victim in closure.victims {
      let isStale = backlog.staleDeleted.remove(victim.object._key) != nil
      if isStale || backlog.contains(victim.object._key) {
        forgetViews(of: victim.object, comparingPairs: false)
        stale.insert(victim.object._key)
      }
    }
    for victim in closure.victims where victim.object.isAlive {
      try partFromDeleted(victim.object, except: closure.links)
    }
    for victim in closure.victims where victim.object.isAlive { showToDeleted(victim.object) }
    try relinkLate(closure.keys)
    for link in closure.links.reversed() { try relink(link) }
    // Only now both ends can tell whether a pair is still an unsaved change.
    for link in closure.links where link.relationship.isJoined && stale.contains(link.victim) {
      forgetViews(of: [(link.owner, link.relationship)])
    }
    for victim in closure.victims where victim.object.isAlive { dropUnconfirmedMembers(of: victim.object) }
    agreeLinks(around: closure.victims.map(\.object) + closure.links.map(\.owner))
    settleBacklog()
  }

  /// Unlinks a restored object from the partners that other deletes have deleted. It kept them while it was deleted
  /// itself.
  ///
  /// - Parameter links: The links that are restored anyway.
  private func partFromDeleted(_ object: ManagedObject, except links: [DeletedClosure.Link]) throws {
    if pending.deletions.closures.isEmpty { return }
    for relationship in info(of: object).allRelationships {
      let inverse = runtime.inverse(of: relationship)
      // One-way to-manys look for deleted members by themselves.
      if inverse == nil && !relationship.isColumn { continue }
      for key in presentPartners(of: object, relationship) {
        guard let (number, partner) = deletedPartner(key), !keeps(object, relationship, partner),
          !links.contains(where: { link in
            link.owner === partner && link.victim == object._key && inverse?.isSame(as: link.relationship) == true
          })
        else { continue }
        try prepareRecording(object, relationship, key)
        pending.deletions.closures[number].note(link(object, relationship, key))
        unlink(object, relationship, key)
      }
    }
  }

  /// Adds a restored object to the lists of its deleted owners, where it denies their delete.
  private func showToDeleted(_ object: ManagedObject) {
    for relationship in info(of: object).allRelationships where relationship.isColumn {
      guard let owner = map[object._reference(relationship.property)], owner.phase == .deleted,
        let inverse = runtime.inverse(of: relationship), inverse.isToMany,
        let list = owner.extras?.list(inverse.property), list.isLoaded
      else { continue }
      list.include(object._key)
    }
  }

  private func deletedPartner(_ key: Int64) -> (closure: Int, object: ManagedObject)? {
    for number in pending.deletions.closures.indices.reversed() {
      let closure = pending.deletions.closures[number]
      guard closure.keys.contains(key) else { continue }
      if let victim = closure.victims.first(where: { $0.object._key == key && $0.isGone }) {
        return (number, victim.object)
      }
    }
    return nil
  }

  /// Whether a reference to a deleted object is kept.
  private func keeps(_ object: ManagedObject, _ relationship: RelationshipInfo, _ victim: ManagedObject) -> Bool {
    guard let inverse = runtime.inverse(of: relationship) else {
      return relationship.isRequired && victim.phase == .deleted
    }
    return survivorsKeep(victim, inverse, relationship)
  }

  private func bringBack(_ victims: [DeletedClosure.Victim]) {
    for victim in victims where victim.isGone {
      victim.object.state.revive(asInserted: victim.wasInserted)
      if victim.wasInserted { map.insert(victim.object, for: victim.object._key) }
      recorder?.record(.revived(victim.object))
      // Members may have left it while it was deleted.
      if victim.object.extras?.lists.contains(where: \.list.hasChanges) == true { noteListChanged(victim.object) }
    }
    pending.dropRevived()
  }

  /// Restores objects in the to-manys that were found to contain them only while they were deleted. That these did not
  /// show them was not recorded, and neither is this.
  ///
  /// - Parameter unlessMembers: Whether objects that are members again already keep their positions.
  func relinkLate(_ victims: Set<Int64>, unlessMembers: Bool = false) throws {
    pending.deletionLog.remove(victims)
    try withoutRecording {
      for victim in victims.sorted() {
        for link in pending.deletions.takeLate(victim).reversed() {
          if unlessMembers, list(of: link.owner, link.relationship).contains(victim) { continue }
          try relink(link)
        }
      }
    }
  }

  /// Restores a link of a partner, unless either end is linked to another object now.
  private func relink(_ link: DeletedClosure.Link) throws {
    guard let victim = map[link.victim], victim.isAlive else { return }
    if let number = pending.deletions.closures.lastIndex(where: { $0.takes(link.owner) }) {
      return try relink(link, victim, in: number)
    }
    let present = link.relationship.isToMany ? 0 : knownReference(of: link.owner, link.relationship)
    guard link.owner.isAlive, present <= 0 || present == link.victim else {
      if let inverse = runtime.inverse(of: link.relationship) { unlink(victim, inverse, link.owner._key) }
      return
    }
    guard let trace = link.trace else {
      // If the partner is not known, the store or the victim's row determines it.
      if present == 0 || refersByEdit(victim, to: link.owner, link.relationship) {
        linkEnd(link.owner, link.relationship, link.victim)
        // The store may have another partner, which shows again if this one is unlinked.
        if present < 0 { noteContestedPartner(link.owner, link.relationship) }
        showEdit(of: link.owner, link.relationship, to: victim)
      }
      return
    }
    revert(trace, in: list(of: link.owner, link.relationship), of: link.owner, link.owner._key, link.relationship)
  }

  /// Whether a reference of an object's row was set in this context and is not in the store.
  private func refersByEdit(
    _ object: ManagedObject, to owner: ManagedObject, _ relationship: RelationshipInfo
  ) -> Bool {
    guard let inverse = runtime.inverse(of: relationship), inverse.isColumn else { return false }
    return object.hasOwnReference(inverse) && object._reference(inverse.property) == owner._key
  }

  /// Makes a restored object show a member that refers to it by an edit, although another context may have removed the
  /// member in the store.
  private func showEdit(of member: ManagedObject, _ relationship: RelationshipInfo, to owner: ManagedObject) {
    guard relationship.isColumn, let inverse = runtime.inverse(of: relationship), !inverse.isColumn,
      member.hasOwnReference(relationship)
    else { return }
    show(member._key, at: owner, inverse)
  }

  /// Restores a link whose owner was deleted by another delete. The result is as if only that delete had been made: the
  /// owner keeps the object, and the object has no owner until the owner is restored.
  private func relink(_ link: DeletedClosure.Link, _ object: ManagedObject, in closure: Int) throws {
    let (owner, relationship) = (link.owner, link.relationship)
    let inverse = runtime.inverse(of: relationship)
    if let inverse, !mayBePartner(object, inverse, owner._key) { return }
    if let trace = link.trace {
      revert(trace, in: list(of: owner, relationship), of: owner, owner._key, relationship)
    } else if let key = presentPartners(of: owner, relationship).first, key != object._key {
      if let inverse { unlink(object, inverse, owner._key) }
      return
    } else {
      keep(owner, relationship, object._key)
    }
    guard let inverse, !survivorsKeep(owner, relationship, inverse) else { return }
    try prepareRecording(owner, relationship, object._key)
    pending.deletions.closures[closure].note(self.link(object, inverse, owner._key))
    unlink(object, inverse, owner._key)
  }

  /// Whether an object has a partner, as far as is known in memory. Pairs without a note are as the store has them.
  private func mayBePartner(_ object: ManagedObject, _ relationship: RelationshipInfo, _ key: Int64) -> Bool {
    guard relationship.isJoined else { return presentPartners(of: object, relationship).contains(key) }
    guard let list = object.extras?.list(relationship.property) else { return true }
    return list.isLoaded ? list.contains(key) : !list.removed.contains(key)
  }

  /// Links a deleted object to a partner.
  private func keep(_ object: ManagedObject, _ relationship: RelationshipInfo, _ key: Int64) {
    if relationship.isColumn {
      object.willChangeValues()
      object.state.markAssigned(ColumnMask.bit(of: relationship.property))
      object._setReference(relationship.property, key)
    } else {
      recorder?.record(.partner(object, relationship, max(0, knownReference(of: object, relationship))))
      object.needExtras().setPartner(relationship.property, key)
    }
  }
}

extension DeletedClosure {
  /// Whether an object is deleted by this closure.
  fileprivate func takes(_ object: ManagedObject) -> Bool {
    keys.contains(object._key) && victims.contains { $0.object === object && $0.isGone }
  }
}

extension DeletedClosure.Victim {
  fileprivate var isGone: Bool { object.phase == (wasInserted ? .detached : .deleted) }
}
