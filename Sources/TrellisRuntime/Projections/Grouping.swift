import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// An aggregate for each value of a property.
  ///
  /// ```swift
  /// let groups = try context.grouped(EmotionDiary.all, by: { $0.emotion }, { $0.count })
  /// for (emotion, days) in groups where days > 1 { … }
  /// ```
  /// - Returns: the groups, sorted by key, nil first.
  /// - Throws: the same errors as ``aggregate(_:_:)``.
  /// - Complexity: that of the store's query, plus the number of objects; memory for each group.
  public func grouped<Columns: EntityColumns, Key: ValueToken, Result>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key, _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> [(key: Key.Value, value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let aggregate = aggregate(columns)
    return try aggregated(request, by: [key(columns)._projection], [aggregate.step]).map { group in
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
  /// - Throws: the same errors as ``aggregate(_:_:)``.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Key: ValueToken, Results>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key,
    @AggregateTupleBuilder _ aggregates: (Columns) -> AggregateTuple<Results>
  ) throws -> [(key: Key.Value, value: Results)] {
    let columns = Columns(PropertyPath(variable: 0))
    let aggregates = aggregates(columns)
    return try aggregated(request, by: [key(columns)._projection], aggregates.steps).map { group in
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
  /// - Throws: the same errors as ``aggregate(_:_:)``.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Keys, Result>(
    _ request: FetchRequest<Columns>, @ValueTupleBuilder by keys: (Columns) -> ValueTuple<Keys>,
    _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> [(key: Keys, value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregate) = (keys(columns), aggregate(columns))
    return try aggregated(request, by: keys.paths, [aggregate.step]).map { group in
      (key: keys.read(group.row), value: try aggregate.finish(group.states[0]))
    }
  }

  /// Several aggregates for each combination of values of several properties, in one pass.
  ///
  /// - Returns: the groups, sorted by their first keys, then by their second keys, and so on, nil first.
  /// - Throws: the same errors as ``aggregate(_:_:)``.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Keys, Results>(
    _ request: FetchRequest<Columns>, @ValueTupleBuilder by keys: (Columns) -> ValueTuple<Keys>,
    @AggregateTupleBuilder _ aggregates: (Columns) -> AggregateTuple<Results>
  ) throws -> [(key: Keys, value: Results)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregates) = (keys(columns), aggregates(columns))
    return try aggregated(request, by: keys.paths, aggregates.steps).map { group in
      (key: keys.read(group.row), value: try aggregates.finish(group.states))
    }
  }
}

extension AggregateGroup {
  /// The keys of the group as a row.
  fileprivate var row: ProjectedRow {
    let row = ProjectedRow()
    row.values = key
    return row
  }

  fileprivate func firstKey<Value: AttributeValue>(as type: Value.Type) -> Value { Value.read(row, 0) }
}
