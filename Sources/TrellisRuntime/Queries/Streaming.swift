import TrellisQuery
import TrellisStorage

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
