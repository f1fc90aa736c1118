import Foundation
import TrellisQuery

extension PredicateExpressions.Equal: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(try reading.term(lhs).equals(try reading.term(rhs)))
  }
}

extension PredicateExpressions.NotEqual: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.negated(try reading.term(lhs).equals(try reading.term(rhs))))
  }
}

extension PredicateExpressions.Comparison: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let relation: ComparisonOperator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw .unsupported("This comparison", "Use '<', '<=', '>' or '>='.")
      }
    return .condition(try reading.value(lhs).compared(relation, try reading.value(rhs)))
  }
}

extension PredicateExpressions.Range: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .range(ImportedRange(lower: try reading.value(lower), upper: try reading.value(upper), isClosed: false))
  }
}

extension PredicateExpressions.ClosedRange: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .range(ImportedRange(lower: try reading.value(lower), upper: try reading.value(upper), isClosed: true))
  }
}

extension PredicateExpressions.RangeExpressionContains: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    guard case .range(let range) = try reading.term(range) else { throw .unsupported(RangeExpression.self) }
    let element = try reading.value(element)
    return .condition(
      .all([
        element.compared(.greaterOrEqual, range.lower),
        element.compared(range.isClosed ? .lessOrEqual : .less, range.upper),
      ]))
  }
}
