/// The members of a to-many relationship without an order.
///
/// ```swift
/// diary.tags.append(tag)        // tag.diaries contains diary from now on
/// diary.tags = [tag, another]
/// for tag in diary.tags { print(tag.name) }
/// ```
/// The collection has positions, as every collection has, but which member stands where is nobody's promise.
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

/// The members of an ordered to-many relationship. No object is in it twice.
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

  /// Adds an object before the one at a position; one that is a member already moves there. A position beyond the end
  /// counts as the end, one before the start as the start.
  public func insert(_ object: Member, at position: Int) {
    guard case .relationship(let owner, let property) = _storage else { return }
    owner.addMember(property, object, at: Swift.max(0, position))
  }

  /// Takes out the object at a position and gives it back; nil, and nothing happens, where there is none.
  @discardableResult public func remove(at position: Int) -> Member? {
    let all = objects
    guard all.indices.contains(position) else { return nil }
    remove(all[position])
    return all[position]
  }

  /// Moves the object at a position so that it stands at another. Where there is none, nothing happens.
  public func move(from source: Int, to destination: Int) {
    let all = objects
    guard all.indices.contains(source), source != destination else { return }
    insert(all[source], at: destination)
  }
}
