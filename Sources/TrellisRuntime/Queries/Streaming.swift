import TrellisQuery
import TrellisStorage

extension ManagedObjectContext {
  /// Goes through a request's objects in batches, so that a million of them need the memory of one batch.
  ///
  /// ```swift
  /// try context.stream(EmotionDiary.all.sorted { $0.createdAt }) { diary in
  ///   try writer.write(diary.content)
  /// }
  /// ```
  /// Which objects there are, and their order, is settled at the begin: 8 bytes are kept for each. Between two batches those
  /// objects go that nobody holds and that have no unsaved changes. An object that is deleted meanwhile is left out. What a
  /// request prefetches is prefetched for each batch. `body` may use the context, save included.
  ///
  /// - Parameter batchSize: how many objects are loaded at once; less than 1 counts as 1.
  /// - Throws: as ``fetch(_:)``, and what `body` throws, which ends the walk.
  /// - Complexity: that of the query for the keys, plus a search for each object.
  public func stream<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, batchSize: Int = 1000, _ body: (Columns.Object) throws -> Void
  ) throws {
    try prepareFetch()
    let keys = try keys(of: request.storeRequest(in: self), request.rules)
    var kept = map.count
    for batch in keys.batches(of: batchSize) {
      try walk(batch, of: request, body)
      // Sweeping looks at every object in memory, so it waits until there are half as many again.
      guard map.count - kept >= max(batchSize, kept / 2) else { continue }
      sweep(sparingRecent: false)
      kept = map.count
    }
  }

  /// Goes through the stored values of a request's objects in batches. No object is made unless unsaved changes matter.
  ///
  /// - Parameter batchSize: how many rows are read at once; less than 1 counts as 1.
  /// - Throws: as ``stream(_:batchSize:_:)``.
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

  /// Holds the objects of one batch, and lets go of them when it returns.
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
  /// The keys in slices of a size; below 1 counts as 1.
  fileprivate func batches(of size: Int) -> some Sequence<ArraySlice<Int64>> {
    let size = Swift.max(1, size)
    return stride(from: 0, to: count, by: size).lazy.map { start in
      self[start..<Swift.min(count, start.addingReportingOverflow(size).overflow ? count : start + size)]
    }
  }
}
