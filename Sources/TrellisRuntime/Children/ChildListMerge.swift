import TrellisStorage

/// The changes of one to-many relationship in a child, applied to the same relationship in the parent.
struct ChildListMerge {
  private let list: MemberList
  private let owner: ManagedObject
  private let relationship: RelationshipInfo
  private let isNew: Bool

  /// - Parameters:
  ///   - list: The list of the child.
  ///   - owner: The object of the parent.
  ///   - isNew: Whether the owner is new in the child.
  init(_ list: MemberList, of owner: ManagedObject, _ relationship: RelationshipInfo, isNew: Bool) {
    self.list = list
    self.owner = owner
    self.relationship = relationship
    self.isNew = isNew
  }

  /// Adds and removes the members that were added and removed in the child. Members that the parent has added or
  /// removed meanwhile stay as they are there.
  func link(in parent: ManagedObjectContext) {
    // Where members hold the reference, setting it has linked them already, except those of a new owner that was
    // deleted in the parent.
    guard relationship.isJoined else { return isNew ? showMembersLeft(in: parent) : () }
    let difference = isNew ? whole(in: parent) : list.difference
    for key in difference.removed where parent.loadedList(of: owner, relationship).contains(key) {
      if parent.isReady(toDisconnect: owner, relationship, key) { parent.disconnect(owner, relationship, key) }
    }
    for key in difference.added where !parent.loadedList(of: owner, relationship).contains(key) {
      guard let member = parent.map[key], member.isAlive, parent.isReady(toConnect: owner, relationship, member) else {
        continue
      }
      parent.connect(owner, relationship, member)
    }
  }

  private func showMembersLeft(in parent: ManagedObjectContext) {
    guard let inverse = parent.runtime.inverse(of: relationship), inverse.isColumn, relationship.isToMany else {
      return
    }
    for key in list.keys {
      guard let member = parent.map[key], member.isAlive, parent.knownReference(of: member, inverse) == owner._key,
        !parent.list(of: owner, relationship).contains(key)
      else { continue }
      parent.connect(owner, relationship, member)
    }
  }

  /// The changes that make the parent's list equal to the child's.
  private func whole(in parent: ManagedObjectContext) -> (added: [Int64], removed: [Int64]) {
    let kept = Set(list.keys)
    return (Array(list.keys), parent.loadedList(of: owner, relationship).keys.filter { !kept.contains($0) })
  }

  /// Places members that were moved in the child behind the same members as there. Members that are behind all others
  /// there stay so.
  func arrange(in parent: ManagedObjectContext) {
    guard relationship.isOrdered else { return }
    let present = parent.loadedList(of: owner, relationship)
    guard present.isLoaded else { return }
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
    guard list.isLoaded else { return Set(list.tail.filter(\.isMoved).map(\.key)) }
    guard let committed = list.committed, !isNew else { return isNew ? Set(list.keys) : [] }
    return MemberOrder.moved(in: list.keys, since: committed)
  }

  /// Whether the members that the child has not moved have the same order in the parent as in the child.
  private func isSameOrder(_ present: ContiguousArray<Int64>, without moved: Set<Int64>) -> Bool {
    present.filter { !moved.contains($0) } == list.keys.filter { !moved.contains($0) }
  }
}
