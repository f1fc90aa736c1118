import TrellisQuery
public import TrellisStorage

/// A key of a sort order.
public struct SortTerm: Sendable {
  let key: SortKey

  init(_ key: SortKey) { self.key = key }
}

/// Combines sort keys, the most important first. `if`, `switch` and `for` are supported; an `if` with a false condition
/// adds no key.
@resultBuilder public enum SortBuilder {
  /// Adds a sort key.
  public static func buildExpression(_ term: SortTerm) -> [SortTerm] { [term] }

  /// Adds an attribute, ascending.
  public static func buildExpression<Value: SortableAttributeValue>(_ attribute: AttributePath<Value>) -> [SortTerm] {
    [attribute.ascending]
  }

  /// Adds the number of members, ascending.
  public static func buildExpression(_ count: CountPath) -> [SortTerm] { [count.ascending] }

  /// Combines the statements of a block.
  public static func buildBlock() -> [SortTerm] { [] }
  /// Starts a block with its first statement.
  public static func buildPartialBlock(first terms: [SortTerm]) -> [SortTerm] { terms }
  /// Adds the next statement of a block.
  public static func buildPartialBlock(accumulated: [SortTerm], next terms: [SortTerm]) -> [SortTerm] {
    accumulated + terms
  }
  /// Supports `if` without `else`.
  public static func buildOptional(_ terms: [SortTerm]?) -> [SortTerm] { terms ?? [] }
  /// Supports the first branch of `if` with `else`, and `switch`.
  public static func buildEither(first terms: [SortTerm]) -> [SortTerm] { terms }
  /// Supports the second branch of `if` with `else`, and `switch`.
  public static func buildEither(second terms: [SortTerm]) -> [SortTerm] { terms }
  /// Supports `for`.
  public static func buildArray(_ terms: [[SortTerm]]) -> [SortTerm] { terms.flatMap(\.self) }
}
