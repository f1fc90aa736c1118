import Foundation
import TrellisQuery

extension PredicateExpressions.SequenceContainsWhere: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let members = try reading.members(sequence)
    let (condition, number) = try reading.condition(test, on: variable)
    return .condition(members.any(condition, number))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    let members = try reading.members(sequence)
    let (condition, number) = try reading.condition(test, on: variable)
    let isOutside = members.filter.map { QueryPredicate.negated($0.condition) } ?? .constant(false)
    return .condition(
      .quantified(.all, members.path, variable: number, .one([isOutside, condition])))
  }
}

extension PredicateExpressions.Filter: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    var members = try reading.members(sequence)
    // The variable of an inner filter has the same number, because both have the same enclosing variables.
    let (condition, number) = try reading.condition(filter, on: variable)
    members.filter = (.all([members.filter?.condition ?? .constant(true), condition]), number)
    return .members(members)
  }
}

extension PredicateExpressions.SequenceContains: ImportableExpression {
  func term(_ reading: inout PredicateReading) throws(PredicateImportError) -> ImportedTerm {
    switch try reading.term(sequence) {
    case .list(let values, let kind):
      return .condition(try reading.value(element).holds { .isIn($0, values, kind) })
    case .range(let range):
      let element = try reading.value(element)
      return .condition(
        .all([
          element.compared(.greaterOrEqual, range.lower),
          element.compared(range.isClosed ? .lessOrEqual : .less, range.upper),
        ]))
    default: throw .unsupported("contains(_:) on this", "Use contains(where:), or a list of values.")
    }
  }
}

extension ImportedMembers {
  func any(_ condition: QueryPredicate, _ variable: Int) -> QueryPredicate {
    .quantified(.any, path, variable: variable, .all([filter?.condition ?? .constant(true), condition]))
  }

  var count: ImportedValue {
    guard let filter else { return ImportedValue(.count(path), .integer) }
    return ImportedValue(
      .computed(.countWhere(path, variable: filter.variable, filter.condition)), .integer)
  }

  var isEmpty: QueryPredicate {
    guard let filter else { return count.compared(.equal, ImportedValue(.value(.integer(0)), .integer)) }
    return .quantified(.none, path, variable: filter.variable, filter.condition)
  }
}

extension PredicateReading {
  fileprivate mutating func members(
    _ expression: some PredicateExpression
  ) throws(PredicateImportError) -> ImportedMembers {
    guard case .members(let members) = try term(expression) else {
      throw .unsupported(
        "A condition on the elements of this", "Only members of to-many relationships have conditions.")
    }
    return members
  }
}
