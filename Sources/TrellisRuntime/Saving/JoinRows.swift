import TrellisModel
import TrellisStorage

extension SavePlan {
  /// Turns the changed lists of joined relationships into pairs. Each pair is written once, although both ends may have
  /// noted it.
  func collectPairs(_ graph: ObjectGraph) throws {
    if owners.isEmpty && deleted.isEmpty && graph.pending.deferredLists.lists.isEmpty { return }
    var changes = PairChanges(graph)
    for object in owners { changes.add(object) }
    // Pairs that were removed before the delete are written as well, because they must not deny the delete.
    if graph.runtime.needsStoreChecks {
      for object in deleted where !graph.info(of: object).storeChecks.denials.isEmpty { changes.add(object) }
    }
    for (id, list) in graph.pending.deferredLists.lists {
      changes.add(list, owner: id.owner, entity: id.entity, property: id.property)
    }
    request.pairs = try changes.pairs()
  }
}

private struct PairChanges {
  typealias Pair = SaveRequest.Pairs.Pair

  /// A class, because the arrays in a dictionary of structs would be copied for each list.
  private final class Table {
    // Each access ends before anything else is called, so accesses cannot overlap and need no check.

    /// Pairs may be listed twice, because both ends note them.
    @exclusivity(unchecked) var added: [PairEnds] = []
    @exclusivity(unchecked) var removed: [PairEnds] = []
    @exclusivity(unchecked) var places = PairPlaces()
    /// The owners whose lists have members that are placed behind all others.
    @exclusivity(unchecked) var tails: [(owner: Int64, isFirst: Bool, members: [(key: Int64, isMoved: Bool)])] = []
    /// The owners whose lists have members that are placed between others.
    @exclusivity(unchecked) var insertions: [(owner: Int64, isFirst: Bool, places: InsertionPlaces)] = []
  }

  private let graph: ObjectGraph
  private var tables: [Int: Table] = [:]
  /// The table of the last list: those of one relationship mostly come together.
  private var last: (number: Int, table: Table)?

  init(_ graph: ObjectGraph) { self.graph = graph }

  mutating func add(_ object: ManagedObject) {
    let info = graph.info(of: object)
    guard info.hasPairs, object.hasLists else { return }
    let relationships = info.relationships
    for list in object.lists where relationships.indices.contains(list.property) {
      guard let relationship = relationships[list.property], relationship.isJoined else { continue }
      add(list, owner: object._key, relationship)
    }
  }

  mutating func add(_ list: MemberList, owner: Int64, entity: Int, property: Int) {
    guard let relationship = graph.runtime.info(entity).relationships[property] else { return }
    add(list, owner: owner, relationship)
  }

  private mutating func add(_ list: MemberList, owner: Int64, _ relationship: Relationship) {
    // The list of a new object is complete from the start, so all of its members are written.
    let isNew = graph.map[owner]?.phase == .inserted
    guard case .joinTable(let number, let isFirst) = relationship.home, list.hasChanges || isNew else { return }
    let isSymmetric = graph.runtime.model.joinTables[number].isSymmetric
    let table = table(number)
    if isNew || !list.isLoaded {
      for key in list.keys { note(owner, key, isFirst, isSymmetric, in: &table.added) }
      if !isNew { for key in list.removed { note(owner, key, isFirst, isSymmetric, in: &table.removed) } }
    } else {
      let difference = list.difference
      for key in difference.added { note(owner, key, isFirst, isSymmetric, in: &table.added) }
      for key in difference.removed { note(owner, key, isFirst, isSymmetric, in: &table.removed) }
    }
    if relationship.isOrdered {
      let tail = list.tail
      if !isNew, let places = InsertionPlaces(list), places.count < tail.count {
        table.insertions.append((owner, isFirst, places))
      } else if list.isLoaded && (isNew || tail.count * 2 > list.keys.count) {
        table.places.arrange(list.keys, of: owner, isFirst)
      } else if !tail.isEmpty {
        table.tails.append((owner, isFirst, tail))
      }
    }
  }

  private mutating func table(_ number: Int) -> Table {
    if let last, last.number == number { return last.table }
    let table = tables[number] ?? Table()
    tables[number] = table
    last = (number, table)
    return table
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
    for (number, table) in tables.sortedByKey {
      var places = table.places
      try append(table.tails, to: &places, table: number)
      for insertion in table.insertions {
        try insert(insertion.places, of: insertion.owner, insertion.isFirst, to: &places, table: number)
      }
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
    let table = graph.runtime.model.joinTables[number]
    for isFirst in [true, false] {
      let owners = tails.filter { $0.isFirst == isFirst }
      guard !owners.isEmpty, let end = isFirst ? table.first : table.second else { continue }
      var last: [Int64: Int64] = [:]
      let relationship = RelationshipNumber(entity: end.entity, property: end.property)
      try graph.connection().lastPlaces(of: relationship, owners: owners.map(\.owner).sorted()) { last[$0] = $1 }
      for tail in owners { places.append(tail.members, of: tail.owner, isFirst, after: last[tail.owner]) }
    }
  }

  /// Adds the inserted members of a list between their neighbours in the store.
  private func insert(
    _ insertion: InsertionPlaces, of owner: Int64, _ isFirst: Bool, to places: inout PairPlaces, table number: Int
  ) throws {
    let table = graph.runtime.model.joinTables[number]
    guard let end = isFirst ? table.first : table.second else { return }
    let relationship = RelationshipNumber(entity: end.entity, property: end.property)
    let connection = try graph.connection()
    let found = try insertion.places { keys in
      var stored: [Int64: Int64] = [:]
      try connection.memberPlaces(of: relationship, owner: owner, members: Array(keys)) { stored[$0] = $1 }
      return keys.map { stored[$0] }
    }
    guard let found else { return places.arrange(insertion.keys, of: owner, isFirst) }
    for (key, place) in found { places.place(key, of: owner, isFirst, at: place) }
  }

  /// Whether both objects of a pair remain. Pairs of objects that are deleted in the same save are not written.
  private func isAlive(_ ends: PairEnds) -> Bool {
    if graph.deleted.isEmpty { return true }
    for key in [ends.first, ends.partner] {
      if let object = graph.map[key], object.phase == .deleted { return false }
    }
    return true
  }

  /// Whether a pair cannot exist in the store.
  private func isNew(_ ends: PairEnds) -> Bool {
    graph.map[ends.first]?.phase == .inserted || graph.map[ends.partner]?.phase == .inserted
  }
}

// MARK: - Pair places

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

  /// Assigns a new place to a member of an owner.
  mutating func place(_ key: Int64, of owner: Int64, _ isFirst: Bool, at place: Int64) {
    set(place, owner, key, isFirst, isMoved: true)
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

// MARK: - Places

extension SavePlan {
  /// Assigns places to the members of changed ordered one-to-many relationships. Rows that are written anyway carry
  /// their places; the places of other rows are written separately.
  func assignPlaces(_ graph: ObjectGraph) throws {
    if owners.isEmpty { return }
    var assignment = PlaceAssignment(graph, updated: updated)
    defer { formerPlaces = assignment.formerPlaces }
    for object in owners { try assignment.add(object) }
    try assignment.appendToUnloaded()
    request.places = assignment.places
  }

  /// Restores the former places of the members after the save has failed. Otherwise the next save would take the new
  /// places for stored ones.
  func revertPlaces() {
    for former in formerPlaces.reversed() { former.member._setPlace(former.property, former.place) }
  }
}

private struct PlaceAssignment {
  private struct ColumnNumber: Hashable {
    let entity: Int
    let column: Int
  }

  private let graph: ObjectGraph
  private let updated: ContiguousArray<(object: ManagedObject, mask: ColumnMask)>
  /// The written properties of each updated object. Lazy, because most saves do not need it.
  private lazy var rewritten = Dictionary(uniqueKeysWithValues: updated.map { ($0.object._key, $0.mask) })
  private(set) var formerPlaces: [(member: ManagedObject, property: Int, place: Int64?)] = []
  private var alone: [ColumnNumber: SaveRequest.Places] = [:]
  private var unloaded:
    [RelationshipNumber: [(owner: Int64, relationship: Relationship, keys: ContiguousArray<Int64>)]] = [:]

  init(_ graph: ObjectGraph, updated: ContiguousArray<(object: ManagedObject, mask: ColumnMask)>) {
    self.graph = graph
    self.updated = updated
  }

  /// The places that are written separately, because their rows are not written.
  var places: [SaveRequest.Places] {
    alone.values.sorted { ($0.entity, $0.column) < ($1.entity, $1.column) }
  }

  mutating func add(_ owner: ManagedObject) throws {
    let info = graph.info(of: owner)
    guard info.placesMembers, owner.hasLists else { return }
    let relationships = info.relationships
    for list in owner.lists where relationships.indices.contains(list.property) {
      guard let relationship = relationships[list.property], relationship.isOrdered,
        relationship.home == .inverseColumn, owner.phase == .inserted || list.hasChanges,
        !list.keys.isEmpty
      else { continue }
      if list.isLoaded {
        try arrange(list, of: owner, relationship)
      } else {
        unloaded[relationship.number, default: []].append((owner._key, relationship, list.keys))
      }
    }
  }

  private mutating func arrange(
    _ list: MemberList, of owner: ManagedObject, _ relationship: Relationship
  ) throws {
    guard let inverse = graph.runtime.inverse(of: relationship) else { return }
    if owner.phase == .persistent, try insert(list, relationship, inverse) { return }
    let members = try members(list.keys, relationship)
    let old = members.map { $0._place(inverse.property) }
    for (member, (old, new)) in zip(members, zip(old, PlaceNumbering.arrange(old))) where old != new {
      set(new, of: member, inverse)
    }
  }

  /// Assigns places to the inserted members, between those of their neighbours.
  ///
  /// - Returns: whether this was possible. Otherwise all members have to be arranged.
  private mutating func insert(
    _ list: MemberList, _ relationship: Relationship, _ inverse: Relationship
  ) throws -> Bool {
    let places = try InsertionPlaces(list)?.places { keys in
      let members = try members(keys, relationship)
      return members.count == keys.count ? members.map { $0._place(inverse.property) } : nil
    }
    guard let places else { return false }
    // Members that move aside may not be in memory yet.
    let moved = try members(places.map(\.key), relationship)
    guard moved.count == places.count else { return false }
    for (member, (_, place)) in zip(moved, places) where member._place(inverse.property) != place {
      set(place, of: member, inverse)
    }
    return true
  }

  private func members(
    _ keys: some Collection<Int64>, _ relationship: Relationship
  ) throws -> [ManagedObject] {
    var members = keys.compactMap { graph.map[$0] }
    // The place in a fault is not the stored one: another context may have written it.
    if members.count < keys.count || members.contains(where: { $0.accessFlags.contains(.fault) }) {
      try graph.loadForChange(keys, of: relationship)
      members = keys.compactMap { graph.map[$0] }
    }
    return members
  }

  /// Assigns places behind the last member in the store to members that were added to unloaded lists.
  mutating func appendToUnloaded() throws {
    for (number, lists) in unloaded {
      var last: [Int64: Int64] = [:]
      try graph.connection().lastPlaces(of: number, owners: lists.map(\.owner)) { last[$0] = $1 }
      for (owner, relationship, keys) in lists {
        guard let inverse = graph.runtime.inverse(of: relationship) else { continue }
        try graph.loadForChange(keys, of: relationship)
        for member in keys.compactMap({ graph.map[$0] }) where member._reference(inverse.property) == owner {
          let place = PlaceNumbering.after(last[owner])
          last[owner] = place
          set(place, of: member, inverse)
        }
      }
    }
  }

  private mutating func set(_ place: Int64, of member: ManagedObject, _ reference: Relationship) {
    formerPlaces.append((member, reference.property, member._place(reference.property)))
    member._setPlace(reference.property, place)
    let isWritten = member.phase == .inserted || rewritten[member._key]?.contains(reference.property) == true
    guard !isWritten, case .column(_, let column?) = reference.home else { return }
    let entity = type(of: member)._entity
    alone[ColumnNumber(entity: entity, column: column), default: SaveRequest.Places(entity: entity, column: column)]
      .append(member._key, place)
  }
}

extension SaveRequest.Places {
  fileprivate mutating func append(_ key: Int64, _ place: Int64) {
    keys.append(key)
    places.append(place)
  }
}
