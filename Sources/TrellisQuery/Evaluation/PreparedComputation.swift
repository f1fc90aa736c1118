public import TrellisSchema

/// A prepared ``Computation``.
@usableFromInline final class PreparedComputation: Sendable {
  @usableFromInline enum Content: Sendable {
    case arithmetic(ArithmeticOperator, PreparedOperand, PreparedOperand)
    case function(ValueFunction, PreparedOperand)
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
