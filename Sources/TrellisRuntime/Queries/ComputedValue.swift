public import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// One value of an object in a predicate: an attribute, or what is computed of some.
///
/// ```swift
/// LineItem.where { $0.price * $0.quantity.decimal > 100 }
/// ```
public protocol QueriedValue<Value>: Sendable {
  /// The value's type.
  associatedtype Value: AttributeValue
  /// The value as the predicate tree has it.
  @_spi(Generated) var _operand: Operand { get }
}

extension AttributePath: QueriedValue {
  @_spi(Generated) public var _operand: Operand { .path(path) }
}

/// A value in a predicate that is made of others: a product, a sum, a length, a count.
///
/// ```swift
/// EmotionDiary.where { $0.images.sum { $0.size } > 1_000_000 }
/// ```
/// Where there is no result, such as an average of nothing or a quotient by zero, it is nil, for which no comparison but `!=`
/// holds.
public struct ComputedValue<Value: AttributeValue>: QueriedValue {
  @_spi(Generated) public let _operand: Operand

  init(_ computation: Computation) { _operand = .computed(computation) }

  fileprivate func compared(_ relation: ComparisonOperator, _ right: Operand) -> QueryCondition {
    QueryCondition(.comparison(Comparison(_operand, relation, right, kind: Value.valueKind)))
  }

  fileprivate func compared(_ relation: ComparisonOperator, to value: Value) -> QueryCondition {
    compared(relation, .value(value.storedValue))
  }

  public static func == (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.equal, to: right) }
  public static func != (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.notEqual, to: right) }
}

extension ComputedValue where Value: OrderedAttributeValue {
  public static func < (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.less, to: right) }
  public static func <= (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.lessOrEqual, to: right) }
  public static func > (left: ComputedValue, right: Value) -> QueryCondition { left.compared(.greater, to: right) }
  public static func >= (left: ComputedValue, right: Value) -> QueryCondition {
    left.compared(.greaterOrEqual, to: right)
  }
}

/// Beside another value of the object; one of them may be optional.
extension ComputedValue where Value: OrderedAttributeValue {
  public static func == <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.equal, right._operand)
  }

  public static func != <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.notEqual, right._operand)
  }

  public static func < <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.less, right._operand)
  }

  public static func <= <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.lessOrEqual, right._operand)
  }

  public static func > <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.greater, right._operand)
  }

  public static func >= <Other: QueriedValue>(left: ComputedValue, right: Other) -> QueryCondition
  where Other.Value: OrderedAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    left.compared(.greaterOrEqual, right._operand)
  }
}

/// Beside a computed value of the object; one of them may be optional.
extension AttributePath where Value: OrderedAttributeValue {
  public static func == <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.equal, right._operand, kind: Value.valueKind)
  }

  public static func != <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.notEqual, right._operand, kind: Value.valueKind)
  }

  public static func < <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.less, right._operand, kind: Value.valueKind)
  }

  public static func <= <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.lessOrEqual, right._operand, kind: Value.valueKind)
  }

  public static func > <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.greater, right._operand, kind: Value.valueKind)
  }

  public static func >= <Other: OrderedAttributeValue>(
    left: AttributePath, right: ComputedValue<Other>
  ) -> QueryCondition where Other.Unwrapped == Value.Unwrapped {
    left.compared(.greaterOrEqual, right._operand, kind: Value.valueKind)
  }
}
