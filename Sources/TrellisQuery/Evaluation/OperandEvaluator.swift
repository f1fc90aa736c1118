package import TrellisSchema

/// An operand made ready to be asked for its value of many objects.
package struct OperandEvaluator: Sendable {
  private let operand: PreparedOperand

  /// - Throws: ``EvaluationError`` when it names a variable other than 0, or has a place for a value.
  package init(_ operand: Operand) throws(EvaluationError) {
    try QueryPredicate.comparison(Comparison(operand, .equal, operand, kind: .integer)).checkDepth()
    var preparation = PredicatePreparation()
    self.operand = try preparation.operand(operand)
  }

  /// - Throws: what the object's methods throw.
  package func value<Object: QueryObject>(of object: Object) throws -> StoredValue {
    try operand.value(in: EvaluationScope(object))
  }
}
