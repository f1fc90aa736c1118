import Foundation
import TrellisQuery

extension PredicateExpressions.Conjunction: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.all([try reading.condition(lhs), try reading.condition(rhs)]))
  }
}

extension PredicateExpressions.Disjunction: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.one([try reading.condition(lhs), try reading.condition(rhs)]))
  }
}

extension PredicateExpressions.Negation: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    .condition(.negated(try reading.condition(wrapped)))
  }
}

extension PredicateExpressions.Conditional: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let test = try reading.condition(test)
    let (first, second) = (try reading.term(trueBranch), try reading.term(falseBranch))
    if case .value(let first) = first, case .value(let second) = second {
      return .value(try ImportedValue(test, first, second))
    }
    return .condition(
      .one([.all([test, try first.condition]), .all([.negated(test), try second.condition])]))
  }
}
