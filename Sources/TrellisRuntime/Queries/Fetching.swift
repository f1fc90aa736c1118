import TrellisQuery
import TrellisStorage

extension ManagedObjectContext {
  /// Fetches objects: those that the store and this context's unsaved changes together hold, as if the context had just
  /// saved.
  ///
  /// - Returns: the objects in the request's order. An object that is in memory already is the same one.
  /// - Throws: ``StoreError`` when the store fails, and with the code `limit` when the request is too large or nested too deep;
  ///   ``ContextError`` when a lazy load failed before, and with the code `foreign-model` when the request is for a class of
  ///   another model; ``PredicateFormatError`` when a format string of the request is wrong.
  /// - Complexity: that of the store's query, plus the number of results; with unsaved changes, plus their number; plus the
  ///   number of the entity's objects where unsaved changes of other objects matter to the predicate.
  public func fetch<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> [Columns.Object] {
    let objects = try results(of: request.storeRequest(in: self), request.rules)
    if !request.prefetched.isEmpty { try prefetch(request.prefetched, for: objects) }
    // Sound because arrays of class instances have one layout, and `result(_:of:batch:)` has checked that each object is of
    // the entity that was asked for or of one below it, whose classes inherit from this one.
    return unsafeBitCast(objects, to: [Columns.Object].self)
  }

  /// The first object of a request, or nil when there is none.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func first<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Columns.Object? {
    var storeRequest = try request.storeRequest(in: self)
    if storeRequest.limit ?? 1 > 1 || storeRequest.limit == nil { storeRequest.limit = 1 }
    let objects = try results(of: storeRequest, request.rules)
    if !request.prefetched.isEmpty { try prefetch(request.prefetched, for: objects) }
    return objects.first as? Columns.Object
  }

  /// How many objects a request has, its limit and offset included. None is loaded unless unsaved changes matter.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func count<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try prepareFetch()
    let storeRequest = try request.storeRequest(in: self)
    if try influence(on: storeRequest, request.rules) == .none { return try connection().count(storeRequest) }
    return try results(of: storeRequest, request.rules).count
  }

  /// Whether a request has any object. The store looks for the first one only.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func exists<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Bool {
    try count(request.limit(min(1, request.maximum ?? 1))) > 0
  }

  /// The object of an identity, from memory or from the store; nil when there is none.
  ///
  /// - Throws: ``StoreError`` when the store fails; ``ContextError`` with the code `foreign-model` when the identity is of
  ///   another model.
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

  /// The stored values of a request's objects as values, without making objects of them.
  ///
  /// ```swift
  /// let days = try context.snapshots(of: EmotionDiary.where { $0.emotion == .happy })
  /// ```
  /// Where unsaved changes matter to the request, the objects are made.
  ///
  /// - Throws: as ``fetch(_:)``.
  /// - Complexity: as ``fetch(_:)``; nothing is kept in the context.
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

  /// The entity of a class; for `ManagedObject` itself, which has none, the top of every hierarchy.
  private func entities(of type: ManagedObject.Type) -> [Int] {
    runtime.has(type)
      ? [type._entity] : runtime.entities.map(\.number).filter { runtime.entities[$0].root == $0 }
  }

  func prepareFetch() throws {
    try throwPendingFailure()
    mergeInbox()
    sweepIfDue()
  }

  /// How unsaved changes bear on a request that may not want to see them. What is to be deleted by a cascade and could be
  /// among its results is loaded first.
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

  /// Loads that the answer to a request needs are not the user's.
  func evaluating<Result>(_ body: () throws -> Result) throws -> Result {
    isEvaluating = true
    defer { isEvaluating = false }
    return try body()
  }

  /// The store's answer alone.
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

  /// The object of a row that was asked for: of the entity itself or of one below it, whatever the store says.
  @inline(__always) private func result(
    _ row: RowReader, of entity: EntityInfo, batch: UInt32
  ) throws -> ManagedObject {
    guard row.entity == entity.number || entity.entity.subtree.contains(row.entity) else { throw unreadable(row) }
    return try object(of: row, batch: batch)
  }
}

/// What of a request does not concern stores.
struct FetchRules {
  let seesPendingChanges: Bool
  let lazyLoading: LazyLoading
}

extension FetchRequest {
  var rules: FetchRules { FetchRules(seesPendingChanges: seesPendingChanges, lazyLoading: lazyLoading) }
}
