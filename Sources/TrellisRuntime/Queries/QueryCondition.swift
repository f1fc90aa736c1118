public import TrellisQuery
public import TrellisStorage

/// A condition on objects, made of comparisons. It belongs to the entity whose properties it was made from.
public struct QueryCondition: Sendable {
  let tree: ConditionTree

  /// The condition as the tree that stores understand; a chain of `&&` or of `||` is one flat list in it. What is nested too
  /// deep for every store is cut off where it is too deep already.
  ///
  /// - Complexity: linear in the number of terms.
  public var predicate: QueryPredicate { tree.predicate }

  public init(_ predicate: QueryPredicate) { tree = ConditionTree(predicate) }

  init(_ tree: ConditionTree) { self.tree = tree }

  /// Both conditions. A chain may be as long as it likes.
  public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition(left.tree.joined(.and, right.tree))
  }

  /// Either condition. A chain may be as long as it likes.
  public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition(left.tree.joined(.or, right.tree))
  }

  public static prefix func ! (condition: QueryCondition) -> QueryCondition {
    QueryCondition(condition.tree.nested { .not($0) })
  }
}

/// Puts conditions together: each statement is a term, and all terms must hold.
@resultBuilder public enum ConditionBuilder {
  public static func buildExpression(_ condition: QueryCondition) -> QueryCondition { condition }

  /// A Bool attribute alone stands for its being true.
  public static func buildExpression(_ attribute: AttributePath<Bool>) -> QueryCondition { attribute == true }

  public static func buildBlock(_ condition: QueryCondition) -> QueryCondition { condition }

  public static func buildBlock(_ conditions: QueryCondition...) -> QueryCondition {
    QueryCondition(.all(conditions.map(\.tree)))
  }

  public static func buildOptional(_ condition: QueryCondition?) -> QueryCondition {
    condition ?? QueryCondition(.constant(true))
  }

  public static func buildEither(first condition: QueryCondition) -> QueryCondition { condition }
  public static func buildEither(second condition: QueryCondition) -> QueryCondition { condition }

  public static func buildArray(_ conditions: [QueryCondition]) -> QueryCondition {
    QueryCondition(.all(conditions.map(\.tree)))
  }
}
