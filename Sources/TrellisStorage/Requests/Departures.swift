/// What a save takes away, to be asked about a pair that would stand in the way of a delete.
package struct Departures {
  private struct Pair: Hashable {
    let table: Int
    let first: Int64
    let partner: Int64
  }

  private var keys: Set<Int64> = []
  private var pairs: Set<Pair> = []

  package init(_ request: SaveRequest) {
    for group in request.deletes { keys.formUnion(group.keys) }
    for group in request.pairs {
      for pair in group.removed { pairs.insert(Pair(table: group.table, first: pair.first, partner: pair.partner)) }
    }
  }

  /// Whether a pair goes although one of its objects does: the partner goes too, or the pair is taken apart.
  package func takes(_ table: Int, _ owner: Int64, _ partner: Int64, isFirst: Bool) -> Bool {
    keys.contains(partner)
      || pairs.contains(
        isFirst
          ? Pair(table: table, first: owner, partner: partner) : Pair(table: table, first: partner, partner: owner))
  }
}

extension SaveRequest {
  /// What the save takes away.
  ///
  /// - Complexity: linear in the number of deleted rows and removed pairs.
  package var departures: Departures { Departures(self) }
}
