/// The three-way merge of an ordered to-many.
///
/// A member that was moved or added on one side stands behind the member that it follows there, and at the end if only such
/// members follow it. All others stand in the order of the other side.
enum MemberOrder {
  /// The members that an order has put somewhere: the fewest whose moves make it from another, and those that are new in it.
  ///
  /// - Complexity: n log n in the number of members.
  static func moved(in order: ContiguousArray<Int64>, since base: ContiguousArray<Int64>) -> Set<Int64> {
    let places = Dictionary(base.enumerated().map { ($1, Int64($0 + 1) << 32) }) { first, _ in first }
    let former = order.map { places[$0] }
    return Set(zip(order, zip(former, PlaceNumbering.arrange(former))).filter { $1.0 != $1.1 }.map(\.0))
  }

  /// Puts moved members into another order.
  ///
  /// - Parameters:
  ///   - moved: The members that `mine` has moved or added.
  ///   - mine: The order in which they stand; its other members are in `theirs` as well.
  ///   - theirs: The order of all others. Moved members in it are left out.
  /// - Returns: The members of both, each once.
  /// - Complexity: linear in the number of members.
  static func merged(
    _ moved: Set<Int64>, as mine: ContiguousArray<Int64>, into theirs: ContiguousArray<Int64>
  ) -> ContiguousArray<Int64> {
    let tail = (mine.lastIndex { !moved.contains($0) } ?? -1) + 1
    var followers: [Int64: [Int64]] = [:]
    var result: ContiguousArray<Int64> = []
    var predecessor: Int64?
    for key in mine[..<tail] {
      if !moved.contains(key) {
        predecessor = key
      } else if let predecessor {
        followers[predecessor, default: []].append(key)
      } else {
        result.append(key)
      }
    }
    for key in theirs where !moved.contains(key) {
      result.append(key)
      if let behind = followers[key] { result += behind }
    }
    return result + mine[tail...]
  }
}
