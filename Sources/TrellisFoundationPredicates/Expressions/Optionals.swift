import Foundation
import TrellisQuery

extension PredicateExpressions.OptionalFlatMap: ImportableExpression {
  /// `$0.parent?.name`, and `$0.mood.flatMap { … }`.
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let wrapped = try reading.term(wrapped)
    let isPresent = try wrapped.value.isPresent
    reading.variables[variable.key] = wrapped
    switch try reading.term(transform) {
    case .condition(let condition): return .optionalCondition(condition, isPresent: isPresent)
    case .optionalCondition(let condition, let isPresentToo):
      return .optionalCondition(condition, isPresent: .all([isPresent, isPresentToo]))
    case .object(let path): return .object(path)
    case .value(let value):
      // A path through nil is nil anyway, and an index can serve it.
      if try value.isNil(with: wrapped.value) { return .value(value) }
      return .value(try ImportedValue(isPresent, value, ImportedValue(.value(.null), value.kind)))
    default: throw .unsupported("A collection behind '?'", "Ask about its members behind the '?'.")
    }
  }
}

extension PredicateExpressions.NilCoalesce: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    try reading.term(lhs).otherwise(try reading.term(rhs))
  }
}

extension PredicateExpressions.ForcedUnwrap: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    switch try reading.term(inner) {
    case .optionalCondition(let condition, let isPresent): .condition(.all([isPresent, condition]))
    case let term: term
    }
  }
}

extension ImportedValue {
  /// Whether the value is nil whenever the other value is nil.
  fileprivate func isNil(with other: ImportedValue) -> Bool {
    guard alternatives.count == 1, other.alternatives.count == 1 else { return false }
    return alternatives[0].operand.isNil(with: other.alternatives[0].operand)
  }
}

extension Operand {
  fileprivate func isNil(with other: Operand) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.path(let path), .path(let start)):
      return path.variable == start.variable && path.steps.starts(with: start.steps)
    case (.computed(.arithmetic(_, let left, let right)), _): return left.isNil(with: other) || right.isNil(with: other)
    case (.computed(.function(_, let operand)), _): return operand.isNil(with: other)
    default: return false
    }
  }
}
