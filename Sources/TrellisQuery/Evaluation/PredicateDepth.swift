extension QueryPredicate {
  /// The maximum nesting depth of a predicate, for evaluation in memory and in every store.
  ///
  /// Evaluation, translation and SQLite's own parser recurse through the tree; beyond this depth they could overflow
  /// the stack of a small thread.
  public static let depthLimit = 200

  /// Throws if the predicate is nested deeper than ``depthLimit``. Code that recurses through the tree calls this
  /// first.
  ///
  /// - Throws: ``EvaluationError``.
  /// - Complexity: linear in the number of nodes, without recursion.
  public func checkDepth() throws(EvaluationError) {
    var open: [(node: QueryPredicate, depth: Int)] = [(self, 1)]
    var operands: [(operand: Operand, depth: Int)] = []
    while let (node, depth) = open.popLast() {
      guard depth <= Self.depthLimit else { throw .tooDeep }
      switch node {
      case .constant: break
      case .comparison(let comparison):
        if comparison.left.isComputed { operands.append((comparison.left, depth + 1)) }
        if comparison.right.isComputed { operands.append((comparison.right, depth + 1)) }
      case .isIn(let operand, _, _): if operand.isComputed { operands.append((operand, depth + 1)) }
      case .not(let inner), .quantified(_, _, variable: _, let inner): open.append((inner, depth + 1))
      case .and(let terms), .or(let terms): open.append(contentsOf: terms.map { ($0, depth + 1) })
      }
      while let (operand, depth) = operands.popLast() {
        guard depth <= Self.depthLimit else { throw .tooDeep }
        guard case .computed(let computation) = operand else { continue }
        switch computation {
        case .arithmetic(_, let left, let right): operands += [(left, depth + 1), (right, depth + 1)]
        case .function(_, let inner), .aggregate(_, _, variable: _, let inner, _),
          .member(_, _, variable: _, let inner):
          operands.append((inner, depth + 1))
        case .countWhere(_, variable: _, let condition): open.append((condition, depth + 1))
        case .conditional(let condition, let first, let second):
          open.append((condition, depth + 1))
          operands += [(first, depth + 1), (second, depth + 1)]
        case .list(_, let values, _): operands += values.map { ($0, depth + 1) }
        }
      }
    }
  }
}

extension Operand {
  var isComputed: Bool { if case .computed = self { true } else { false } }
  var isConstant: Bool { if case .value = self { true } else { false } }
}
