/// What one call of delete took along and who let go of it, so that it can be taken back as a whole.
struct DeletedClosure {
  struct Victim {
    let object: ManagedObject
    let wasInserted: Bool
  }

  /// One end of a relationship that let go of a victim.
  struct Link {
    let owner: ManagedObject
    let relationship: RelationshipInfo
    let victim: Int64
    /// What a to-many held of it before.
    let trace: MemberTrace?
  }

  private(set) var victims: [Victim] = []
  private(set) var keys: Set<Int64> = []
  private(set) var links: [Link] = []
  /// What the store is going to delete with them.
  var cascades: [PendingCascade] = []

  init(_ objects: [ManagedObject] = []) { add(objects) }

  /// Notes who is about to be deleted.
  mutating func add(_ objects: [ManagedObject]) {
    keys.formUnion(objects.lazy.map(\._key))
    victims += objects.map { Victim(object: $0, wasInserted: $0.phase == .inserted) }
  }

  /// Notes that a partner is about to let go of a victim.
  mutating func note(_ link: Link) { links.append(link) }

  mutating func removeLinks(where isRemoved: (Link) -> Bool) { links.removeAll(where: isRemoved) }
}

/// What a context has deleted since the last save.
struct PendingDeletes {
  var closures: [DeletedClosure] = []
  /// Whether any of them leaves something to the store.
  private(set) var hasCascades = false

  /// Looks again, after closures or what they leave to the store have changed.
  mutating func noteCascades() { hasCascades = closures.contains { !$0.cascades.isEmpty } }

  mutating func add(_ closure: DeletedClosure) {
    closures.append(closure)
    if !closure.cascades.isEmpty { hasCascades = true }
  }
  /// The to-manys that only later were found to show a victim, by its key.
  private var late: [Int64: [DeletedClosure.Link]] = [:]

  /// Notes a list that nobody knew of, which would show a victim if that were not deleted.
  ///
  /// - Parameter order: the members with those that are deleted, for the place at which the victim comes back.
  mutating func noteLate(
    _ owner: ManagedObject, _ relationship: RelationshipInfo, _ victim: Int64,
    in order: ContiguousArray<Int64>
  ) {
    late[victim, default: []].append(
      DeletedClosure.Link(
        owner: owner, relationship: relationship, victim: victim, trace: MemberTrace(ofDeleted: victim, in: order)))
  }

  /// Drops what is known of a to-many that showed victims, since the store is asked for its members again.
  ///
  /// - Parameter victims: Members in the store that the list notes as taken out.
  /// - Returns: those that a delete took out.
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

  /// - Returns: the links that were noted late, since nobody waits for the victim any more.
  mutating func takeLate(_ victim: Int64) -> [DeletedClosure.Link] {
    late.isEmpty ? [] : late.removeValue(forKey: victim) ?? []
  }
}

extension ManagedObjectContext {
  /// A link from one end, as it is now.
  func link(_ owner: ManagedObject, _ relationship: RelationshipInfo, _ victim: Int64) -> DeletedClosure.Link {
    let trace =
      relationship.isToMany ? list(of: owner, relationship).trace(of: victim, isComing: false, saves: saveCount) : nil
    return DeletedClosure.Link(owner: owner, relationship: relationship, victim: victim, trace: trace)
  }
}
