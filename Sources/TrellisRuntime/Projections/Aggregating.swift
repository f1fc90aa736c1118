import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// One aggregate over a request's objects, its limit and offset included.
  ///
  /// ```swift
  /// let total = try context.aggregate(Entry.where { $0.kind == .expense }) { $0.amount.sum }
  /// ```
  /// The values are read without making objects, unless unsaved changes matter, which are seen.
  ///
  /// - Throws: as ``fetch(_:)``; ``StoreError`` with the code `limit` when a sum is too large.
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
  /// - Throws: as the form for one aggregate.
  @_disfavoredOverload public func aggregate<Columns: EntityColumns, each Result>(
    _ request: FetchRequest<Columns>, _ aggregates: (Columns) -> (repeat Aggregate<each Result>)
  ) throws -> (repeat each Result) {
    let aggregates = aggregates(Columns(PropertyPath(variable: 0)))
    var steps: [AggregateStep] = []
    for aggregate in repeat each aggregates { steps.append(aggregate.step) }
    var states = try aggregated(request, by: [], steps)[0].states.makeIterator()
    return (repeat try (each aggregates).finish(states.next() ?? AggregateState()))
  }

  /// One aggregate for each value of a property.
  ///
  /// ```swift
  /// for (emotion, days) in try context.grouped(EmotionDiary.all, by: { $0.emotion }, { $0.count }) where days > 1 { … }
  /// ```
  /// - Returns: the groups in the order of their keys, nil first.
  /// - Throws: as the form without a key.
  /// - Complexity: that of the store's query, plus the number of objects; memory for each group.
  public func grouped<Columns: EntityColumns, Key: ValueToken, Result>(
    _ request: FetchRequest<Columns>, by key: (Columns) -> Key, _ aggregate: (Columns) -> Aggregate<Result>
  ) throws -> [(key: Key.Value, value: Result)] {
    let columns = Columns(PropertyPath(variable: 0))
    let aggregate = aggregate(columns)
    return try aggregated(request, by: [key(columns)._projection], [aggregate.step]).map { group in
      (key: Self.key(group.key, as: Key.Value.self), value: try aggregate.finish(group.states[0]))
    }
  }

  /// Several aggregates for each value of a property, in one pass.
  ///
  /// ```swift
  /// let sums = try context.grouped(Entry.all, by: { $0.category }) { ($0.count, $0.amount.sum) }
  /// let often = sums.filter { $0.value.0 > 10 }     // what HAVING is in SQL
  /// ```
  /// - Returns: the groups in the order of their keys, nil first.
  /// - Throws: as the form for one aggregate.
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
      found.append((key: Self.key(group.key, as: Key.Value.self), value: results))
    }
    return found
  }

  // MARK: Steps

  private static func key<Value: AttributeValue>(_ values: [StoredValue], as type: Value.Type) -> Value {
    let row = ProjectedRow()
    row.values = values
    return Value.read(row, 0)
  }

  /// The states of the aggregates for each group, sorted; without keys there is one group, even of nothing.
  private func aggregated<Columns: EntityColumns>(
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

/// A group's key and what its aggregates know.
struct AggregateGroup {
  let key: [StoredValue]
  var states: [AggregateState]
}

/// Groups in the making.
private struct AggregateGroups {
  private let steps: [AggregateStep]
  private let kinds: [ValueKind]
  private var places: [[StoredValue]: Int] = [:]
  private var groups: [AggregateGroup] = []

  init(keys: [ProjectedPath], _ steps: [AggregateStep]) {
    self.steps = steps
    kinds = keys.map(\.kind)
    if keys.isEmpty { _ = place(of: []) }
  }

  mutating func add(_ values: [StoredValue]) throws {
    let place = place(of: Array(values.prefix(kinds.count)))
    for number in steps.indices {
      try steps[number].add(&groups[place].states[number], values[kinds.count + number])
    }
  }

  private mutating func place(of key: [StoredValue]) -> Int {
    let same = normalized(key, kinds)
    if let place = places[same] { return place }
    places[same] = groups.count
    groups.append(AggregateGroup(key: key, states: steps.map { _ in AggregateState() }))
    return groups.count - 1
  }

  var sorted: [AggregateGroup] {
    groups.sorted { left, right in
      for (kind, values) in zip(kinds, zip(left.key, right.key)) {
        let order = ValueOrder.compare(values.0, values.1, kind: kind)
        if order != 0 { return order < 0 }
      }
      return false
    }
  }
}
