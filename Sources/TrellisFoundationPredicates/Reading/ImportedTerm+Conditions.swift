import TrellisQuery

extension ImportedTerm {
  var condition: QueryPredicate {
    get throws(PredicateImportError) {
      switch self {
      case .condition(let condition): condition
      case .value(let value): value.compared(.equal, ImportedValue(.value(.integer(1)), .integer))
      default: throw .unsupported("This condition", "Write it as a typed condition or in a format string.")
      }
    }
  }

  var value: ImportedValue {
    get throws(PredicateImportError) {
      switch self {
      case .value(let value): value
      case .object(let path): ImportedValue(.path(path), .integer)
      case .condition, .optionalCondition:
        throw .unsupported("A condition in the place of a number or text", "Use '&&', '||' and '!'.")
      default: throw .unsupported("A collection in the place of one value", "Use its count, or contains(where:).")
      }
    }
  }

  /// The term as an optional Bool.
  private var optional: (condition: QueryPredicate, isPresent: QueryPredicate) {
    get throws(PredicateImportError) {
      switch self {
      case .condition(let condition): (condition, .constant(true))
      case .optionalCondition(let condition, let isPresent): (condition, isPresent)
      default: (try condition, try value.isPresent)
      }
    }
  }

  private var isCondition: Bool {
    switch self {
    case .condition, .optionalCondition: true
    default: false
    }
  }

  /// Whether both terms are equal.
  func equals(_ other: ImportedTerm) throws(PredicateImportError) -> QueryPredicate {
    guard isCondition || other.isCondition else { return try value.compared(.equal, try other.value) }
    let (left, right) = (try optional, try other.optional)
    let bothHold = QueryPredicate.all([left.condition, right.condition])
    let noneHolds = QueryPredicate.all([.negated(left.condition), .negated(right.condition)])
    return .one([
      .all([left.isPresent, right.isPresent, .one([bothHold, noneHolds])]),
      .all([.negated(left.isPresent), .negated(right.isPresent)]),
    ])
  }

  /// The term, or another term if it is nil.
  func otherwise(_ other: ImportedTerm) throws(PredicateImportError) -> ImportedTerm {
    if isCondition || other.isCondition {
      let left = try optional
      return .condition(
        .one([
          .all([left.isPresent, left.condition]), .all([.negated(left.isPresent), try other.condition]),
        ]))
    }
    let value = try value
    return .value(try ImportedValue(value.isPresent, value, try other.value))
  }
}

extension QueryPredicate {
  /// The conjunction of the conditions, without those that are always true.
  static func all(_ terms: [QueryPredicate]) -> QueryPredicate {
    if terms.contains(.constant(false)) { return .constant(false) }
    let telling = terms.filter { $0 != .constant(true) }
    return telling.isEmpty ? .constant(true) : telling.count == 1 ? telling[0] : .and(telling)
  }

  /// The disjunction of the conditions, without those that are always false.
  static func one(_ terms: [QueryPredicate]) -> QueryPredicate {
    if terms.contains(.constant(true)) { return .constant(true) }
    let telling = terms.filter { $0 != .constant(false) }
    return telling.isEmpty ? .constant(false) : telling.count == 1 ? telling[0] : .or(telling)
  }

  static func negated(_ condition: QueryPredicate) -> QueryPredicate {
    if case .constant(let value) = condition { .constant(!value) } else { .not(condition) }
  }
}
