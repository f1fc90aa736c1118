import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// The identifiers of a request's objects, in its order. No object is created unless unsaved changes affect the
  /// result.
  ///
  /// - Throws: the same errors as ``fetch(_:)``.
  public func ids<Columns: EntityColumns>(of request: FetchRequest<Columns>) throws -> [ObjectID<Columns.Object>] {
    try prepareFetch()
    return try keys(of: request.storeRequest(in: self), request.rules).map { ObjectID($0) }
  }

  /// A property of each of a request's objects, in its order, without creating objects.
  ///
  /// ```swift
  /// let moods = try context.values(of: EmotionDiary.all, distinct: true) { $0.mood }
  /// ```
  /// - Parameters:
  ///   - distinct: whether repeated values are skipped. Limit and offset then count distinct values. Texts are equal if
  ///     their bytes are, decimals if their numbers are.
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
    try projected(request, [token._projection], distinct) { row in found.append(Token.Value.read(row, 0)) }
    return found
  }

  /// Several properties of each of a request's objects as tuples, in its order, without creating objects.
  ///
  /// ```swift
  /// for (emotion, day) in try context.values(of: EmotionDiary.all, { ($0.emotion, $0.createdAt) }) { … }
  /// ```
  /// - Parameters:
  ///   - distinct: whether repeated tuples are skipped. Limit and offset then count distinct tuples.
  /// - Throws: the same errors as the overload for one property.
  @_disfavoredOverload public func values<Columns: EntityColumns, Values>(
    of request: FetchRequest<Columns>, distinct: Bool = false,
    @ValueTupleBuilder _ properties: (Columns) -> ValueTuple<Values>
  ) throws -> [Values] {
    let tuple = properties(Columns(PropertyPath(variable: 0)))
    var found: [Values] = []
    try projected(request, tuple.paths, distinct) { row in found.append(tuple.read(row)) }
    return found
  }

  // MARK: Steps

  /// Iterates over rows of a few values. Throws if a value cannot be read.
  private func projected<Columns: EntityColumns>(
    _ request: FetchRequest<Columns>, _ paths: [ProjectedPath], _ distinct: Bool, _ body: (ProjectedRow) -> Void
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

  private func unreadable(_ problem: RowProblem, _ paths: [ProjectedPath], _ request: StoreRequest) -> StoreError {
    let steps = paths.indices.contains(problem.column) ? paths[problem.column].path.steps : []
    let name = runtime.model.name(of: steps, from: request.entity)
    return StoreError(
      .unreadableValue, "\(name) has no value that fits for one of the results: \(problem.what).",
      remedy: problem.remedy ?? "Where a path may meet nil, ask for the property with .optional.",
      entity: runtime.entities[request.entity].name)
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
    of request: StoreRequest, _ rules: FetchRules, _ paths: [ProjectedPath], _ distinct: Bool = false,
    _ body: ([StoredValue]) throws -> Void
  ) throws {
    guard distinct else { return try forEachRow(of: request, rules, paths, body) }
    var whole = request
    (whole.limit, whole.offset) = (nil, 0)
    var window = DistinctWindow(request, paths)
    guard window.isOpen else { return }
    do {
      try forEachRow(of: whole, rules, paths) { values in
        if window.lets(values) { try body(values) }
        if !window.isOpen { throw EndOfWindow() }
      }
    } catch is EndOfWindow {}
  }

  private func forEachRow(
    of request: StoreRequest, _ rules: FetchRules, _ paths: [ProjectedPath], _ body: ([StoredValue]) throws -> Void
  ) throws {
    // The values may belong to objects that the request itself does not depend on.
    var looked = request
    looked.sort += paths.map { SortKey($0.path, kind: $0.kind) }
    guard try influence(on: looked, rules) != .none else {
      return try connection().fetchValues(request, of: paths, body)
    }
    for object in try results(of: request, rules) {
      let values = try evaluating { try paths.map { try QueriedObject(object, self).value(at: $0.path) } }
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

  init(_ request: StoreRequest, _ paths: [ProjectedPath]) {
    kinds = paths.map(\.kind)
    skipped = request.offset
    left = request.limit ?? .max
  }

  var isOpen: Bool { left > 0 }

  mutating func lets(_ values: [StoredValue]) -> Bool {
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
