import TrellisStorage

extension SavePlan {
  /// Applies the planned changes.
  func apply(to state: inout MemoryState, _ layout: Layout) {
    for group in pairs {
      for pair in group.removed { state.removePair(group.table, first: pair.first, partner: pair.partner) }
    }
    for (table, partners) in clearedPairs { for partner in partners { state.removePairs(table, ofPartner: partner) } }
    for change in changes {
      if change.new == nil, let old = change.old { removePairs(of: old, &state, layout) }
      state.replace(change.old, by: change.new, layout)
    }
    for group in pairs {
      for pair in group.added { state.add(pair, to: group.table) }
      for pair in group.moved { state.move(pair, in: group.table) }
    }
  }

  /// Removes the row's pairs from all join tables.
  private func removePairs(of row: MemoryRow, _ state: inout MemoryState, _ layout: Layout) {
    for table in layout.firstEndsOf[row.entity] { state.removePairs(table, ofFirst: row.key) }
    for table in layout.partnerEndsOf[row.entity] { state.removePairs(table, ofPartner: row.key) }
  }
}

extension MemoryState {
  mutating func removePairs(_ table: Int, ofFirst first: Int64) {
    for partner in forward[table].targets(first) { removePair(table, first: first, partner: partner.key) }
  }

  mutating func removePairs(_ table: Int, ofPartner partner: Int64) {
    for first in backward[table].targets(partner) { removePair(table, first: first.key, partner: partner) }
  }

  /// Adds a pair. A pair that another writer has already added keeps its positions.
  mutating func add(_ pair: SaveRequest.Pairs.Pair, to table: Int) {
    guard !forward[table].contains(pair.first, pair.partner) else { return }
    setPair(table, first: pair.first, partner: pair.partner, place: pair.place, inversePlace: pair.inversePlace)
  }

  mutating func move(_ pair: SaveRequest.Pairs.Pair, in table: Int) {
    guard forward[table].contains(pair.first, pair.partner) else { return }
    let place = pair.place ?? forward[table].place(pair.first, pair.partner)
    let inversePlace = pair.inversePlace ?? backward[table].place(pair.partner, pair.first)
    setPair(table, first: pair.first, partner: pair.partner, place: place, inversePlace: inversePlace)
  }
}

extension LinkIndex {
  /// The position of a link. Nil if it has none.
  package func place(_ from: Int64, _ to: Int64) -> Int64? { links[Link(from: from, to: to)] ?? nil }
}
