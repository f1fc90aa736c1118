public import TrellisQuery
public import TrellisStorage

/// A condition on objects, made of comparisons. It belongs to the entity whose properties it was made from.
public struct QueryCondition: Sendable {
  /// The condition as the tree that stores understand.
  public let predicate: QueryPredicate

  public init(_ predicate: QueryPredicate) { self.predicate = predicate }

  public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    if case .and(let terms) = left.predicate { return QueryCondition(.and(terms + [right.predicate])) }
    return QueryCondition(.and([left.predicate, right.predicate]))
  }

  public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    if case .or(let terms) = left.predicate { return QueryCondition(.or(terms + [right.predicate])) }
    return QueryCondition(.or([left.predicate, right.predicate]))
  }

  public static prefix func ! (condition: QueryCondition) -> QueryCondition {
    QueryCondition(.not(condition.predicate))
  }
}

/// Puts conditions together: each statement is a term, and all terms must hold.
@resultBuilder public enum ConditionBuilder {
  public static func buildExpression(_ condition: QueryCondition) -> QueryCondition { condition }

  /// A Bool attribute alone stands for its being true.
  public static func buildExpression(_ attribute: AttributePath<Bool>) -> QueryCondition { attribute == true }

  public static func buildBlock(_ condition: QueryCondition) -> QueryCondition { condition }

  public static func buildBlock(_ conditions: QueryCondition...) -> QueryCondition {
    QueryCondition(.and(conditions.map(\.predicate)))
  }

  public static func buildOptional(_ condition: QueryCondition?) -> QueryCondition {
    condition ?? QueryCondition(.constant(true))
  }

  public static func buildEither(first condition: QueryCondition) -> QueryCondition { condition }
  public static func buildEither(second condition: QueryCondition) -> QueryCondition { condition }

  public static func buildArray(_ conditions: [QueryCondition]) -> QueryCondition {
    QueryCondition(.and(conditions.map(\.predicate)))
  }
}
