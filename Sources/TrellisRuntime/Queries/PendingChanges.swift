import TrellisQuery
import TrellisSchema
import TrellisStorage

/// How a context's unsaved changes bear on a request.
enum PendingInfluence {
  /// Not at all: the store's answer is right.
  case none
  /// Objects of the entity itself changed: the store's answer is right for all others.
  case ofResults
  /// Other objects changed that the predicate or the sort looks at, so any object may be concerned.
  case ofOthers
}

extension ManagedObjectContext {
  func pendingChanges(for request: StoreRequest) -> PendingInfluence {
    if inserted.isEmpty && changed.isEmpty && deleted.isEmpty && waiting.lists.isEmpty { return .none }
    if request.looksAtOthers(of: runtime.entities[request.entity].entity) { return .ofOthers }
    let subtree = runtime.entities[request.entity].entity.subtree
    let isConcerned = { (object: ManagedObject) in subtree.contains(type(of: object)._entity) }
    let isAny =
      inserted.contains(where: isConcerned) || changed.contains(where: isConcerned)
      || deleted.contains(where: isConcerned)
    return isAny ? .ofResults : .none
  }

  /// The store's answer without the objects that changed, and those of them that fit, in one order.
  func overlay(_ request: StoreRequest, _ rule: LazyLoading) throws -> [ManagedObject] {
    let pending = try pendingObjects(of: request)
    var wide = request
    wide.offset = 0
    // Each changed object takes at most one place away from the others.
    wide.limit = request.limit.flatMap { sum([$0, request.offset, pending.all.count]) }
    let unchanged = try stored(wide, rule).filter { !pending.all.contains($0._key) }
    let sorted = try merge(unchanged, fitting(pending.living, request), SortOrder(request.sort))
    return Array(sorted.dropFirst(request.offset).prefix(request.limit ?? .max))
  }

  /// Every object of the entity, tested and sorted in memory.
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

  /// Puts a few objects into their places among many that are in order already.
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

extension StoreRequest {
  /// Whether the answer depends on anything but the values in the object's own row.
  func looksAtOthers(of entity: Entity) -> Bool {
    sort.contains { !entity.holds($0.path) } || predicate.map(entity.isLeftBy) == true
  }
}

extension Entity {
  /// Whether a path ends in the object's own row.
  fileprivate func holds(_ path: PropertyPath) -> Bool {
    guard path.count > 0 else { return true }
    guard let step = path.onlyStep, properties.indices.contains(step) else { return false }
    return properties[step].column != nil
  }

  /// Whether an operand is made of nothing but constants and the object's own row.
  func holdsAll(of operand: Operand) -> Bool { !isLeftBy(operand) }

  /// Whether a predicate looks at anything but the object's own row.
  fileprivate func isLeftBy(_ predicate: QueryPredicate) -> Bool {
    switch predicate {
    case .constant: false
    case .not(let inner): isLeftBy(inner)
    case .and(let terms), .or(let terms): terms.contains(where: isLeftBy)
    case .comparison(let comparison): isLeftBy(comparison.left) || isLeftBy(comparison.right)
    case .isIn(let operand, _, _): isLeftBy(operand)
    case .quantified: true
    }
  }

  private func isLeftBy(_ operand: Operand) -> Bool {
    switch operand {
    case .value, .now, .parameter: false
    case .path(let path): !holds(path)
    case .count: true
    case .computed(.arithmetic(_, let left, let right)): isLeftBy(left) || isLeftBy(right)
    case .computed(.function(_, let inner)): isLeftBy(inner)
    case .computed: true
    }
  }
}

/// The sum of numbers that are not negative; nil, which is no limit, when it is too large.
private func sum(_ numbers: [Int]) -> Int? {
  numbers.reduce(0) { sum, number in
    sum.flatMap { sum in
      let (result, overflow) = sum.addingReportingOverflow(number)
      return overflow ? nil : result
    }
  }
}
