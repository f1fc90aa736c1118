import TrellisQuery
public import TrellisStorage

/// One key of a sort.
public struct SortTerm: Sendable {
  let key: SortKey

  init(_ key: SortKey) { self.key = key }
}

/// Puts sort keys together, the most important first.
@resultBuilder public enum SortBuilder {
  public static func buildExpression(_ term: SortTerm) -> SortTerm { term }

  /// An attribute alone is ascending.
  public static func buildExpression<Value: SortableAttributeValue>(_ attribute: AttributePath<Value>) -> SortTerm {
    attribute.ascending
  }

  public static func buildBlock(_ terms: SortTerm...) -> [SortTerm] { terms }
}
