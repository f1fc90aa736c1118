public import TrellisSchema

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
    case .like: return TextPattern.isLike(text, part)
    default: return TextBytes.hasSuffix(text, part)
    }
  }
}
