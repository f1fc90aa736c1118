import TrellisModel

/// The pairs of to-manys in join tables, and the to-manys and to-ones that exist only in memory. A pair is noted at both
/// ends in one step, so that what is unsaved is the same at both.
extension ObjectGraph {
  /// Links or unlinks a pair.
  ///
  /// - Parameters:
  ///   - key: The key of the member.
  ///   - place: The position among the members of the owner; nil for the end.
  ///   - wasLinked: Whether it is linked before; nil if this is not known.
  ///   - isMoved: Whether the position is chosen here. If not, the member gets the one in the store if it is there.
  func setPair(
    _ owner: ManagedObject, _ relationship: Relationship, _ key: Int64, isLinked: Bool, at place: Int? = nil,
    wasLinked: Bool?, moving isMoved: Bool = true
  ) {
    let inverse = runtime.inverse(of: relationship)
    let list = list(of: owner, relationship)
    let member = map[key]
    var far: MemberList?
    if let inverse, !(inverse.isSame(as: relationship) && key == owner._key) {
      far = member.map { self.list(of: $0, inverse) } ?? deferredList(of: key, inverse)
    }
    let isNew = owner.phase == .inserted || member?.phase == .inserted || relationship.isTransient
    let isStored = isNew ? false : list.hasRead(key) ?? far?.hasRead(owner._key)
    if recorder != nil { recordPair(owner, relationship, key, wasLinked: wasLinked ?? !isLinked) }
    setEnd(list, of: owner, relationship, key, isLinked: isLinked, isStored: isStored, isMoved: isMoved, at: place)
    if isLinked, member?.phase == .deleted { list.hide(key) }
    guard let far, let inverse else { return }
    // A member that was unlinked here comes as a new one.
    setEnd(
      far, of: member, inverse, owner._key, isLinked: isLinked, isStored: isStored,
      isMoved: isMoved && wasLinked == false, at: nil)
    if isLinked, owner.phase == .deleted { far.hide(owner._key) }
  }

  /// Links or unlinks a pair whose owner may not be in memory.
  func setPair(_ owner: Int64, _ relationship: Relationship, _ key: Int64, isLinked: Bool) {
    if let owner = map[owner] {
      return setPair(
        owner, relationship, key, isLinked: isLinked, wasLinked: isKnownMember(key, of: owner, relationship),
        moving: false)
    }
    guard let inverse = runtime.inverse(of: relationship), let member = map[key] else { return }
    setPair(
      member, inverse, owner, isLinked: isLinked, wasLinked: isKnownMember(owner, of: member, inverse), moving: false)
  }

  /// - Parameter owner: The owner of the list; nil if it is not in memory.
  private func setEnd(
    _ list: MemberList, of owner: ManagedObject?, _ relationship: Relationship, _ key: Int64, isLinked: Bool,
    isStored: Bool?, isMoved: Bool, at place: Int?
  ) {
    owner?.announce(relationship.property)
    if !isLinked {
      if let owner { recordAnchor(of: key, in: list, of: owner, relationship) }
      list.remove(key, isStored: isStored)
    } else if list.show(key) {
      // It has its position.
    } else if isMoved && relationship.isOrdered {
      if let owner { recordAnchor(of: key, in: list, of: owner, relationship) }
      list.insert(key, at: place, isStored: isStored)
      if list.isReordered { hasArrangements = true }
    } else {
      list.include(key, isStored: isStored)
    }
    if let owner { noteListChanged(owner) }
  }

  /// Whether a pair is in the store; nil if that is not known.
  private func isStoredPair(
    _ owner: ManagedObject, _ relationship: Relationship, _ key: Int64, _ inverse: Relationship?
  ) -> Bool? {
    if owner.phase == .inserted || map[key]?.phase == .inserted || relationship.isTransient { return false }
    if let known = owner.list(of: relationship.property)?.hasRead(key) { return known }
    guard let inverse, let member = map[key] else { return nil }
    return member.list(of: inverse.property)?.hasRead(owner._key)
  }

  /// Whether a to-many has a member; nil if the store has to be read.
  func isKnownMember(_ key: Int64, of owner: ManagedObject, _ relationship: Relationship) -> Bool? {
    guard let list = owner.list(of: relationship.property) else { return owner.phase == .inserted ? false : nil }
    return list.knows(key)
  }

  /// Takes over what the store has of pairs, after one end was read: what equals it is no change at the other end
  /// either.
  func settlePairs(of owner: ManagedObject, _ relationship: Relationship, _ changed: [Int64], _ stored: Set<Int64>) {
    guard let inverse = runtime.inverse(of: relationship) else { return }
    for key in changed {
      let list =
        map[key].map { $0.list(of: inverse.property) }
        ?? pending.deferredLists.lists[DeferredMemberLists.ID(key, inverse)]
      list?.settle(owner._key, isStored: stored.contains(key))
      if list?.isReordered == true { hasArrangements = true }
    }
  }

  // MARK: To-ones in memory only

  /// Sets the partner of a to-one that is not stored, at this end.
  func setTransient(_ object: ManagedObject, _ relationship: Relationship, to key: Int64) {
    object.announce(relationship.property)
    recorder?.record(.partner(object, relationship, holder(of: object, relationship)))
    object.changePartner(of: relationship.property) { $0.given = key }
    noteListChanged(object)
  }

  /// Records a pair before it changes, if changes are recorded.
  func recordPair(_ owner: ManagedObject, _ relationship: Relationship, _ key: Int64, wasLinked: Bool) {
    guard let recorder else { return }
    let isStored = isStoredPair(owner, relationship, key, runtime.inverse(of: relationship))
    recorder.record(
      .pair(
        RecordedPair(
          owner: owner._key, relationship: relationship, member: key, wasLinked: wasLinked,
          wasStored: isStored == wasLinked, saves: saves)))
  }

  /// Whether a pair is linked in the store, as far as either end has been read; nil otherwise.
  func isStoredPair(_ owner: ManagedObject, _ relationship: Relationship, _ key: Int64) -> Bool? {
    isStoredPair(owner, relationship, key, runtime.inverse(of: relationship))
  }
}
