import TrellisStorage

extension SavePlan {
  /// Turns changed lists of joined relationships into pairs, each once although both ends may have noted it.
  mutating func collectPairs(_ context: ManagedObjectContext) throws {
    var changes = PairChanges(context)
    for object in inserted { changes.add(object) }
    for (object, _) in updated { changes.add(object) }
    for object in relinked { changes.add(object) }
    for (id, list) in context.waiting.lists {
      changes.add(list, owner: id.owner, entity: id.entity, property: id.property)
    }
    request.pairs = try changes.pairs()
  }
}

private struct PairChanges {
  typealias Pair = SaveRequest.Pairs.Pair

  private struct Ends: Hashable {
    let first: Int64
    let partner: Int64
  }

  private struct Table {
    var added: Set<Ends> = []
    var addedInOrder: [Ends] = []
    var removed: Set<Ends> = []
    /// Owners whose members have a new order, with all their members in it.
    var arranged: [(owner: Int64, isFirst: Bool, keys: ContiguousArray<Int64>)] = []
  }

  private let context: ManagedObjectContext
  private var tables: [Int: Table] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  mutating func add(_ object: ManagedObject) {
    guard let extras = object.extras else { return }
    let relationships = context.info(of: object).relationships
    for entry in extras.lists where relationships.indices.contains(entry.property) {
      guard let relationship = relationships[entry.property], relationship.isJoined else { continue }
      add(entry.list, owner: object._key, relationship)
    }
  }

  mutating func add(_ list: MemberList, owner: Int64, entity: Int, property: Int) {
    guard let relationship = context.runtime.entities[entity].relationships[property] else { return }
    add(list, owner: owner, relationship)
  }

  private mutating func add(_ list: MemberList, owner: Int64, _ relationship: RelationshipInfo) {
    // A new object's list was complete from the start: everything in it is to be written.
    let isNew = context.map[owner]?.phase == .inserted
    guard case .joinTable(let number, let isFirst) = relationship.home, list.hasChanges || isNew else { return }
    let isSymmetric = context.runtime.model.joinTables[number].isSymmetric
    let difference = isNew ? (added: Array(list.keys), removed: []) : list.difference
    var table = tables[number] ?? Table()
    for key in difference.added {
      for ends in pairs(owner, key, isFirst, isSymmetric) where table.added.insert(ends).inserted {
        table.addedInOrder.append(ends)
      }
    }
    for key in difference.removed { table.removed.formUnion(pairs(owner, key, isFirst, isSymmetric)) }
    if relationship.isOrdered && list.isLoaded { table.arranged.append((owner, isFirst, list.keys)) }
    tables[number] = table
  }

  private func pairs(_ owner: Int64, _ key: Int64, _ isFirst: Bool, _ isSymmetric: Bool) -> [Ends] {
    let ends = isFirst ? Ends(first: owner, partner: key) : Ends(first: key, partner: owner)
    return isSymmetric && owner != key ? [ends, Ends(first: ends.partner, partner: ends.first)] : [ends]
  }

  // MARK: The result

  func pairs() throws -> [SaveRequest.Pairs] {
    var all: [SaveRequest.Pairs] = []
    for (number, table) in tables.sorted(by: { $0.key < $1.key }) {
      var pairs = SaveRequest.Pairs(table: number)
      let places = Places(table.arranged)
      pairs.removed = table.removed.subtracting(table.added).sorted { ($0.first, $0.partner) < ($1.first, $1.partner) }
        .map { Pair(first: $0.first, partner: $0.partner) }
      pairs.added = table.addedInOrder.filter(isAlive).map { places.pair($0.first, $0.partner) }
      try appendToUnloaded(&pairs.added, table: number)
      pairs.moved = places.all.filter { !table.added.contains(Ends(first: $0.first, partner: $0.partner)) }
      all.append(pairs)
    }
    return all
  }

  /// An end that noted a partner without having its members loaded has it after the last one in the store.
  private func appendToUnloaded(_ pairs: inout [Pair], table number: Int) throws {
    let table = context.runtime.model.joinTables[number]
    if table.first.orderColumn != nil {
      try append(
        &pairs, at: \.place, owner: \.first,
        RelationshipNumber(entity: table.first.entity, property: table.first.property))
    }
    if let second = table.second, second.orderColumn != nil {
      try append(
        &pairs, at: \.inversePlace, owner: \.partner,
        RelationshipNumber(entity: second.entity, property: second.property))
    }
  }

  private func append(
    _ pairs: inout [Pair], at place: WritableKeyPath<Pair, Int64?>, owner: KeyPath<Pair, Int64>,
    _ relationship: RelationshipNumber
  ) throws {
    let owners = Set(pairs.filter { $0[keyPath: place] == nil }.map { $0[keyPath: owner] })
    guard !owners.isEmpty else { return }
    var last: [Int64: Int64] = [:]
    try context.connection().lastPlaces(of: relationship, owners: owners.sorted()) { last[$0] = $1 }
    for index in pairs.indices where pairs[index][keyPath: place] == nil {
      let next = PlaceNumbering.after(last[pairs[index][keyPath: owner]])
      last[pairs[index][keyPath: owner]] = next
      pairs[index][keyPath: place] = next
    }
  }

  /// Pairs of objects that are deleted in the same save are not written.
  private func isAlive(_ ends: Ends) -> Bool {
    for key in [ends.first, ends.partner] {
      if let object = context.map[key], object.phase == .deleted { return false }
    }
    return true
  }

  /// The places of pairs whose owners have a new order.
  private struct Places {
    private var byEnds: [Ends: Pair] = [:]

    init(_ arranged: [(owner: Int64, isFirst: Bool, keys: ContiguousArray<Int64>)]) {
      for (owner, isFirst, keys) in arranged {
        for (index, key) in keys.enumerated() {
          let ends = isFirst ? Ends(first: owner, partner: key) : Ends(first: key, partner: owner)
          let place = Int64(index + 1) * PlaceNumbering.gap
          var pair = byEnds[ends] ?? Pair(first: ends.first, partner: ends.partner)
          if isFirst { pair.place = place } else { pair.inversePlace = place }
          byEnds[ends] = pair
        }
      }
    }

    func pair(_ first: Int64, _ partner: Int64) -> Pair {
      byEnds[Ends(first: first, partner: partner)] ?? Pair(first: first, partner: partner)
    }

    var all: [Pair] { byEnds.values.sorted { ($0.first, $0.partner) < ($1.first, $1.partner) } }
  }
}
