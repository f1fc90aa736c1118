/// A condition on objects: the tree that all query notations produce. It is evaluated in memory and translated for
/// stores, with the same result.
///
/// Logic is two-valued. A comparison with nil is false, except that nil equals nil and differs from any value. The
/// `not` of a false comparison is therefore true, also with nil.
public indirect enum QueryPredicate: Hashable, Sendable {
  /// Always true, or always false.
  case constant(Bool)
  /// The negation.
  case not(QueryPredicate)
  /// All terms hold; true without terms.
  case and([QueryPredicate])
  /// At least one term holds; false without terms.
  case or([QueryPredicate])
  /// A comparison of two operands.
  case comparison(Comparison)
  /// The operand equals one of the values. A null among the values matches nil.
  case isIn(Operand, [StoredValue], ValueKind)
  /// The condition holds for any, all or none of the members of the to-many at the end of the path. In the condition,
  /// the variable stands for the member. An empty to-many satisfies `all` and `none`.
  case quantified(Quantifier, PropertyPath, variable: Int, QueryPredicate)
}

extension QueryPredicate {
  /// The operand equals one of the texts, all folded by the options.
  public static func isIn(
    _ operand: Operand, _ values: [StoredValue], _ kind: ValueKind, options: TextOptions
  ) -> QueryPredicate {
    .or(values.map { .comparison(Comparison(operand, .equal, .value($0), kind: kind, options: options)) })
  }
}

/// How many members of a to-many have to match.
public enum Quantifier: Hashable, Sendable {
  /// At least one member.
  case any
  /// Every member.
  case all
  /// No member.
  case none
}

/// A comparison of two operands.
public struct Comparison: Hashable, Sendable {
  /// The left side.
  public var left: Operand
  /// The operator.
  public var relation: ComparisonOperator
  /// The right side.
  public var right: Operand
  /// The kind of the compared values.
  public var kind: ValueKind
  /// The options for texts.
  public var options: TextOptions

  /// Creates a comparison.
  public init(
    _ left: Operand, _ relation: ComparisonOperator, _ right: Operand, kind: ValueKind, options: TextOptions = []
  ) {
    self.left = left
    self.relation = relation
    self.right = right
    self.kind = kind
    self.options = options
  }

  /// The folding of both texts. A case-insensitive pattern match leaves case to the matcher, because folding a pattern
  /// would change the meaning of `\\D` and similar classes.
  public var folding: TextOptions {
    guard kind == .text, !options.isEmpty, relation != .matching else { return [] }
    return relation == .matches ? options.subtracting(.caseInsensitive).union(.normalized) : options
  }
}

/// The operators of comparisons.
public enum ComparisonOperator: Hashable, Sendable, CaseIterable {
  /// `==`
  case equal
  /// `!=`
  case notEqual
  /// `<`
  case less
  /// `<=`
  case lessOrEqual
  /// `>`
  case greater
  /// `>=`
  case greaterOrEqual
  /// For texts only.
  case contains, hasPrefix, hasSuffix
  /// The whole text matches a mask: `*` stands for any number of Unicode scalars, `?` for one, and a backslash escapes
  /// the next character. For texts only.
  case like
  /// The whole text matches a ``Pattern``. An invalid pattern matches nothing. For texts only.
  case matches
  /// The text contains the words of a ``SearchQuery``. For texts only; options have no effect.
  case matching

  /// The operator in the format language, and its number in the shape of a request.
  package var spelling: (word: String, number: UInt8) {
    switch self {
    case .equal: ("==", 0)
    case .notEqual: ("!=", 1)
    case .less: ("<", 2)
    case .lessOrEqual: ("<=", 3)
    case .greater: (">", 4)
    case .greaterOrEqual: (">=", 5)
    case .contains: ("CONTAINS", 6)
    case .hasPrefix: ("BEGINSWITH", 7)
    case .hasSuffix: ("ENDSWITH", 8)
    case .like: ("LIKE", 9)
    case .matches: ("MATCHES", 10)
    case .matching: ("MATCHING", 11)
    }
  }

  /// Whether the operator compares texts only. These have a word in the format language, and the others a sign.
  package var isSearch: Bool { spelling.word.utf8.first.map { $0 >= UInt8(ascii: "A") } ?? false }
}

/// The order and equality of values in a comparison.
public enum ValueKind: Hashable, Sendable {
  /// Int64, which includes booleans, dates and the keys of objects.
  case integer
  /// IEEE order.
  case real
  /// By UTF-8 bytes, unless ``TextOptions`` say otherwise.
  case text
  /// Canonical decimal text, compared as numbers.
  case decimal
  /// By bytes; a shorter one comes first.
  case blob
}

/// The folding of both texts before a comparison.
public struct TextOptions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Ignores case.
  public static let caseInsensitive = TextOptions(rawValue: 1)
  /// Ignores diacritics.
  public static let diacriticInsensitive = TextOptions(rawValue: 2)
  /// Ignores the difference between composed and decomposed spellings. The other two options include it.
  public static let normalized = TextOptions(rawValue: 4)
}

/// One key of a sort. nil sorts first in ascending order.
public struct SortKey: Hashable, Sendable {
  /// The value to sort by. A path to a to-many stands for the number of its members.
  public var value: Operand
  /// Whether the order is descending.
  public var isDescending: Bool
  /// The kind of the values.
  public var kind: ValueKind
  /// The options for texts.
  public var options: TextOptions
  /// The identifier of a locale. If present, texts sort in the order of its language, with numbers by their size, and the
  /// options have no effect. Texts that are equal in the language sort by their bytes.
  public var language: String?
  /// A search query. If present, objects sort by the relevance of the text, see ``SearchQuery/rank(of:)``, and the kind
  /// is ``ValueKind/real``.
  public var query: String?

  /// Creates a sort key.
  public init(
    _ value: Operand, descending: Bool = false, kind: ValueKind, options: TextOptions = [], language: String? = nil
  ) {
    self.value = value
    isDescending = descending
    self.kind = kind
    self.options = options
    self.language = language
  }

  /// Creates a key that sorts by the value at the end of a path.
  public init(
    _ path: PropertyPath, descending: Bool = false, kind: ValueKind, options: TextOptions = [], language: String? = nil
  ) {
    self.init(.path(path), descending: descending, kind: kind, options: options, language: language)
  }

  /// The path to the value; nil for a computed value.
  public var path: PropertyPath? { value.path }

  /// Whether the value is the object's own key. Keys are unique, so later sort keys make no difference.
  package var isOwnKey: Bool { query == nil && path.map { $0.variable == 0 && $0.count == 0 } == true }

  /// Creates a key that sorts by the relevance of the text at the end of the path.
  public init(_ path: PropertyPath, descending: Bool = true, rankFor query: String) {
    self.init(path, descending: descending, kind: .real)
    self.query = query
  }
}

// MARK: - Operand

/// One side of a comparison.
public enum Operand: Hashable, Sendable {
  /// A constant.
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
  case computed(Computation)
  /// A placeholder for a value that is not known yet, by the number of the format's variable. A predicate with a
  /// parameter is a template and cannot be evaluated.
  case parameter(Int)
}

/// A value computed from others. It is nil if one of them is nil or there is no result; see ``ArithmeticOperator`` and
/// ``ValueFunction``.
public indirect enum Computation: Hashable, Sendable {
  /// An operation on two numbers.
  case arithmetic(ArithmeticOperator, Operand, Operand)
  /// A function of one value.
  case function(ValueFunction, Operand)
  /// A function of a date.
  case date(DateFunction, Operand)
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
  /// The stored derived attribute at the end of the path, and its expression over the same objects. A store may read the
  /// one or compute the other: the values are equal.
  case stored(PropertyPath, Operand)
}

/// A member of an ordered to-many, by its position.
public enum MemberPlace: Hashable, Sendable {
  /// The first member.
  case first
  /// The last member.
  case last
  /// The position from 0. A negative position has no member.
  case at(Int)
}

/// An operator on two numbers.
///
/// Two integers yield an integer; their quotient drops its fraction. With a decimal operand the result is a decimal of
/// up to 38 digits, rounded half to even; with a real operand it is a real. The result is nil for a division by zero,
/// an integer beyond 64 bits, a decimal beyond 165 digits before the point, or a real beyond all bounds.
public enum ArithmeticOperator: Hashable, Sendable, CaseIterable {
  /// The sum.
  case add
  /// The difference.
  case subtract
  /// The product.
  case multiply
  /// The quotient.
  case divide
  /// The remainder of a division, with the sign of the first number.
  case remainder
  /// Bitwise operators on two integers. Nil for any other operands.
  case bitAnd, bitOr, bitXor
  /// Shifts the bits of an integer by another integer. Bits shifted out of the 64 are lost, and a right shift keeps the
  /// sign. Nil for a negative shift.
  case shiftLeft, shiftRight
  /// Nil for an integer to a negative power, and for a decimal to a power other than an integer from 0 to 1,000.
  case power
  /// Joins two texts. Nil for any other operands.
  case concatenate
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

extension Operand {
  /// The path of a property or of an object's key; nil for any other operand.
  public var path: PropertyPath? { if case .path(let path) = self { path } else { nil } }
}

// MARK: - Property path

/// A path from an object through its properties, by their numbers in the model.
///
/// All steps but the last are to-one relationships. A path without steps is the object itself.
public struct PropertyPath: Hashable, Sendable {
  /// The object that the path starts from: 0 is the fetched object, others are bound by
  /// ``QueryPredicate/quantified(_:_:variable:_:)``.
  public let variable: Int32
  /// The first step, stored apart so that the common path of one step needs no array.
  private let first: Int32
  private let rest: [Int32]

  /// The object itself.
  public init(variable: Int) {
    self.variable = Int32(truncatingIfNeeded: variable)
    first = -1
    rest = []
  }

  private init(variable: Int32, first: Int32, rest: [Int32]) {
    self.variable = variable
    self.first = first
    self.rest = rest
  }

  /// The path extended by one step.
  @inline(__always) public func appending(_ property: Int) -> PropertyPath {
    let step = Int32(truncatingIfNeeded: property)
    return first < 0
      ? PropertyPath(variable: variable, first: step, rest: rest)
      : PropertyPath(variable: variable, first: first, rest: rest + [step])
  }

  /// The number of steps.
  public var count: Int { first < 0 ? 0 : rest.count + 1 }

  /// The properties along the path, in order.
  public var steps: [Int] {
    first < 0 ? [] : [Int(first)] + rest.map(Int.init)
  }

  /// The only step; nil unless there is exactly one.
  public var onlyStep: Int? { first >= 0 && rest.isEmpty ? Int(first) : nil }
}

// MARK: - Nodes

/// A node of a predicate's tree.
///
/// Code that looks for something in a tree handles the nodes that it is interested in and descends with
/// ``forEachPart(_:)``. Code that makes something of each node, such as evaluation, translation or printing, switches
/// over all of them.
package enum PredicateNode {
  case predicate(QueryPredicate)
  case operand(Operand)

  /// Calls a function with the nodes directly below, in the order in which a format writes them.
  package func forEachPart<Failure: Error>(_ body: (PredicateNode) throws(Failure) -> Void) throws(Failure) {
    switch self {
    case .predicate(.constant): break
    case .predicate(.comparison(let comparison)):
      try body(.operand(comparison.left))
      try body(.operand(comparison.right))
    case .predicate(.isIn(let operand, _, _)): try body(.operand(operand))
    case .predicate(.not(let inner)), .predicate(.quantified(_, _, variable: _, let inner)):
      try body(.predicate(inner))
    case .predicate(.and(let terms)), .predicate(.or(let terms)): for term in terms { try body(.predicate(term)) }
    case .operand(.computed(let computation)): try computation.forEachPart(body)
    case .operand(.value), .operand(.path), .operand(.count), .operand(.entity), .operand(.now), .operand(.parameter):
      break
    }
  }

  /// Whether a node directly below satisfies a condition.
  package func hasPart(where isWanted: (PredicateNode) -> Bool) -> Bool {
    var isFound = false
    forEachPart { part in isFound = isFound || isWanted(part) }
    return isFound
  }
}

extension Computation {
  fileprivate func forEachPart<Failure: Error>(_ body: (PredicateNode) throws(Failure) -> Void) throws(Failure) {
    switch self {
    case .arithmetic(_, let left, let right):
      try body(.operand(left))
      try body(.operand(right))
    case .function(_, let inner), .date(_, let inner), .aggregate(_, _, variable: _, let inner, _),
      .member(_, _, variable: _, let inner), .stored(_, let inner):
      try body(.operand(inner))
    case .countWhere(_, variable: _, let condition): try body(.predicate(condition))
    case .conditional(let condition, let first, let second):
      try body(.predicate(condition))
      try body(.operand(first))
      try body(.operand(second))
    case .list(_, let values, _): for value in values { try body(.operand(value)) }
    }
  }
}

extension QueryPredicate {
  /// The maximum nesting depth of a predicate, for evaluation in memory and in every store.
  ///
  /// Evaluation, translation and SQLite's own parser recurse through the tree; beyond this depth they could overflow
  /// the stack of a small thread.
  public static let depthLimit = 200

  /// Throws if the predicate is nested deeper than ``depthLimit``. Code that recurses through the tree calls this
  /// first.
  ///
  /// - Throws: ``EvaluationError``.
  /// - Complexity: linear in the number of nodes, without recursion.
  public func checkDepth() throws(EvaluationError) {
    var open: [(node: PredicateNode, depth: Int)] = [(.predicate(self), 1)]
    while let (node, depth) = open.popLast() {
      guard depth <= Self.depthLimit else { throw .tooDeep }
      node.forEachPart { part in if part.isNested { open.append((part, depth + 1)) } }
    }
  }
}

extension PredicateNode {
  /// Whether the node counts for the depth of a tree. Operands that are not computed have no parts.
  fileprivate var isNested: Bool {
    switch self {
    case .predicate: true
    case .operand(let operand): operand.isComputed
    }
  }
}

extension Operand {
  fileprivate var isComputed: Bool { if case .computed = self { true } else { false } }
  var isConstant: Bool { if case .value = self { true } else { false } }
}

// MARK: - Attributes

extension ValueKind {
  /// The kind of values with a storage class, if nothing else is known about them.
  package init(_ storageClass: StorageClass) {
    self =
      switch storageClass {
      case .integer: .integer
      case .real: .real
      case .text: .text
      case .blob: .blob
      }
  }
}

extension Attribute {
  /// The order and equality of the attribute's values.
  package var valueKind: ValueKind { type == .decimal ? .decimal : ValueKind(storageClass) }
}

// MARK: - Unkept dates

/// A date that no attribute can hold is represented in a predicate as NaN. Compared as nil, it would silently give
/// wrong answers to comparisons such as "before the end of time", so every walk of the tree rejects it.
extension Comparison {
  /// Whether one side is a date that no attribute can hold.
  package var hasUnkeptDate: Bool { kind == .integer && (left.isNoNumber || right.isNoNumber) }
}

extension QueryPredicate {
  /// Whether a list contains a date that no attribute can hold.
  package static func haveUnkeptDate(_ values: [StoredValue], _ kind: ValueKind) -> Bool {
    kind == .integer && values.contains { if case .real(let number) = $0 { number.isNaN } else { false } }
  }
}

extension Operand {
  fileprivate var isNoNumber: Bool {
    if case .value(.real(let number)) = self { number.isNaN } else { false }
  }
}

extension EvaluationError {
  /// A predicate compares with a date that no attribute can hold.
  package static let unkeptDate = EvaluationError(
    "A predicate compares with a date further from 1970 than 292,000 years. Compare with one that an attribute can keep."
  )
}
