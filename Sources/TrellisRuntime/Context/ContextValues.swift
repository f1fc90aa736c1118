import TrellisModel
@_spi(Generated) import TrellisStorage

extension ManagedObjectContext {
  /// The identifiers of a request's objects, in its order. No object is created unless unsaved changes affect the
  /// result.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func ids<Columns: EntityColumns>(of request: FetchRequest<Columns>) throws -> [ObjectID<Columns.Object>] {
    try graph.prepareFetch()
    return try graph.keys(of: request.storeRequest(in: graph), request.rules).map { ObjectID($0) }
  }

  /// A property of each of a request's objects, in its order, without creating objects.
  ///
  /// ```swift
  /// let moods = try context.values(of: EmotionDiary.all, distinct: true) { $0.mood }
  /// ```
  /// - Parameters:
  ///   - distinct: whether repeated values are skipped. Limit and offset then count distinct values. Texts are equal if
  ///     their bytes are, decimals if their numbers are.
  ///   - request: The request for the objects.
  ///   - property: The property, as a path from an object.
  /// - Throws: the same errors as ``fetch(_:)``; ``StoreError`` with the code `unreadable-value` if a value is missing
  ///   and the property is not optional, as at the end of a path through nil. Use ``AttributePath/optional`` for such
  ///   paths.
  /// - Complexity: that of the store's query, plus the number of results; the same as ``fetch(_:)`` if unsaved changes
  ///   affect the result.
  public func values<Columns: EntityColumns, Token: ValueToken>(
    of request: FetchRequest<Columns>, distinct: Bool = false, _ property: (Columns) -> Token
  ) throws -> [Token.Value] {
    let token = property(Columns(PropertyPath(variable: 0)))
    var found: [Token.Value] = []
    try graph.projected(request, [token._projection], distinct) { row in found.append(Token.Value.read(row, 0)) }
    return found
  }

  /// Several properties of each of a request's objects as tuples, in its order, without creating objects.
  ///
  /// ```swift
  /// for (emotion, day) in try context.values(of: EmotionDiary.all, { ($0.emotion, $0.createdAt) }) { … }
  /// ```
  /// - Parameters:
  ///   - distinct: whether repeated tuples are skipped. Limit and offset then count distinct tuples.
  ///   - request: The request for the objects.
  ///   - properties: The properties, as paths from an object.
  /// - Throws: the same errors as the overload for one property.
  @_disfavoredOverload public func values<Columns: EntityColumns, Values>(
    of request: FetchRequest<Columns>, distinct: Bool = false,
    @ValueTupleBuilder _ properties: (Columns) -> ValueTuple<Values>
  ) throws -> [Values] {
    let tuple = properties(Columns(PropertyPath(variable: 0)))
    var found: [Values] = []
    try graph.projected(request, tuple.paths, distinct) { row in found.append(tuple.read(row)) }
    return found
  }
}

// MARK: - Aggregates

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
    return try aggregate.finish(graph.aggregated(request, by: [], [aggregate.step])[0].states[0])
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
    return try tuple.finish(graph.aggregated(request, by: [], tuple.steps)[0].states)
  }
}

// MARK: - Groups

extension ManagedObjectContext {
  /// An aggregate for each value of a property.
  ///
  /// ```swift
  /// let groups = try context.grouped(EmotionDiary.all, by: { $0.emotion }, { $0.count })
  /// for (emotion, days) in groups where days > 1 { … }
  /// ```
  /// - Returns: the groups, sorted by key, nil first.
  /// - Throws: the same errors as `aggregate`.
  /// - Complexity: that of the store's query, plus the number of objects; memory for each group.
  public func grouped<Columns: EntityColumns, Key: ValueToken, Result>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key, _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> [(key: Key.Value, value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let aggregate = aggregate(columns)
    return try graph.aggregated(request, by: [key(columns)._projection], [aggregate.step]).map { group in
      (key: group.firstKey(as: Key.Value.self), value: try aggregate.finish(group.states[0]))
    }
  }

  /// Several aggregates for each value of a property, in one pass.
  ///
  /// ```swift
  /// let sums = try context.grouped(Entry.all, by: { $0.category }) { ($0.count, $0.amount.sum) }
  /// let often = sums.filter { $0.value.0 > 10 }     // what HAVING is in SQL
  /// ```
  /// - Returns: the groups, sorted by key, nil first.
  /// - Throws: the same errors as `aggregate`.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Key: ValueToken, Results>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key,
    @AggregateTupleBuilder _ aggregates: (Columns) -> AggregateTuple<Results>
  ) throws -> [(key: Key.Value, value: Results)] {
    let columns = Columns(PropertyPath(variable: 0))
    let aggregates = aggregates(columns)
    return try graph.aggregated(request, by: [key(columns)._projection], aggregates.steps).map { group in
      (key: group.firstKey(as: Key.Value.self), value: try aggregates.finish(group.states))
    }
  }

  /// An aggregate for each combination of values of several properties.
  ///
  /// ```swift
  /// let groups = try context.grouped(Entry.all, by: { ($0.kind, $0.category) }, { $0.amount.sum })
  /// for ((kind, category), total) in groups { … }
  /// ```
  /// - Returns: the groups, sorted by their first keys, then by their second keys, and so on, nil first.
  /// - Throws: the same errors as `aggregate`.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Keys, Result>(
    _ request: FetchRequest<Columns>, @ValueTupleBuilder by keys: (Columns) -> ValueTuple<Keys>,
    _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> [(key: Keys, value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregate) = (keys(columns), aggregate(columns))
    return try graph.aggregated(request, by: keys.paths, [aggregate.step]).map { group in
      (key: keys.read(group.row), value: try aggregate.finish(group.states[0]))
    }
  }

  /// Several aggregates for each combination of values of several properties, in one pass.
  ///
  /// - Returns: the groups, sorted by their first keys, then by their second keys, and so on, nil first.
  /// - Throws: the same errors as `aggregate`.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Keys, Results>(
    _ request: FetchRequest<Columns>, @ValueTupleBuilder by keys: (Columns) -> ValueTuple<Keys>,
    @AggregateTupleBuilder _ aggregates: (Columns) -> AggregateTuple<Results>
  ) throws -> [(key: Keys, value: Results)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregates) = (keys(columns), aggregates(columns))
    return try graph.aggregated(request, by: keys.paths, aggregates.steps).map { group in
      (key: keys.read(group.row), value: try aggregates.finish(group.states))
    }
  }
}
