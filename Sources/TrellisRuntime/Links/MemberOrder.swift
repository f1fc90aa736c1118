/// The three-way merge of an ordered to-many.
///
/// A member that was moved or added on one side follows the member that it follows there, or is at the end if only
/// such members follow it. All other members have the order of the other side.
enum MemberOrder {
  /// The members that an order has moved or added: the fewest whose moves lead from the base to the order, and those
  /// that are not in the base.
  ///
  /// - Complexity: n log n in the number of members.
  static func moved(in order: ContiguousArray<Int64>, since base: ContiguousArray<Int64>) -> Set<Int64> {
    let places = Dictionary(base.enumerated().map { ($1, Int64($0 + 1) << 32) }) { first, _ in first }
    let former = order.map { places[$0] }
    return Set(zip(order, zip(former, PlaceNumbering.arrange(former))).filter { $1.0 != $1.1 }.map(\.0))
  }

  /// Merges moved members into another order.
  ///
  /// - Parameters:
  ///   - moved: The members that `mine` has moved or added.
  ///   - mine: The order of the moved members; its other members are in `theirs` as well.
  ///   - theirs: The order of all other members. Moved members in it are ignored.
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
