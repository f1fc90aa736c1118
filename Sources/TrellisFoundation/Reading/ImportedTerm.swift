import TrellisQuery
import TrellisSchema

/// What an expression has become.
enum ImportedTerm {
  case condition(QueryPredicate)
  /// A Bool that is nil unless the second condition holds.
  case optionalCondition(QueryPredicate, isPresent: QueryPredicate)
  case value(ImportedValue)
  /// An object, by the way to it.
  case object(PropertyPath)
  case members(ImportedMembers)
  /// The Unicode scalars of a text.
  case scalars(ImportedValue)
  /// Values that something may be among.
  case list([StoredValue], ValueKind)
  case range(ImportedRange)
}

/// The members of a to-many, or those for which a condition holds.
struct ImportedMembers {
  let path: PropertyPath
  var filter: (condition: QueryPredicate, variable: Int)?
}

/// The values from one to another, the other included or not.
struct ImportedRange {
  let lower: ImportedValue
  let upper: ImportedValue
  let isClosed: Bool
}

/// A value, which may be one thing or another depending on conditions.
struct ImportedValue {
  /// How many things a value may be.
  static let limit = 64

  struct Alternative {
    let condition: QueryPredicate
    let operand: Operand
  }

  /// Of their conditions just one holds.
  let alternatives: [Alternative]
  /// Nil for a nil that says no more.
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

  /// The value where a condition holds, and another where it does not.
  init(_ condition: QueryPredicate, _ first: ImportedValue, _ second: ImportedValue) throws(PredicateImportError) {
    let alternatives = first.only(where: condition) + second.only(where: .negated(condition))
    try self.init(alternatives, first.kind ?? second.kind)
  }

  private func only(where condition: QueryPredicate) -> [Alternative] {
    alternatives.map { Alternative(condition: .all([condition, $0.condition]), operand: $0.operand) }
  }

  /// What a function makes of the value.
  func map(_ kind: ValueKind?, _ make: (Operand) -> Operand) throws(PredicateImportError) -> ImportedValue {
    try ImportedValue(
      alternatives.map { Alternative(condition: $0.condition, operand: make($0.operand)) }, kind)
  }

  /// What a function makes of two values.
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

  /// Whether something holds for the value, whichever it is.
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
