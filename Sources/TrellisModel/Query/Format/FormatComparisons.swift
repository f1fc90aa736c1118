/// Comparisons: both sides are converted to one type, or rejected.
extension FormatChecker {
  mutating func comparison(
    _ comparison: FormatComparison, at start: Int
  ) throws(PredicateFormatError) -> QueryPredicate {
    let before = nextVariable
    defer { nextVariable = before }
    let placedLeft = try placedLeft(of: comparison)
    let left = placedLeft.0
    if let quantifier = comparison.quantifier, let list = Self.elements(left, at: comparison.left.start) {
      if placedLeft.argument != nil { dependsOnValues = true }
      return try ofList(quantifier, list, comparison)
    }
    var crossings: [(path: PropertyPath, variable: Int, entity: Entity)] = []
    var tested = left
    if case .many(let path) = left, comparison.quantifier != nil || isMembership(comparison) {
      crossings = path.crossings
      tested = .typed(path.operand, path.type)
      nextVariable += crossings.count
    } else if comparison.quantifier != nil {
      guard case .typed = left, case .path = comparison.left.content else {
        throw error(
          .notMany, "ANY, ALL and NONE need a path, best through a to-many relationship, or a list.",
          at: comparison.left.start)
      }
    }
    // `tags CONTAINS %@` means `%@ IN tags`, and `ANY tags CONTAINS %@` means `ANY tags == %@`.
    var relation = comparison.relation
    if !crossings.isEmpty, isMembership(comparison) {
      if comparison.quantifier == nil { relation = .compare(.equal) }
      if case .typed(_, .object) = tested { relation = .compare(.equal) }
    }
    let right = try placed(comparison.right, beside: tested)
    let starts = (comparison.left.start, comparison.right.start)
    let condition = try compared(tested, relation, right.0, comparison.options, at: starts)
    let inner = withSlot(condition, (tested, placedLeft.argument), right, at: starts)
    // A single value counts as a collection of one.
    if crossings.isEmpty { return comparison.quantifier == Quantifier.none ? .not(inner) : inner }
    return Self.quantified(comparison.quantifier ?? .any, crossings, inner)
  }

  /// The elements of a literal or bound list; nil if the side is not a list.
  static func elements(_ side: FormatSide, at start: Int) -> [PlacedSide]? {
    switch side {
    case .list(let list): list
    case .argument(.list(let list)): list.map { PlacedSide(side: Self.side($0), start: start) }
    default: nil
    }
  }

  /// A condition on any, all or none of the elements of a list.
  private mutating func ofList(
    _ quantifier: Quantifier, _ list: [PlacedSide], _ comparison: FormatComparison
  ) throws(PredicateFormatError) -> QueryPredicate {
    let right = try side(comparison.right)
    var terms: [QueryPredicate] = []
    for element in list {
      terms.append(
        try compared(
          element.side, comparison.relation, right, comparison.options, at: (element.start, comparison.right.start)))
    }
    let all = quantifier == .all
    let joined: QueryPredicate =
      terms.count == 1 ? terms[0] : terms.isEmpty ? .constant(all) : all ? .and(terms) : .or(terms)
    return quantifier == Quantifier.none ? .not(joined) : joined
  }

  private func isMembership(_ comparison: FormatComparison) -> Bool {
    comparison.relation == .compare(.contains) && comparison.options.isEmpty
  }

  /// Wraps a condition in one quantifier per to-many relationship on the path. `none` of several levels becomes `none`
  /// of `any`.
  static func quantified(
    _ quantifier: Quantifier, _ crossings: [(path: PropertyPath, variable: Int, entity: Entity)],
    _ inner: QueryPredicate
  ) -> QueryPredicate {
    var result = inner
    for (place, crossing) in crossings.enumerated().reversed() {
      let own = quantifier == .none && place > 0 ? .any : quantifier
      result = .quantified(own, crossing.path, variable: crossing.variable, result)
    }
    return result
  }

  private mutating func compared(
    _ left: FormatSide, _ relation: FormatComparison.Relation, _ right: FormatSide, _ options: TextOptions,
    at starts: (Int, Int)
  ) throws(PredicateFormatError) -> QueryPredicate {
    switch relation {
    case .compare(.contains) where Self.elements(left, at: starts.0) != nil:
      return try isIn(right, left, options, at: (starts.1, starts.0))
    case .compare(let relation): return try compare(left, relation, right, options, at: starts)
    case .between: return try between(left, right, options, at: starts)
    case .isIn: return try isIn(left, right, options, at: starts)
    }
  }

  // MARK: Two values

  mutating func compare(
    _ left: FormatSide, _ relation: ComparisonOperator, _ right: FormatSide, _ options: TextOptions,
    at starts: (Int, Int)
  ) throws(PredicateFormatError) -> QueryPredicate {
    let isSearch = relation.isSearch
    let left = isSearch ? try searched(left, at: starts.0) : left
    let right = isSearch ? try searched(right, at: starts.1) : right
    let (a, b, type) = try unified(left, right, at: starts)
    try check(type, relation, options, right: b, at: starts)
    let options = type.kind == .text ? options : []
    return .comparison(Comparison(a, relation, b, kind: kind(type), options: options))
  }

  /// A side of a search, which must be a text. The stored value of an enum counts as one, because part of it is not a
  /// case.
  private func searched(_ side: FormatSide, at start: Int) throws(PredicateFormatError) -> FormatSide {
    switch side {
    case .typed(let operand, let type):
      guard kind(type) == .text else {
        throw error(.typeMismatch, "This is \(type.name); only texts can be searched.", at: start)
      }
      switch type {
      case .enumeration, .entity: return .typed(operand, .text)
      default: return side
      }
    case .argument(.value(let value, .enumeration)): return .argument(.value(value, .text))
    default: return side
    }
  }

  func kind(_ type: FormatType) -> ValueKind {
    if case .enumeration(let name?) = type, model.enumeration(named: name)?.rawType == .integer { return .integer }
    return type.kind
  }

  private func check(
    _ type: FormatType, _ relation: ComparisonOperator, _ options: TextOptions, right: Operand, at starts: (Int, Int)
  ) throws(PredicateFormatError) {
    let isText = kind(type) == .text
    if relation.isSearch {
      guard isText else {
        throw error(.typeMismatch, "This is \(type.name); only texts can be searched.", at: starts.0)
      }
    } else if relation != .equal && relation != .notEqual {
      switch type {
      case .integer, .real, .decimal, .date, .text, .url, .bool: break
      default: throw error(.typeMismatch, "This is \(type.name), which has no order.", at: starts.0)
      }
    }
    if !options.isEmpty && !isText {
      throw error(.typeMismatch, "The options [c], [d], [n] are for texts, and this is \(type.name).", at: starts.0)
    }
    if relation == .matching && !options.isEmpty {
      throw error(.unsupported, "MATCHING takes no options: it never minds case and marks.", at: starts.0)
    }
    guard relation == .matches, case .value(.text(let pattern)) = right else { return }
    do {
      _ = try Pattern(pattern)
    } catch {
      throw self.error(
        .invalidPattern, "The pattern is wrong at character \(error.position + 1): \(error.message).", at: starts.1)
    }
  }

  /// Converts both sides to operands of one type.
  mutating func unified(
    _ left: FormatSide, _ right: FormatSide, at starts: (Int, Int)
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    switch (left, right) {
    case (.many(let path), _): throw many(path, at: starts.0)
    case (_, .many(let path)): throw many(path, at: starts.1)
    case (.typed(let a, let left), .typed(let b, let right)): return try unified((a, left), (b, right), at: starts.1)
    case (.typed(let operand, let type), _):
      let (a, b, common) = try beside(operand, type, right, at: starts.1)
      return (a, b, common)
    case (_, .typed(let operand, let type)):
      let (b, a, common) = try beside(operand, type, left, at: starts.0)
      return (a, b, common)
    case (.null, .null): return (.value(.null), .value(.null), .integer)
    case (.null, _):
      let (operand, type) = try typed(right, at: starts.1)
      return (.value(.null), operand, type)
    case (_, .null):
      let (operand, type) = try typed(left, at: starts.0)
      return (operand, .value(.null), type)
    default:
      // Two constants: the right one is converted to the type of the left one.
      let (operand, type) = try typed(left, at: starts.0)
      if type == .integer || type == .real, case .number = right {
        return try unified((operand, type), try typed(right, at: starts.1), at: starts.1)
      }
      return try beside(operand, type, right, at: starts.1)
    }
  }

  /// Unifies two operands of known types.
  func unified(
    _ left: (Operand, FormatType), _ right: (Operand, FormatType), at start: Int
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    if left.1 == right.1 { return (left.0, right.0, left.1) }
    if left.1.isNumber && right.1.isNumber {
      guard left.1 == .decimal || right.1 == .decimal else { return (left.0, right.0, .real) }
      return (Self.decimal(left), Self.decimal(right), .decimal)
    }
    switch (left.1, right.1) {
    case (.object(let a), .object(let b)) where isRelated(a, b): return (left.0, right.0, left.1)
    case (.enumeration(let a), .enumeration(let b)) where a == nil || b == nil || a == b:
      return (left.0, right.0, left.1)
    case (.text, .url), (.url, .text), (.text, .entity), (.entity, .text): return (left.0, right.0, .text)
    default:
      throw error(
        .typeMismatch,
        "\(left.1.name.capitalizedFirst) is compared with \(right.1.name), which can never be equal."
          + (left.1 == .date || right.1 == .date ? Self.dateAdvice : ""), at: start)
    }
  }

  /// Whether an object can belong to both entities.
  func isRelated(_ a: Int?, _ b: Int?) -> Bool {
    guard let a, let b else { return true }
    return model.entities[a].subtree.contains(b) || model.entities[b].subtree.contains(a)
  }

  private static func decimal(_ side: (Operand, FormatType)) -> Operand {
    if side.1 == .decimal { return side.0 }
    if case .value(let value) = side.0 { return .value(ValueArithmetic.apply(.decimal, value)) }
    return .computed(.function(.decimal, side.0))
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

// MARK: - Format sides

/// A value in a format, as far as it is known without the other side of its comparison.
indirect enum FormatSide {
  case typed(Operand, FormatType)
  case null
  case bool(Bool)
  case number(String)
  case text(String)
  case argument(FormatArgument)
  case list([PlacedSide])
  /// A path through to-many relationships.
  case many(ResolvedPath)
  /// A variable without a value.
  case unbound(String)

  var type: FormatType? { if case .typed(_, let type) = self { type } else { nil } }
}

extension FormatChecker {
  mutating func side(_ node: FormatNode) throws(PredicateFormatError) -> FormatSide {
    switch node.content {
    case .null: return .null
    case .bool(let value): return .bool(value)
    case .number(let digits): return .number(digits)
    case .text(let text): return .text(text)
    case .argument(let argument, _):
      if argument != .null { dependsOnValues = true }
      return Self.side(argument)
    case .path(let path): return try side(path, at: node.start)
    case .list(let nodes): return .list(try sides(nodes))
    case .arithmetic, .negative: return try arithmetic(node)
    case .call(let name, let arguments): return try call(name, arguments, at: node.start)
    case .subquery(let members, let variable, let condition):
      let (path, number, inner) = try within(members, variable, condition)
      return .typed(.computed(.countWhere(path, variable: number, inner)), .integer)
    case .constant, .not, .and, .or, .comparison, .quantified:
      throw error(.notAValue, "This is a condition; a value is needed here.", at: node.start)
    }
  }

  mutating func sides(
    _ nodes: [FormatNode]
  ) throws(PredicateFormatError) -> [PlacedSide] {
    var sides: [PlacedSide] = []
    for node in nodes { sides.append(PlacedSide(side: try side(node), start: node.start)) }
    return sides
  }

  static func side(_ argument: FormatArgument) -> FormatSide {
    if case .null = argument { .null } else { .argument(argument) }
  }

  private mutating func side(_ path: FormatPath, at start: Int) throws(PredicateFormatError) -> FormatSide {
    if let name = path.variable, !scopes.contains(where: { $0.name == name }) {
      guard path.steps.isEmpty else {
        throw error(.unboundVariable, "Nothing around binds $\(name), so nothing can follow it.", at: start)
      }
      guard let bound = bindings[name] else { return .unbound(name) }
      if bound != .null { dependsOnValues = true }
      return Self.side(bound)
    }
    let resolved = try resolve(path, at: start)
    for crossing in resolved.crossings { memberEntities[crossing.variable] = crossing.entity }
    return resolved.crossings.isEmpty ? .typed(resolved.operand, resolved.type) : .many(resolved)
  }

  /// The operand and its type, if the type does not depend on the other side.
  func typed(_ side: FormatSide, at start: Int) throws(PredicateFormatError) -> (Operand, FormatType) {
    switch side {
    case .typed(let operand, let type): return (operand, type)
    case .null: throw error(.typeMismatch, "NIL has no type here.", at: start)
    case .bool(let value): return (.value(.integer(value ? 1 : 0)), .bool)
    case .number(let digits): return try number(digits, at: start)
    case .text(let text): return (.value(.text(text)), .text)
    case .argument(.value(let value, let type)): return (.value(value), type)
    case .argument, .list: throw error(.manyValues, "One value is needed here, not a list.", at: start)
    case .many(let path): throw many(path, at: start)
    case .unbound(let name):
      throw error(
        .unboundVariable, "$\(name) has no value, and what it is cannot be told; compare it with a property.", at: start
      )
    }
  }

  private func number(_ digits: String, at start: Int) throws(PredicateFormatError) -> (Operand, FormatType) {
    if let integer = Int64(digits) { return (.value(.integer(integer)), .integer) }
    guard let real = Double(digits) else { throw error(.invalidNumber, "This is no number.", at: start) }
    return (.value(.real(real)), .real)
  }

  func many(_ path: ResolvedPath, at start: Int) -> PredicateFormatError {
    let way =
      path.isWhole
      ? "'.@count', ANY, ALL, NONE or SUBQUERY" : "ANY, ALL or NONE before it, '@sum' and its like, or SUBQUERY"
    return error(.manyValues, "This leads to many values where one is needed; use \(way).", at: start)
  }
}

/// A side and its position.
struct PlacedSide {
  let side: FormatSide
  let start: Int
}

// MARK: - Format lists

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
        .notMany,
        "IN needs a list such as {'a', 'b'}, a range, or a path through a to-many; for a part of a text use CONTAINS.",
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
