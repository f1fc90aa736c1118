public import Foundation
import TrellisQuery
import TrellisSchema
public import TrellisStorage

/// Arithmetic on numbers of one type; one of them may be optional, and nil makes the result nil.
///
/// Two whole numbers give a whole number, and their quotient has no fraction: `$0.stars.real / 2` has one. What has no result,
/// such as a division by zero or a whole number beyond 64 bits, is nil.
extension QueriedValue where Value: SummableAttributeValue {
  public static func + (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.add, right)
  }

  public static func - (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.subtract, right)
  }

  public static func * (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.multiply, right)
  }

  public static func / (left: Self, right: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    left.computed(.divide, right)
  }

  public static func + <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.add, left._operand, right._operand))
  }

  public static func - <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.subtract, left._operand, right._operand))
  }

  public static func * <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.multiply, left._operand, right._operand))
  }

  public static func / <Other: QueriedValue>(left: Self, right: Other) -> ComputedValue<Value.Unwrapped>
  where Other.Value: SummableAttributeValue, Other.Value.Unwrapped == Value.Unwrapped {
    ComputedValue(.arithmetic(.divide, left._operand, right._operand))
  }

  public static prefix func - (value: Self) -> ComputedValue<Value.Unwrapped> { value.apply(.negative) }

  /// The value to a power. A whole number to a power below zero is nil, as is a decimal to a power that is no whole number
  /// from 0 to 1,000.
  public func raised(to power: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> { computed(.power, power) }

  /// What a division leaves, with the sign of the value; nil for a division by zero.
  public func remainder(dividingBy divisor: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    computed(.remainder, divisor)
  }

  /// The square root, a real number; nil for a value below zero.
  public var squareRoot: ComputedValue<Double> { ComputedValue(.function(.squareRoot, _operand)) }

  /// The value without its sign.
  public var absolute: ComputedValue<Value.Unwrapped> { apply(.absolute) }
  /// The nearest whole number; halves go away from zero.
  public var rounded: ComputedValue<Value.Unwrapped> { apply(.rounded) }
  /// The greatest whole number that is not above the value.
  public var roundedDown: ComputedValue<Value.Unwrapped> { apply(.floor) }
  /// The smallest whole number that is not below the value.
  public var roundedUp: ComputedValue<Value.Unwrapped> { apply(.ceiling) }
  /// The value as a real number, for arithmetic with such.
  public var real: ComputedValue<Double> { ComputedValue(.function(.real, _operand)) }
  /// The value as a decimal, for arithmetic with such; a real becomes the shortest decimal that names it.
  public var decimal: ComputedValue<Decimal> { ComputedValue(.function(.decimal, _operand)) }

  private func computed(_ sign: ArithmeticOperator, _ value: Value.Unwrapped) -> ComputedValue<Value.Unwrapped> {
    ComputedValue(.arithmetic(sign, _operand, .value(value.storedValue)))
  }

  private func apply(_ function: ValueFunction) -> ComputedValue<Value.Unwrapped> {
    ComputedValue(.function(function, _operand))
  }
}

/// A date and a number of seconds.
///
/// ```swift
/// Task.where { $0.finishedAt > $0.startedAt + 3600 }
/// ```
extension QueriedValue where Value: OrderedAttributeValue, Value.Unwrapped == Date {
  public static func + (left: Self, seconds: TimeInterval) -> ComputedValue<Date> {
    ComputedValue(.arithmetic(.add, left._operand, .microseconds(seconds)))
  }

  public static func - (left: Self, seconds: TimeInterval) -> ComputedValue<Date> {
    ComputedValue(.arithmetic(.subtract, left._operand, .microseconds(seconds)))
  }
}

extension Operand {
  fileprivate static func microseconds(_ seconds: TimeInterval) -> Operand {
    .computed(.function(.microseconds, .value(.real(seconds))))
  }
}

/// Texts in another spelling.
extension QueriedValue where Value: TextAttributeValue & OrderedAttributeValue {
  /// The text in lower case, by Unicode's rules and in no country's way.
  public var lowercased: ComputedValue<Value.Unwrapped> { ComputedValue(.function(.lowercase, _operand)) }
  /// The text in upper case, by Unicode's rules and in no country's way.
  public var uppercased: ComputedValue<Value.Unwrapped> { ComputedValue(.function(.uppercase, _operand)) }
}
