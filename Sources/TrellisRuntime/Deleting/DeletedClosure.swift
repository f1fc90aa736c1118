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
        owner: owner, relationship: relationship, victim: victim, trace: MemberTrace(ofDeleted: victim, in: order)))
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
    late.isEmpty ? [] : late.removeValue(forKey: victim) ?? []
  }
}

extension ManagedObjectContext {
  /// The link of one end in its present state.
  func link(_ owner: ManagedObject, _ relationship: RelationshipInfo, _ victim: Int64) -> DeletedClosure.Link {
    let trace =
      relationship.isToMany ? list(of: owner, relationship).trace(of: victim, isComing: false, saves: saveCount) : nil
    return DeletedClosure.Link(owner: owner, relationship: relationship, victim: victim, trace: trace)
  }
}
