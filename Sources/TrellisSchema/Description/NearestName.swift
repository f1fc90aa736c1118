/// Finds the name that a misspelled one most likely stands for.
package enum NearestName {
  /// The number of bytes of a name that are compared.
  private static let lengthLimit = 255

  /// The candidate closest to the name; nil if every candidate differs in more than a third of the name's letters.
  package static func closest(to name: String, among candidates: some Sequence<String>) -> String? {
    let typed = Array(name.utf8.prefix(lengthLimit))
    var best: String?
    var least = max(1, typed.count / 3) + 1
    for candidate in candidates where abs(candidate.utf8.count - typed.count) < least {
      let distance = distance(typed, Array(candidate.utf8), below: least)
      if distance < least { (best, least) = (candidate, distance) }
    }
    return best
  }

  /// The edit distance: the number of letters to change, insert, delete or swap with a neighbor; `limit` if it is at
  /// least that. A difference in case counts as zero, so that the same word in another case is always the closest.
  package static func distance(_ left: [UInt8], _ right: [UInt8], below limit: Int) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for row in left.indices {
      var current = [row + 1]
      for column in right.indices {
        let isSame = lowercase(left[row]) == lowercase(right[column])
        var cost = min(previous[column] + (isSame ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
          cost = min(cost, beforePrevious[column - 1] + 1)
        }
        current.append(cost)
      }
      if (current.min() ?? 0) >= limit { return limit }
      (beforePrevious, previous) = (previous, current)
    }
    return previous.last ?? limit
  }

  private static func lowercase(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte + 32 : byte
  }
}
