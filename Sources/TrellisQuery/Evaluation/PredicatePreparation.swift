import TrellisSchema

/// Builds an ``EvaluationNode`` from a predicate that passed the depth check.
struct PredicatePreparation {
  /// The variables that enclosing quantifiers bind. Variable 0 is always bound.
  private var bound: [Int] = [0]

  /// Passes each case on without unpacking it: a stack frame with the payloads of all cases would repeat at every
  /// level.
  mutating func node(_ predicate: QueryPredicate) throws(EvaluationError) -> EvaluationNode {
    switch predicate {
    case .constant(let value): .constant(value)
    case .not(let inner): .not(try node(inner))
    case .and(let terms): .and(try nodes(terms))
    case .or(let terms): .or(try nodes(terms))
    case .comparison, .isIn: try leaf(predicate)
    case .quantified: try quantified(predicate)
    }
  }

  private mutating func leaf(_ predicate: QueryPredicate) throws(EvaluationError) -> EvaluationNode {
    switch predicate {
    case .comparison(let comparison):
      if comparison.hasUnkeptDate { throw .unkeptDate }
      return .comparison(
        PreparedComparison(comparison, left: try operand(comparison.left), right: try operand(comparison.right)))
    case .isIn(let tested, let values, let kind):
      if QueryPredicate.haveUnkeptDate(values, kind) { throw .unkeptDate }
      return .isIn(PreparedList(try operand(tested), values, kind))
    default: return .constant(false)
    }
  }

  private mutating func nodes(_ terms: [QueryPredicate]) throws(EvaluationError) -> [EvaluationNode] {
    var nodes: [EvaluationNode] = []
    nodes.reserveCapacity(terms.count)
    for term in terms { nodes.append(try node(term)) }
    return nodes
  }

  private mutating func quantified(_ predicate: QueryPredicate) throws(EvaluationError) -> EvaluationNode {
    guard case .quantified(let quantifier, let path, let variable, let condition) = predicate else {
      return .constant(false)
    }
    let members = try prepared(path, "A quantifier")
    bound.append(variable)
    let prepared = try node(condition)
    bound.removeLast()
    return .quantified(PreparedQuantifier(quantifier, members, variable: variable, prepared))
  }

  mutating func operand(_ operand: Operand) throws(EvaluationError) -> PreparedOperand {
    switch operand {
    case .value(let value): return .value(value)
    case .path(let path):
      try checkVariable(path)
      return PreparedPath(path).map { .property($0) } ?? .key(variable: Int(path.variable))
    case .count(let path): return .count(try prepared(path, "A count"))
    case .entity(let path):
      try checkVariable(path)
      return .entity(PreparedWalk(path))
    case .now: return .value(.integer(QueryClock.now))
    case .computed(let computation): return .computed(PreparedComputation(try prepared(computation)))
    case .parameter: throw EvaluationError("The predicate has a place for a value, and none is there.")
    }
  }

  private mutating func prepared(_ computation: Computation) throws(EvaluationError) -> PreparedComputation.Content {
    switch computation {
    case .arithmetic(let sign, let left, let right): return .arithmetic(sign, try operand(left), try operand(right))
    case .function(let function, let inner): return .function(function, try operand(inner))
    case .aggregate(let function, let path, let variable, let inner, let kind):
      let members = try prepared(path, "An aggregate")
      bound.append(variable)
      let value = try operand(inner)
      bound.removeLast()
      return .aggregate(function, members, variable: variable, value, kind)
    case .countWhere(let path, let variable, let condition):
      let members = try prepared(path, "A count")
      bound.append(variable)
      let prepared = try node(condition)
      bound.removeLast()
      return .countWhere(members, variable: variable, prepared)
    case .member(let place, let path, let variable, let inner):
      let members = try prepared(path, "A place")
      bound.append(variable)
      let value = try operand(inner)
      bound.removeLast()
      return .member(place, members, variable: variable, value)
    case .conditional(let condition, let first, let second):
      return .conditional(try node(condition), try operand(first), try operand(second))
    case .list(let function, let operands, let kind):
      var values: [PreparedOperand] = []
      for inner in operands { values.append(try operand(inner)) }
      return .list(function, values, kind)
    }
  }

  private func prepared(_ path: PropertyPath, _ place: String) throws(EvaluationError) -> PreparedPath {
    try checkVariable(path)
    guard let path = PreparedPath(path) else { throw EvaluationError("\(place) needs a path to a to-many.") }
    return path
  }

  private func checkVariable(_ path: PropertyPath) throws(EvaluationError) {
    guard bound.contains(Int(path.variable)) else {
      throw EvaluationError("The predicate uses variable \(path.variable), which no quantifier around it binds.")
    }
  }
}
