/// The three-way merge of an ordered to-many.
enum MemberOrder {
  /// The order of the final members, where the order here and the order in the store both differ from the common one.
  ///
  /// An order that was not changed here yields to the store's; otherwise the order here stands. A member that only one side
  /// has stands behind the member that it follows on its own side, and at the end if nothing but such members follow it.
  ///
  /// - Parameters:
  ///   - base: The members as both sides read them.
  ///   - mine: The final members that are in the list here, in its order.
  ///   - theirs: The final members that are in the store, in its order.
  /// - Returns: The members of `mine` and `theirs`, each once.
  /// - Complexity: linear in the number of members.
  static func merged(
    base: ContiguousArray<Int64>, mine: ContiguousArray<Int64>, theirs: ContiguousArray<Int64>
  ) -> ContiguousArray<Int64> {
    let isMine = Set(mine)
    let isBase = Set(base)
    let isReordered = mine.filter(isBase.contains) != base.filter(isMine.contains)
    if isReordered { return insert(theirs, into: mine, isMine) }
    return insert(mine, into: theirs, Set(theirs))
  }

  /// Puts the keys of one order that another lacks behind their predecessors.
  private static func insert(
    _ source: ContiguousArray<Int64>, into order: ContiguousArray<Int64>, _ known: Set<Int64>
  ) -> ContiguousArray<Int64> {
    let tail = (source.lastIndex(where: known.contains) ?? -1) + 1
    var followers: [Int64: [Int64]] = [:]
    var result: ContiguousArray<Int64> = []
    var predecessor: Int64?
    for key in source[..<tail] {
      if known.contains(key) {
        predecessor = key
      } else if let predecessor {
        followers[predecessor, default: []].append(key)
      } else {
        result.append(key)
      }
    }
    for key in order {
      result.append(key)
      if let behind = followers[key] { result += behind }
    }
    return result + source[tail...]
  }
}
