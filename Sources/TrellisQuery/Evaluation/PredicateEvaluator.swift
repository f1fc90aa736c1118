/// A predicate prepared for evaluation on many objects: paths are unrolled, constants folded, lists hashed.
///
/// ```swift
/// let evaluator = try PredicateEvaluator(predicate)
/// let found = try objects.filter { try evaluator.matches($0) }
/// ```
public struct PredicateEvaluator: Sendable {
  @usableFromInline let root: EvaluationNode

  /// - Throws: ``EvaluationError`` if the predicate is nested too deep, or uses a variable that no quantifier binds.
  /// - Complexity: linear in the number of nodes and values.
  public init(_ predicate: QueryPredicate) throws(EvaluationError) {
    try predicate.checkDepth()
    var preparation = PredicatePreparation()
    root = try preparation.node(predicate)
  }

  /// Whether the predicate holds for an object.
  ///
  /// - Throws: errors of the object's methods.
  @inlinable public func matches<Object: QueryObject>(_ object: Object) throws -> Bool {
    var scope = EvaluationScope(object)
    return try root.holds(in: &scope)
  }
}
