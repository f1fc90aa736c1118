/// Changing the order of several members at once. Each is one step, in which the members are loaded; where they cannot be,
/// nothing happens.
extension OrderedToMany {
  /// Adds objects so that the first of them stands at a position, in their order; those that are members already move there.
  /// A position beyond the end counts as the end, one before the start as the start.
  ///
  /// - Complexity: linear in the number of members.
  public func insert(contentsOf objects: some Sequence<Member>, at position: Int) {
    let coming = Array(objects)
    let keys = Set(coming.map(\._key))
    change { members in
      members.removeAll { keys.contains($0._key) }
      members.insert(contentsOf: coming, at: Swift.min(Swift.max(0, position), members.count))
    }
  }

  /// Sorts the members: what stands first according to the predicate comes first, and stays so in the store. Members that are equal
  /// keep their order.
  ///
  /// ```swift
  /// diary.images.sort { $0.imagePath < $1.imagePath }
  /// ```
  /// - Throws: what the predicate throws; the order is as before then.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Member, Member) throws -> Bool) rethrows {
    try change { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Exchanges two members. Where there is none at one of the positions, nothing happens.
  public func swapAt(_ first: Int, _ second: Int) {
    change { members in
      guard members.indices.contains(first), members.indices.contains(second) else { return }
      members.swapAt(first, second)
    }
  }

  /// Moves the members at some positions, in their order, before the one at another, which is counted as they stand now: what
  /// a list in SwiftUI asks for in `onMove`.
  ///
  /// ```swift
  /// ForEach(diary.images) { … }.onMove { diary.images.move(fromOffsets: $0, toOffset: $1) }
  /// ```
  /// Positions without a member are left out; a destination beyond the end counts as the end.
  public func move(fromOffsets source: some Sequence<Int>, toOffset destination: Int) {
    let offsets = Set(source)
    change { members in
      let end = Swift.min(Swift.max(0, destination), members.count)
      let places = members.indices
      let moving = places.filter(offsets.contains)
      let order =
        places[..<end].filter { !offsets.contains($0) } + moving + places[end...].filter { !offsets.contains($0) }
      members = order.map { members[$0] }
    }
  }

  /// Takes out the members at some positions: what a list in SwiftUI asks for in `onDelete`. They are not deleted.
  public func remove(atOffsets offsets: some Sequence<Int>) {
    let offsets = Set(offsets)
    change { members in
      members = members.indices.filter { !offsets.contains($0) }.map { members[$0] }
    }
  }

  private func change(_ body: (inout [Member]) throws -> Void) rethrows {
    guard case .relationship(let owner, let property) = _storage else { return }
    try owner.changeMembers(property, as: Member.self, body)
  }
}
