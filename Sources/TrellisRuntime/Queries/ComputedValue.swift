public import Foundation
public import TrellisModel
@_spi(Generated) public import TrellisStorage

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

  /// The value of a derived attribute.
  ///
  /// - Parameters:
  ///   - derivation: The expression, over the object that has the attribute.
  ///   - owner: The path to the object.
  @_spi(Generated) public init(_ derivation: Operand, of owner: PropertyPath) {
    _operand = derivation.rooted(at: owner, firstVariable: VariableScope.next)
  }

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

extension ComputedValue where Value: SortableAttributeValue {
  /// The smallest value first; nil comes before every value.
  ///
  /// - Complexity: the value of each matching object is computed, because no index has this order.
  public var ascending: SortTerm { SortTerm(SortKey(_operand, kind: Value.valueKind)) }
  /// The greatest value first; nil comes last.
  public var descending: SortTerm { SortTerm(SortKey(_operand, descending: true, kind: Value.valueKind)) }
}

extension SortBuilder {
  /// Adds a computed value, ascending.
  public static func buildExpression<Value: SortableAttributeValue>(_ value: ComputedValue<Value>) -> [SortTerm] {
    [value.ascending]
  }
}

extension GroupSortBuilder {
  /// Adds a computed value that is a key of the groups, the smallest first.
  public static func buildExpression<Value: SortableAttributeValue>(
    _ value: ComputedValue<Value>
  ) -> [GroupSortTerm] { buildExpression(value.ascending) }
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

// MARK: - Arithmetic

/// Arithmetic on numbers of one type. One operand may be optional; if it is nil, the result is nil.
///
/// The result of two integers is an integer, and their quotient has no fraction; use `$0.stars.real / 2` for one that
/// has. The result is nil if there is none, such as after a division by zero or an integer overflow beyond 64 bits.
extension QueriedValue where Value: SummableAttributeValue {
  /// The sum of two numbers.
  public static func + (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.add, right)
  }

  /// The difference of two numbers.
  public static func - (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.subtract, right)
  }

  /// The product of two numbers.
  public static func * (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.multiply, right)
  }

  /// The quotient of two numbers; nil for a division by zero.
  public static func / (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.divide, right)
  }

  /// The sum of two numbers.
  public static func + <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.add, left._operand, right._operand))
  }

  /// The difference of two numbers.
  public static func - <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.subtract, left._operand, right._operand))
  }

  /// The product of two numbers.
  public static func * <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.multiply, left._operand, right._operand))
  }

  /// The quotient of two numbers; nil for a division by zero.
  public static func / <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.divide, left._operand, right._operand))
  }

  /// The value with the opposite sign.
  public static prefix func - (value: Self) -> ComputedValue<Value.Unwrapped> { value.apply(.negative) }

  /// The value raised to a power. The result is nil for an integer with a negative power, and for a decimal with a
  /// power that is not an integer from 0 to 1,000.
  public func raised(to power: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> { computed(.power, power) }

  /// The remainder of a division, with the sign of the value; nil for a division by zero.
  public func remainder(dividingBy divisor: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    computed(.remainder, divisor)
  }

  /// The square root, a real number; nil for a negative value.
  public var squareRoot: ComputedValue<Double> { ComputedValue(.function(.squareRoot, _operand)) }

  /// The value without its sign.
  public var absolute: ComputedValue<Value.Unwrapped> { apply(.absolute) }
  /// The nearest integer; halves are rounded away from zero.
  public var rounded: ComputedValue<Value.Unwrapped> { apply(.rounded) }
  /// The greatest integer that is not above the value.
  public var roundedDown: ComputedValue<Value.Unwrapped> { apply(.floor) }
  /// The smallest integer that is not below the value.
  public var roundedUp: ComputedValue<Value.Unwrapped> { apply(.ceiling) }
  /// The value as a real number, for arithmetic with real numbers.
  public var real: ComputedValue<Double> { ComputedValue(.function(.real, _operand)) }
  /// The value as a decimal, for arithmetic with decimals. A real number becomes the shortest decimal that identifies
  /// it.
  public var decimal: ComputedValue<Decimal> { ComputedValue(.function(.decimal, _operand)) }

  private func computed(_ sign: ArithmeticOperator, _ value: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    ComputedValue(.arithmetic(sign, _operand, .value(value.storedValue)))
  }

  private func apply(_ function: ValueFunction) -> ComputedValue<Value.Unwrapped> {
    ComputedValue(.function(function, _operand))
  }
}

/// Arithmetic on a date and a number of seconds.
///
/// ```swift
/// Task.where { $0.finishedAt > $0.startedAt + 3600 }
/// ```
extension QueriedValue where Value: OrderedAttributeValue, Value.Unwrapped == Date {
  /// The date plus a number of seconds.
  public static func + (left: Self, seconds: TimeInterval) -> ComputedValue<Date> {
    ComputedValue(.arithmetic(.add, left._operand, .microseconds(seconds)))
  }

  /// The date minus a number of seconds.
  public static func - (left: Self, seconds: TimeInterval) -> ComputedValue<Date> {
    ComputedValue(.arithmetic(.subtract, left._operand, .microseconds(seconds)))
  }
}

extension Operand {
  fileprivate static func microseconds(_ seconds: TimeInterval) -> Operand {
    .computed(.function(.microseconds, .value(.real(seconds))))
  }
}

/// Case conversions of text.
extension QueriedValue where Value: TextAttributeValue & OrderedAttributeValue {
  /// The text in lower case, by Unicode's rules, independent of the locale.
  public var lowercased: ComputedValue<Value.Unwrapped> { ComputedValue(.function(.lowercase, _operand)) }
  /// The text in upper case, by Unicode's rules, independent of the locale.
  public var uppercased: ComputedValue<Value.Unwrapped> { ComputedValue(.function(.uppercase, _operand)) }
}
