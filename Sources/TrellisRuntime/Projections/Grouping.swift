import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// One aggregate for each value of a property.
  ///
  /// ```swift
  /// for (emotion, days) in try context.grouped(EmotionDiary.all, by: { $0.emotion }, { $0.count }) where days > 1 { … }
  /// ```
  /// - Returns: the groups in the order of their keys, nil first.
  /// - Throws: as ``aggregate(_:_:)``.
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
  /// - Returns: the groups in the order of their keys, nil first.
  /// - Throws: as ``aggregate(_:_:)``.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, Key: ValueToken, each Result>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key,
    _ aggregates: (Columns) -> (repeat Aggregate<each Result>)
  ) throws -> [(key: Key.Value, value: (repeat each Result))] {
    let columns = Columns(PropertyPath(variable: 0))
    let aggregates = aggregates(columns)
    var steps: [AggregateStep] = []
    for aggregate in repeat each aggregates { steps.append(aggregate.step) }
    var found: [(key: Key.Value, value: (repeat each Result))] = []
    for group in try aggregated(request, by: [key(columns)._projection], steps) {
      var states = group.states.makeIterator()
      let results = (repeat try (each aggregates).finish(states.next() ?? AggregateState()))
      found.append((key: group.firstKey(as: Key.Value.self), value: results))
    }
    return found
  }

  /// One aggregate for each combination of values of several properties.
  ///
  /// ```swift
  /// for ((kind, category), total) in try context.grouped(Entry.all, by: { ($0.kind, $0.category) }, { $0.amount.sum }) { … }
  /// ```
  /// - Returns: the groups in the order of their first keys, then of their second ones, and so on, nil first.
  /// - Throws: as ``aggregate(_:_:)``.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, each Key: ValueToken, Result>(
    _ request: FetchRequest<Columns>, by keys: (Columns) -> (repeat each Key),
    _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> [(key: (repeat (each Key).Value), value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregate) = (keys(columns), aggregate(columns))
    var paths: [ProjectedPath] = []
    for key in repeat each keys { paths.append(key._projection) }
    var found: [(key: (repeat (each Key).Value), value: Result)] = []
    for group in try aggregated(request, by: paths, [aggregate.step]) {
      var values = group.keys()
      let key = (repeat values.next(as: (each Key).Value.self))
      found.append((key: key, value: try aggregate.finish(group.states[0])))
    }
    return found
  }

  /// Several aggregates for each combination of values of several properties, in one pass.
  ///
  /// - Returns: the groups in the order of their first keys, then of their second ones, and so on, nil first.
  /// - Throws: as ``aggregate(_:_:)``.
  @_disfavoredOverload public func grouped<Columns: EntityColumns, each Key: ValueToken, each Result>(
    _ request: FetchRequest<Columns>, by keys: (Columns) -> (repeat each Key),
    _ aggregates: (Columns) -> (repeat Aggregate<each Result>)
  ) throws -> [(key: (repeat (each Key).Value), value: (repeat each Result))] {
    let columns = Columns(PropertyPath(variable: 0))
    let (keys, aggregates) = (keys(columns), aggregates(columns))
    var paths: [ProjectedPath] = []
    for key in repeat each keys { paths.append(key._projection) }
    var steps: [AggregateStep] = []
    for aggregate in repeat each aggregates { steps.append(aggregate.step) }
    var found: [(key: (repeat (each Key).Value), value: (repeat each Result))] = []
    for group in try aggregated(request, by: paths, steps) {
      var values = group.keys()
      let key = (repeat values.next(as: (each Key).Value.self))
      var states = group.states.makeIterator()
      let results = (repeat try (each aggregates).finish(states.next() ?? AggregateState()))
      found.append((key: key, value: results))
    }
    return found
  }
}

/// Reads the keys of a group, one after the other.
struct GroupKeys {
  private let row = ProjectedRow()
  private var column = -1

  init(_ values: [StoredValue]) { row.values = values }

  mutating func next<Value: AttributeValue>(as type: Value.Type) -> Value {
    column += 1
    return Value.read(row, column)
  }
}

extension AggregateGroup {
  func keys() -> GroupKeys { GroupKeys(key) }

  func firstKey<Value: AttributeValue>(as type: Value.Type) -> Value {
    var keys = keys()
    return keys.next(as: type)
  }
}
