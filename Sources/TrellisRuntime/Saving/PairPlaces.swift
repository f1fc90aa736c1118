import TrellisStorage

/// A row of a join table.
struct PairEnds: Hashable, Comparable {
  let first: Int64
  let partner: Int64

  static func < (left: PairEnds, right: PairEnds) -> Bool {
    left.first == right.first ? left.partner < right.partner : left.first < right.first
  }
}

/// The places that a save gives to the pairs of one join table.
struct PairPlaces {
  typealias Pair = SaveRequest.Pairs.Pair

  private struct Entry {
    /// The places of a pair if it is new, and the places that it gets even if it exists in the store.
    var new: Pair
    var moved: Pair
  }

  private var entries: [PairEnds: Entry] = [:]

  /// Assigns new places to all members of an owner.
  mutating func arrange(_ keys: ContiguousArray<Int64>, of owner: Int64, _ isFirst: Bool) {
    for (index, key) in keys.enumerated() {
      set(Int64(index + 1) * PlaceNumbering.gap, owner, key, isFirst, isMoved: true)
    }
  }

  /// Assigns places behind the other members of an owner.
  mutating func append(
    _ members: [(key: Int64, isMoved: Bool)], of owner: Int64, _ isFirst: Bool, after last: Int64?
  ) {
    var last = last
    for member in members {
      let place = PlaceNumbering.after(last)
      set(place, owner, member.key, isFirst, isMoved: member.isMoved)
      last = place
    }
  }

  private mutating func set(_ place: Int64, _ owner: Int64, _ key: Int64, _ isFirst: Bool, isMoved: Bool) {
    let ends = isFirst ? PairEnds(first: owner, partner: key) : PairEnds(first: key, partner: owner)
    let pair = Pair(first: ends.first, partner: ends.partner)
    let side = isFirst ? \Pair.place : \Pair.inversePlace
    entries[ends, default: Entry(new: pair, moved: pair)].new[keyPath: side] = place
    if isMoved { entries[ends]?.moved[keyPath: side] = place }
  }

  func pair(_ ends: PairEnds) -> Pair { entries[ends]?.new ?? Pair(first: ends.first, partner: ends.partner) }

  /// The pairs that move, sorted by key.
  func moves(where isWanted: (PairEnds) -> Bool) -> [Pair] {
    entries.filter { ($0.value.moved.place ?? $0.value.moved.inversePlace) != nil && isWanted($0.key) }
      .map(\.value.moved).sorted { ($0.first, $0.partner) < ($1.first, $1.partner) }
  }
}
