extension ManagedObject {
  /// The keys of the members, loaded if necessary; empty if there is no context to read the members from.
  final func memberKeys(_ property: Int) -> ContiguousArray<Int64> {
    guard let (context, relationship) = place(of: property) else { return [] }
    let list = context.loadedList(of: self, relationship, isAsked: true)
    // The added members alone would be more misleading than no members.
    return list.isLoaded ? context.shownKeys(list) : []
  }

  /// The members, loaded if necessary.
  final func members<Member: ManagedObject>(_ property: Int, as type: Member.Type) -> [Member] {
    guard let (context, relationship) = place(of: property) else { return [] }
    let members = context.memberObjects(of: self, relationship)
    if members.allSatisfy({ Swift.type(of: $0) == Member.self }) {
      // Sound because arrays of class instances have one layout, and each instance is of exactly this class.
      return unsafeBitCast(members, to: [Member].self)
    }
    return members.compactMap { $0 as? Member }
  }

  /// The member at a position, which must be valid, as for every Swift collection. If the members cannot be loaded any
  /// more, a placeholder object is returned.
  final func member<Member: ManagedObject>(_ property: Int, at position: Int, as type: Member.Type) -> Member {
    // Positions that were valid before the context was released, or before the store failed, may be invalid now.
    guard let (context, relationship) = place(of: property) else {
      return Member.standIn(for: 0, isDeleted: false, in: link)
    }
    let failures = context.failedLoads
    let list = context.loadedList(of: self, relationship)
    guard list.isLoaded else { return Member.standIn(for: 0, isDeleted: false, in: link) }
    let key = context.shownKeys(list)[position]
    if let member = context.map[key] as? Member { return member }
    _ = context.memberObjects(of: self, relationship)
    if let member = context.map[key] as? Member { return member }
    return .standIn(for: key, isDeleted: failures == context.failedLoads, in: link)
  }

  final func hasMember(_ property: Int, _ object: ManagedObject) -> Bool {
    guard let (context, relationship) = place(of: property), object.link === link else { return false }
    // A member that holds the reference itself is checked without loading anything.
    if let inverse = context.runtime.inverse(of: relationship), inverse.isColumn {
      return object.phase != .deleted && context.knownReference(of: object, inverse) == _key
    }
    return context.shows(object._key, in: context.loadedList(of: self, relationship, isAsked: true))
  }

  final func addMember(_ property: Int, _ object: ManagedObject, at position: Int?) {
    guard let (context, relationship) = place(of: property, isWrite: true) else { return }
    guard context.isUsable(self, as: "the owner", in: relationship),
      context.isUsable(object, as: "the new member", in: relationship),
      context.isReady(toConnect: self, relationship, object),
      position == nil || context.loadedList(of: self, relationship).isLoaded
    else { return }
    context.connect(self, relationship, object, at: position)
  }

  final func removeMember(_ property: Int, _ object: ManagedObject) {
    guard let (context, relationship) = place(of: property, isWrite: true), hasMember(property, object) else { return }
    guard context.isUsable(self, as: "the owner", in: relationship),
      context.isReady(toDisconnect: self, relationship, object._key)
    else { return }
    context.disconnect(self, relationship, object._key)
  }

  /// - Parameter keepsLost: Whether members stay that were added in this context and deleted by another one. They are not
  ///   shown, so an operation on the shown members is no reason to give them up before a save reports them.
  final func replaceMembers(_ property: Int, _ objects: [ManagedObject], keepsLost: Bool = false) {
    guard let (context, relationship) = place(of: property, isWrite: true) else { return }
    guard context.isUsable(self, as: "the owner", in: relationship) else { return }
    let failures = context.failedLoads
    let usable = objects.filter { context.isUsable($0, as: "a new member", in: relationship) }
    // An object that cannot be loaded must not be left out, so the change is not made.
    guard failures == context.failedLoads else { return }
    let wanted = Set(usable.map(\._key))
    let list = context.loadedList(of: self, relationship)
    let former = keepsLost ? context.shownKeys(list) : list.keys
    let leaving = former.filter { !wanted.contains($0) }
    let lost = keepsLost ? list.keys.filter { !former.contains($0) } : []
    let coming = usable.filter { !list.contains($0._key) }
    guard list.isLoaded, context.isReady(toDisconnect: self, relationship, leaving),
      coming.allSatisfy({ context.isReady(toConnect: self, relationship, $0) })
    else { return }
    for key in leaving { context.disconnect(self, relationship, key) }
    for object in coming { context.connect(self, relationship, object) }
    if relationship.isOrdered { context.arrange(self, relationship, usable.map(\._key) + lost) }
  }

  /// Changes the members with the operations of an array, in one step. Does nothing if they cannot be loaded.
  final func changeMembers<Member: ManagedObject>(
    _ property: Int, as type: Member.Type, _ change: (inout [Member]) throws -> Void
  ) rethrows {
    guard let (context, _) = place(of: property, isWrite: true) else { return }
    let failures = context.failedLoads
    var all = members(property, as: type)
    guard failures == context.failedLoads else { return }
    try change(&all)
    replaceMembers(property, all, keepsLost: true)
  }

  private final func place(of property: Int, isWrite: Bool = false) -> (ManagedObjectContext, RelationshipInfo)? {
    guard let context = link.context else {
      reportContextGone(property, isWrite: isWrite)
      return nil
    }
    guard phase != .detached, let relationship = context.relationship(property, of: self) else { return nil }
    noteRead(property)
    return (context, relationship)
  }
}

extension ManagedObjectContext {
  /// Reorders the members of an ordered to-many by the first positions of their keys in a list.
  func arrange(_ owner: ManagedObject, _ relationship: RelationshipInfo, _ keys: [Int64]) {
    var seen: Set<Int64> = []
    let order = ContiguousArray(keys.filter { seen.insert($0).inserted })
    let list = list(of: owner, relationship)
    guard order != list.keys, order.count == list.keys.count else { return }
    owner.announce(relationship.property)
    recorder?.record(.order(owner, relationship, list.keys))
    list.reorder(order)
    noteListChanged(owner)
  }
}
