public import TrellisSchema

/// One side of a comparison.
public enum Operand: Hashable, Sendable {
  case value(StoredValue)
  /// The attribute at the end of the path. A to-one relationship yields its object's key, and a path without steps the
  /// object's own key. The value is nil if a to-one relationship on the way is nil.
  case path(PropertyPath)
  /// The number of members of the to-many at the end of the path; 0 if a to-one relationship on the way is nil.
  case count(PropertyPath)
  /// The entity name of the object at the end of the path: its own entity, not a parent. Nil if there is no object.
  case entity(PropertyPath)
  /// The time at which the request runs, in microseconds since 1970.
  case now
  /// A value computed from others.
  indirect case computed(Computation)
  /// A placeholder for a value that is not known yet, by the number of the format's variable. A predicate with a
  /// parameter is a template and cannot be evaluated.
  case parameter(Int)
}

/// A value computed from others. It is nil if one of them is nil or there is no result; see ``ArithmeticOperator`` and
/// ``ValueFunction``.
public enum Computation: Hashable, Sendable {
  case arithmetic(ArithmeticOperator, Operand, Operand)
  case function(ValueFunction, Operand)
  /// An aggregate of an operand's values over the members of the to-many at the end of the path. In the operand, the
  /// variable stands for the member. Nil values are ignored.
  case aggregate(AggregateFunction, PropertyPath, variable: Int, Operand, ValueKind)
  /// The number of members of the to-many at the end of the path that satisfy the condition.
  case countWhere(PropertyPath, variable: Int, QueryPredicate)
  /// The operand's value for one member of the ordered to-many at the end of the path. In the operand, the variable
  /// stands for the member. Nil if there is no such member.
  case member(MemberPlace, PropertyPath, variable: Int, Operand)
  /// The first value if the condition holds, otherwise the second.
  case conditional(QueryPredicate, Operand, Operand)
  /// An aggregate of a list of values. Nil values are ignored.
  case list(AggregateFunction, [Operand], ValueKind)
}

/// A member of an ordered to-many, by its position.
public enum MemberPlace: Hashable, Sendable {
  case first, last
  /// The position from 0. A negative position has no member.
  case at(Int)
}

/// An operator on two numbers.
///
/// Two integers yield an integer; their quotient drops its fraction. With a decimal operand the result is a decimal of
/// up to 38 digits, rounded half to even; with a real operand it is a real. The result is nil for a division by zero,
/// an integer beyond 64 bits, a decimal beyond 165 digits before the point, or a real beyond all bounds.
public enum ArithmeticOperator: Hashable, Sendable, CaseIterable {
  case add, subtract, multiply, divide
  /// The remainder of a division, with the sign of the first number.
  case remainder
  /// Bitwise operators on two integers. Nil for any other operands.
  case bitAnd, bitOr, bitXor
  /// Shifts the bits of an integer by another integer. Bits shifted out of the 64 are lost, and a right shift keeps the
  /// sign. Nil for a negative shift.
  case shiftLeft, shiftRight
  /// Nil for an integer to a negative power, and for a decimal to a power other than an integer from 0 to 1,000.
  case power
}

/// A function of one value. It is nil for a value of a kind that it does not support.
public enum ValueFunction: Hashable, Sendable, CaseIterable {
  /// For texts, by Unicode's rules and independent of the locale.
  case lowercase, uppercase
  /// The number of Unicode scalars of a text, or of bytes.
  case length
  /// For numbers; the result has the same kind.
  case absolute, negative, ceiling, floor, truncated
  /// Rounds half away from zero.
  case rounded
  /// Converts a number to a decimal, a real to the shortest decimal that represents it.
  case decimal
  /// Converts a number to a real.
  case real
  /// For numbers, with a real result; nil if there is none, as for the root of -1.
  case squareRoot, naturalLogarithm, logarithm, exponential
  /// The bitwise complement of an integer.
  case complement
  /// Converts a number to a text: integers and decimals to their digits, a real to the shortest text that represents
  /// it.
  case text
  /// Converts a date to seconds since 2001, as a real.
  case seconds
  /// Converts seconds to an integer number of microseconds, rounded.
  case microseconds
}

/// An aggregate of many values.
public enum AggregateFunction: Hashable, Sendable, CaseIterable {
  /// 0 without values. Reals are added exactly and rounded once.
  case sum
  /// A real for integers. Nil without values.
  case average
  /// Nil without values.
  case minimum, maximum
}
