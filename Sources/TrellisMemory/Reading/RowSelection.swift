import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The rows of a request, in its sort order.
struct RowSelection {
  private let snapshot: Snapshot
  private let request: StoreRequest
  private let evaluator: PredicateEvaluator?
  private let order: SortOrder?
  private let entity: Entity
  /// Whether rows of an entity are requested, by entity number.
  private let isWanted: [Bool]

  init(_ request: StoreRequest, _ snapshot: Snapshot) throws {
    let model = snapshot.layout.model
    guard model.entities.indices.contains(request.entity) else { throw StoreError.noSuchEntity }
    try request.checkSortKeys()
    self.snapshot = snapshot
    self.request = request
    entity = model.entities[request.entity]
    evaluator = try StoreError.evaluating { try request.predicate.map { try PredicateEvaluator($0) } }
    order = try StoreError.evaluating { request.sort.isEmpty ? nil : try SortOrder(request.sort) }
    isWanted = model.wanted(entity, withSubentities: request.includesSubentities)
  }

  /// Visits the rows. `body` may throw to stop.
  func forEach(_ body: (MemoryRow) throws -> Void) throws {
    guard let order else { return try stream(body) }
    if let walk { return try stream(body, along: walk) }
    var found: [RowObject] = []
    try matches { row in
      found.append(RowObject(row: row, snapshot: snapshot))
      return true
    }
    for object in try order.sorted(found).dropFirst(max(0, request.offset)).prefix(limit) { try body(object.row) }
  }

  /// Visits rows in the order of keys or of an index. No rows are collected, and the walk ends at the limit.
  private func stream(_ body: (MemoryRow) throws -> Void, along walk: IndexWalk? = nil) throws {
    var toSkip = max(0, request.offset)
    var left = limit
    guard left > 0 else { return }
    try matches(along: walk) { row in
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      try body(row)
      left -= 1
      return left > 0
    }
  }

  /// A walk through an index with the request's sort order. Nil if a few rows are found in another way.
  private var walk: IndexWalk? {
    guard !KeyLookup(snapshot: snapshot, entity: entity).findsFew(request.predicate) else { return nil }
    return IndexWalk(request, snapshot, entity)
  }

  private var limit: Int { max(0, request.limit ?? .max) }

  /// Visits all matching rows, by key or along an index, until `body` returns false.
  private func matches(along walk: IndexWalk? = nil, _ body: (MemoryRow) throws -> Bool) throws {
    func visit(_ row: MemoryRow) throws -> Bool {
      guard isWanted[row.entity], try evaluator?.matches(RowObject(row: row, snapshot: snapshot)) ?? true else {
        return true
      }
      return try body(row)
    }
    if let walk {
      return try walk.forEach { key in try snapshot.state.row(entity.root, key).map(visit) ?? true }
    }
    guard let keys = KeyLookup(snapshot: snapshot, entity: entity).candidates(request.predicate) else {
      let start = KeyLookup.leastKey(request.predicate)
      return try snapshot.state.tables[entity.root].forEach(from: start) { _, row in try visit(row) }
    }
    for key in keys {
      if let row = snapshot.state.row(entity.root, key), try !visit(row) { return }
    }
  }
}

extension Model {
  /// Whether a request for this entity includes rows of each entity.
  func wanted(_ entity: Entity, withSubentities: Bool) -> [Bool] {
    var wanted = entities.map { _ in false }
    for number in withSubentities ? entity.subtree : [entity.index] { wanted[number] = true }
    return wanted
  }
}

extension StoreError {
  static let noSuchEntity = StoreError(
    .internalError, "A request names an entity that the store's model does not have.",
    remedy: "Use a store that was opened with the same model.")
}
