import TrellisModel
public import TrellisStorage

extension ManagedObjectContext {
  /// Fetches the objects that match a request, as if the context's unsaved changes were already saved.
  ///
  /// - Returns: the objects in the request's order. An object that is already in memory is returned as the same
  ///   instance.
  /// - Throws: ``StoreError`` if the store fails, and with the code `limit` if the request is too large or nested too
  ///   deep; ``ContextError`` if an earlier lazy load failed, and with the code `foreign-model` if the class belongs to
  ///   another model; ``PredicateFormatError`` if a format string of the request is invalid.
  /// - Complexity: that of the store's query, plus the number of results; with unsaved changes, plus their number; plus
  ///   the number of the entity's objects if unsaved changes of other objects affect the predicate.
  public func fetch<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> [Columns.Object] {
    let objects = try results(of: request.storeRequest(in: self), request.rules)
    if !request.prefetched.isEmpty { try prefetch(request.prefetched, for: objects) }
    // Sound because arrays of class instances have one layout, and `result(_:of:batch:)` has checked that each object
    // belongs to the requested entity or a subentity. Their classes inherit from this one.
    return unsafeBitCast(objects, to: [Columns.Object].self)
  }

  /// The first object of a request, or nil if there is none.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func first<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Columns.Object? {
    var storeRequest = try request.storeRequest(in: self)
    if storeRequest.limit ?? 1 > 1 || storeRequest.limit == nil { storeRequest.limit = 1 }
    let objects = try results(of: storeRequest, request.rules)
    if !request.prefetched.isEmpty { try prefetch(request.prefetched, for: objects) }
    return objects.first as? Columns.Object
  }

  /// The number of objects of a request, after its limit and offset. No object is loaded unless unsaved changes affect
  /// the result.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func count<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try prepareFetch()
    let storeRequest = try request.storeRequest(in: self)
    if try influence(on: storeRequest, request.rules) == .none { return try connection().count(storeRequest) }
    return try results(of: storeRequest, request.rules).count
  }

  /// Whether a request matches any object. The store searches only for the first one.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func exists<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Bool {
    try count(request.limit(min(1, request.maximum ?? 1))) > 0
  }

  /// The object with an identifier, from memory or from the store; nil if there is none.
  ///
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` with the code `foreign-model` if the identifier
  ///   belongs to another model.
  public func object<Object: ManagedObject>(with id: ObjectID<Object>) throws -> Object? {
    try runtime.checkUnlessGeneral(Object.self)
    if let known = map[id.key] { return known.phase == .deleted ? nil : known as? Object }
    try prepareFetch()
    for entity in entities(of: Object.self) {
      guard let found = try storedObject(id.key, entity: entity) else { continue }
      return found.phase == .deleted ? nil : found as? Object
    }
    return nil
  }

  /// The stored values of a request's objects as snapshots, without creating objects.
  ///
  /// ```swift
  /// let days = try context.snapshots(of: EmotionDiary.where { $0.emotion == .happy })
  /// ```
  /// If unsaved changes affect the request, the objects are created.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  /// - Complexity: the same as ``fetch(_:)``; nothing is kept in the context.
  public func snapshots<Columns: EntityColumns>(of request: FetchRequest<Columns>) throws -> [Columns.Snapshot] {
    try prepareFetch()
    let storeRequest = try request.storeRequest(in: self)
    guard try influence(on: storeRequest, request.rules) == .none else {
      return try results(of: storeRequest, request.rules).compactMap { $0 as? Columns.Object }.map(Columns.snapshot)
    }
    var found: [Columns.Snapshot] = []
    try connection().fetch(storeRequest) { row in
      row.problem = nil
      found.append(Columns.Snapshot(row))
      if row.problem != nil { throw unreadable(row) }
    }
    return found
  }

  // MARK: Steps

  /// The entity of a class. `ManagedObject` itself has none; for it, the root entity of every hierarchy.
  private func entities(of type: ManagedObject.Type) -> [Int] {
    runtime.has(type)
      ? [type._entity] : runtime.entities.map(\.number).filter { runtime.entities[$0].root == $0 }
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

  /// The store's results, without unsaved changes.
  func stored(_ request: StoreRequest, _ rule: LazyLoading = .allowed) throws -> [ManagedObject] {
    try loadPendingCascades(for: request)
    var objects: [ManagedObject] = []
    let entity = runtime.entities[request.entity]
    if request.limit == 1 && rule == .allowed {
      try connection().fetch(request) { objects.append(try result($0, of: entity, batch: 0)) }
      return objects
    }
    let batch = FetchBatch()
    batch.lazyLoading = rule
    let number = batches.add(batch, keeping: map)
    try connection().fetch(request) { row in
      objects.append(try result(row, of: entity, batch: number))
      batch.append(row.key)
    }
    if objects.count < 2 && rule == .allowed { batches.remove(number) }
    return objects
  }

  /// The object of a fetched row. Throws if the row does not belong to the requested entity or a subentity, which may
  /// happen with a faulty store.
  @inline(__always) private func result(
    _ row: RowReader, of entity: EntityInfo, batch: UInt32
  ) throws -> ManagedObject {
    guard row.entity == entity.number || entity.entity.subtree.contains(row.entity) else { throw unreadable(row) }
    return try object(of: row, batch: batch)
  }
}

/// The parts of a request that do not concern stores.
struct FetchRules {
  let seesPendingChanges: Bool
  let lazyLoading: LazyLoading
}

extension FetchRequest {
  var rules: FetchRules { FetchRules(seesPendingChanges: seesPendingChanges, lazyLoading: lazyLoading) }
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

// MARK: - Streaming

extension ManagedObjectContext {
  /// Iterates over a request's objects in batches, so that memory holds only one batch of them, even if there are a
  /// million.
  ///
  /// ```swift
  /// try context.stream(EmotionDiary.all.sorted { $0.createdAt }) { diary in
  ///   try writer.write(diary.content)
  /// }
  /// ```
  /// The set of objects and their order are determined at the start; 8 bytes are kept for each object. Between two
  /// batches, objects that are not referenced and have no unsaved changes are removed from memory. An object that is
  /// deleted meanwhile is skipped. Prefetching is done for each batch. `body` may use the context and may save it.
  ///
  /// - Parameter batchSize: the number of objects that are loaded at once; less than 1 counts as 1.
  /// - Parameter request: The request for the objects.
  /// - Parameter body: Receives each result.
  /// - Throws: the same errors as ``fetch(_:)``, and errors of `body`, which end the iteration.
  /// - Complexity: that of the query for the keys, plus a lookup for each object.
  public func stream<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, batchSize: Int = 1000, _ body: (Columns.Object) throws -> Void
  ) throws {
    try prepareFetch()
    let keys = try keys(of: request.storeRequest(in: self), request.rules)
    var kept = map.count
    for batch in keys.batches(of: batchSize) {
      try walk(batch, of: request, body)
      // A sweep visits every object in memory, so it waits until their number has grown by half.
      guard map.count - kept >= max(batchSize, kept / 2) else { continue }
      sweep(sparingRecent: false)
      kept = map.count
    }
  }

  /// Iterates over the stored values of a request's objects in batches. No object is created unless unsaved changes
  /// affect the result.
  ///
  /// - Parameter batchSize: the number of rows that are read at once; less than 1 counts as 1.
  /// - Parameter request: The request for the objects.
  /// - Parameter body: Receives each result.
  /// - Throws: the same errors as ``stream(_:batchSize:_:)``.
  public func streamSnapshots<Columns: EntityColumns>(
    of request: FetchRequest<Columns>, batchSize: Int = 1000, _ body: (Columns.Snapshot) throws -> Void
  ) throws {
    try prepareFetch()
    let storeRequest = try request.storeRequest(in: self)
    guard try influence(on: storeRequest, request.rules) == .none else {
      return try stream(request, batchSize: batchSize) { try body(Columns.snapshot(of: $0)) }
    }
    for batch in try keys(of: storeRequest, request.rules).batches(of: batchSize) {
      var found: [Int64: Columns.Snapshot] = [:]
      try connection().rows(of: Columns.Object._entity, keys: Array(batch)) { row in
        row.problem = nil
        found[row.key] = Columns.Snapshot(row)
        if row.problem != nil { throw unreadable(row) }
      }
      for key in batch { if let snapshot = found[key] { try body(snapshot) } }
    }
  }

  // MARK: Steps

  /// Loads and visits the objects of one batch. They are retained only until this returns.
  private func walk<Columns: EntityColumns>(
    _ keys: ArraySlice<Int64>, of request: FetchRequest<Columns>, _ body: (Columns.Object) throws -> Void
  ) throws {
    let missing = keys.filter { map[$0] == nil }.sorted()
    if !missing.isEmpty {
      try loadObjects(missing, entity: Columns.Object._entity, rule: request.lazyLoading)
    }
    let objects = keys.compactMap { map[$0] }
    if !request.prefetched.isEmpty { try prefetch(request.prefetched, for: objects) }
    for object in objects where object.phase != .deleted && object.phase != .detached {
      if let object = object as? Columns.Object { try body(object) }
    }
  }
}

extension [Int64] {
  /// The keys in slices of a size; less than 1 counts as 1.
  fileprivate func batches(of size: Int) -> some Sequence<ArraySlice<Int64>> {
    let size = Swift.max(1, size)
    return stride(from: 0, to: count, by: size).lazy.map { start in
      self[start..<Swift.min(count, start.addingReportingOverflow(size).overflow ? count : start + size)]
    }
  }
}

// MARK: - Explaining

extension ManagedObjectContext {
  /// Returns how the store would answer a request: its query plan, whether it scans a whole table, and the index that
  /// would avoid the scan, as the line to add to the model. Nothing is fetched, and unsaved changes are ignored.
  ///
  /// ```swift
  /// print(try context.explain(EmotionDiary.where { $0.mood == "tired" }))
  /// // …
  /// // scans the whole table EmotionDiary
  /// // add "indexes": [["mood"]] to the entity EmotionDiary
  /// ```
  /// - Throws: ``StoreError`` if the store cannot plan the request.
  public func explain<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> QueryPlan {
    try connection().plan(of: request.storeRequest(in: self))
  }

  /// The conditions of a request as a format string, however they were written. Parsing the string gives the same
  /// conditions. The sort order, limit and offset are not part of it.
  ///
  /// ```swift
  /// print(try context.formatText(of: EmotionDiary.where { $0.images.count > 1 }))   // images.@count > 1
  /// ```
  /// The string contains the compared values, so it may contain user data.
  ///
  /// - Throws: ``PredicateFormatError`` if a format cannot be parsed; ``StoreError`` with the code `limit` if the
  ///   conditions are nested too deep.
  /// - Complexity: linear in the number of conditions and values.
  public func formatText<Columns: EntityColumns>(of request: FetchRequest<Columns>) throws -> String {
    let request = try request.storeRequest(in: self)
    return try StoreError.evaluating {
      try (request.predicate ?? .constant(true)).formatText(of: request.entity, in: runtime.model)
    }
  }
}
