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
    /// Where it was among the members of a to-many.
    let place: Int?
  }

  let victims: [Victim]
  let keys: Set<Int64>
  private(set) var links: [Link] = []

  init(_ objects: [ManagedObject]) {
    keys = Set(objects.map(\._key))
    victims = objects.map { Victim(object: $0, wasInserted: $0.phase == .inserted) }
  }

  /// Notes that a partner is about to let go of a victim.
  mutating func note(_ owner: ManagedObject, _ relationship: RelationshipInfo, _ victim: Int64) {
    let list = relationship.isToMany ? owner.extras?.list(relationship.property) : nil
    links.append(
      Link(owner: owner, relationship: relationship, victim: victim, place: list?.place(of: victim)))
  }
}
