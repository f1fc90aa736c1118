import Foundation
import TrellisQuery
@_spi(Generated) import TrellisRuntime

/// A Foundation expression with a counterpart in store predicates.
protocol ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm
}

/// Translates the expressions of a predicate.
struct PredicateReading {
  /// The terms for the variables.
  var variables: [PredicateExpressions.VariableID: ImportedTerm] = [:]
  /// The number of the innermost variable for members.
  private var depth = 0

  mutating func term(_ expression: some PredicateExpression) throws(PredicateImportError) -> ImportedTerm {
    guard let importable = expression as? any ImportableExpression else {
      throw .unsupported(type(of: expression))
    }
    return try importable.term(&self)
  }

  mutating func condition(_ expression: some PredicateExpression) throws(PredicateImportError) -> QueryPredicate {
    try term(expression).condition
  }

  mutating func value(_ expression: some PredicateExpression) throws(PredicateImportError) -> ImportedValue {
    try term(expression).value
  }

  mutating func text(_ expression: some PredicateExpression) throws(PredicateImportError) -> ImportedValue {
    let value = try value(expression)
    guard value.kind == .text else { throw .unsupported("A search in anything but text", "Use contains(where:).") }
    return value
  }

  /// Reads a condition on the members of a to-many.
  mutating func condition<Element>(
    _ test: some PredicateExpression, on variable: PredicateExpressions.Variable<Element>
  ) throws(PredicateImportError) -> (condition: QueryPredicate, variable: Int) {
    depth += 1
    defer { depth -= 1 }
    variables[variable.key] = .object(PropertyPath(variable: depth))
    return (try condition(test), depth)
  }
}
