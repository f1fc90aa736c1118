import TrellisModel
import TrellisStorage

extension ObjectGraph {
  /// The entity of a class. `ManagedObject` itself has none; for it, the root entity of every hierarchy.
  func entities(of type: ManagedObject.Type) -> [Int] {
    runtime.has(type)
      ? [type._entity] : runtime.entities.map(\.number).filter { runtime.info($0).root == $0 }
  }

  func prepareFetch() throws {
    try throwPendingFailure()
    mergeInbox()
    sweepIfDue()
  }

  /// How unsaved changes affect a request, if it takes them into account at all. Objects that a pending cascade
  /// deletes, and that could be among the results, are loaded first.
  func influence(on request: StoreRequest, _ rules: FetchRules) throws -> PendingInfluence {
    guard rules.seesPendingChanges else { return .none }
    try loadPendingCascades(for: request)
    return pendingChanges(for: request)
  }

  func results(of request: StoreRequest, _ rules: FetchRules) throws -> [ManagedObject] {
    try prepareFetch()
    switch try influence(on: request, rules) {
    case .none: return try stored(request, rules.lazyLoading)
    case .ofResults: return try evaluating { try overlay(request, rules.lazyLoading) }
    case .ofOthers: return try evaluating { try evaluateAll(request, rules.lazyLoading) }
    }
  }

  /// Runs the evaluation of a request. The lazy loading rule does not apply to its loads, because the caller did not
  /// cause them.
  func evaluating<Result>(_ body: () throws -> Result) throws -> Result {
    isEvaluating = true
    defer { isEvaluating = false }
    return try body()
  }
}

/// The parts of a request that do not concern stores.
struct FetchRules {
  let seesPendingChanges: Bool
  let lazyLoading: LazyLoading
}

extension FetchRequest {
  var rules: FetchRules { terms.rules }
}

// MARK: - Pending influence

/// How a context's unsaved changes affect the results of a request.
enum PendingInfluence {
  /// Not at all: the store's results are correct.
  case none
  /// Objects of the entity itself changed: the store's results are correct for all other objects.
  case ofResults
  /// Other objects that the predicate or the sort order depends on changed, so any object may be affected.
  case ofOthers
}

extension ObjectGraph {
  func pendingChanges(for request: StoreRequest) -> PendingInfluence {
    if pending.isEmpty { return .none }
    let entity = runtime.info(request.entity).entity
    if request.looksAtOthers(of: entity, besideDeleted: !deleted.isEmpty) { return .ofOthers }
    let subtree = runtime.info(request.entity).entity.subtree
    let isConcerned = { (object: ManagedObject) in subtree.contains(type(of: object)._entity) }
    let isAny =
      inserted.contains(where: isConcerned) || changed.contains(where: isConcerned)
      || deleted.contains(where: isConcerned)
    return isAny ? .ofResults : .none
  }

  /// The store's results without the changed objects, merged in sort order with the changed objects that match.
  func overlay(_ request: StoreRequest, _ rule: LazyLoading) throws -> [ManagedObject] {
    let pending = try pendingObjects(of: request)
    var wide = request
    wide.offset = 0
    // Each changed object displaces at most one other.
    wide.limit = request.limit.flatMap { sum([$0, request.offset, pending.all.count]) }
    let unchanged = try stored(wide, rule).filter { !pending.all.contains($0._key) }
    let sorted = try merge(unchanged, fitting(pending.living, request), SortOrder(request.sort))
    return Array(sorted.dropFirst(request.offset).prefix(request.limit ?? .max))
  }

  /// Every object of the entity whose own attributes fit, filtered and sorted in memory.
  func evaluateAll(_ request: StoreRequest, _ rule: LazyLoading) throws -> [ManagedObject] {
    let own = request.conditionOfAttributes(of: runtime.info(request.entity).entity)
    let wide = StoreRequest(entity: request.entity, includesSubentities: request.includesSubentities, predicate: own)
    let pending = try pendingObjects(of: request)
    let candidates = try stored(wide, rule).filter { !pending.all.contains($0._key) } + pending.living
    let sorted = try SortOrder(request.sort).sorted(fitting(candidates, request))
    return sorted.dropFirst(request.offset).prefix(request.limit ?? .max).map(\.object)
  }

  private func fitting(_ candidates: [ManagedObject], _ request: StoreRequest) throws -> [QueriedObject] {
    let objects = candidates.map { QueriedObject($0, self) }
    guard let predicate = request.predicate else { return objects }
    let evaluator = try StoreError.evaluating { try PredicateEvaluator(predicate) }
    return try objects.filter { try evaluator.matches($0) }
  }

  /// Merges a few objects into many that are already sorted.
  private func merge(
    _ many: [ManagedObject], _ few: [QueriedObject], _ order: SortOrder
  ) throws -> [ManagedObject] {
    var merged: [ManagedObject] = []
    merged.reserveCapacity(many.count + few.count)
    var start = 0
    for object in try order.sorted(few) {
      var low = start
      var high = many.count
      while low < high {
        let middle = (low + high) / 2
        if try order.compare(QueriedObject(many[middle], self), object) < 0 { low = middle + 1 } else { high = middle }
      }
      merged += many[start..<low]
      merged.append(object.object)
      start = low
    }
    return merged + many[start...]
  }

  private struct PendingObjects {
    var all: Set<Int64> = []
    var living: [ManagedObject] = []
  }

  private func pendingObjects(of request: StoreRequest) throws -> PendingObjects {
    let info = runtime.info(request.entity).entity
    let entities = request.includesSubentities ? info.subtree : [request.entity]
    var pending = PendingObjects()
    for list in [inserted, changed, deleted] {
      for object in list where entities.contains(type(of: object)._entity) {
        guard object.phase != .detached, pending.all.insert(object._key).inserted else { continue }
        if object.phase != .deleted { pending.living.append(object) }
      }
    }
    return pending
  }
}

/// The sum of non-negative numbers; nil, which means no limit, on overflow.
private func sum(_ numbers: [Int]) -> Int? {
  numbers.reduce(0) { sum, number in
    sum.flatMap { sum in
      let (result, overflow) = sum.addingReportingOverflow(number)
      return overflow ? nil : result
    }
  }
}

// MARK: - Streaming

extension ObjectGraph {
  /// Loads and visits the objects of one batch. They are retained only until this returns.
  func walk<Columns: EntityColumns>(
    _ keys: ArraySlice<Int64>, of request: FetchRequest<Columns>, _ body: (Columns.Object) throws -> Void
  ) throws {
    let missing = keys.filter { map[$0] == nil }.sorted()
    if !missing.isEmpty {
      try loadObjects(missing, entity: Columns.Object._entity, rule: request.terms.lazyLoading)
    }
    let objects = keys.compactMap { map[$0] }
    if !request.terms.prefetched.isEmpty { try prefetch(request.terms.prefetched, for: objects) }
    for object in objects where object.phase != .deleted && object.phase != .detached {
      if let object = object as? Columns.Object { try body(object) }
    }
  }
}

extension [Int64] {
  /// The keys in slices of a size; less than 1 counts as 1.
  func batches(of size: Int) -> some Sequence<ArraySlice<Int64>> {
    let size = Swift.max(1, size)
    return stride(from: 0, to: count, by: size).lazy.map { start in
      self[start..<Swift.min(count, start.addingReportingOverflow(size).overflow ? count : start + size)]
    }
  }
}
