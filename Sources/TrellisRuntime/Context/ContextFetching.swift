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
    let objects = try graph.results(of: request.storeRequest(in: graph), request.rules)
    if !request.terms.prefetched.isEmpty { try graph.prefetch(request.terms.prefetched, for: objects) }
    // Sound because arrays of class instances have one layout, and `result(_:of:batch:)` has checked that each object
    // belongs to the requested entity or a subentity. Their classes inherit from this one.
    return unsafeBitCast(objects, to: [Columns.Object].self)
  }

  /// The first object of a request, or nil if there is none.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func first<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Columns.Object? {
    var storeRequest = try request.storeRequest(in: graph)
    if storeRequest.limit ?? 1 > 1 || storeRequest.limit == nil { storeRequest.limit = 1 }
    let objects = try graph.results(of: storeRequest, request.rules)
    if !request.terms.prefetched.isEmpty { try graph.prefetch(request.terms.prefetched, for: objects) }
    return objects.first as? Columns.Object
  }

  /// The number of objects of a request, after its limit and offset. No object is loaded unless unsaved changes affect
  /// the result.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func count<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try graph.prepareFetch()
    let storeRequest = try request.storeRequest(in: graph)
    if try graph.influence(on: storeRequest, request.rules) == .none {
      return try graph.connection().count(storeRequest)
    }
    return try graph.results(of: storeRequest, request.rules).count
  }

  /// Whether a request matches any object. The store searches only for the first one.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func exists<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Bool {
    try count(request.limit(min(1, request.terms.maximum ?? 1))) > 0
  }

  /// The object with an identifier, from memory or from the store; nil if there is none.
  ///
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` with the code `foreign-model` if the identifier
  ///   belongs to another model.
  public func object<Object: ManagedObject>(with id: ObjectID<Object>) throws -> Object? {
    try graph.runtime.checkUnlessGeneral(Object.self)
    if let known = graph.map[id.key] { return known.phase == .deleted ? nil : known as? Object }
    try graph.prepareFetch()
    var found: ManagedObject?
    if Object.self == ManagedObject.self {
      for entity in graph.entities(of: Object.self) where found == nil {
        found = try graph.storedObject(id.key, entity: entity)
      }
    } else {
      found = try graph.storedObject(id.key, entity: Object._entity)
    }
    return found?.phase == .deleted ? nil : found as? Object
  }

  /// The object with an identifier, from memory or from the store; nil if there is none, or it is deleted.
  ///
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` with the code `foreign-model` if the identifier
  ///   belongs to another model.
  public func object(with id: AnyObjectID) throws -> ManagedObject? {
    try graph.runtime.check(id.type)
    if let known = graph.map[id.key] { return known.phase == .deleted ? nil : known }
    return try graph.loadObjects([id.key], entity: id.type._entity).first { $0.phase != .deleted }
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
    try graph.prepareFetch()
    let storeRequest = try request.storeRequest(in: graph)
    guard try graph.influence(on: storeRequest, request.rules) == .none else {
      let objects = try graph.results(of: storeRequest, request.rules)
      return objects.compactMap { $0 as? Columns.Object }.map(Columns.snapshot)
    }
    var found: [Columns.Snapshot] = []
    try graph.connection().fetch(storeRequest) { row in
      row.problem = nil
      Columns._append(row, to: &found)
      if row.problem != nil { throw graph.unreadable(row) }
    }
    return found
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
    try graph.prepareFetch()
    let keys = try graph.keys(of: request.storeRequest(in: graph), request.rules)
    var kept = graph.map.count
    for batch in keys.batches(of: batchSize) {
      try graph.walk(batch, of: request, body)
      // A sweep visits every object in memory, so it waits until their number has grown by half.
      guard graph.map.count - kept >= max(batchSize, kept / 2) else { continue }
      graph.sweep(sparingRecent: false)
      kept = graph.map.count
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
    try graph.prepareFetch()
    let storeRequest = try request.storeRequest(in: graph)
    guard try graph.influence(on: storeRequest, request.rules) == .none else {
      return try stream(request, batchSize: batchSize) { try body(Columns.snapshot(of: $0)) }
    }
    for batch in try graph.keys(of: storeRequest, request.rules).batches(of: batchSize) {
      var found: [Int64: Columns.Snapshot] = [:]
      try graph.connection().rows(of: Columns.Object._entity, keys: Array(batch)) { row in
        row.problem = nil
        found[row.key] = Columns.Snapshot(row)
        if row.problem != nil { throw graph.unreadable(row) }
      }
      for key in batch { if let snapshot = found[key] { try body(snapshot) } }
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
    try graph.connection().plan(of: request.storeRequest(in: graph))
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
    let request = try request.storeRequest(in: graph)
    return try StoreError.evaluating {
      try (request.predicate ?? .constant(true)).formatText(of: request.entity, in: graph.runtime.model)
    }
  }
}

// MARK: - Changing many

extension ManagedObjectContext {
  /// Changes every object of a request in the store, in one operation and without loading them.
  ///
  /// ```swift
  /// let read = try context.updateAll(EmotionDiary.where { $0.emotion == .sad }) { $0.mood.set("read") }
  /// try context.updateAll(Entry.where { $0.kind == .expense }) {
  ///   $0.amount.multiply(by: 2)
  ///   $0.memo.set(nil)
  /// }
  /// ```
  /// The change is a separate transaction and not a pending change: there is nothing to save, roll back or undo
  /// afterwards. The row version of every object of the request is incremented, whatever its previous values, so that a
  /// save by a context that read it earlier finds a conflict. Objects in memory show the new values. Other contexts,
  /// live results and ``PersistentContainer/saves`` are notified as of a save.
  ///
  /// The model's rules apply: constants are checked before the change, computed values in the store, and one broken
  /// rule refuses the whole change. A change that no store can check without loading the objects is refused before it
  /// starts; see the guide to fetching.
  ///
  /// The change is also refused if there are unsaved changes of objects that the request could match. A request with
  /// ``FetchRequest/storedOnly()`` ignores such changes: they are kept, and the next save resolves them as if another
  /// context had written the objects.
  ///
  /// - Returns: the number of changed objects.
  /// - Throws: ``ValidationError`` if an object would break a rule; ``StoreError`` with the code `unsupported` if the
  ///   objects would have to be loaded for it; ``ContextError`` with the code `unsaved-changes`, and inside a hook; the
  ///   same errors as ``fetch(_:)``.
  /// - Complexity: that of the store's query and of writing; memory for the keys of the objects. The stores in memory
  ///   also keep the new rows in memory.
  @discardableResult public func updateAll<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, @ChangeBuilder _ changes: (Columns) -> [PropertyChange]
  ) throws -> Int {
    try graph.updateAll(request, changes)
  }

  /// Deletes every object of a request in the store, in one operation and without loading them.
  ///
  /// ```swift
  /// let gone = try context.deleteAll(EmotionDiary.where { $0.createdAt < lastYear })
  /// ```
  /// The delete is a separate transaction and not a pending change: there is nothing to save, roll back or undo
  /// afterwards. The model's delete rules apply: members under `cascade` are deleted as well, references of partners
  /// under `nullify` become nil, and a remaining partner under `deny` refuses the whole delete. Objects in memory
  /// behave as if another context had deleted them. Other contexts, live results and ``PersistentContainer/saves`` are
  /// notified as of a save.
  ///
  /// The delete is refused before it starts if an entity has hooks that would have to run for deleted objects or for
  /// partners that lose their reference to one.
  ///
  /// The delete is also refused if there are unsaved changes of objects that the request could match or the delete
  /// rules could reach. A request with ``FetchRequest/storedOnly()`` ignores such changes: they are kept, and the next
  /// save resolves them as if another context had deleted the objects.
  ///
  /// - Returns: the number of objects of the request that were deleted, without those that the delete rules deleted.
  /// - Throws: ``ValidationError`` if a rule prevents the delete; ``StoreError`` with the code `unsupported` if the
  ///   objects would have to be loaded for it; ``ContextError`` with the code `unsaved-changes`, and inside a hook; the
  ///   same errors as ``fetch(_:)``.
  /// - Complexity: that of the store's query and of writing; memory for the keys of the deleted objects. If a partner
  ///   may prevent the delete, or must keep a number of members, memory for the rows.
  @discardableResult public func deleteAll<Columns: EntityColumns>(_ request: FetchRequest<Columns>) throws -> Int {
    try graph.deleteAll(request)
  }
}
