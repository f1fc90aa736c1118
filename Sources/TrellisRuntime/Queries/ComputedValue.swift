public import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// A value of an object in a predicate: an attribute, or a value computed from attributes.
///
/// ```swift
/// LineItem.where { $0.price * $0.quantity.decimal > 100 }
/// ```
public protocol QueriedValue<Value>: Sendable {
  /// The value's type.
  associatedtype Value: AttributeValue
  /// The value as an operand of the predicate tree.
  @_spi(Generated) var _operand: Operand { get }
}

extension AttributePath: QueriedValue {
  @_spi(Generated) public var _operand: Operand { .path(path) }
}

/// A value in a predicate that is computed from other values: a product, a sum, a length, a count.
///
/// ```swift
/// EmotionDiary.where { $0.images.sum { $0.size } > 1_000_000 }
/// ```
/// A value without a result, such as the average of no values or a quotient by zero, is nil. For nil, every comparison
/// except `!=` is false.
public struct ComputedValue<Value: AttributeValue>: QueriedValue {
  @_spi(Generated) public let _operand: Operand

  init(_ computation: Computation) { _operand = .computed(computation) }

  fileprivate func compared(_ relation: ComparisonOperator, _ right: Operand) -> QueryCondition {
    QueryCondition(.comparison(Comparison(_operand, relation, right, kind: Value.valueKind)))
  }

  fileprivate func compared(_ relation: ComparisonOperator, to value: Value) -> QueryCondition {
    compared(relation, .value(value.storedValue))
  }

  /// Whether the values are equal.
  public static func == (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.equal, to: right) }
  /// Whether the values differ.
  public static func != (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.notEqual, to: right) }
}

extension ComputedValue where Value: OrderedAttributeValue {
  /// Whether the left value is less than the right one.
  public static func < (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.less, to: right) }
  /// Whether the left value is less than the right one or equal to it.
  public static func <= (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.lessOrEqual, to: right) }
  /// Whether the left value is greater than the right one.
  public static func > (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.greater, to: right) }
  /// Whether the left value is greater than the right one or equal to it.
  public static func >= (left: ComputedValue, right: Value) -> QueryCondition {
    left.compared(.greaterOrEqual, to: right)
  }
}

/// Comparisons with another value of the object. One of the two may be optional.
extension ComputedValue where Value: OrderedAttributeValue {
  /// Whether the values are equal.
  public static func == <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.equal, right._operand)
  }

  /// Whether the values differ.
  public static func != <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.notEqual, right._operand)
  }

  /// Whether the left value is less than the right one.
  public static func < <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.less, right._operand)
  }

  /// Whether the left value is less than the right one or equal to it.
  public static func <= <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.lessOrEqual, right._operand)
  }

  /// Whether the left value is greater than the right one.
  public static func > <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.greater, right._operand)
  }

  /// Whether the left value is greater than the right one or equal to it.
  public static func >= <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.greaterOrEqual, right._operand)
  }
}

/// Comparisons with a computed value of the object. One of the two may be optional.
extension AttributePath where Value: OrderedAttributeValue {
  /// Whether the values are equal.
  public static func == <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.equal, right._operand, kind: Value.valueKind)
  }

  /// Whether the values differ.
  public static func != <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.notEqual, right._operand, kind: Value.valueKind)
  }

  /// Whether the left value is less than the right one.
  public static func < <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.less, right._operand, kind: Value.valueKind)
  }

  /// Whether the left value is less than the right one or equal to it.
  public static func <= <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.lessOrEqual, right._operand, kind: Value.valueKind)
  }

  /// Whether the left value is greater than the right one.
  public static func > <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.greater, right._operand, kind: Value.valueKind)
  }

  /// Whether the left value is greater than the right one or equal to it.
  public static func >= <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.greaterOrEqual, right._operand, kind: Value.valueKind)
  }
}
