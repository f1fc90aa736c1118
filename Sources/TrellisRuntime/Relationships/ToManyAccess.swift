extension ManagedObject {
  /// The keys of the members, loaded if need be; none when there is no context to find the members in.
  final func memberKeys(_ property: Int) -> ContiguousArray<Int64> {
    guard let (context, relationship) = place(of: property) else { return [] }
    return context.loadedList(of: self, relationship).keys
  }

  /// The members, loaded if need be.
  final func members<Member: ManagedObject>(_ property: Int, as type: Member.Type) -> [Member] {
    guard let (context, relationship) = place(of: property) else { return [] }
    return context.memberObjects(of: self, relationship).compactMap { $0 as? Member }
  }

  /// The member at a position, which must be one of the collection's, as with every Swift collection.
  final func member<Member: ManagedObject>(_ property: Int, at position: Int, as type: Member.Type) -> Member {
    let key = memberKeys(property)[position]
    if let (context, relationship) = place(of: property) {
      if let member = context.map[key] as? Member { return member }
      _ = context.memberObjects(of: self, relationship)
      if let member = context.map[key] as? Member { return member }
    }
    // Its row is gone, which nobody could know before: an object that says so stands in.
    return Member(PlaceholderRow(key: key), in: link)
  }

  final func hasMember(_ property: Int, _ object: ManagedObject) -> Bool {
    guard let (context, relationship) = place(of: property), object.link === link else { return false }
    // A member that holds the reference itself tells without loading anything.
    if let inverse = context.runtime.inverse(of: relationship), inverse.isColumn {
      return object.phase != .deleted && context.knownReference(of: object, inverse) == _key
    }
    return context.loadedList(of: self, relationship).contains(object._key)
  }

  final func addMember(_ property: Int, _ object: ManagedObject, at position: Int?) {
    guard let (context, relationship) = place(of: property) else { return }
    guard context.isUsable(self, as: "the owner", property: property),
      context.isUsable(object, as: "the new member", property: property)
    else { return }
    context.connect(self, relationship, object, at: position)
  }

  final func removeMember(_ property: Int, _ object: ManagedObject) {
    guard let (context, relationship) = place(of: property), hasMember(property, object) else { return }
    guard context.isUsable(self, as: "the owner", property: property) else { return }
    context.disconnect(self, relationship, object._key)
  }

  final func replaceMembers(_ property: Int, _ objects: [ManagedObject]) {
    guard let (context, relationship) = place(of: property) else { return }
    guard context.isUsable(self, as: "the owner", property: property) else { return }
    let usable = objects.filter { context.isUsable($0, as: "a new member", property: property) }
    let wanted = Set(usable.map(\._key))
    for key in context.loadedList(of: self, relationship).keys where !wanted.contains(key) {
      context.disconnect(self, relationship, key)
    }
    let list = context.list(of: self, relationship)
    for object in usable where !list.contains(object._key) { context.connect(self, relationship, object) }
    if relationship.isOrdered { context.arrange(self, relationship, usable.map(\._key)) }
  }

  private final func place(of property: Int) -> (ManagedObjectContext, RelationshipInfo)? {
    guard phase != .detached, let context = link.context, let relationship = context.relationship(property, of: self)
    else { return nil }
    return (context, relationship)
  }
}

extension ManagedObjectContext {
  /// Puts the members of an ordered to-many into the order in which their keys come first in a list.
  func arrange(_ owner: ManagedObject, _ relationship: RelationshipInfo, _ keys: [Int64]) {
    var seen: Set<Int64> = []
    let order = ContiguousArray(keys.filter { seen.insert($0).inserted })
    let list = list(of: owner, relationship)
    guard order != list.keys, order.count == list.keys.count else { return }
    recorder?.record(.order(owner, relationship, list.keys))
    list.reorder(order)
    noteListChanged(owner)
  }
}
