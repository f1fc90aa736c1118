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
  ) throws -> [Token.Fetched] {
    let token = property(Columns(PropertyPath(variable: 0)))
    var found: [Token.Fetched] = []
    try graph.projected(request, [token._projection], distinct) { row in found.append(token._read(row, 0)) }
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
  /// The store computes the result, without creating objects. Unsaved changes are included: if they affect the result,
  /// the context computes it from the objects, by the same rules.
  ///
  /// - Throws: the same errors as ``fetch(_:)``; ``StoreError`` with the code `limit` if a sum is too large.
  /// - Complexity: that of the store's query; the same as ``fetch(_:)`` if unsaved changes affect the result.
  public func aggregate<Columns: EntityColumns, Result>(
    _ request: FetchRequest<Columns>, _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> Result {
    let aggregate = aggregate(Columns(PropertyPath(variable: 0)))
    return try aggregate.read(graph.aggregated(request, [aggregate.stored])[0])
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
    return try tuple.read(graph.aggregated(request, tuple.stored))
  }
}

// MARK: - Groups

extension ManagedObjectContext {
  /// An aggregate for each value of a property.
  ///
  /// ```swift
  /// let groups = try context.grouped(EmotionDiary.all, by: { $0.emotion }) { $0.count }
  /// let most = try context.grouped(Entry.all, by: { $0.memo }, limit: 10) {
  ///   $0.amount.sum
  /// } having: {
  ///   $0.count > 1
  /// } sorted: {
  ///   $0.amount.sum.descending
  /// }
  /// ```
  /// The store groups, filters and sorts. If unsaved changes affect the result, the context does, by the same rules.
  ///
  /// - Parameters:
  ///   - request: The request for the objects. Its limit and offset apply to them.
  ///   - key: The property with the values that the objects of a group have in common.
  ///   - limit: the largest number of groups; less than 0 counts as 0. Nil means all.
  ///   - offset: the number of groups to skip; less than 0 counts as 0.
  ///   - aggregate: The aggregate.
  ///   - condition: The conditions that aggregates of a group meet, each statement one; without statements, all groups
  ///     are returned.
  ///   - order: The order, by aggregates or keys, the most important first. Groups that it does not distinguish are
  ///     sorted by key, nil first.
  /// - Returns: the groups, in order.
  /// - Throws: the same errors as `aggregate` and, for a key that is missing or cannot be read, as `values`;
  ///   ``StoreError`` with the code `unsupported` for an order by a property that is no key.
  /// - Complexity: that of the store's query, plus the number of groups; the same as ``fetch(_:)`` if unsaved changes
  ///   affect the result.
  public func grouped<Columns: EntityColumns, Key: ValueToken, Result>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key, limit: Int? = nil, offset: Int = 0,
    _ aggregate: (Columns) -> Aggregate<Result>,
    @GroupConditionBuilder having condition: (Columns) -> GroupCondition = { _ in .always },
    @GroupSortBuilder sorted order: (Columns) -> [GroupSortTerm] = { _ in [] }
  ) throws -> [(key: Key.Fetched, value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (key, aggregate) = (key(columns), aggregate(columns))
    let terms = GroupTerms(condition: condition(columns), sort: order(columns), limit: limit, offset: offset)
    var groups: [(key: Key.Fetched, value: Result)] = []
    try graph.grouped(request, by: [key._projection], [aggregate.stored], terms) { row, group in
      groups.append((key: key._read(row, 0), value: try aggregate.read(group[0])))
    }
    return groups
  }

  /// Several aggregates for each value of a property, in one pass.
  ///
  /// ```swift
  /// let sums = try context.grouped(Entry.all, by: { $0.category }) { ($0.count, $0.amount.sum) }
  /// ```
  /// - Returns: the groups, in order.
  /// - Throws: the same errors as the overload for one aggregate.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Key: ValueToken, Results>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key, limit: Int? = nil, offset: Int = 0,
    @AggregateTupleBuilder _ aggregates: (Columns) -> AggregateTuple<Results>,
    @GroupConditionBuilder having condition: (Columns) -> GroupCondition = { _ in .always },
    @GroupSortBuilder sorted order: (Columns) -> [GroupSortTerm] = { _ in [] }
  ) throws -> [(key: Key.Fetched, value: Results)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (key, aggregates) = (key(columns), aggregates(columns))
    let terms = GroupTerms(condition: condition(columns), sort: order(columns), limit: limit, offset: offset)
    var groups: [(key: Key.Fetched, value: Results)] = []
    try graph.grouped(request, by: [key._projection], aggregates.stored, terms) { row, group in
      groups.append((key: key._read(row, 0), value: try aggregates.read(group)))
    }
    return groups
  }

  /// An aggregate for each combination of values of several properties.
  ///
  /// ```swift
  /// let groups = try context.grouped(Entry.all, by: { ($0.kind, $0.category) }) { $0.amount.sum }
  /// for ((kind, category), total) in groups { … }
  /// ```
  /// - Returns: the groups, in order. Without an order, they are sorted by their first keys, then by their second keys,
  ///   and so on, nil first.
  /// - Throws: the same errors as the overload for one property.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Keys, Result>(
    _ request: FetchRequest<Columns>, @ValueTupleBuilder by keys: (Columns) -> ValueTuple<Keys>, limit: Int? = nil,
    offset: Int = 0, _ aggregate: (Columns) -> Aggregate<Result>,
    @GroupConditionBuilder having condition: (Columns) -> GroupCondition = { _ in .always },
    @GroupSortBuilder sorted order: (Columns) -> [GroupSortTerm] = { _ in [] }
  ) throws -> [(key: Keys, value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregate) = (keys(columns), aggregate(columns))
    let terms = GroupTerms(condition: condition(columns), sort: order(columns), limit: limit, offset: offset)
    var groups: [(key: Keys, value: Result)] = []
    try graph.grouped(request, by: keys.paths, [aggregate.stored], terms) { row, group in
      groups.append((key: keys.read(row), value: try aggregate.read(group[0])))
    }
    return groups
  }

  /// Several aggregates for each combination of values of several properties, in one pass.
  ///
  /// - Returns: the groups, in order. Without an order, they are sorted by their first keys, then by their second keys,
  ///   and so on, nil first.
  /// - Throws: the same errors as the overload for one property.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Keys, Results>(
    _ request: FetchRequest<Columns>, @ValueTupleBuilder by keys: (Columns) -> ValueTuple<Keys>, limit: Int? = nil,
    offset: Int = 0, @AggregateTupleBuilder _ aggregates: (Columns) -> AggregateTuple<Results>,
    @GroupConditionBuilder having condition: (Columns) -> GroupCondition = { _ in .always },
    @GroupSortBuilder sorted order: (Columns) -> [GroupSortTerm] = { _ in [] }
  ) throws -> [(key: Keys, value: Results)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregates) = (keys(columns), aggregates(columns))
    let terms = GroupTerms(condition: condition(columns), sort: order(columns), limit: limit, offset: offset)
    var groups: [(key: Keys, value: Results)] = []
    try graph.grouped(request, by: keys.paths, aggregates.stored, terms) { row, group in
      groups.append((key: keys.read(row), value: try aggregates.read(group)))
    }
    return groups
  }
}
