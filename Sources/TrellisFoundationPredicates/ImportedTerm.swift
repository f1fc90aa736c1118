import TrellisModel
@_spi(Generated) import TrellisRuntime

/// The translation of an expression.
enum ImportedTerm {
  case condition(QueryPredicate)
  /// A Bool that is nil unless the second condition is true.
  case optionalCondition(QueryPredicate, isPresent: QueryPredicate)
  case value(ImportedValue)
  /// An object, by its path.
  case object(PropertyPath)
  /// A composite attribute of an object.
  case composite(ImportedComposite)
  case members(ImportedMembers)
  /// The Unicode scalars of a text.
  case scalars(ImportedValue)
  /// A list of values for `contains`.
  case list([StoredValue], ValueKind)
  case range(ImportedRange)
}

/// A composite attribute of the object at the end of a path.
struct ImportedComposite {
  let path: PropertyPath
  /// The number of the attribute that tells whether there is a value; nil if there always is one.
  let presence: Int?
  /// The number of the first field.
  let first: Int
  let type: any CompositeValue.Type
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

// MARK: - Conditions

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
      case .composite(let composite):
        if let presence = composite.presence {
          ImportedValue(.path(composite.path.appending(presence)), .integer)
        } else {
          throw .unsupported("A composite in the place of one value", "Name its fields.")
        }
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
