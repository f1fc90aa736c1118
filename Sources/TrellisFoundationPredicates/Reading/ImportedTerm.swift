import TrellisQuery
import TrellisSchema

/// The translation of an expression.
enum ImportedTerm {
  case condition(QueryPredicate)
  /// A Bool that is nil unless the second condition is true.
  case optionalCondition(QueryPredicate, isPresent: QueryPredicate)
  case value(ImportedValue)
  /// An object, by its path.
  case object(PropertyPath)
  case members(ImportedMembers)
  /// The Unicode scalars of a text.
  case scalars(ImportedValue)
  /// A list of values for `contains`.
  case list([StoredValue], ValueKind)
  case range(ImportedRange)
}

/// The members of a to-many, or those that match a condition.
struct ImportedMembers {
  let path: PropertyPath
  var filter: (condition: QueryPredicate, variable: Int)?
}

/// A range of values, with or without its upper bound.
struct ImportedRange {
  let lower: ImportedValue
  let upper: ImportedValue
  let isClosed: Bool
}

/// A value, possibly with alternatives that depend on conditions.
struct ImportedValue {
  /// The maximum number of alternatives.
  static let limit = 64

  struct Alternative {
    let condition: QueryPredicate
    let operand: Operand
  }

  /// The alternatives. Exactly one of their conditions is true.
  let alternatives: [Alternative]
  /// Nil for a nil without a type.
  let kind: ValueKind?

  init(_ operand: Operand, _ kind: ValueKind?) {
    alternatives = [Alternative(condition: .constant(true), operand: operand)]
    self.kind = kind
  }

  init(_ alternatives: [Alternative], _ kind: ValueKind?) throws(PredicateImportError) {
    let possible = alternatives.filter { $0.condition != .constant(false) }
    guard possible.count <= Self.limit else {
      throw PredicateImportError(
        code: .tooManyBranches, message: "A value has more than \(Self.limit) branches. Split the predicate.")
    }
    self.alternatives = possible
    self.kind = kind
  }

  /// A conditional value: the first if a condition is true, otherwise the second.
  init(_ condition: QueryPredicate, _ first: ImportedValue, _ second: ImportedValue) throws(PredicateImportError) {
    let alternatives = first.only(where: condition) + second.only(where: .negated(condition))
    try self.init(alternatives, first.kind ?? second.kind)
  }

  private func only(where condition: QueryPredicate) -> [Alternative] {
    alternatives.map { Alternative(condition: .all([condition, $0.condition]), operand: $0.operand) }
  }

  /// The value after applying a function.
  func map(_ kind: ValueKind?, _ make: (Operand) -> Operand) throws(PredicateImportError) -> ImportedValue {
    try ImportedValue(
      alternatives.map { Alternative(condition: $0.condition, operand: make($0.operand)) }, kind)
  }

  /// Two values combined by a function.
  func combined(
    _ other: ImportedValue, _ make: (Operand, Operand) -> Operand
  ) throws(PredicateImportError) -> ImportedValue {
    let pairs = alternatives.flatMap { left in
      other.alternatives.map { right in
        Alternative(
          condition: .all([left.condition, right.condition]), operand: make(left.operand, right.operand))
      }
    }
    return try ImportedValue(pairs, kind ?? other.kind)
  }

  /// Whether a condition is true for the value, for whichever alternative applies.
  func holds(_ condition: (Operand) -> QueryPredicate) -> QueryPredicate {
    .one(alternatives.map { .all([$0.condition, condition($0.operand)]) })
  }

  func compared(_ relation: ComparisonOperator, _ other: ImportedValue) -> QueryPredicate {
    let kind = kind ?? other.kind ?? .integer
    return holds { left in
      other.holds { right in .comparison(Comparison(left, relation, right, kind: kind)) }
    }
  }

  var isPresent: QueryPredicate { compared(.notEqual, ImportedValue(.value(.null), kind)) }
}
