import TrellisQuery
import TrellisStorage

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
