/// What the two to-many collections have in common: a live view of the members of one object's relationship.
///
/// A view costs nothing to make and keeps its owner. It always shows the present members; a loop walks those that were there
/// when it began. Members are objects of the owner's context.
public protocol ToManyView: RandomAccessCollection
where Element: ManagedObject, Index == Int, Iterator == IndexingIterator<[Element]> {
  /// Makes a collection of its own, to be assigned to a relationship.
  init(_ members: some Sequence<Element>)

  @_spi(Generated) var _storage: ToManyStorage<Element> { get }
}

/// Where a to-many collection gets its members from.
@_spi(Generated) public enum ToManyStorage<Member: ManagedObject> {
  /// The relationship of an object.
  case relationship(ManagedObject, Int)
  /// Objects that are to be assigned to one.
  case members([Member])
}

extension ToManyView {
  public var startIndex: Int { 0 }

  /// How many members there are. Counting loads their keys, not the objects.
  ///
  /// - Complexity: constant once the keys are loaded.
  public var endIndex: Int { count }

  /// How many members there are. Counting loads their keys, not the objects.
  ///
  /// - Complexity: constant once the keys are loaded.
  public var count: Int {
    switch _storage {
    case .relationship(let owner, let property): owner.memberKeys(property).count
    case .members(let members): members.count
    }
  }

  /// As many as there are: who asks is about to walk them all, so the objects are loaded, their keys with them.
  public var underestimatedCount: Int { objects.count }

  /// What the standard library makes arrays with; its own would count first.
  public func _copyToContiguousArray() -> ContiguousArray<Element> { ContiguousArray(objects) }

  /// What a function makes of each member.
  ///
  /// - Complexity: as ``objects``.
  public func map<Result, Failure: Error>(
    _ transform: (Element) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    // The standard library's would count first, and so load the keys apart from the objects.
    try objects.map(transform)
  }

  /// Whether there are no members. Asking loads their keys, not the objects.
  public var isEmpty: Bool { count == 0 }

  /// The member at a position.
  ///
  /// - Complexity: constant once the members are loaded.
  public subscript(position: Int) -> Element {
    switch _storage {
    case .relationship(let owner, let property): owner.member(property, at: position, as: Element.self)
    case .members(let members): members[position]
    }
  }

  /// Walks the members that are there now, whatever happens to the relationship meanwhile.
  public func makeIterator() -> IndexingIterator<[Element]> { objects.makeIterator() }

  /// The members as an array.
  ///
  /// - Complexity: linear in their number; unloaded ones come in a few statements, the siblings' with them.
  public var objects: [Element] {
    switch _storage {
    case .relationship(let owner, let property): owner.members(property, as: Element.self)
    case .members(let members): members
    }
  }

  /// Whether an object is a member. The objects are not loaded.
  ///
  /// - Complexity: constant on average once the keys are loaded.
  public func contains(_ object: Element) -> Bool {
    switch _storage {
    case .relationship(let owner, let property): owner.hasMember(property, object)
    case .members(let members): members.contains { $0 === object }
    }
  }

  /// Adds an object at the end; one that is a member already moves there. The other end of the relationship follows at once.
  /// The members are not loaded.
  ///
  /// - Complexity: constant on average.
  public func append(_ object: Element) {
    if case .relationship(let owner, let property) = _storage { owner.addMember(property, object, at: nil) }
  }

  /// Adds objects at the end, in order.
  public func append(contentsOf objects: some Sequence<Element>) {
    for object in Array(objects) { append(object) }
  }

  /// Takes an object out, if it is a member. It is not deleted; the other end of the relationship lets go of its owner.
  public func remove(_ object: Element) {
    if case .relationship(let owner, let property) = _storage { owner.removeMember(property, object) }
  }

  /// Adds objects at the end, in order, as ``append(contentsOf:)`` does.
  public static func += (members: Self, objects: some Sequence<Element>) { members.append(contentsOf: objects) }

  /// Takes out the objects for which a predicate holds. They are not deleted.
  ///
  /// - Throws: what the predicate throws; nothing is taken out then.
  /// - Complexity: linear in the number of members, which are loaded; where they cannot be, nothing happens.
  public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    guard case .relationship(let owner, let property) = _storage else { return }
    try owner.changeMembers(property, as: Element.self) { try $0.removeAll(where: shouldBeRemoved) }
  }

  /// Takes all objects out. They are not deleted.
  public func removeAll() { replaceAll(with: []) }

  /// Makes these objects the members, in this order. Those that were members and are not among them let go.
  public func replaceAll(with objects: some Sequence<Element>) {
    if case .relationship(let owner, let property) = _storage { owner.replaceMembers(property, Array(objects)) }
  }

  /// What a generated setter calls.
  @_spi(Generated) public func _assign(to owner: ManagedObject, _ property: Int) {
    owner.replaceMembers(property, objects)
  }
}
