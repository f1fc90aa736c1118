/// The members of an unordered to-many relationship.
///
/// ```swift
/// diary.tags.append(tag)        // tag.diaries contains diary from now on
/// diary.tags = [tag, another]
/// for tag in diary.tags { print(tag.name) }
/// ```
/// Like every collection this has positions, but the order of the members is unspecified.
public struct ToMany<Member: ManagedObject>: ToManyView, ExpressibleByArrayLiteral {
  public typealias Element = Member
  public typealias Index = Int
  public typealias Iterator = IndexingIterator<[Member]>

  @_spi(Generated) public let _storage: ToManyStorage<Member>

  @_spi(Generated) public init(_ owner: ManagedObject, _ property: Int) {
    _storage = .relationship(owner, property)
  }

  public init(_ members: some Sequence<Member>) { _storage = .members(Array(members)) }
  public init(arrayLiteral elements: Member...) { _storage = .members(elements) }
}

/// The members of an ordered to-many relationship. Each object is a member at most once.
///
/// ```swift
/// diary.images.append(image)             // at the end; image.diary === diary from now on
/// diary.images.insert(cover, at: 0)
/// diary.images.move(from: 3, to: 1)
/// ```
public struct OrderedToMany<Member: ManagedObject>: ToManyView, ExpressibleByArrayLiteral {
  public typealias Element = Member
  public typealias Index = Int
  public typealias Iterator = IndexingIterator<[Member]>

  @_spi(Generated) public let _storage: ToManyStorage<Member>

  @_spi(Generated) public init(_ owner: ManagedObject, _ property: Int) {
    _storage = .relationship(owner, property)
  }

  public init(_ members: some Sequence<Member>) { _storage = .members(Array(members)) }
  public init(arrayLiteral elements: Member...) { _storage = .members(elements) }

  /// Inserts an object before the member at a position. A present member is moved there. A position beyond the end
  /// counts as the end, one before the start as the start.
  public func insert(_ object: Member, at position: Int) {
    guard case .relationship(let owner, let property) = _storage else { return }
    owner.addMember(property, object, at: Swift.max(0, position))
  }

  /// Removes the member at a position and returns it. Returns nil and does nothing if there is none.
  @discardableResult public func remove(at position: Int) -> Member? {
    let all = objects
    guard all.indices.contains(position) else { return nil }
    remove(all[position])
    return all[position]
  }

  /// Moves the member at a position to another position. Does nothing if there is none.
  public func move(from source: Int, to destination: Int) {
    let all = objects
    guard all.indices.contains(source), source != destination else { return }
    insert(all[source], at: destination)
  }
}
