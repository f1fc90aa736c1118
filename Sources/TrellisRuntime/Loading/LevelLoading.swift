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

  /// Whether the next use of an object that was loaded along a relationship may continue the chain.
  func continuesChain(_ object: ManagedObject, _ relationship: Relationship) -> Bool {
    batches[object.state.batch]?.cameBy?.relationship === relationship && runtime.isChain(relationship)
  }

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
      let isNew = map[row.key] == nil
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
      let isNew = map[row.key] == nil
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
  private var seen: Set<Int64> = []
  /// The objects whose lists are loaded, from the first level on.
  private(set) var owners: [ManagedObject]

  init(_ objects: [ManagedObject], _ relationship: Relationship) {
    self.relationship = relationship
    owners = []
    owners = objects.filter { isUnloaded($0) }
  }

  private func isUnloaded(_ object: ManagedObject) -> Bool {
    object.phase == .persistent && object.extras?.list(relationship.property)?.isLoaded != true
  }

  /// Adds a member. In a cycle it may come again.
  mutating func add(_ object: ManagedObject, owner: Int64, place: Int64, _ level: Int) {
    guard seen.insert(object._key).inserted else { return }
    members.append(Member(object: object, owner: owner, place: place, level: level))
  }

  /// Loads the lists of the owners down to a level. Lists further down count as not loaded.
  mutating func finish(upTo complete: Int, in graph: ObjectGraph) {
    guard complete > 0 else { return }
    var known = Set(owners.map(\._key))
    for member in members where member.level < complete && isUnloaded(member.object) {
      if known.insert(member.object._key).inserted { owners.append(member.object) }
    }
    members.sort { ($0.owner, $0.place, $0.object._key) < ($1.owner, $1.place, $1.object._key) }
    var loading = ListLoading(relationship, graph.runtime.inverse(of: relationship), owners)
    for member in members where member.level <= complete && known.contains(member.owner) {
      loading.add(member.object._key, member.object, to: member.owner)
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
