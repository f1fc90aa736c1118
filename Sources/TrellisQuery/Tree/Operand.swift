public import TrellisSchema

/// One side of a comparison.
public enum Operand: Hashable, Sendable {
  case value(StoredValue)
  /// The attribute at the path's end; a to-one there stands for its object's key, and a path without steps for the
  /// object's own key. A path that meets a nil to-one on the way is nil.
  case path(PropertyPath)
  /// How many members the to-many at the path's end has; 0 where the path meets a nil to-one.
  case count(PropertyPath)
  /// The name of the entity of the object at the path's end, its own and not that of a parent. Nil where there is no object.
  case entity(PropertyPath)
  /// The moment at which the request is run, in microseconds since 1970.
  case now
  /// A value that is made of others.
  indirect case computed(Computation)
  /// A place for a value that is not known yet, by the number of a format's variable. A predicate with one of them is a
  /// pattern for others; it cannot be evaluated.
  case parameter(Int)
}

/// A value that is made of others. Where one of them is nil, or there is no result, it is nil; see
/// ``ArithmeticOperator`` and ``ValueFunction``.
public enum Computation: Hashable, Sendable {
  case arithmetic(ArithmeticOperator, Operand, Operand)
  case function(ValueFunction, Operand)
  /// Something about the values that an operand has for the members of the to-many at the path's end. In the operand the
  /// member is the given variable. Nils among the values are left out.
  case aggregate(AggregateFunction, PropertyPath, variable: Int, Operand, ValueKind)
  /// How many members of the to-many at the path's end satisfy the condition.
  case countWhere(PropertyPath, variable: Int, QueryPredicate)
  /// The value that an operand has for one member of the ordered to-many at the path's end. In the operand the member is the
  /// given variable. Nil where there is no such member.
  case member(MemberPlace, PropertyPath, variable: Int, Operand)
  /// The first value where the condition holds, the second one where it does not.
  case conditional(QueryPredicate, Operand, Operand)
  /// Something about some values. Nils among them are left out.
  case list(AggregateFunction, [Operand], ValueKind)
}

/// Which member of an ordered to-many.
public enum MemberPlace: Hashable, Sendable {
  case first, last
  /// From 0. There is none at a place below.
  case at(Int)
}

/// What is done with two numbers.
///
/// Two whole numbers give a whole number, and a quotient of them drops its fraction. With a decimal among them the result
/// is a decimal of up to 38 digits, rounded to even; with a real it is a real. A division by zero, a whole number beyond 64
/// bits, a decimal beyond 165 places before the point, a real beyond all bounds: all are nil.
public enum ArithmeticOperator: Hashable, Sendable, CaseIterable {
  case add, subtract, multiply, divide
  /// What a division leaves, with the sign of the first number.
  case remainder
  /// The bits of two whole numbers. Of anything else they are nil.
  case bitAnd, bitOr, bitXor
  /// The bits of a whole number moved by another one; those that leave the 64 are lost, and a negative number stays one. By
  /// less than 0 it is nil.
  case shiftLeft, shiftRight
  /// A whole number to a power below zero is nil, as is a decimal to a power that is no whole number from 0 to 1,000.
  case power
}

/// What is made of one value. A value of a kind that the function is not for gives nil.
public enum ValueFunction: Hashable, Sendable, CaseIterable {
  /// Texts, by Unicode's rules and in no country's way.
  case lowercase, uppercase
  /// The number of Unicode scalars of a text, or of bytes.
  case length
  /// Numbers, which keep their kind.
  case absolute, negative, ceiling, floor, truncated
  /// Halves go away from zero.
  case rounded
  /// A number as a decimal; a real as the shortest decimal that names it.
  case decimal
  /// A number as a real.
  case real
  /// Reals of numbers; nil where there is none, as for the root of -1.
  case squareRoot, naturalLogarithm, logarithm, exponential
  /// All bits of a whole number turned round.
  case complement
  /// A number as a text: whole ones and decimals by their digits, a real by the shortest text that names it.
  case text
  /// A moment as the seconds since 2001, a real.
  case seconds
  /// A number of seconds as a whole number of microseconds, rounded.
  case microseconds
}

/// What is asked about many values.
public enum AggregateFunction: Hashable, Sendable, CaseIterable {
  /// 0 for no values. Reals are added exactly and rounded once.
  case sum
  /// A real for whole numbers. Nil for no values.
  case average
  /// Nil for no values.
  case minimum, maximum
}
