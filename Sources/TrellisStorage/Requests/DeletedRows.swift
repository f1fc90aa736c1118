/// The rows and pairs that a save removes, to check whether a pair prevents a delete.
package struct DeletedRows {
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

  /// Whether a pair that contains a deleted object is removed as well: the partner is deleted, too, or the pair is
  /// removed.
  package func takes(_ table: Int, _ owner: Int64, _ partner: Int64, isFirst: Bool) -> Bool {
    keys.contains(partner)
      || pairs.contains(
        isFirst
          ? Pair(table: table, first: owner, partner: partner) : Pair(table: table, first: partner, partner: owner))
  }
}

extension SaveRequest {
  /// The rows and pairs that the save removes.
  ///
  /// - Complexity: linear in the number of deleted rows and removed pairs.
  package var departures: DeletedRows { DeletedRows(self) }
}
