public import TrellisSchema

/// The prepared form of a ``QueryPredicate`` tree.
///
/// Payloads are references and each case has its own function, so that a nesting level takes little stack.
@usableFromInline indirect enum EvaluationNode: Sendable {
  case constant(Bool)
  case not(EvaluationNode)
  case and([EvaluationNode])
  case or([EvaluationNode])
  case comparison(PreparedComparison)
  case isIn(PreparedList)
  case quantified(PreparedQuantifier)

  @inlinable func holds<Object: QueryObject>(in scope: inout EvaluationScope<Object>) throws -> Bool {
    switch self {
    case .constant(let value): return value
    case .not(let inner): return try !inner.holds(in: &scope)
    case .and(let terms): return try Self.all(of: terms, in: &scope)
    case .or(let terms): return try Self.any(of: terms, in: &scope)
    case .comparison(let comparison): return try comparison.holds(in: scope)
    case .isIn(let list): return try list.holds(in: scope)
    case .quantified(let quantifier): return try quantifier.holds(in: &scope)
    }
  }

  @inlinable static func all<Object: QueryObject>(
    of terms: [EvaluationNode], in scope: inout EvaluationScope<Object>
  ) throws -> Bool {
    for term in terms where try !term.holds(in: &scope) { return false }
    return true
  }

  @inlinable static func any<Object: QueryObject>(
    of terms: [EvaluationNode], in scope: inout EvaluationScope<Object>
  ) throws -> Bool {
    for term in terms where try term.holds(in: &scope) { return true }
    return false
  }
}

/// An operand and the list of values that it is tested against.
@usableFromInline final class PreparedList: Sendable {
  @usableFromInline let operand: PreparedOperand
  @usableFromInline let values: Set<StoredValue>
  @usableFromInline let kind: ValueKind

  init(_ operand: PreparedOperand, _ values: [StoredValue], _ kind: ValueKind) {
    self.operand = operand
    self.values = Set(values.map { ValueOrder.normalized($0, kind: kind) })
    self.kind = kind
  }

  @inlinable func holds<Object: QueryObject>(in scope: EvaluationScope<Object>) throws -> Bool {
    let value = try operand.value(in: scope)
    // Data in a file equals the same bytes in a list, but hash values do not reflect that.
    if case .file = value { return values.contains { ValueOrder.areEqual(value, $0, kind: kind) } }
    return values.contains(ValueOrder.normalized(value, kind: kind))
  }
}

/// A condition on the members of a to-many relationship.
@usableFromInline final class PreparedQuantifier: Sendable {
  @usableFromInline let quantifier: Quantifier
  @usableFromInline let path: PreparedPath
  @usableFromInline let variable: Int
  @usableFromInline let condition: EvaluationNode

  init(_ quantifier: Quantifier, _ path: PreparedPath, variable: Int, _ condition: EvaluationNode) {
    self.quantifier = quantifier
    self.path = path
    self.variable = variable
    self.condition = condition
  }

  @inlinable func holds<Object: QueryObject>(in scope: inout EvaluationScope<Object>) throws -> Bool {
    let members = try path.owner(in: scope)?.queryMembers(path.last) ?? []
    // One member decides: a match for `any` and `none`, a mismatch for `all`.
    let decisive = quantifier != .all
    for member in members {
      scope.members.append((variable, member))
      defer { scope.members.removeLast() }
      if try condition.holds(in: &scope) == decisive { return quantifier == .any }
    }
    return quantifier != .any
  }
}
