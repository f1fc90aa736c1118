import TrellisQuery
public import TrellisStorage

/// One key of a sort.
public struct SortTerm: Sendable {
  let key: SortKey

  init(_ key: SortKey) { self.key = key }
}

/// Puts sort keys together, the most important first. `if`, `switch` and `for` may be used; an `if` that is not taken adds no key.
@resultBuilder public enum SortBuilder {
  public static func buildExpression(_ term: SortTerm) -> [SortTerm] { [term] }

  /// An attribute alone is ascending.
  public static func buildExpression<Value: SortableAttributeValue>(_ attribute: AttributePath<Value>) -> [SortTerm] {
    [attribute.ascending]
  }

  /// The number of members alone is ascending.
  public static func buildExpression(_ count: CountPath) -> [SortTerm] { [count.ascending] }

  public static func buildBlock() -> [SortTerm] { [] }
  public static func buildPartialBlock(first terms: [SortTerm]) -> [SortTerm] { terms }
  public static func buildPartialBlock(accumulated: [SortTerm], next terms: [SortTerm]) -> [SortTerm] {
    accumulated + terms
  }
  public static func buildOptional(_ terms: [SortTerm]?) -> [SortTerm] { terms ?? [] }
  public static func buildEither(first terms: [SortTerm]) -> [SortTerm] { terms }
  public static func buildEither(second terms: [SortTerm]) -> [SortTerm] { terms }
  public static func buildArray(_ terms: [[SortTerm]]) -> [SortTerm] { terms.flatMap(\.self) }
}
