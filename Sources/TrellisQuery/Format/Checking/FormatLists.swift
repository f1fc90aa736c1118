import TrellisSchema

/// `BETWEEN` and `IN`.
extension FormatChecker {
  mutating func between(
    _ left: FormatSide, _ right: FormatSide, _ options: TextOptions, at starts: (Int, Int)
  ) throws(PredicateFormatError) -> QueryPredicate {
    var bounds: [PlacedSide]
    var upper = ComparisonOperator.lessOrEqual
    switch right {
    case .list(let list): bounds = list
    case .argument(.list(let list)): bounds = list.map { PlacedSide(side: .argument($0), start: starts.1) }
    case .argument(.range(let low, let high, let type, let isClosed)):
      bounds = [low, high].map { PlacedSide(side: .argument(.value($0, type)), start: starts.1) }
      if !isClosed { upper = .less }
    case .unbound(let name):
      let (operand, type) = try typed(left, at: starts.0)
      let bound = try parameter(name, type, beside: operand, .range, at: starts.1)
      return .and([
        try compare(left, .greaterOrEqual, .typed(bound, type), options, at: starts),
        try compare(left, .lessOrEqual, .typed(bound, type), options, at: starts),
      ])
    default: bounds = []
    }
    guard bounds.count == 2 else {
      throw error(.wrongArgument, "BETWEEN needs two bounds, as in {1, 5}.", at: starts.1)
    }
    return .and([
      try compare(left, .greaterOrEqual, bounds[0].side, options, at: (starts.0, bounds[0].start)),
      try compare(left, upper, bounds[1].side, options, at: (starts.0, bounds[1].start)),
    ])
  }

  mutating func isIn(
    _ left: FormatSide, _ right: FormatSide, _ options: TextOptions, at starts: (Int, Int)
  ) throws(PredicateFormatError) -> QueryPredicate {
    switch right {
    case .many(let path):
      let inner = try compare(.typed(path.operand, path.type), .equal, left, options, at: (starts.1, starts.0))
      return Self.quantified(.any, path.crossings, inner)
    case .list(let list): return try isIn(left, list, options, at: starts.0)
    case .argument(.list(let list)):
      return try isIn(left, list.map { PlacedSide(side: .argument($0), start: starts.1) }, options, at: starts.0)
    case .argument(.range): return try between(left, right, options, at: starts)
    case .unbound(let name):
      let (operand, type) = try typed(left, at: starts.0)
      let element = try parameter(name, type, beside: operand, .list, at: starts.1)
      return try compare(left, .equal, .typed(element, type), options, at: starts)
    default:
      throw error(
        .notMany, "IN needs a list, a range, or a path through a to-many; for a part of a text use CONTAINS.",
        at: starts.1)
    }
  }

  mutating func isIn(
    _ left: FormatSide, _ list: [PlacedSide], _ options: TextOptions, at start: Int
  ) throws(PredicateFormatError) -> QueryPredicate {
    var operand: Operand?
    var kind: ValueKind?
    var values: [StoredValue] = []
    var terms: [QueryPredicate] = []
    for element in list {
      let (side, place) = (element.side, element.start)
      let term = try compare(left, .equal, side, options, at: (start, place))
      terms.append(term)
      guard case .comparison(let comparison) = term, case .value(let value) = comparison.right else { continue }
      if operand == nil { (operand, kind) = (comparison.left, comparison.kind) }
      if comparison.left == operand, comparison.kind == kind { values.append(value) }
    }
    // Uses one value list, unless options or values that vary by object require separate comparisons.
    if options.isEmpty, values.count == list.count, let operand, let kind {
      return .isIn(operand, values, kind)
    }
    if list.isEmpty {
      let (operand, type) = try typed(left, at: start)
      return .isIn(operand, [], self.kind(type))
    }
    return .or(terms)
  }
}
