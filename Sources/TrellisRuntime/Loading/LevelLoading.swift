import TrellisModel
import TrellisStorage

/// Loads along a relationship of an entity to itself: a list of nodes, a tree. Each use of an object leads to the next,
/// so a single load for each would be one statement for each level. From the second step in a row on, the store is asked
/// for several levels at once, and for more of them with each step.
extension ObjectGraph {
  /// The number of rows that a load may read ahead: 16, then four times as many with each step, up to 1,024.
  private func rowsAhead(_ batch: FetchBatch) -> Int {
    batch.steps < stepsOfChain ? 0 : 16 << (2 * min(batch.steps - stepsOfChain, 3))
  }

  /// Loads members with their rows although only their keys are needed, if there are few and the owners were loaded along
  /// the same relationship: the next use will be of the members.
  ///
  /// - Returns: whether the members were loaded.
  func loadChain(
    of owners: [ManagedObject], like object: ManagedObject, _ relationship: Relationship
  ) throws -> Bool {
    guard owners.count <= Self.fewInChain, batches[object.state.batch]?.cameBy?.relationship === relationship,
      runtime.isChain(relationship)
    else { return false }
    return try loadMembers(of: owners, relationship, atMost: Self.fewInChain, goingOn: true)
  }

  private static let fewInChain = 16

  /// Loads the members of the members of some owners, which were just loaded, level after level, as far as they are
  /// likely to be used.
  func loadLevels(
    below owners: [ManagedObject], _ relationship: Relationship, _ batch: FetchBatch, _ number: UInt32
  ) throws {
    let limit = rowsAhead(batch)
    guard limit > 0, parent == nil, runtime.isChain(relationship),
      let inverse = runtime.inverse(of: relationship), case .column(let column, let order) = inverse.home
    else { return }
    let members = owners.flatMap { registeredObjects(list(of: $0, relationship).keys) }
    var chain = ChainLoading(members, relationship)
    guard !chain.owners.isEmpty, chain.owners.count <= limit else { return }
    let complete = try connection(reading: relationship.destination).levels(
      of: relationship.number, below: chain.owners.map(\._key), atMost: limit
    ) { level, row in
      let isNew = !map.contains(row.key)
      let member = try object(of: row, batch: number)
      if isNew { batch.append(row.key) } else { refreshPlace(of: member, relationship, row) }
      let place = order.map { row.isNull($0) ? 0 : row.integer($0) } ?? 0
      chain.add(member, owner: row.integer(column), place: place, level)
    }
    chain.finish(upTo: complete, in: self)
  }

  /// Loads the partners of partners that were just loaded.
  func loadLevels(
    above objects: [ManagedObject], _ relationship: Relationship, _ batch: FetchBatch, _ number: UInt32
  ) throws {
    let limit = rowsAhead(batch)
    guard limit > 0, parent == nil, !objects.isEmpty, objects.count <= limit else { return }
    _ = try connection(reading: relationship.destination).levels(
      of: relationship.number, below: objects.map(\._key), atMost: limit
    ) { _, row in
      let isNew = !map.contains(row.key)
      _ = try object(of: row, batch: number)
      if isNew { batch.append(row.key) }
    }
  }
}

/// The levels of a chain of to-manys that a load has found.
private struct ChainLoading {
  private struct Member {
    let object: ManagedObject
    let owner: Int64
    let place: Int64
    let level: Int
  }

  private let relationship: Relationship
  private var members: [Member] = []
  /// The objects whose lists are loaded, from the first level on.
  private(set) var owners: [ManagedObject] = []

  init(_ objects: [ManagedObject], _ relationship: Relationship) {
    self.relationship = relationship
    owners = objects.filter { isUnloaded($0) }
  }

  private func isUnloaded(_ object: ManagedObject) -> Bool {
    object.phase == .persistent && !object.hasLoadedList(of: relationship.property)
  }

  /// Adds a member. In a ring it may come again, on a further level.
  mutating func add(_ object: ManagedObject, owner: Int64, place: Int64, _ level: Int) {
    members.append(Member(object: object, owner: owner, place: place, level: level))
  }

  /// Loads the lists of the owners down to a level. Lists further down count as not loaded.
  mutating func finish(upTo complete: Int, in graph: ObjectGraph) {
    guard complete > 0 else { return }
    for member in members where member.level < complete && isUnloaded(member.object) { owners.append(member.object) }
    members.sort { left, right in
      if left.owner != right.owner { return left.owner < right.owner }
      return (left.place, left.object._key, left.level) < (right.place, right.object._key, right.level)
    }
    var loading = ListLoading(relationship, graph.runtime.inverse(of: relationship), owners)
    var last: ManagedObject?
    for member in members where member.level <= complete && member.object !== last {
      guard let owner = graph.map[member.owner], isUnloaded(owner) else { continue }
      loading.add(member.object._key, to: member.owner)
      loading.check(member.object, of: member.owner)
      last = member.object
    }
    graph.finish(loading, owners)
  }
}

extension RuntimeModel {
  /// Whether a relationship leads from an entity to itself, by references in rows, so that each of its partners has it
  /// as well.
  func isChain(_ relationship: Relationship) -> Bool {
    guard entities[relationship.entity].entity.subtree.contains(relationship.destination) else { return false }
    switch relationship.home {
    case .column: return !relationship.isOwnInverse
    case .inverseColumn: return relationship.isToMany
    case .joinTable, .transient: return false
    }
  }
}
