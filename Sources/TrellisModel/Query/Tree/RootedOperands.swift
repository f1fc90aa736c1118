extension Operand {
  /// The operand with another object in the place of that of variable 0.
  ///
  /// - Parameters:
  ///   - path: The path to the object.
  ///   - variable: The first number that no variable around the operand has. The variables that the operand binds get
  ///     numbers from there on.
  /// - Complexity: linear in the number of nodes.
  package func rooted(at path: PropertyPath, firstVariable variable: Int) -> Operand {
    OperandRoot(path: path, offset: variable - 1, computesStored: false).operand(self)
  }

  /// The operand with the expressions of stored derived attributes in their places.
  ///
  /// - Complexity: linear in the number of nodes.
  package var computedThroughout: Operand {
    OperandRoot(path: PropertyPath(variable: 0), offset: 0, computesStored: true).operand(self)
  }
}

/// Gives the paths of a tree another root.
private struct OperandRoot {
  let path: PropertyPath
  /// What is added to the number of each bound variable.
  let offset: Int
  /// Whether the expressions of stored derived attributes take their places.
  let computesStored: Bool

  func operand(_ operand: Operand) -> Operand {
    switch operand {
    case .value, .now, .parameter: operand
    case .path(let path): .path(rooted(path))
    case .count(let path): .count(rooted(path))
    case .entity(let path): .entity(rooted(path))
    case .computed(.stored(_, let inner)) where computesStored: self.operand(inner)
    case .computed(let computation): .computed(self.computation(computation))
    }
  }

  private func rooted(_ inner: PropertyPath) -> PropertyPath {
    let start = inner.variable == 0 ? path : PropertyPath(variable: Int(inner.variable) + offset)
    return inner.steps.reduce(start) { $0.appending($1) }
  }

  private func computation(_ computation: Computation) -> Computation {
    switch computation {
    case .arithmetic(let sign, let left, let right): .arithmetic(sign, operand(left), operand(right))
    case .function(let function, let inner): .function(function, operand(inner))
    case .date(let function, let inner): .date(function, operand(inner))
    case .aggregate(let function, let path, let variable, let inner, let kind):
      .aggregate(function, rooted(path), variable: variable + offset, operand(inner), kind)
    case .countWhere(let path, let variable, let condition):
      .countWhere(rooted(path), variable: variable + offset, predicate(condition))
    case .member(let place, let path, let variable, let inner):
      .member(place, rooted(path), variable: variable + offset, operand(inner))
    case .conditional(let condition, let first, let second):
      .conditional(predicate(condition), operand(first), operand(second))
    case .list(let function, let values, let kind): .list(function, values.map(operand), kind)
    case .stored(let path, let inner): .stored(rooted(path), operand(inner))
    }
  }

  private func predicate(_ predicate: QueryPredicate) -> QueryPredicate {
    switch predicate {
    case .constant: predicate
    case .not(let inner): .not(self.predicate(inner))
    case .and(let terms): .and(terms.map(self.predicate))
    case .or(let terms): .or(terms.map(self.predicate))
    case .comparison(let comparison):
      .comparison(
        Comparison(
          operand(comparison.left), comparison.relation, operand(comparison.right), kind: comparison.kind,
          options: comparison.options))
    case .isIn(let tested, let values, let kind): .isIn(operand(tested), values, kind)
    case .quantified(let quantifier, let path, let variable, let condition):
      .quantified(quantifier, rooted(path), variable: variable + offset, self.predicate(condition))
    }
  }
}
