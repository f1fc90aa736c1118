/// The interface of both to-many collections: a live view of the members of one object's relationship.
///
/// A view is free to create and retains its owner. It always shows the present members; a loop iterates over the
/// members at its start. Members are objects of the owner's context.
public protocol ToManyView: RandomAccessCollection
where Element: ManagedObject, Index == Int, Iterator == IndexingIterator<[Element]> {
  /// Creates a collection of objects that can be assigned to a relationship.
  init(_ members: some Sequence<Element>)

  @_spi(Generated) var _storage: ToManyStorage<Element> { get }
}

/// The source of the members of a to-many collection.
@_spi(Generated) public enum ToManyStorage<Member: ManagedObject> {
  /// The relationship of an object.
  case relationship(ManagedObject, Int)
  /// Objects to be assigned to a relationship.
  case members([Member])
}

extension ToManyView {
  public var startIndex: Int { 0 }

  /// The number of members. Counting loads their keys, not the objects.
  ///
  /// - Complexity: constant once the keys are loaded.
  public var endIndex: Int { count }

  /// The number of members. Counting loads their keys, not the objects.
  ///
  /// - Complexity: constant once the keys are loaded.
  public var count: Int {
    switch _storage {
    case .relationship(let owner, let property): owner.memberKeys(property).count
    case .members(let members): members.count
    }
  }

  /// The number of members. A caller of this is about to iterate over all members, so the objects are loaded together
  /// with their keys.
  public var underestimatedCount: Int { objects.count }

  /// The members as a contiguous array. The standard library creates arrays with this; its default implementation would
  /// count first.
  public func _copyToContiguousArray() -> ContiguousArray<Element> { ContiguousArray(objects) }

  /// Returns the results of calling a function with each member.
  ///
  /// - Complexity: that of ``objects``.
  public func map<Result, Failure: Error>(
    _ transform: (Element) throws(Failure) -> Result
  ) throws(Failure) -> [Result] {
    // The standard library's implementation would count first, and so load the keys separately from the objects.
    try objects.map(transform)
  }

  /// Whether there are no members. This loads their keys, not the objects.
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

  /// Returns an iterator over the present members. Later changes of the relationship do not affect it.
  public func makeIterator() -> IndexingIterator<[Element]> { objects.makeIterator() }

  /// The members as an array.
  ///
  /// - Complexity: linear in the number of members; unloaded ones are loaded in a few statements, together with those
  ///   of the owner's siblings.
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

  /// Adds an object at the end; a present member is moved there. The inverse is updated immediately. The members are
  /// not loaded.
  ///
  /// - Complexity: constant on average.
  public func append(_ object: Element) {
    if case .relationship(let owner, let property) = _storage { owner.addMember(property, object, at: nil) }
  }

  /// Adds objects at the end, in their order.
  public func append(contentsOf objects: some Sequence<Element>) {
    for object in Array(objects) { append(object) }
  }

  /// Removes an object if it is a member, without deleting it. The inverse is updated.
  public func remove(_ object: Element) {
    if case .relationship(let owner, let property) = _storage { owner.removeMember(property, object) }
  }

  /// Adds objects at the end, in their order, like ``append(contentsOf:)``.
  public static func += (members: Self, objects: some Sequence<Element>) { members.append(contentsOf: objects) }

  /// Removes the members that satisfy a predicate, without deleting them.
  ///
  /// - Throws: what the predicate throws; then nothing is removed.
  /// - Complexity: linear in the number of members, which are loaded; if they cannot be loaded, nothing happens.
  public func removeAll(where shouldBeRemoved: (Element) throws -> Bool) rethrows {
    guard case .relationship(let owner, let property) = _storage else { return }
    try owner.changeMembers(property, as: Element.self) { try $0.removeAll(where: shouldBeRemoved) }
  }

  /// Removes all members, without deleting them.
  public func removeAll() { replaceAll(with: []) }

  /// Makes these objects the members, in this order. Former members that are not among them are unlinked.
  public func replaceAll(with objects: some Sequence<Element>) {
    if case .relationship(let owner, let property) = _storage { owner.replaceMembers(property, Array(objects)) }
  }

  /// Assigns the members to a relationship. Generated setters call this.
  @_spi(Generated) public func _assign(to owner: ManagedObject, _ property: Int) {
    owner.replaceMembers(property, objects)
  }
}
