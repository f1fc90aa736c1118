import TrellisSchema

/// Function calls.
extension FormatChecker {
  private static let functions: [String: ValueFunction] = [
    "lowercase": .lowercase, "uppercase": .uppercase, "length": .length, "abs": .absolute, "ceiling": .ceiling,
    "ceil": .ceiling, "floor": .floor, "trunc": .truncated, "round": .rounded, "lowercasestring": .lowercase,
    "uppercasestring": .uppercase, "lowercased": .lowercase, "uppercased": .uppercase, "sqrt": .squareRoot,
    "ln": .naturalLogarithm, "log": .logarithm, "exp": .exponential, "onescomplement": .complement,
  ]

  private static let signs: [String: ArithmeticOperator] = [
    "add:to": .add, "from:subtract": .subtract, "multiply:by": .multiply, "divide:by": .divide,
    "raise:topower": .power, "raise:tothepower": .power, "raise:to": .power, "modulus:by": .remainder,
    "bitwiseand:with": .bitAnd, "bitwiseor:with": .bitOr, "bitwisexor:with": .bitXor, "leftshift:by": .shiftLeft,
    "rightshift:by": .shiftRight,
  ]

  /// Functions of Core Data that stores would not all evaluate alike, each with an alternative.
  private static let refused = [
    "random": "Its values would differ from store to store; draw a number in the program and bind it.",
    "randomn": "Its values would differ from store to store; draw a number in the program and bind it.",
    "canonical": "Compare with the options [cd], as in title ==[cd] 'cafe'.",
    "median": "Fetch the values in order, and take the one in the middle.",
    "mode": "Group by the values, and take the group with the most objects.",
    "stddev": "Fetch the values, and compute it in the program.",
    "distancetolocation:fromlocation": "Compare latitude and longitude with bounds.",
    "fetch": "Make a request of its own for it, and bind what it finds.",
    "objectfrom:withindex": "Write the place in brackets, as in images[0].",
  ]

  private static let collections = ["count", "sum", "average", "avg", "min", "max"]

  mutating func call(
    _ name: String, _ arguments: [FormatNode], at start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    let plain = String(name.lowercased().reversed().drop { $0 == ":" }.reversed())
    if plain == "now" && arguments.isEmpty { return .typed(.now, .date) }
    if let function = Self.functions[plain] { return try apply(function, try only(arguments, start)) }
    if let sign = Self.signs[plain] {
      guard arguments.count == 2 else { throw wrongCount(2, start) }
      return try arithmetic(sign, arguments[0], arguments[1])
    }
    if Self.collections.contains(plain) { return try collection(plain, arguments, start) }
    if let way = Self.refused[plain] {
      throw error(.unsupported, "The function '\(name.prefix(60))' is not there. \(way)", at: start)
    }
    switch plain {
    case "noindex": return try side(try only(arguments, start))
    case "ternary": return try ternary(arguments, start)
    case "cast": return try cast(arguments, start)
    case "function": return try function(arguments, start)
    default: throw unknown(name, plain, start)
    }
  }

  private func unknown(_ name: String, _ plain: String, _ start: Int) -> PredicateFormatError {
    let known =
      Self.functions.keys.sorted() + Self.signs.keys.sorted() + Self.collections + [
        "now", "cast", "subquery", "ternary",
      ]
    let closest = NearestName.closest(to: plain, among: known)
    let hint =
      closest.map { "; did you mean '\($0)'?" }
      ?? "; there are now, lowercase, uppercase, length, abs, ceiling, floor, round, trunc, sqrt, ln, log, exp, modulus:by:, count, sum, average, min, max, CAST, TERNARY and SUBQUERY."
    return error(
      .unknownFunction, "The function '\(name.prefix(60))' is not known\(hint)", at: start, suggestion: closest)
  }

  private func wrongCount(_ count: Int, _ start: Int) -> PredicateFormatError {
    error(.wrongArgument, "The function takes \(count == 1 ? "one value" : "\(count) values").", at: start)
  }

  private func only(_ arguments: [FormatNode], _ start: Int) throws(PredicateFormatError) -> FormatNode {
    guard arguments.count == 1, let only = arguments.first else { throw wrongCount(1, start) }
    return only
  }

  private mutating func apply(_ function: ValueFunction, _ node: FormatNode) throws(PredicateFormatError) -> FormatSide
  {
    let (operand, type) = try typed(try side(node), at: node.start)
    switch function {
    case .lowercase, .uppercase, .length:
      let isFitting = type == .text || type == .url || (function == .length && type == .data)
      guard isFitting else { throw error(.typeMismatch, "This is \(type.name); a text is needed.", at: node.start) }
      return .typed(.computed(.function(function, operand)), function == .length ? .integer : .text)
    case .squareRoot, .naturalLogarithm, .logarithm, .exponential:
      try expectNumber(type, at: node.start)
      return .typed(.computed(.function(function, operand)), .real)
    case .complement:
      guard type == .integer else {
        throw error(.typeMismatch, "This is \(type.name); only whole numbers have bits.", at: node.start)
      }
      return .typed(.computed(.function(function, operand)), .integer)
    default:
      try expectNumber(type, at: node.start)
      return .typed(.computed(.function(function, operand)), type)
    }
  }

  /// `sum(images.size)` and `count(images)`, which mean `images.@sum.size` and `images.@count`.
  private mutating func collection(
    _ name: String, _ arguments: [FormatNode], _ start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    if arguments.count == 3, case .path(let bound) = arguments[1].content, bound.variable != nil, bound.steps.isEmpty {
      return try collection(name, over: arguments)
    }
    guard arguments.count == 1 else { return try ofList(name, try sides(arguments), at: start) }
    let node = try only(arguments, start)
    guard case .path(var path) = node.content else {
      if let list = Self.elements(try side(node), at: node.start) { return try ofList(name, list, at: node.start) }
      throw error(.notMany, "'\(name)' needs a list, or a path through a to-many relationship.", at: node.start)
    }
    path.steps.append(FormatPath.Step(name: name, isOperator: true, start: node.start))
    let resolved = try resolve(path, at: node.start)
    return .typed(resolved.operand, resolved.type)
  }

  /// `sum(images, $image, $image.size * 2)`, with a variable bound as in SUBQUERY.
  private mutating func collection(
    _ name: String, over arguments: [FormatNode]
  ) throws(PredicateFormatError) -> FormatSide {
    guard let function = Self.aggregates[name], case .path(let bound) = arguments[1].content, bound.steps.isEmpty,
      let variable = bound.variable
    else {
      throw error(.wrongArgument, "A variable is needed here, as in sum(images, $i, $i.size).", at: arguments[1].start)
    }
    return try within(arguments[0], variable) { checker, path, number throws(PredicateFormatError) in
      let (operand, type) = try checker.typed(try checker.side(arguments[2]), at: arguments[2].start)
      let many = (path: path, variable: number, entity: checker.scopes[0].entity)
      let value = ResolvedPath(operand: operand, type: type)
      let result = try checker.aggregated(function, many, value, at: arguments[2].start)
      return .typed(result.operand, result.type)
    }
  }

  /// `FUNCTION(title, 'lowercaseString')` and `FUNCTION('multiply:by:', price, 2)`.
  private mutating func function(_ arguments: [FormatNode], _ start: Int) throws(PredicateFormatError) -> FormatSide {
    var rest = arguments
    for place in [1, 0] where place < arguments.count {
      guard case .text(let name) = arguments[place].content, name.lowercased() != "function",
        name.lowercased() != "cast"
      else { continue }
      rest.remove(at: place)
      return try call(name, rest, at: start)
    }
    throw error(.unknownFunction, "FUNCTION needs a function's name in quotes, such as 'lowercase:'.", at: start)
  }
}
