/// The reason why a predicate or a sort cannot be evaluated.
public struct EvaluationError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  package init(_ description: String) {
    self.description = description
  }

  package static let tooDeep = EvaluationError(
    "A predicate is nested deeper than \(QueryPredicate.depthLimit) levels. "
      + "Put the terms into one list of and, or, or use a list of values with isIn.")
}
