import TrellisQuery
import TrellisSchema
import TrellisStorage

/// How a context's unsaved changes affect the results of a request.
enum PendingInfluence {
  /// Not at all: the store's results are correct.
  case none
  /// Objects of the entity itself changed: the store's results are correct for all other objects.
  case ofResults
  /// Other objects that the predicate or the sort order depends on changed, so any object may be affected.
  case ofOthers
}

extension ManagedObjectContext {
  func pendingChanges(for request: StoreRequest) -> PendingInfluence {
    if pending.isEmpty { return .none }
    let entity = runtime.entities[request.entity].entity
    if request.looksAtOthers(of: entity, besideDeleted: !deleted.isEmpty) { return .ofOthers }
    let subtree = runtime.entities[request.entity].entity.subtree
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

  /// Every object of the entity, filtered and sorted in memory.
  func evaluateAll(_ request: StoreRequest, _ rule: LazyLoading) throws -> [ManagedObject] {
    let everything = StoreRequest(entity: request.entity, includesSubentities: request.includesSubentities)
    let pending = try pendingObjects(of: request)
    let candidates = try stored(everything, rule).filter { !pending.all.contains($0._key) } + pending.living
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
    let info = runtime.entities[request.entity].entity
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
