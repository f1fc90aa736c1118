import TrellisQuery
package import TrellisSchema
package import TrellisStorage

/// The shape of a request, which determines its statement, encoded as numbers; and the values, which are kept apart.
///
/// Two requests with the same words have the same statement, so a prepared statement is found without building its SQL.
/// One shape serves many requests, because its arrays keep their capacity.
package struct RequestShape {
  /// The kind of statement.
  package enum Purpose: UInt64 {
    case rows = 1, keys, count, values, update, delete
  }

  package private(set) var words: ContiguousArray<UInt64> = []
  package private(set) var values: ContiguousArray<BoundValue> = []

  package init() {
    words.reserveCapacity(64)
    values.reserveCapacity(16)
  }

  /// Encodes a request.
  ///
  /// - Throws: ``StoreError`` if the predicate is nested too deeply, or if there are too many sort keys.
  /// - Complexity: linear in the number of predicate nodes and of values in lists, which are searched for nulls.
  package mutating func describe(
    _ request: StoreRequest, for purpose: Purpose, projecting paths: [ProjectedPath] = []
  ) throws(StoreError) {
    try request.checkSortKeys()
    words.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    let flags: UInt64 =
      (request.includesSubentities ? 1 : 0) | (request.limit == nil ? 0 : 2) | (request.offset > 0 ? 4 : 0)
      | (request.predicate == nil ? 0 : 8)
    words.append(purpose.rawValue | flags << 8 | UInt64(truncatingIfNeeded: request.entity) << 16)
    for key in request.sort {
      words.append(
        1 | (key.isDescending ? 2 : 0) | UInt64(key.kind.word) << 8 | UInt64(key.options.rawValue) << 16
          | (key.query == nil ? 0 : 4))
      add(key.path)
    }
    words.append(0)
    if purpose == .values {
      words.append(UInt64(paths.count))
      for projected in paths { add(projected.path) }
    }
    if let predicate = request.predicate { try add(predicate, depth: 1) }
    for key in request.sort { if let query = key.query { values.append(.single(.text(query))) } }
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
      if comparison.hasUnkeptDate { throw PredicateTranslator.unkeptDate }
      words.append(
        6 | comparison.relation.word << 8 | UInt64(comparison.kind.word) << 16
          | UInt64(comparison.options.rawValue) << 24)
      try add(comparison.left, depth)
      try add(comparison.right, depth)
    case .isIn(let operand, let list, let kind):
      if QueryPredicate.haveUnkeptDate(list, kind) { throw PredicateTranslator.unkeptDate }
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
    case .parameter: throw PredicateTranslator.noValue
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
