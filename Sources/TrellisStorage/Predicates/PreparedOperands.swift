public import TrellisModel

/// A prepared path: to-one relationships to an object, and a property of that object.
@usableFromInline struct PreparedPath: Sendable {
  @usableFromInline let variable: Int
  @usableFromInline let partners: [Int]
  @usableFromInline let last: Int

  /// Returns nil for a path without steps.
  init?(_ path: PropertyPath) {
    var steps = path.steps
    guard let last = steps.popLast() else { return nil }
    self.last = last
    variable = Int(path.variable)
    partners = steps
  }

  /// The object that has the last property; nil if a to-one relationship on the way is nil.
  @inlinable func owner<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Object? {
    guard var object = scope.object(variable) else { return nil }
    for step in partners {
      guard let next = try object.queryPartner(step) else { return nil }
      object = next
    }
    return object
  }
}

/// A prepared path of to-one relationships to an object.
@usableFromInline struct PreparedWalk: Sendable {
  @usableFromInline let variable: Int
  @usableFromInline let partners: [Int]

  init(_ path: PropertyPath) {
    variable = Int(path.variable)
    partners = path.steps
  }

  /// The object at the end of the path; nil if a to-one relationship on the way is nil.
  @inlinable func end<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Object? {
    var object = scope.object(variable)
    for step in partners { object = try object?.queryPartner(step) }
    return object
  }
}

/// One side of a comparison, with constant parts computed in advance.
@usableFromInline enum PreparedOperand: Sendable {
  case value(StoredValue)
  case key(variable: Int)
  case property(PreparedPath)
  case count(PreparedPath)
  case entity(PreparedWalk)
  case computed(PreparedComputation)

  @inlinable func value<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> StoredValue {
    switch self {
    case .value(let value): return value
    case .key(let variable): return scope.object(variable).map { .integer($0.queryKey) } ?? .null
    case .property(let path):
      guard let owner = try path.owner(in: scope) else { return .null }
      return try owner.queryValue(path.last)
    case .count(let path):
      guard let owner = try path.owner(in: scope) else { return .integer(0) }
      return .integer(Int64(try owner.queryMemberCount(path.last)))
    case .entity(let walk): return try walk.end(in: scope).map { .text($0.queryEntityName) } ?? .null
    case .computed(let computation): return try computation.value(in: scope)
    }
  }

  /// Whether the value is constant, in which case it is already folded with the comparison's options.
  @usableFromInline var isConstant: Bool {
    if case .value = self { true } else { false }
  }
}

/// The objects bound to variables: the evaluated object, and the members bound by enclosing quantifiers.
@usableFromInline struct EvaluationScope<Object: QueryObject> {
  @usableFromInline let root: Object
  @usableFromInline var members: [(variable: Int, object: Object)] = []

  @inlinable init(_ root: Object) { self.root = root }

  @inlinable func object(_ variable: Int) -> Object? {
    if variable == 0 { return root }
    return members.last { $0.variable == variable }?.object
  }
}

// MARK: - Prepared computation

/// A prepared ``Computation``.
@usableFromInline final class PreparedComputation: Sendable {
  @usableFromInline enum Content: Sendable {
    case arithmetic(ArithmeticOperator, PreparedOperand, PreparedOperand)
    case function(ValueFunction, PreparedOperand)
    case date(PreparedDateFunction, PreparedOperand)
    case aggregate(AggregateFunction, PreparedPath, variable: Int, PreparedOperand, ValueKind)
    case countWhere(PreparedPath, variable: Int, EvaluationNode)
    case member(MemberPlace, PreparedPath, variable: Int, PreparedOperand)
    case conditional(EvaluationNode, PreparedOperand, PreparedOperand)
    case list(AggregateFunction, [PreparedOperand], ValueKind)
  }

  @usableFromInline let content: Content

  init(_ content: Content) { self.content = content }

  @inlinable func value<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> StoredValue {
    switch content {
    case .arithmetic(let sign, let left, let right):
      return ValueArithmetic.compute(sign, try left.value(in: scope), try right.value(in: scope))
    case .function(let function, let operand):
      return ValueArithmetic.apply(function, try operand.value(in: scope))
    case .date(let function, let operand): return function.value(of: try operand.value(in: scope))
    case .aggregate(let function, let path, let variable, let operand, let kind):
      return ValueArithmetic.aggregate(function, try values(path, variable, operand, in: scope), kind: kind)
    case .countWhere(let path, let variable, let condition):
      return .integer(try count(path, variable, condition, in: scope))
    case .member(let place, let path, let variable, let operand):
      return try member(place, path, variable, operand, in: scope)
    case .conditional(let condition, let first, let second):
      var inner = scope
      return try (condition.holds(in: &inner) ? first : second).value(in: scope)
    case .list(let function, let operands, let kind):
      return ValueArithmetic.aggregate(function, try operands.map { try $0.value(in: scope) }, kind: kind)
    }
  }

  @inlinable func member<Object: QueryObject>(
    _ place: MemberPlace, _ path: PreparedPath, _ variable: Int, _ operand: PreparedOperand,
    in scope: EvaluationScope<Object>
  ) throws -> StoredValue {
    let members = try path.owner(in: scope)?.queryOrderedMembers(path.last) ?? []
    let found: Object? =
      switch place {
      case .first: members.first
      case .last: members.last
      case .at(let number): members.indices.contains(number) ? members[number] : nil
      }
    guard let found else { return .null }
    var inner = scope
    inner.members.append((variable, found))
    return try operand.value(in: inner)
  }

  @inlinable func values<Object: QueryObject>(
    _ path: PreparedPath, _ variable: Int, _ operand: PreparedOperand, in scope: EvaluationScope<Object>
  ) throws -> [StoredValue] {
    var inner = scope
    return try (path.owner(in: scope)?.queryMembers(path.last) ?? []).map { member in
      inner.members.append((variable, member))
      defer { inner.members.removeLast() }
      return try operand.value(in: inner)
    }
  }

  @inlinable func count<Object: QueryObject>(
    _ path: PreparedPath, _ variable: Int, _ condition: EvaluationNode, in scope: EvaluationScope<Object>
  ) throws -> Int64 {
    var inner = scope
    var count: Int64 = 0
    for member in try path.owner(in: scope)?.queryMembers(path.last) ?? [] {
      inner.members.append((variable, member))
      defer { inner.members.removeLast() }
      if try condition.holds(in: &inner) { count += 1 }
    }
    return count
  }
}

/// A prepared ``DateFunction``.
@usableFromInline struct PreparedDateFunction: Sendable {
  private let lookup: DateLookup

  init(_ lookup: DateLookup) { self.lookup = lookup }

  @usableFromInline func value(of date: StoredValue) -> StoredValue { lookup.value(of: date) }
}

// MARK: - Prepared comparison

/// A comparison with folded constants.
@usableFromInline final class PreparedComparison: Sendable {
  @usableFromInline let left: PreparedOperand
  @usableFromInline let relation: ComparisonOperator
  @usableFromInline let right: PreparedOperand
  @usableFromInline let kind: ValueKind
  @usableFromInline let options: TextOptions
  /// The pattern on the right, if it is the same for all objects.
  private let pattern: TextPattern?
  private let ignoresCase: Bool
  /// The search query on the right, if it is the same for all objects.
  private let query: SearchQuery?

  init(_ comparison: Comparison, left: PreparedOperand, right: PreparedOperand) {
    kind = comparison.kind
    relation = comparison.relation
    options = comparison.folding
    ignoresCase = comparison.options.contains(.caseInsensitive)
    self.left = Self.folded(left, options)
    self.right = Self.folded(right, options)
    pattern =
      if comparison.relation == .matches, case .value(.text(let text)) = self.right {
        TextPattern(text, ignoringCase: ignoresCase)
      } else {
        nil
      }
    query =
      if comparison.relation == .matching, case .value(.text(let text)) = right { SearchQuery(text) } else { nil }
  }

  private static func folded(_ operand: PreparedOperand, _ options: TextOptions) -> PreparedOperand {
    guard case .value(let value) = operand else { return operand }
    return .value(fold(value, options))
  }

  @inlinable func holds<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Bool {
    var a = try left.value(in: scope)
    var b = try right.value(in: scope)
    if !options.isEmpty {
      if !left.isConstant { a = Self.fold(a, options) }
      if !right.isConstant { b = Self.fold(b, options) }
    }
    if relation == .matches || relation == .matching { return matches(a, b) }
    return Self.holds(a, relation, b, kind)
  }

  @usableFromInline static func fold(_ value: StoredValue, _ options: TextOptions) -> StoredValue {
    guard !options.isEmpty, case .text(let text) = value else { return value }
    return .text(TextFolding.fold(text, options: options))
  }

  @usableFromInline func matches(_ a: StoredValue, _ b: StoredValue) -> Bool {
    guard case .text(let text) = a, case .text(let pattern) = b else { return false }
    if relation == .matching { return (query ?? SearchQuery(pattern)).matches(text) }
    return (self.pattern ?? TextPattern(pattern, ignoringCase: ignoresCase)).matches(text)
  }

  /// The semantics of nil: nil equals nil and differs from any value; every other comparison with nil is false.
  @usableFromInline static func holds(
    _ a: StoredValue, _ relation: ComparisonOperator, _ b: StoredValue, _ kind: ValueKind
  ) -> Bool {
    switch relation {
    case .equal: return ValueOrder.areEqual(a, b, kind: kind)
    case .notEqual: return !ValueOrder.areEqual(a, b, kind: kind)
    default: break
    }
    guard !ValueOrder.isNil(a), !ValueOrder.isNil(b) else { return false }
    switch relation {
    case .less: return ValueOrder.compare(a, b, kind: kind) < 0
    case .lessOrEqual: return ValueOrder.compare(a, b, kind: kind) <= 0
    case .greater: return ValueOrder.compare(a, b, kind: kind) > 0
    case .greaterOrEqual: return ValueOrder.compare(a, b, kind: kind) >= 0
    case .equal, .notEqual, .matches, .matching: return false
    case .contains, .hasPrefix, .hasSuffix, .like: return search(a, relation, b)
    }
  }

  private static func search(_ a: StoredValue, _ relation: ComparisonOperator, _ b: StoredValue) -> Bool {
    guard case .text(let text) = a, case .text(let part) = b else { return false }
    switch relation {
    case .contains: return TextBytes.contains(text, part)
    case .hasPrefix: return TextBytes.hasPrefix(text, part)
    case .hasSuffix: return TextBytes.hasSuffix(text, part)
    case .like: return TextPattern.isLike(text, part)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .matches, .matching: return false
    }
  }
}
