package import TrellisSchema

/// An operand prepared for evaluation on many objects.
package struct OperandEvaluator: Sendable {
  private let operand: PreparedOperand

  /// - Throws: ``EvaluationError`` if the operand uses a variable other than 0, or contains a parameter.
  package init(_ operand: Operand) throws(EvaluationError) {
    try QueryPredicate.comparison(Comparison(operand, .equal, operand, kind: .integer)).checkDepth()
    var preparation = PredicatePreparation()
    self.operand = try preparation.operand(operand)
  }

  /// - Throws: errors of the object's methods.
  package func value<Object: QueryObject>(of object: Object) throws -> StoredValue {
    try operand.value(in: EvaluationScope(object))
  }
}
