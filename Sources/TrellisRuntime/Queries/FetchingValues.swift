import TrellisModel
@_spi(Generated) public import TrellisStorage

extension ObjectGraph {

  // MARK: Steps

  /// Iterates over rows of a few values. Throws if a value cannot be read.
  func projected<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ paths: [ProjectedValue], _ distinct: Bool, _ body: (ProjectedRow) -> Void
  ) throws {
    try prepareFetch()
    let row = ProjectedRow()
    let storeRequest = try request.storeRequest(in: self)
    try forEachRow(of: storeRequest, request.rules, paths, distinct) { values in
      row.values = values
      body(row)
      if let problem = row.problem { throw unreadable(problem, paths, storeRequest) }
    }
  }

  func unreadable(_ problem: RowProblem, _ paths: [ProjectedValue], _ request: StoreRequest) -> StoreError {
    let value = paths.indices.contains(problem.column) ? paths[problem.column].value : .path(PropertyPath(variable: 0))
    let name = runtime.model.name(of: value, from: request.entity)
    return StoreError(
      .unreadableValue, "\(name) has no value that fits for one of the results: \(problem.what).",
      remedy: problem.remedy ?? "Where a path may meet nil, ask for the property with .optional.",
      entity: runtime.info(request.entity).name)
  }

  /// The keys of a request's objects.
  func keys(of request: StoreRequest, _ rules: FetchRules) throws -> [Int64] {
    guard try influence(on: request, rules) == .none else { return try results(of: request, rules).map(\._key) }
    var keys: [Int64] = []
    try connection().fetchKeys(request) { key, _ in keys.append(key) }
    return keys
  }

  /// Iterates over the values at the ends of some paths, for each of a request's objects.
  func forEachRow(
    of request: StoreRequest, _ rules: FetchRules, _ paths: [ProjectedValue], _ distinct: Bool = false,
    _ body: ([StoredValue]) throws -> Void
  ) throws {
    guard distinct else { return try forEachRow(of: request, rules, paths, body) }
    var whole = request
    (whole.limit, whole.offset) = (nil, 0)
    var window = DistinctWindow(request, paths)
    guard window.isOpen else { return }
    do {
      try forEachRow(of: whole, rules, paths) { values in
        if window.accepts(values) { try body(values) }
        if !window.isOpen { throw EndOfWindow() }
      }
    } catch is EndOfWindow {}
  }

  private func forEachRow(
    of request: StoreRequest, _ rules: FetchRules, _ paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    if try isStored(request, rules, paths) { return try connection().fetchValues(request, of: paths, body) }
    try forEachPresentRow(of: request, rules, paths, body)
  }

  /// Whether no unsaved change affects the values at the ends of some paths, so that the store's answer is correct.
  func isStored(_ request: StoreRequest, _ rules: FetchRules, _ paths: [ProjectedValue]) throws -> Bool {
    // The values may belong to objects that the request itself does not depend on.
    var looked = request
    looked.sort += paths.map { SortKey($0.value, kind: $0.kind) }
    return try influence(on: looked, rules) == .none
  }

  /// Iterates over the values of the objects as they are in memory.
  func forEachPresentRow(
    of request: StoreRequest, _ rules: FetchRules, _ paths: [ProjectedValue], _ body: ([StoredValue]) throws -> Void
  ) throws {
    let evaluators = try StoreError.evaluating { try paths.map { try OperandEvaluator($0.value) } }
    for object in try results(of: request, rules) {
      let values = try evaluating { try evaluators.map { try $0.value(of: QueriedObject(object, self)) } }
      try body(values)
    }
  }
}

/// Thrown to end an iteration over rows once the limit is reached.
private struct EndOfWindow: Error {}

/// Accepts each tuple of values once, and only the distinct tuples between offset and limit.
private struct DistinctWindow {
  private var seen: Set<[StoredValue]> = []
  private let kinds: [ValueKind]
  private var skipped: Int
  private var left: Int

  init(_ request: StoreRequest, _ paths: [ProjectedValue]) {
    kinds = paths.map(\.kind)
    skipped = request.offset
    left = request.limit ?? .max
  }

  var isOpen: Bool { left > 0 }

  mutating func accepts(_ values: [StoredValue]) -> Bool {
    guard seen.insert(normalized(values, kinds)).inserted else { return false }
    guard skipped == 0 else {
      skipped -= 1
      return false
    }
    left -= 1
    return true
  }
}

/// Values in a canonical form, in which equal values are identical.
func normalized(_ values: [StoredValue], _ kinds: [ValueKind]) -> [StoredValue] {
  zip(values, kinds).map { ValueOrder.normalized($0, kind: $1) }
}

extension Model {
  /// A value in a message: the names of its path, or `a computed value of DiaryImage`.
  func name(of value: Operand, from entity: Int) -> String {
    value.path.map { name(of: $0.steps, from: entity) } ?? "a computed value of \(entities[entity].name)"
  }

  /// The names of a path from an entity: `DiaryImage.diary.createdAt`.
  func name(of steps: [Int], from entity: Int) -> String {
    var (entity, names) = (entities[entity], [entities[entity].name])
    for step in steps where entity.properties.indices.contains(step) {
      let property = entity.properties[step]
      names.append(property.name)
      if let relationship = property.relationship { entity = entities[relationship.destination] }
    }
    return names.joined(separator: ".")
  }
}

// MARK: - Value token

/// A value that can be fetched without its object: an attribute, a to-one relationship, which is fetched as the
/// identifier of its object, the number of members of a to-many relationship, a computed value, or the period of a date.
public protocol ValueToken<Fetched>: Sendable {
  /// The type of the fetched value.
  associatedtype Fetched
  @_spi(Generated) var _projection: ProjectedValue { get }
  /// Reads the value from a column. If it is invalid, reports that to the row and returns a placeholder.
  @_spi(Generated) func _read(_ row: RowReader, _ column: Int) -> Fetched
}

extension ValueToken where Fetched: AttributeValue {
  @_spi(Generated) public func _read(_ row: RowReader, _ column: Int) -> Fetched { .read(row, column) }
}

extension AttributePath: ValueToken {
  /// The type of the attribute.
  public typealias Fetched = Value
  @_spi(Generated) public var _projection: ProjectedValue { ProjectedValue(path, kind: Value.valueKind) }

  /// The attribute as an optional one, for a path through a to-one relationship that may be nil.
  ///
  /// ```swift
  /// let days = try context.values(of: DiaryImage.all) { ($0.imagePath, $0.diary.createdAt.optional) }
  /// ```
  public var optional: AttributePath<Value?> { AttributePath<Value?>(path: path) }
}

/// A computed value. It is nil if it has no result.
extension ComputedValue: ValueToken where Value: OrderedAttributeValue {
  /// The type of the value, optional.
  public typealias Fetched = Value.Unwrapped?
  @_spi(Generated) public var _projection: ProjectedValue { ProjectedValue(_operand, kind: Value.valueKind) }
}

extension ToOnePath: ValueToken {
  /// The identifier of the object; nil if the relationship is nil.
  public typealias Fetched = ObjectID<Columns.Object>?
  @_spi(Generated) public var _projection: ProjectedValue { ProjectedValue(path, kind: .integer) }
}

// MARK: - Tuples

/// Several properties of an object that are read into a tuple.
public struct ValueTuple<Values> {
  let paths: [ProjectedValue]
  let read: (ProjectedRow) -> Values
}

/// Builds a tuple of two to six properties, such as `($0.name, $0.images.count)`, and accepts nothing else.
///
/// A closure that takes a parameter pack would accept any result, which the compiler would treat as an empty tuple. A
/// pack next to two individual elements is more than the compiler of Swift 6.3 can lower.
@resultBuilder public enum ValueTupleBuilder {
  /// Builds a tuple of two properties.
  public static func buildExpression<A: ValueToken, B: ValueToken>(
    _ tokens: (A, B)
  ) -> ValueTuple<(A.Fetched, B.Fetched)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection]) { row in
      (tokens.0._read(row, 0), tokens.1._read(row, 1))
    }
  }

  /// Builds a tuple of three properties.
  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken>(
    _ tokens: (A, B, C)
  ) -> ValueTuple<(A.Fetched, B.Fetched, C.Fetched)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection, tokens.2._projection]) { row in
      (tokens.0._read(row, 0), tokens.1._read(row, 1), tokens.2._read(row, 2))
    }
  }

  /// Builds a tuple of four properties.
  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken>(
    _ tokens: (A, B, C, D)
  ) -> ValueTuple<(A.Fetched, B.Fetched, C.Fetched, D.Fetched)> {
    ValueTuple(paths: [tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection]) { row in
      (tokens.0._read(row, 0), tokens.1._read(row, 1), tokens.2._read(row, 2), tokens.3._read(row, 3))
    }
  }

  /// Builds a tuple of five properties.
  public static func buildExpression<A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken, E: ValueToken>(
    _ tokens: (A, B, C, D, E)
  ) -> ValueTuple<(A.Fetched, B.Fetched, C.Fetched, D.Fetched, E.Fetched)> {
    ValueTuple(paths: [
      tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection, tokens.4._projection,
    ]) { row in
      (
        tokens.0._read(row, 0), tokens.1._read(row, 1), tokens.2._read(row, 2), tokens.3._read(row, 3),
        tokens.4._read(row, 4)
      )
    }
  }

  /// Builds a tuple of six properties.
  public static func buildExpression<
    A: ValueToken, B: ValueToken, C: ValueToken, D: ValueToken, E: ValueToken, F: ValueToken
  >(
    _ tokens: (A, B, C, D, E, F)
  ) -> ValueTuple<(A.Fetched, B.Fetched, C.Fetched, D.Fetched, E.Fetched, F.Fetched)> {
    ValueTuple(paths: [
      tokens.0._projection, tokens.1._projection, tokens.2._projection, tokens.3._projection, tokens.4._projection,
      tokens.5._projection,
    ]) { row in
      (
        tokens.0._read(row, 0), tokens.1._read(row, 1), tokens.2._read(row, 2), tokens.3._read(row, 3),
        tokens.4._read(row, 4), tokens.5._read(row, 5)
      )
    }
  }

  /// Accepts a single statement.
  public static func buildBlock<Values>(_ tuple: ValueTuple<Values>) -> ValueTuple<Values> { tuple }
}

/// Several aggregates that are computed into a tuple.
public struct AggregateTuple<Results> {
  let stored: [GroupAggregate]
  let read: (FetchedGroup) throws -> Results
}

/// Builds a tuple of two to six aggregates, such as `($0.count, $0.amount.sum)`, and accepts nothing else.
@resultBuilder public enum AggregateTupleBuilder {
  /// Builds a tuple of two aggregates.
  public static func buildExpression<A, B>(
    _ all: (Aggregate<A>, Aggregate<B>)
  ) -> AggregateTuple<(A, B)> {
    AggregateTuple(stored: [all.0.stored, all.1.stored]) { group in
      (try all.0.read(group[0]), try all.1.read(group[1]))
    }
  }

  /// Builds a tuple of three aggregates.
  public static func buildExpression<A, B, C>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>)
  ) -> AggregateTuple<(A, B, C)> {
    AggregateTuple(stored: [all.0.stored, all.1.stored, all.2.stored]) { group in
      (try all.0.read(group[0]), try all.1.read(group[1]), try all.2.read(group[2]))
    }
  }

  /// Builds a tuple of four aggregates.
  public static func buildExpression<A, B, C, D>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>, Aggregate<D>)
  ) -> AggregateTuple<(A, B, C, D)> {
    AggregateTuple(stored: [all.0.stored, all.1.stored, all.2.stored, all.3.stored]) { group in
      (
        try all.0.read(group[0]), try all.1.read(group[1]), try all.2.read(group[2]),
        try all.3.read(group[3])
      )
    }
  }

  /// Builds a tuple of five aggregates.
  public static func buildExpression<A, B, C, D, E>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>, Aggregate<D>, Aggregate<E>)
  ) -> AggregateTuple<(A, B, C, D, E)> {
    AggregateTuple(stored: [all.0.stored, all.1.stored, all.2.stored, all.3.stored, all.4.stored]) { group in
      (
        try all.0.read(group[0]), try all.1.read(group[1]), try all.2.read(group[2]),
        try all.3.read(group[3]), try all.4.read(group[4])
      )
    }
  }

  /// Builds a tuple of six aggregates.
  public static func buildExpression<A, B, C, D, E, F>(
    _ all: (Aggregate<A>, Aggregate<B>, Aggregate<C>, Aggregate<D>, Aggregate<E>, Aggregate<F>)
  ) -> AggregateTuple<(A, B, C, D, E, F)> {
    AggregateTuple(stored: [all.0.stored, all.1.stored, all.2.stored, all.3.stored, all.4.stored, all.5.stored]) {
      group in
      (
        try all.0.read(group[0]), try all.1.read(group[1]), try all.2.read(group[2]),
        try all.3.read(group[3]), try all.4.read(group[4]), try all.5.read(group[5])
      )
    }
  }

  /// Accepts a single statement.
  public static func buildBlock<Results>(_ tuple: AggregateTuple<Results>) -> AggregateTuple<Results> { tuple }
}
