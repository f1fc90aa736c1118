import TrellisModel
@_spi(Generated) import TrellisStorage

/// The new value of one property in a change of many objects; see ``ManagedObjectContext/updateAll(_:_:)``.
public struct PropertyChange: Sendable {
  let assignment: BatchUpdate.Assignment
  /// The path to the property. Only a property of the object itself can be set.
  let path: PropertyPath

  init(_ path: PropertyPath, _ value: Operand) {
    self.path = path
    assignment = BatchUpdate.Assignment(property: path.onlyStep ?? -1, value: value)
  }
}

/// Combines changes: each statement is a change, and all of them read the previous values.
@resultBuilder public enum ChangeBuilder {
  /// Adds a change.
  public static func buildExpression(_ change: PropertyChange) -> [PropertyChange] { [change] }
  /// Adds several changes.
  public static func buildExpression(_ changes: [PropertyChange]) -> [PropertyChange] { changes }
  /// Combines the statements of a block.
  public static func buildBlock(_ changes: [PropertyChange]...) -> [PropertyChange] { changes.flatMap(\.self) }
  /// Supports `if` without `else`.
  public static func buildOptional(_ changes: [PropertyChange]?) -> [PropertyChange] { changes ?? [] }
  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first changes: [PropertyChange]) -> [PropertyChange] { changes }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second changes: [PropertyChange]) -> [PropertyChange] { changes }
  /// Supports `for`.
  public static func buildArray(_ changes: [[PropertyChange]]) -> [PropertyChange] { changes.flatMap(\.self) }
}

extension AttributePath {
  /// Sets the attribute of every object to this value.
  public func set(_ value: Value) -> PropertyChange { PropertyChange(path, .value(value.storedValue)) }

  /// Sets the attribute of every object to the previous value of another of its attributes.
  public func set(_ other: AttributePath<Value>) -> PropertyChange { PropertyChange(path, .path(other.path)) }
}

extension AttributePath where Value: OrderedAttributeValue {
  /// Sets the attribute of every object to a value that is computed from the previous values of its own attributes.
  public func set(_ value: ComputedValue<Value.Unwrapped>) -> PropertyChange { PropertyChange(path, value._operand) }
}

extension AttributePath where Value: SummableAttributeValue {
  /// Adds a number, which may be negative, to each object's value; nil stays nil.
  ///
  /// A result that the attribute cannot hold, or that its rules forbid, refuses the whole change. Attributes of the
  /// type `float` are not supported.
  public func increase(by number: Value.Unwrapped) -> PropertyChange { computed(.add, number) }

  /// Multiplies each object's value by a number; nil stays nil.
  ///
  /// A result that the attribute cannot hold, or that its rules forbid, refuses the whole change. Attributes of the
  /// type `float` are not supported.
  public func multiply(by number: Value.Unwrapped) -> PropertyChange { computed(.multiply, number) }

  private func computed(_ sign: ArithmeticOperator, _ number: Value.Unwrapped) -> PropertyChange {
    PropertyChange(path, .computed(.arithmetic(sign, .path(path), .value(number.storedValue))))
  }
}

extension ToOnePath {
  /// Sets the relationship of every object to this object, which must be saved, or to nil.
  public func set(_ object: Columns.Object?) -> PropertyChange { PropertyChange(path, .value(object.keyValue)) }

  /// Sets the relationship of every object to the object with this identifier.
  public func set(_ id: ObjectID<Columns.Object>) -> PropertyChange { PropertyChange(path, .value(id.storedValue)) }
}

// MARK: - Refused values

extension Attribute {
  /// The condition for the objects that would get a value that the attribute does not allow; nil if no predicate can
  /// express it.
  func refused(_ value: Operand, _ entity: Entity) -> QueryPredicate? {
    let kind = valueKind
    let rules = description.rules
    var terms = [noResult(value)]
    func add(_ relation: ComparisonOperator, _ bound: StoredValue?) {
      if let bound { terms.append(.comparison(Comparison(value, relation, .value(bound), kind: kind))) }
    }
    add(.less, rules.minimum)
    add(.greater, rules.maximum)
    // No value of a store is outside the range of Int64.
    if case .computed = value, case .integer(let integer) = type, integer != .int64 {
      add(.less, .integer(integer.range.lowerBound))
      add(.greater, .integer(integer.range.upperBound))
    }
    if rules.minimumLength != nil || rules.maximumLength != nil {
      if case .array = type { return nil }
      terms += lengths(.computed(.function(.length, value)))
    }
    if let pattern = rules.pattern {
      let matches = Comparison(value, .matches, .value(.text(pattern)), kind: .text)
      terms.append(.and([.isNil(value, not: true), .not(.comparison(matches))]))
    }
    return .or(terms)
  }

  /// Whether the computation has no result although its operands are not nil, or the result is nil for a required
  /// attribute.
  private func noResult(_ value: Operand) -> QueryPredicate {
    guard isOptional else { return .isNil(value) }
    return .and([.isNil(value)] + value.paths.map { .isNil(.path($0), not: true) })
  }

  private func lengths(_ length: Operand) -> [QueryPredicate] {
    let rules = description.rules
    let least = rules.minimumLength.map {
      QueryPredicate.comparison(Comparison(length, .less, .value(.integer(Int64($0))), kind: .integer))
    }
    let most = rules.maximumLength.map {
      QueryPredicate.comparison(Comparison(length, .greater, .value(.integer(Int64($0))), kind: .integer))
    }
    return [least, most].compactMap(\.self)
  }

  /// Whether a value does not fit the type, or is missing although its operands are not nil.
  fileprivate func isTooLarge(_ value: StoredValue) -> Bool {
    if case .integer(let number) = value { return !type.integerRange.contains(number) }
    return value.isNull
  }
}

extension BatchUpdate {
  /// The rules that the new values of an object would break.
  func failures<Object: QueryObject>(of object: Object, _ entity: EntityInfo) throws -> [BatchUpdatePlan.Failure] {
    var found: [BatchUpdatePlan.Failure] = []
    for assignment in assignments {
      guard let attribute = entity.entity.properties[assignment.property].attribute else { continue }
      let value = try OperandEvaluator(assignment.value).value(of: object)
      let isNew = try assignment.value.paths.allSatisfy { try !object.value(at: $0).isNull }
      if isNew && attribute.isTooLarge(value) {
        found.append(
          .init(property: attribute.name, rule: .notANumber, message: "would be a number that it cannot hold"))
      }
      let checked = entity.checkedAttributes.first { $0.index == attribute.index }
      found += (checked?.failures(of: value) ?? []).map {
        .init(property: attribute.name, rule: .init($0.rule), message: $0.message)
      }
    }
    return found
  }
}

extension QueryPredicate {
  fileprivate static func isNil(_ operand: Operand, not: Bool = false) -> QueryPredicate {
    .comparison(Comparison(operand, not ? .notEqual : .equal, .value(.null), kind: .integer))
  }
}

extension Operand {
  /// The paths in the operand.
  fileprivate var paths: [PropertyPath] {
    switch self {
    case .path(let path): [path]
    case .computed(.arithmetic(_, let left, let right)): left.paths + right.paths
    case .computed(.function(_, let inner)), .computed(.date(_, let inner)): inner.paths
    case .value, .now, .parameter, .count, .entity, .computed: []
    }
  }
}
