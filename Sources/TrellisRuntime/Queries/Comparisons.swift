public import Foundation
import TrellisQuery
import TrellisSchema
public import TrellisStorage

extension AttributePath {
  func compared(
    _ relation: ComparisonOperator, _ right: Operand, kind: ValueKind, options: TextOptions = []
  ) -> QueryCondition {
    QueryCondition(.comparison(Comparison(.path(path), relation, right, kind: kind, options: options)))
  }

  func compared(_ relation: ComparisonOperator, to value: Value) -> QueryCondition {
    compared(relation, .value(value.storedValue), kind: Value.valueKind)
  }

  /// Whether the values are equal.
  public static func == (left: AttributePath, right: Value) -> QueryCondition { left.compared(.equal, to: right) }
  /// Whether the values differ.
  public static func != (left: AttributePath, right: Value) -> QueryCondition { left.compared(.notEqual, to: right) }

  /// Whether the values are equal.
  public static func == (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.equal, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the values differ.
  public static func != (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.notEqual, .path(right.path), kind: Value.valueKind)
  }

  @available(*, unavailable, message: "this attribute is not optional, so it is never nil")
  public static func == (left: AttributePath, right: _OptionalNilComparisonType) -> QueryCondition {
    QueryCondition(.constant(false))
  }

  @available(*, unavailable, message: "this attribute is not optional, so it is never nil")
  public static func != (left: AttributePath, right: _OptionalNilComparisonType) -> QueryCondition {
    QueryCondition(.constant(true))
  }

  /// Whether the value equals one of these values.
  public func isIn(_ values: some Sequence<Value>) -> QueryCondition {
    QueryCondition(.isIn(.path(path), values.map(\.storedValue), Value.valueKind))
  }
}

extension AttributePath where Value: SortableAttributeValue {
  /// The smallest value first; nil comes before every value.
  public var ascending: SortTerm { SortTerm(SortKey(path, kind: Value.valueKind)) }
  /// The greatest value first; nil comes last.
  public var descending: SortTerm { SortTerm(SortKey(path, descending: true, kind: Value.valueKind)) }
}

/// A type that predicates can compare by order: numbers, dates and texts, optional or not.
public protocol OrderedAttributeValue: SortableAttributeValue {
  /// The type without the optional.
  associatedtype Unwrapped: OrderedAttributeValue = Self
}

extension Bool: OrderedAttributeValue {}
extension Int16: OrderedAttributeValue {}
extension Int32: OrderedAttributeValue {}
extension Int64: OrderedAttributeValue {}
extension Float: OrderedAttributeValue {}
extension Double: OrderedAttributeValue {}
extension Decimal: OrderedAttributeValue {}
extension Date: OrderedAttributeValue {}
extension String: OrderedAttributeValue {}
extension Optional: OrderedAttributeValue where Wrapped: OrderedAttributeValue {
  public typealias Unwrapped = Wrapped.Unwrapped
}

extension AttributePath where Value: OrderedAttributeValue {
  /// Whether the left value is less than the right one.
  public static func < (left: AttributePath, right: Value) -> QueryCondition { left.compared(.less, to: right) }
  /// Whether the left value is less than the right one or equal to it.
  public static func <= (left: AttributePath, right: Value) -> QueryCondition { left.compared(.lessOrEqual, to: right) }
  /// Whether the left value is greater than the right one.
  public static func > (left: AttributePath, right: Value) -> QueryCondition { left.compared(.greater, to: right) }
  /// Whether the left value is greater than the right one or equal to it.
  public static func >= (left: AttributePath, right: Value) -> QueryCondition {
    left.compared(.greaterOrEqual, to: right)
  }

  /// Whether the left value is less than the right one.
  public static func < (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.less, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the left value is less than the right one or equal to it.
  public static func <= (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.lessOrEqual, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the left value is greater than the right one.
  public static func > (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.greater, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the left value is greater than the right one or equal to it.
  public static func >= (left: AttributePath, right: AttributePath) -> QueryCondition {
    left.compared(.greaterOrEqual, .path(right.path), kind: Value.valueKind)
  }

  /// Whether the value is in a closed range.
  public func isIn(_ range: ClosedRange<Value>) -> QueryCondition where Value: Comparable {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the value is in a half-open range.
  public func isIn(_ range: Range<Value>) -> QueryCondition where Value: Comparable {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the value is not nil and in a closed range.
  public func isIn<Wrapped>(_ range: ClosedRange<Wrapped>) -> QueryCondition
  where Value == Wrapped?, Wrapped: OrderedAttributeValue {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the value is not nil and in a half-open range.
  public func isIn<Wrapped>(_ range: Range<Wrapped>) -> QueryCondition
  where Value == Wrapped?, Wrapped: OrderedAttributeValue {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the value is between two values, both included.
  public func isBetween(_ range: ClosedRange<Value>) -> QueryCondition where Value: Comparable { isIn(range) }
}
