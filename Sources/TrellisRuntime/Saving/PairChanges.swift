import TrellisStorage

extension SavePlan {
  /// Turns the changed lists of joined relationships into pairs. Each pair is written once, although both ends may have
  /// noted it.
  mutating func collectPairs(_ context: ManagedObjectContext) throws {
    var changes = PairChanges(context)
    for object in inserted { changes.add(object) }
    for (object, _) in updated { changes.add(object) }
    for object in relinked { changes.add(object) }
    // Pairs that were removed before the delete are written as well, because they must not deny the delete.
    for object in deleted where !context.info(of: object).storeChecks.denials.isEmpty { changes.add(object) }
    for (id, list) in context.pending.deferredLists.lists {
      changes.add(list, owner: id.owner, entity: id.entity, property: id.property)
    }
    request.pairs = try changes.pairs()
  }
}

private struct PairChanges {
  typealias Pair = SaveRequest.Pairs.Pair

  /// A class, because the arrays in a dictionary of structs would be copied for each list.
  private final class Table {
    /// Pairs may be listed twice, because both ends note them.
    var added: [PairEnds] = []
    var removed: [PairEnds] = []
    var places = PairPlaces()
    /// The owners whose lists have members that are placed behind all others.
    var tails: [(owner: Int64, isFirst: Bool, members: [(key: Int64, isMoved: Bool)])] = []
  }

  private let context: ManagedObjectContext
  private var tables: [Int: Table] = [:]

  init(_ context: ManagedObjectContext) { self.context = context }

  mutating func add(_ object: ManagedObject) {
    guard let extras = object.extras, !extras.lists.isEmpty else { return }
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
    // The list of a new object is complete from the start, so all of its members are written.
    let isNew = context.map[owner]?.phase == .inserted
    guard case .joinTable(let number, let isFirst) = relationship.home, list.hasChanges || isNew else { return }
    let isSymmetric = context.runtime.model.joinTables[number].isSymmetric
    let difference = isNew ? (added: Array(list.keys), removed: []) : list.difference
    let table = tables[number] ?? Table()
    tables[number] = table
    for key in difference.added { note(owner, key, isFirst, isSymmetric, in: &table.added) }
    for key in difference.removed { note(owner, key, isFirst, isSymmetric, in: &table.removed) }
    if relationship.isOrdered {
      let tail = list.tail
      if list.isLoaded && (isNew || tail.count * 2 > list.keys.count) {
        table.places.arrange(list.keys, of: owner, isFirst)
      } else if !tail.isEmpty {
        table.tails.append((owner, isFirst, tail))
      }
    }
  }

  private func note(
    _ owner: Int64, _ key: Int64, _ isFirst: Bool, _ isSymmetric: Bool, in pairs: inout [PairEnds]
  ) {
    let ends = isFirst ? PairEnds(first: owner, partner: key) : PairEnds(first: key, partner: owner)
    pairs.append(ends)
    if isSymmetric && owner != key { pairs.append(PairEnds(first: ends.partner, partner: ends.first)) }
  }

  // MARK: The result

  func pairs() throws -> [SaveRequest.Pairs] {
    var all: [SaveRequest.Pairs] = []
    for (number, table) in tables.sorted(by: { $0.key < $1.key }) {
      var places = table.places
      try append(table.tails, to: &places, table: number)
      var pairs = SaveRequest.Pairs(table: number)
      // Sorted by key as in the store, so that each write is next to the last one.
      let added = table.added.sortedWithoutRepeats
      pairs.removed = table.removed.sortedWithoutRepeats.filter { !added.containsInOrder($0) }
        .map { Pair(first: $0.first, partner: $0.partner) }
      pairs.added = added.filter(isAlive).map(places.pair)
      // An added pair may exist in the store. It then keeps its places unless it is moved as well.
      pairs.moved = places.moves { isAlive($0) && !(added.containsInOrder($0) && isNew($0)) }
      all.append(pairs)
    }
    return all
  }

  /// Adds the tails of lists behind the last member in the store.
  private func append(
    _ tails: [(owner: Int64, isFirst: Bool, members: [(key: Int64, isMoved: Bool)])], to places: inout PairPlaces,
    table number: Int
  ) throws {
    let table = context.runtime.model.joinTables[number]
    for isFirst in [true, false] {
      let owners = tails.filter { $0.isFirst == isFirst }
      guard !owners.isEmpty, let end = isFirst ? table.first : table.second else { continue }
      var last: [Int64: Int64] = [:]
      let relationship = RelationshipNumber(entity: end.entity, property: end.property)
      try context.connection().lastPlaces(of: relationship, owners: owners.map(\.owner).sorted()) { last[$0] = $1 }
      for tail in owners { places.append(tail.members, of: tail.owner, isFirst, after: last[tail.owner]) }
    }
  }

  /// Whether both objects of a pair remain. Pairs of objects that are deleted in the same save are not written.
  private func isAlive(_ ends: PairEnds) -> Bool {
    if context.deleted.isEmpty { return true }
    for key in [ends.first, ends.partner] {
      if let object = context.map[key], object.phase == .deleted { return false }
    }
    return true
  }

  /// Whether a pair cannot exist in the store.
  private func isNew(_ ends: PairEnds) -> Bool {
    context.map[ends.first]?.phase == .inserted || context.map[ends.partner]?.phase == .inserted
  }
}
