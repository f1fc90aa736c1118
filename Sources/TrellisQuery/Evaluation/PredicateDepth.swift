extension QueryPredicate {
  /// How deep a predicate may be nested, for evaluation in memory and for every store.
  ///
  /// Evaluation, translation and SQLite's own parser go down the tree by recursion; beyond this depth a small thread's
  /// stack would not hold them.
  public static let depthLimit = 200

  /// Throws when the predicate is nested deeper than ``depthLimit``. Whoever goes down the tree calls it once, first.
  ///
  /// - Throws: ``EvaluationError``.
  /// - Complexity: linear in the number of nodes, without recursion.
  public func checkDepth() throws(EvaluationError) {
    var open: [(node: QueryPredicate, depth: Int)] = [(self, 1)]
    while let (node, depth) = open.popLast() {
      guard depth <= Self.depthLimit else { throw .tooDeep }
      switch node {
      case .constant, .comparison, .isIn: break
      case .not(let inner), .quantified(_, _, variable: _, let inner): open.append((inner, depth + 1))
      case .and(let terms), .or(let terms): open.append(contentsOf: terms.map { ($0, depth + 1) })
      }
    }
  }
}
