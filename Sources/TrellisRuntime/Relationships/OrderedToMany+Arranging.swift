/// Changes of the order of several members at once. Each is one step, which loads the members. If they cannot be
/// loaded, nothing changes.
extension OrderedToMany {
  /// Inserts objects in their order, so that the first of them is at a position. Present members are moved there. A
  /// position beyond the end counts as the end, one before the start as the start.
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

  /// Sorts the members by a predicate. The order is saved in the store. Members that compare as equal keep their order.
  ///
  /// ```swift
  /// diary.images.sort { $0.imagePath < $1.imagePath }
  /// ```
  /// - Throws: what the predicate throws; then the order is unchanged.
  /// - Complexity: O(*n* log *n*).
  public func sort(by areInIncreasingOrder: (Member, Member) throws -> Bool) rethrows {
    try change { try $0.sort(by: areInIncreasingOrder) }
  }

  /// Swaps two members. Does nothing if there is no member at one of the positions.
  public func swapAt(_ first: Int, _ second: Int) {
    change { members in
      guard members.indices.contains(first), members.indices.contains(second) else { return }
      members.swapAt(first, second)
    }
  }

  /// Moves the members at some positions, in their order, before the member at another position, which counts in the
  /// present order. This matches `onMove` of a list in SwiftUI.
  ///
  /// ```swift
  /// ForEach(diary.images) { … }.onMove { diary.images.move(fromOffsets: $0, toOffset: $1) }
  /// ```
  /// Positions without a member are ignored; a destination beyond the end counts as the end.
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

  /// Removes the members at some positions, without deleting them. This matches `onDelete` of a list in SwiftUI.
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
