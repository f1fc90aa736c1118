public import TrellisSchema

/// A predicate made ready to be asked about many objects: paths are unrolled, constants folded, lists hashed.
///
/// ```swift
/// let evaluator = try PredicateEvaluator(predicate)
/// let found = try objects.filter { try evaluator.matches($0) }
/// ```
public struct PredicateEvaluator: Sendable {
  @usableFromInline let root: EvaluationNode

  /// - Throws: ``EvaluationError`` when the predicate is nested too deep, or names a variable that nothing binds.
  /// - Complexity: linear in the number of nodes and values.
  public init(_ predicate: QueryPredicate) throws(EvaluationError) {
    try predicate.checkDepth()
    var preparation = PredicatePreparation()
    root = try preparation.node(predicate)
  }

  /// Whether the predicate holds for an object.
  ///
  /// - Throws: what the object's methods throw.
  @inlinable public func matches<Object: QueryObject>(_ object: Object) throws -> Bool {
    try root.holds(in: EvaluationScope(object))
  }
}

/// The tree of ``QueryPredicate``, prepared.
@usableFromInline indirect enum EvaluationNode: Sendable {
  case constant(Bool)
  case not(EvaluationNode)
  case and([EvaluationNode])
  case or([EvaluationNode])
  case comparison(PreparedComparison)
  case isIn(PreparedOperand, Set<StoredValue>, ValueKind)
  case quantified(Quantifier, PreparedPath, variable: Int, EvaluationNode)

  @inlinable func holds<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Bool {
    switch self {
    case .constant(let value): return value
    case .not(let inner): return try !inner.holds(in: scope)
    case .and(let terms):
      for term in terms where try !term.holds(in: scope) { return false }
      return true
    case .or(let terms):
      for term in terms where try term.holds(in: scope) { return true }
      return false
    case .comparison(let comparison): return try comparison.holds(in: scope)
    case .isIn(let operand, let values, let kind):
      return values.contains(ValueOrder.normalized(try operand.value(in: scope), kind: kind))
    case .quantified(let quantifier, let path, let variable, let condition):
      return try Self.holds(quantifier, path, variable, condition, scope)
    }
  }

  @inlinable static func holds<Object: QueryObject>(
    _ quantifier: Quantifier, _ path: PreparedPath, _ variable: Int, _ condition: EvaluationNode,
    _ scope: EvaluationScope<Object>
  ) throws -> Bool {
    let members = try path.owner(in: scope)?.queryMembers(path.last) ?? []
    // One member decides: a match for any and none, a mismatch for all.
    let decisive = quantifier != .all
    for member in members where try condition.holds(in: scope.binding(variable, to: member)) == decisive {
      return quantifier == .any
    }
    return quantifier != .any
  }
}
