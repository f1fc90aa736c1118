import Foundation
import TrellisQuery

extension PredicateExpressions.Arithmetic: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let sign: ArithmeticOperator =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      @unknown default: throw .unsupported("This arithmetic", "Use '+', '-', '*' or '/'.")
      }
    return try reading.arithmetic(sign, lhs, rhs)
  }
}

extension PredicateExpressions.FloatDivision: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.arithmetic(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntDivision: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.arithmetic(.divide, lhs, rhs)
  }
}

extension PredicateExpressions.IntRemainder: ImportableExpression {
  /// The remainder of the division.
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let (dividend, divisor) = (try reading.value(lhs), try reading.value(rhs))
    return .value(
      try dividend.combined(divisor) { dividend, divisor in
        let quotient = Operand.computed(.arithmetic(.divide, dividend, divisor))
        return .computed(.arithmetic(.subtract, dividend, .computed(.arithmetic(.multiply, quotient, divisor))))
      })
  }
}

extension PredicateExpressions.UnaryMinus: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let value = try reading.value(wrapped)
    return .value(try value.map(value.kind) { .computed(.function(.negative, $0)) })
  }
}

extension PredicateReading {
  fileprivate mutating func arithmetic(
    _ sign: ArithmeticOperator, _ left: some PredicateExpression, _ right: some PredicateExpression
  ) throws(PredicateImportError) -> ImportedTerm {
    let (left, right) = (try value(left), try value(right))
    return .value(try left.combined(right) { .computed(.arithmetic(sign, $0, $1)) })
  }
}
