/// Two numbers in lexicographic order: an owner's key or a hash, then the key of a row.
package struct Link: Comparable, Hashable, Sendable {
  package var from: Int64
  package var to: Int64

  package static func < (left: Link, right: Link) -> Bool {
    left.from != right.from ? left.from < right.from : left.to < right.to
  }
}

/// A map from one number to many rows: the children of an owner, the partners in a join table, the rows with a hash.
package struct LinkIndex: Sendable {
  /// The links with their positions. The position is nil in an unordered relationship.
  package private(set) var links = OrderedMap<Link, Int64?>()

  mutating func set(_ from: Int64, _ to: Int64, place: Int64? = nil) { links.set(Link(from: from, to: to), place) }
  mutating func remove(_ from: Int64, _ to: Int64) { links.remove(Link(from: from, to: to)) }
  package func contains(_ from: Int64, _ to: Int64) -> Bool { links[Link(from: from, to: to)] != nil }

  /// The rows that a number leads to, by key.
  package func targets(_ from: Int64) -> [(key: Int64, place: Int64?)] {
    var found: [(key: Int64, place: Int64?)] = []
    links.forEach(from: Link(from: from, to: .min)) { link, place in
      guard link.from == from else { return false }
      found.append((link.to, place))
      return true
    }
    return found
  }

  /// The number of rows that a number leads to.
  package func count(_ from: Int64) -> Int {
    var count = 0
    links.forEach(from: Link(from: from, to: .min)) { link, _ in
      guard link.from == from else { return false }
      count += 1
      return true
    }
    return count
  }
}
