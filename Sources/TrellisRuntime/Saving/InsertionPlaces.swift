import TrellisModel

/// The places of the members that were inserted into an ordered to-many, between those of the members that have stayed.
struct InsertionPlaces {
  /// The members in their order.
  let keys: ContiguousArray<Int64>
  private let inserted: Set<Int64>
  /// The positions of inserted members, adjacent ones together, in ascending order.
  private let ranges: [Range<Int>]

  /// The number of inserted members up to which each is searched for by itself.
  private static let fewMembers = 4

  /// Nil if all members are new.
  ///
  /// - Complexity: linear in the number of members.
  init?(_ list: MemberList) {
    guard list.isLoaded, !list.base.isEmpty else { return nil }
    let inserted = list.placedOrAdded
    self.inserted = inserted
    keys = list.keys
    let positions: [Int]
    if inserted.count <= Self.fewMembers {
      positions = inserted.compactMap(list.place).sorted()
    } else {
      let filter = KeyFilter(inserted)
      positions = list.keys.indices.filter { filter.mayContain(list.keys[$0]) && inserted.contains(list.keys[$0]) }
    }
    var ranges: [Range<Int>] = []
    for position in positions {
      if let last = ranges.last, last.upperBound == position {
        ranges[ranges.count - 1] = last.lowerBound..<position + 1
      } else {
        ranges.append(position..<position + 1)
      }
    }
    self.ranges = ranges
  }

  /// The number of inserted members.
  var count: Int { ranges.reduce(0) { $0 + $1.count } }

  /// The places of the inserted members, and of those that move aside for them, in the order of their keys.
  ///
  /// - Parameter stored: The stored places of some members, nil for those without one; nil if they are not known.
  /// - Returns: nil if the stored places are not in the order of the members. Then all have to be arranged.
  /// - Complexity: linear in the number of inserted members, and in that of those that move aside. Since these are twice
  ///   as many each time, repeated insertions at one position move a logarithmic number of members on average.
  func places(
    _ stored: (ArraySlice<Int64>) throws -> [Int64?]?
  ) throws -> [(key: Int64, place: Int64)]? {
    var assigned: [Int64: Int64] = [:]
    func neighbour(_ position: Int) throws -> Int64?? {
      guard keys.indices.contains(position) else { return .some(nil) }
      if let place = assigned[keys[position]] { return place }
      guard let place = try stored([keys[position]])?.first.flatMap({ $0 }) else { return nil }
      return place
    }
    var end = 0
    for range in ranges where range.upperBound > end {
      var range = range
      while true {
        guard let last = try neighbour(range.lowerBound - 1), let next = try neighbour(range.upperBound) else {
          return nil
        }
        if let last, let next, last >= next { return nil }
        if let places = PlaceNumbering.places(range.count, after: last, before: next) {
          for (key, place) in zip(keys[range], places) { assigned[key] = place }
          break
        }
        guard let wider = widened(range) else { return nil }
        range = wider
      }
      end = range.upperBound
    }
    return assigned.sortedByKey.map { ($0.key, $0.value) }
  }

  /// A range with as many neighbours again, half of them on each side. Nil if there are none.
  private func widened(_ range: Range<Int>) -> Range<Int>? {
    let more = max(1, range.count / 2)
    let start = max(0, range.lowerBound - more)
    var end = min(keys.count, range.upperBound + more)
    // An inserted neighbour has no place yet.
    while end < keys.count, inserted.contains(keys[end]) { end += 1 }
    return start == range.lowerBound && end == range.upperBound ? nil : start..<end
  }
}
