import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// An aggregate over a request's objects, after its limit and offset.
  ///
  /// ```swift
  /// let total = try context.aggregate(Entry.where { $0.kind == .expense }) { $0.amount.sum }
  /// ```
  /// The values are read without creating objects, unless unsaved changes affect the result. Unsaved changes are
  /// included.
  ///
  /// - Throws: the same errors as ``fetch(_:)``; ``StoreError`` with the code `limit` if a sum is too large.
  /// - Complexity: that of the store's query, plus the number of objects.
  public func aggregate<Columns: EntityColumns, Result>(
    _ request: FetchRequest<Columns>, _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> Result {
    let aggregate = aggregate(Columns(PropertyPath(variable: 0)))
    return try aggregate.finish(aggregated(request, by: [], [aggregate.step])[0].states[0])
  }

  /// Several aggregates over a request's objects, in one pass.
  ///
  /// ```swift
  /// let (entries, total) = try context.aggregate(Entry.all) { ($0.count, $0.amount.sum) }
  /// ```
  /// - Throws: the same errors as the overload for one aggregate.
  @_disfavoredOverload public func aggregate<Columns: EntityColumns, Results>(
    _ request: FetchRequest<Columns>, @AggregateTupleBuilder _ aggregates: (Columns) -> AggregateTuple<Results>
  ) throws -> Results {
    let tuple = aggregates(Columns(PropertyPath(variable: 0)))
    return try tuple.finish(aggregated(request, by: [], tuple.steps)[0].states)
  }

  // MARK: Steps

  /// The aggregates' states for each group, sorted by key. Without keys there is exactly one group, even if no object
  /// matches.
  func aggregated<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, by keys: [ProjectedPath], _ steps: [AggregateStep]
  ) throws -> [AggregateGroup] {
    try prepareFetch()
    var storeRequest = try request.storeRequest(in: self)
    if storeRequest.limit == nil && storeRequest.offset == 0 { storeRequest.sort = [] }
    var groups = AggregateGroups(keys: keys, steps)
    try forEachRow(of: storeRequest, request.rules, keys + steps.map(\.projection)) { try groups.add($0) }
    return groups.sorted
  }
}
