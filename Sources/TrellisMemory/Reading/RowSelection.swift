import TrellisQuery
import TrellisSchema
import TrellisStorage

/// The rows that a request asks for, in its order.
struct RowSelection {
  private let snapshot: Snapshot
  private let request: StoreRequest
  private let evaluator: PredicateEvaluator?
  private let order: SortOrder?
  private let entity: Entity
  /// Whether rows of an entity are wanted, by its number.
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

  /// Goes through the rows; `body` may throw to stop.
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

  /// In the order of keys or of an index rows need not be gathered, and going on ends at the limit.
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

  /// An index that has the rows in the order of the request; none where a few rows are found in another way.
  private var walk: IndexWalk? {
    guard !KeyLookup(snapshot: snapshot, entity: entity).findsFew(request.predicate) else { return nil }
    return IndexWalk(request, snapshot, entity)
  }

  private var limit: Int { max(0, request.limit ?? .max) }

  /// Goes through all matching rows, by key or along an index, until `body` returns false.
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
  /// Whether rows of each entity belong to a request for this one.
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
