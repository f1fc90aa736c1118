public import TrellisQuery
public import TrellisStorage

/// A condition on objects, made of comparisons. It belongs to the entity of its properties.
public struct QueryCondition: Sendable {
  let tree: ConditionTree

  /// The condition as the predicate tree that stores evaluate. A chain of `&&` or `||` is one flat list in it.
  /// Conditions that are nested too deep for every store are cut off beyond that depth.
  ///
  /// - Complexity: linear in the number of terms.
  public var predicate: QueryPredicate { tree.predicate }

  /// Creates a condition from a predicate tree.
  public init(_ predicate: QueryPredicate) { tree = ConditionTree(predicate) }

  init(_ tree: ConditionTree) { self.tree = tree }

  /// Whether both conditions hold. The length of a chain is unlimited.
  public static func && (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition(left.tree.joined(.and, right.tree))
  }

  /// Whether at least one condition holds. The length of a chain is unlimited.
  public static func || (left: QueryCondition, right: QueryCondition) -> QueryCondition {
    QueryCondition(left.tree.joined(.or, right.tree))
  }

  /// Whether the condition does not hold.
  public static prefix func ! (condition: QueryCondition) -> QueryCondition {
    QueryCondition(condition.tree.nested { .not($0) })
  }
}

/// Combines conditions: each statement is a term, and all terms must hold.
@resultBuilder public enum ConditionBuilder {
  /// Adds a condition.
  public static func buildExpression(_ condition: QueryCondition) -> QueryCondition { condition }

  /// Adds the condition that a Bool attribute is true.
  public static func buildExpression(_ attribute: AttributePath<Bool>) -> QueryCondition { attribute == true }

  /// Combines the statements of a block.
  public static func buildBlock(_ condition: QueryCondition) -> QueryCondition { condition }

  /// Combines the statements of a block.
  public static func buildBlock(_ conditions: QueryCondition...) -> QueryCondition {
    QueryCondition(.all(conditions.map(\.tree)))
  }

  /// Supports `if` without `else`.
  public static func buildOptional(_ condition: QueryCondition?) -> QueryCondition {
    condition ?? QueryCondition(.constant(true))
  }

  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first condition: QueryCondition) -> QueryCondition { condition }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second condition: QueryCondition) -> QueryCondition { condition }

  /// Supports `for`.
  public static func buildArray(_ conditions: [QueryCondition]) -> QueryCondition {
    QueryCondition(.all(conditions.map(\.tree)))
  }
}
