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
    var scope = EvaluationScope(object)
    return try root.holds(in: &scope)
  }
}
