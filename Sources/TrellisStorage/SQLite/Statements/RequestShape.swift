package import TrellisModel

/// The shape of a request, which determines its statement, encoded as numbers; and the values, which are kept apart.
///
/// Two requests with the same words have the same statement, so a prepared statement is found without building its SQL.
/// One shape serves many requests, because its arrays keep their capacity.
package struct RequestShape {
  /// The kind of statement.
  package enum Purpose: UInt64 {
    case rows = 1, keys, count, values, update, delete, groups
  }

  package private(set) var words: ContiguousArray<UInt64> = []
  package private(set) var values: ContiguousArray<BoundValue> = []

  /// Whether a stored derived attribute at the end of a path is read from its column, so that the values of its
  /// expression are no values of the request.
  private let readsDerivedColumn: (PropertyPath) -> Bool

  package init(readsDerivedColumn: @escaping (PropertyPath) -> Bool = { _ in false }) {
    self.readsDerivedColumn = readsDerivedColumn
    words.reserveCapacity(64)
    values.reserveCapacity(16)
  }

  /// Encodes a request.
  ///
  /// - Throws: ``StoreError`` if the predicate is nested too deeply, or if there are too many sort keys.
  /// - Complexity: linear in the number of predicate nodes and of values in lists, which are searched for nulls.
  package mutating func describe(
    _ request: StoreRequest, for purpose: Purpose, projecting projected: [ProjectedValue] = []
  ) throws(StoreError) {
    try request.checkSortKeys()
    words.removeAll(keepingCapacity: true)
    // One by one, because the values are few, and `removeAll` costs as much for one as for many.
    while !values.isEmpty { values.removeLast() }
    let flags: UInt64 =
      (request.includesSubentities ? 1 : 0) | (request.limit == nil ? 0 : 2) | (request.offset > 0 ? 4 : 0)
      | (request.predicate == nil ? 0 : 8)
    words.append(purpose.rawValue | flags << 8 | UInt64(truncatingIfNeeded: request.entity) << 16)
    // In the order in which the statement is translated.
    if let predicate = request.predicate { try add(predicate, depth: 1) }
    if purpose == .values {
      words.append(UInt64(projected.count))
      for value in projected { try add(value.value, 1) }
    }
    if request.isSorted(for: purpose) { try add(request.decidingSort) }
    if let limit = request.limit { values.append(.single(.integer(Int64(max(0, limit))))) }
    if request.offset > 0 { values.append(.single(.integer(Int64(request.offset)))) }
  }

  /// Encodes a request for groups: the request for their rows, then keys, aggregates, condition and order.
  ///
  /// - Throws: ``StoreError`` if the condition is nested too deeply, or if there are too many sort keys.
  package mutating func describe(_ request: GroupRequest) throws(StoreError) {
    try request.checkSortKeys()
    try describe(request.rows, for: .groups)
    let flags: UInt64 =
      (request.condition == nil ? 0 : 1) | (request.limit == nil ? 0 : 2) | (request.offset > 0 ? 4 : 0)
    words.append(22 | flags << 8 | UInt64(request.keys.count) << 16 | UInt64(request.aggregates.count) << 32)
    for key in request.keys {
      words.append(UInt64(key.kind.word))
      try add(key.value, 1)
    }
    for aggregate in request.aggregates {
      words.append(aggregate.function.word | UInt64(aggregate.value.kind.word) << 8)
      try add(aggregate.value.value, 1)
    }
    if let condition = request.condition { try add(condition, depth: 1) }
    try add(request.sort[...])
    if let limit = request.limit { values.append(.single(.integer(Int64(max(0, limit))))) }
    if request.offset > 0 { values.append(.single(.integer(Int64(request.offset)))) }
  }

  /// Encodes a change of many rows: the request, then the assignments.
  ///
  /// - Throws: ``StoreError`` if a value is nested too deeply.
  package mutating func describe(_ update: BatchUpdate) throws(StoreError) {
    try describe(update.request, for: .update)
    for assignment in update.assignments {
      words.append(17 | UInt64(truncatingIfNeeded: assignment.property) << 8)
      try add(assignment.value, 1)
    }
  }

  /// Encodes a sort order. The query of a key is a value, so only whether there is one is part of the shape.
  private mutating func add(_ keys: ArraySlice<SortKey>) throws(StoreError) {
    // An iteration would copy each key.
    for number in keys.indices {
      words.append(
        1 | (keys[number].isDescending ? 2 : 0) | UInt64(keys[number].kind.word) << 8
          | UInt64(keys[number].options.rawValue) << 16 | (keys[number].query == nil ? 0 : 4)
          | (keys[number].language == nil ? 0 : 8))
      if let language = keys[number].language {
        words.append(UInt64(language.utf8.count))
        words.append(contentsOf: language.utf8.lazy.map { UInt64($0) })
      }
      try add(keys[number].value, 1)
      if let query = keys[number].query { values.append(.single(.text(query))) }
    }
    words.append(0)
  }

  private mutating func add(_ predicate: QueryPredicate, depth: Int) throws(StoreError) {
    guard depth <= QueryPredicate.depthLimit else { throw StoreRequest.tooDeep }
    switch predicate {
    case .constant(let value): words.append(value ? 1 : 2)
    case .not(let inner):
      words.append(3)
      try add(inner, depth: depth + 1)
    case .and(let terms): try add(terms, tag: 4, depth)
    case .or(let terms): try add(terms, tag: 5, depth)
    case .comparison(let comparison):
      if comparison.hasUnkeptDate { throw QueryFault.unkeptDate }
      words.append(
        6 | UInt64(comparison.relation.spelling.number) << 8 | UInt64(comparison.kind.word) << 16
          | UInt64(comparison.options.rawValue) << 24)
      try add(comparison.left, depth)
      try add(comparison.right, depth)
    case .isIn(let operand, let list, let kind):
      if QueryPredicate.haveUnkeptDate(list, kind) { throw QueryFault.unkeptDate }
      words.append(7 | (list.hasNull ? 1 : 0) << 8 | UInt64(kind.word) << 16)
      try add(operand, depth)
      values.append(.list(list))
    case .quantified(let quantifier, let path, let variable, let condition):
      words.append(8 | quantifier.word << 8 | UInt64(UInt32(truncatingIfNeeded: variable)) << 32)
      add(path)
      try add(condition, depth: depth + 1)
    }
  }

  private mutating func add(_ terms: [QueryPredicate], tag: UInt64, _ depth: Int) throws(StoreError) {
    words.append(tag | UInt64(terms.count) << 8)
    for term in terms { try add(term, depth: depth + 1) }
  }

  private mutating func add(_ operand: Operand, _ depth: Int) throws(StoreError) {
    switch operand {
    case .value(let value):
      words.append(value.isNil ? 10 : 9)
      values.append(.single(value))
    case .path(let path):
      words.append(11)
      add(path)
    case .count(let path):
      words.append(12)
      add(path)
    case .entity(let path):
      words.append(21)
      add(path)
    case .now:
      words.append(9)
      values.append(.single(.integer(QueryClock.now)))
    case .computed(let computation): try add(computation, depth + 1)
    case .parameter: throw QueryFault.noValue
    }
  }

  private mutating func add(_ computation: Computation, _ depth: Int) throws(StoreError) {
    guard depth <= QueryPredicate.depthLimit else { throw StoreRequest.tooDeep }
    switch computation {
    case .arithmetic(let sign, let left, let right):
      words.append(13 | sign.word << 8)
      try add(left, depth)
      try add(right, depth)
    case .function(let function, let operand):
      words.append(14 | function.word << 8)
      try add(operand, depth)
    case .date(let function, let operand):
      words.append(23)
      try add(operand, depth)
      values.append(.single(.text(try QueryFault.settled(function).code)))
    case .aggregate(let function, let path, let variable, let operand, let kind):
      let head = 15 | function.word << 8 | UInt64(kind.word) << 16
      words.append(head | UInt64(UInt32(truncatingIfNeeded: variable)) << 32)
      add(path)
      try add(operand, depth)
    case .countWhere(let path, let variable, let condition):
      words.append(16 | UInt64(UInt32(truncatingIfNeeded: variable)) << 32)
      add(path)
      try add(condition, depth: depth + 1)
    case .member(let place, let path, let variable, let operand):
      words.append(18 | UInt64(UInt32(truncatingIfNeeded: variable)) << 32)
      words.append(place.word)
      add(path)
      try add(operand, depth)
    case .conditional(let condition, let first, let second):
      words.append(19)
      try add(condition, depth: depth + 1)
      try add(first, depth)
      try add(second, depth)
    case .list(let function, let operands, let kind):
      words.append(20 | function.word << 8 | UInt64(kind.word) << 16 | UInt64(operands.count) << 32)
      for operand in operands { try add(operand, depth) }
    case .stored(let path, let inner):
      guard readsDerivedColumn(path) else { return try add(inner, depth) }
      words.append(24)
      add(path)
    }
  }

  private mutating func add(_ path: PropertyPath) {
    let count = path.count
    words.append(UInt64(UInt32(bitPattern: path.variable)) | UInt64(count) << 32)
    if let step = path.onlyStep {
      words.append(UInt64(truncatingIfNeeded: step))
    } else if count > 1 {
      for step in path.steps { words.append(UInt64(truncatingIfNeeded: step)) }
    }
  }
}

extension StoreRequest {
  /// Whether the statement for a purpose has an ORDER BY. A count has none, and groups and changes of rows only if a limit
  /// applies to the rows.
  func isSorted(for purpose: RequestShape.Purpose) -> Bool {
    switch purpose {
    case .rows, .keys, .values: true
    case .count: false
    case .update, .delete, .groups: limit != nil || offset > 0
    }
  }
}

extension RequestShape {
  /// All values in one array, with lists flattened.
  package var boundValues: [StoredValue] {
    values.flatMap { bound in
      switch bound {
      case .single(let value): [value]
      case .list(let list): list
      }
    }
  }
}

// MARK: - Shape words

extension ValueKind {
  var word: UInt8 {
    switch self {
    case .integer: 0
    case .real: 1
    case .text: 2
    case .decimal: 3
    case .blob: 4
    }
  }
}

extension Quantifier {
  var word: UInt64 {
    switch self {
    case .any: 0
    case .all: 1
    case .none: 2
    }
  }
}

extension ArithmeticOperator {
  /// The operator's number in SQL.
  var word: UInt64 {
    switch self {
    case .add: 0
    case .subtract: 1
    case .multiply: 2
    case .divide: 3
    case .power: 4
    case .remainder: 5
    case .bitAnd: 6
    case .bitOr: 7
    case .bitXor: 8
    case .shiftLeft: 9
    case .shiftRight: 10
    case .concatenate: 11
    }
  }

  package init?(word: Int64) {
    guard let found = Self.allCases.first(where: { $0.word == UInt64(bitPattern: word) }) else { return nil }
    self = found
  }
}

extension ValueFunction {
  /// The function's number in SQL.
  var word: UInt64 {
    switch self {
    case .lowercase: 0
    case .uppercase: 1
    case .length: 2
    case .absolute: 3
    case .negative: 4
    case .ceiling: 5
    case .floor: 6
    case .truncated: 7
    case .rounded: 8
    case .decimal: 9
    case .real: 10
    case .microseconds: 11
    case .squareRoot: 12
    case .naturalLogarithm: 13
    case .logarithm: 14
    case .exponential: 15
    case .complement: 16
    case .text: 17
    case .seconds: 18
    }
  }

  package init?(word: Int64) {
    guard let found = Self.allCases.first(where: { $0.word == UInt64(bitPattern: word) }) else { return nil }
    self = found
  }
}

extension AggregateFunction {
  var word: UInt64 {
    switch self {
    case .sum: 0
    case .average: 1
    case .minimum: 2
    case .maximum: 3
    }
  }
}

extension GroupAggregate.Function {
  fileprivate var word: UInt64 {
    switch self {
    case .rows: 0
    case .count: 1
    case .distinctCount: 2
    case .minimum: 3
    case .maximum: 4
    case .sum: 5
    case .average: 6
    }
  }
}

extension ValueKind {
  /// The suffix of aggregate function names in SQL for values of this kind. Each kind has its own function, because a
  /// sum of no values could not tell its kind otherwise.
  package var numberName: String {
    switch self {
    case .integer: "integer"
    case .decimal: "decimal"
    case .real, .text, .blob: "real"
    }
  }
}

extension MemberPlace {
  /// A different number for each position, including the first and the last.
  var word: UInt64 {
    switch self {
    case .first: 0
    case .last: 1
    case .at(let number): UInt64(UInt32(clamping: max(-1, number) + 1)) + 2
    }
  }
}
