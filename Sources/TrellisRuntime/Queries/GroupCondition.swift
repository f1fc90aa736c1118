import TrellisModel
public import TrellisStorage

/// A condition on groups, made of comparisons of their aggregates: what HAVING is in SQL.
///
/// ```swift
/// let often = try context.grouped(Entry.all, by: { $0.memo }) { $0.amount.sum } having: { $0.count > 1 }
/// ```
/// For an aggregate that is nil, every comparison except `!=` is false, and `== nil` is true. A sum that does not fit its
/// type is compared as the number that it is.
public struct GroupCondition: Sendable {
  fileprivate enum Step {
    case comparison(GroupAggregate, ComparisonOperator, Side)
    /// Replaces the last conditions by one.
    case and(Int)
    case or(Int)
    case not
  }

  fileprivate enum Side {
    case value(StoredValue)
    case aggregate(GroupAggregate)
  }

  /// The condition in postfix order: however deep it is nested, reading and releasing it needs no recursion.
  private let steps: [Step]

  fileprivate init(_ steps: [Step]) { self.steps = steps }

  /// The condition that every group meets.
  public static let always = GroupCondition([.and(0)])

  fileprivate static func all(_ conditions: [GroupCondition]) -> GroupCondition {
    conditions.count == 1 ? conditions[0] : GroupCondition(conditions.flatMap(\.steps) + [.and(conditions.count)])
  }

  /// Whether both conditions hold.
  public static func && (left: GroupCondition, right: GroupCondition) -> GroupCondition {
    GroupCondition(left.steps + right.steps + [.and(2)])
  }

  /// Whether at least one condition holds.
  public static func || (left: GroupCondition, right: GroupCondition) -> GroupCondition {
    GroupCondition(left.steps + right.steps + [.or(2)])
  }

  /// Whether the condition does not hold.
  public static prefix func ! (condition: GroupCondition) -> GroupCondition {
    GroupCondition(condition.steps + [.not])
  }

  // MARK: Reading

  /// The condition with paths to the columns of aggregates; nil for a condition without terms, which always holds.
  ///
  /// - Throws: ``StoreError`` if the condition is nested too deep.
  func predicate(_ path: (GroupAggregate) -> PropertyPath) throws -> QueryPredicate? {
    var open: [(predicate: QueryPredicate, depth: Int)] = []
    for step in steps {
      switch step {
      case .comparison(let aggregate, let relation, let side):
        let right: Operand
        switch side {
        case .value(let value): right = .value(value)
        case .aggregate(let other): right = .path(path(other))
        }
        let comparison = Comparison(.path(path(aggregate)), relation, right, kind: aggregate.kind)
        open.append((.comparison(comparison), 1))
      case .and(let count): try Self.join(&open, count) { .and($0) }
      case .or(let count): try Self.join(&open, count) { .or($0) }
      case .not: try Self.join(&open, 1) { .not($0[0]) }
      }
    }
    guard case .and(let terms)? = open.last?.predicate, terms.isEmpty else { return open.last?.predicate }
    return nil
  }

  private static func join(
    _ open: inout [(predicate: QueryPredicate, depth: Int)], _ count: Int,
    _ make: ([QueryPredicate]) -> QueryPredicate
  ) throws {
    let parts = open.suffix(count)
    let depth = 1 + (parts.map(\.depth).max() ?? 0)
    guard depth <= QueryPredicate.depthLimit else { throw StoreRequest.tooDeep }
    open.removeLast(parts.count)
    open.append((make(parts.map(\.predicate)), depth))
  }
}

// MARK: - Comparisons

extension Aggregate {
  private func compared(_ relation: ComparisonOperator, _ value: Result) -> GroupCondition {
    GroupCondition([.comparison(stored, relation, .value(storedValue(value)))])
  }

  private func compared(_ relation: ComparisonOperator, _ other: Aggregate) -> GroupCondition {
    GroupCondition([.comparison(stored, relation, .aggregate(other.stored))])
  }

  /// Whether the aggregate equals a value.
  public static func == (left: Aggregate, right: Result) -> GroupCondition { left.compared(.equal, right) }
  /// Whether the aggregate differs from a value.
  public static func != (left: Aggregate, right: Result) -> GroupCondition { left.compared(.notEqual, right) }
  /// Whether the aggregate is less than a value.
  public static func < (left: Aggregate, right: Result) -> GroupCondition { left.compared(.less, right) }
  /// Whether the aggregate is less than a value or equal to it.
  public static func <= (left: Aggregate, right: Result) -> GroupCondition { left.compared(.lessOrEqual, right) }
  /// Whether the aggregate is greater than a value.
  public static func > (left: Aggregate, right: Result) -> GroupCondition { left.compared(.greater, right) }
  /// Whether the aggregate is greater than a value or equal to it.
  public static func >= (left: Aggregate, right: Result) -> GroupCondition { left.compared(.greaterOrEqual, right) }

  /// Whether two aggregates of a group are equal.
  public static func == (left: Aggregate, right: Aggregate) -> GroupCondition { left.compared(.equal, right) }
  /// Whether two aggregates of a group differ.
  public static func != (left: Aggregate, right: Aggregate) -> GroupCondition { left.compared(.notEqual, right) }
  /// Whether the left aggregate is less than the right one.
  public static func < (left: Aggregate, right: Aggregate) -> GroupCondition { left.compared(.less, right) }
  /// Whether the left aggregate is less than the right one or equal to it.
  public static func <= (left: Aggregate, right: Aggregate) -> GroupCondition { left.compared(.lessOrEqual, right) }
  /// Whether the left aggregate is greater than the right one.
  public static func > (left: Aggregate, right: Aggregate) -> GroupCondition { left.compared(.greater, right) }
  /// Whether the left aggregate is greater than the right one or equal to it.
  public static func >= (left: Aggregate, right: Aggregate) -> GroupCondition { left.compared(.greaterOrEqual, right) }
}

/// Combines conditions on groups: each statement is a term, and all terms must hold.
@resultBuilder public enum GroupConditionBuilder {
  /// Adds a condition.
  public static func buildExpression(_ condition: GroupCondition) -> GroupCondition { condition }
  /// Combines the statements of a block.
  public static func buildBlock(_ conditions: GroupCondition...) -> GroupCondition { .all(conditions) }
  /// Supports `if` without `else`.
  public static func buildOptional(_ condition: GroupCondition?) -> GroupCondition { condition ?? .all([]) }
  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first condition: GroupCondition) -> GroupCondition { condition }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second condition: GroupCondition) -> GroupCondition { condition }
  /// Supports `for`.
  public static func buildArray(_ conditions: [GroupCondition]) -> GroupCondition { .all(conditions) }
}

// MARK: - Order

/// A key of an order of groups.
public struct GroupSortTerm: Sendable {
  enum Column {
    case aggregate(GroupAggregate)
    /// A key of the groups, with the direction.
    case key(SortKey)
  }

  let column: Column
  let isDescending: Bool
}

extension Aggregate {
  /// The group with the smallest result first; nil comes before every result.
  public var ascending: GroupSortTerm { GroupSortTerm(column: .aggregate(stored), isDescending: false) }
  /// The group with the greatest result first; nil comes last.
  public var descending: GroupSortTerm { GroupSortTerm(column: .aggregate(stored), isDescending: true) }
}

/// Combines sort keys of groups, the most important first: aggregates, and keys of the groups. `if`, `switch` and `for`
/// are supported.
@resultBuilder public enum GroupSortBuilder {
  /// Adds a sort key.
  public static func buildExpression(_ term: GroupSortTerm) -> [GroupSortTerm] { [term] }
  /// Adds an aggregate, the smallest first.
  public static func buildExpression<Result>(_ aggregate: Aggregate<Result>) -> [GroupSortTerm] {
    [aggregate.ascending]
  }
  /// Adds a key of the groups.
  public static func buildExpression(_ term: SortTerm) -> [GroupSortTerm] {
    [GroupSortTerm(column: .key(term.key), isDescending: term.key.isDescending)]
  }
  /// Adds a key of the groups, the smallest first.
  public static func buildExpression<Value: SortableAttributeValue>(
    _ key: AttributePath<Value>
  ) -> [GroupSortTerm] { buildExpression(key.ascending) }
  /// Adds a key of the groups, the smallest first.
  public static func buildExpression(_ key: CountPath) -> [GroupSortTerm] { buildExpression(key.ascending) }
  /// Combines the statements of a block.
  public static func buildBlock(_ terms: [GroupSortTerm]...) -> [GroupSortTerm] { terms.flatMap(\.self) }
  /// Supports `if` without `else`.
  public static func buildOptional(_ terms: [GroupSortTerm]?) -> [GroupSortTerm] { terms ?? [] }
  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first terms: [GroupSortTerm]) -> [GroupSortTerm] { terms }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second terms: [GroupSortTerm]) -> [GroupSortTerm] { terms }
  /// Supports `for`.
  public static func buildArray(_ terms: [[GroupSortTerm]]) -> [GroupSortTerm] { terms.flatMap(\.self) }
}
