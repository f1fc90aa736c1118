/// Constants take the type of the side that they are compared with.
extension FormatChecker {
  /// Unifies a typed side and a constant on the other side.
  mutating func beside(
    _ operand: Operand, _ type: FormatType, _ constant: FormatSide, at start: Int
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    switch constant {
    case .null, .argument(.null): return (operand, .value(.null), type)
    case .unbound(let name):
      return (operand, try parameter(name, type, beside: operand, at: start), type)
    case .number(let digits) where type.isNumber: return try beside(operand, type, digits: digits, at: start)
    case .argument(.value(let value, let given)) where type.isNumber && given.isNumber:
      return try beside(operand, type, value, given, at: start)
    default: return (operand, .value(try self.constant(constant, type, at: start)), type)
    }
  }

  /// An integer compared with a fraction becomes a real; any number compared with a decimal becomes a decimal.
  private func beside(
    _ operand: Operand, _ type: FormatType, digits: String, at start: Int
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    switch type {
    case .decimal:
      guard let text = DecimalText.canonical(digits) else {
        throw error(.invalidNumber, "This number has more digits than a decimal, which has 38.", at: start)
      }
      return (operand, .value(.text(text)), .decimal)
    case .integer:
      if let integer = Int64(digits) ?? DecimalText.canonical(digits).flatMap({ Int64($0) }) {
        return (operand, .value(.integer(integer)), .integer)
      }
      fallthrough
    default:
      guard let real = Double(digits) else { throw error(.invalidNumber, "This is no number.", at: start) }
      return (operand, .value(.real(real)), .real)
    }
  }

  private func beside(
    _ operand: Operand, _ type: FormatType, _ value: StoredValue, _ given: FormatType, at start: Int
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    switch (type, value) {
    case (.integer, .real(let real)):
      if let integer = Int64(exactly: real) { return (operand, .value(.integer(integer)), .integer) }
      return (operand, .value(value), .real)
    case (.real, .integer(let integer)):
      return (operand, .value(Double(exactly: integer).map { .real($0) } ?? value), .real)
    case (.integer, .text(let text)):
      if let integer = Int64(text) { return (operand, .value(.integer(integer)), .integer) }
      return try unified((operand, type), (.value(value), .decimal), at: start)
    default: return try unified((operand, type), (.value(value), given), at: start)
    }
  }

  /// Converts a constant to a type.
  func constant(_ side: FormatSide, _ type: FormatType, at start: Int) throws(PredicateFormatError) -> StoredValue {
    switch (side, type) {
    case (.bool(let value), .bool): return .integer(value ? 1 : 0)
    case (.number("0"), .bool): return .integer(0)
    case (.number("1"), .bool): return .integer(1)
    case (.text(let text), .text), (.text(let text), .url): return .text(text)
    case (.text(let name), .entity): return try entityName(name, at: start)
    case (.text(let text), .uuid):
      guard let bytes = UUIDText.bytes(text) else { throw error(.invalidConstant, "This is no UUID.", at: start) }
      return .blob(bytes)
    case (.text(let text), .enumeration(let name?)): return try enumCase(text, name, at: start)
    case (.number(let digits), .enumeration(let name?)) where kind(type) == .integer:
      return try enumCase(.integer(Int64(digits) ?? .min), digits, name, at: start)
    case (.argument(.value(let value, let given)), _): return try argument(value, given, type, at: start)
    case (.argument, _), (.list, _):
      throw error(.manyValues, "A list stands where one value is needed; use IN for lists.", at: start)
    default: throw mismatch(type, side, at: start)
    }
  }

  private func argument(
    _ value: StoredValue, _ given: FormatType, _ type: FormatType, at start: Int
  ) throws(PredicateFormatError) -> StoredValue {
    if given == type { return value }
    switch (given, type) {
    case (.object(let a), .object(let b)) where isRelated(a, b): return value
    case (.object, .object): throw error(.typeMismatch, "The argument is an object of another entity.", at: start)
    case (.enumeration(let a), .enumeration(let b)) where a == nil || a == b: return value
    case (.integer, .bool) where value == .integer(0) || value == .integer(1): return value
    case (.url, .text), (.text, .url): return value
    case (.text, .entity):
      if case .text(let name) = value { return try entityName(name, at: start) }
      return value
    case (.text, .enumeration(let name?)):
      // With `preserve`, a predicate may use a stored value that only another version of the model declares.
      guard case .text(let text) = value else { return value }
      if model.enumeration(named: name)?.unknown == .preserve, kind(type) == .text {
        return storedCase(text, name) ?? value
      }
      return try enumCase(text, name, at: start)
    case (.integer, .enumeration) where kind(type) == .integer: return value
    case (.text, .uuid):
      if case .text(let text) = value, let bytes = UUIDText.bytes(text) { return .blob(bytes) }
      throw error(.invalidConstant, "The argument is a text that is no UUID.", at: start)
    default:
      throw error(
        .typeMismatch, "The argument is \(given.name), and what it is compared with is \(type.name).", at: start)
    }
  }

  private func mismatch(_ type: FormatType, _ side: FormatSide, at start: Int) -> PredicateFormatError {
    let found =
      switch side {
      case .bool: "TRUE or FALSE"
      case .number: "a number"
      case .text: "a text"
      default: "something else"
      }
    let way =
      switch (type, side) {
      case (.date, _): Self.dateAdvice
      case (.bool, .text), (.bool, .number): " Write TRUE or FALSE."
      case (_, .text) where type.isNumber: " Write the number without quotes."
      case (.text, .number): " Write the text in quotes."
      default: ""
      }
    return error(.typeMismatch, "This is \(found), and what it is compared with is \(type.name).\(way)", at: start)
  }

  static let dateAdvice = " Bind a date with %@, or write CAST('2026-01-31', 'NSDate')."

  private func entityName(_ name: String, at start: Int) throws(PredicateFormatError) -> StoredValue {
    if model.entity(named: name) != nil { return .text(name) }
    let names = model.entities.map(\.name)
    let closest = NearestName.closest(to: name, among: names)
    let hint = closest.map { "; did you mean '\($0)'?" } ?? "; there are \(names.prefix(12).joined(separator: ", "))."
    throw error(.unknownCase, "The model has no such entity\(hint)", at: start, suggestion: closest)
  }

  // MARK: Enums

  private func storedCase(_ text: String, _ name: String) -> StoredValue? {
    let cases = model.enumeration(named: name)?.cases ?? []
    return cases.first { $0.rawValue == .text(text) }?.rawValue ?? cases.first { $0.name == text }?.rawValue
  }

  /// Looks up a case by its stored value or by its name.
  private func enumCase(_ text: String, _ name: String, at start: Int) throws(PredicateFormatError) -> StoredValue {
    if let value = storedCase(text, name) { return value }
    throw unknownCase(text, name, at: start)
  }

  private func enumCase(
    _ value: StoredValue, _ text: String, _ name: String, at start: Int
  ) throws(PredicateFormatError) -> StoredValue {
    if model.enumeration(named: name)?.cases.contains(where: { $0.rawValue == value }) == true { return value }
    throw unknownCase(text, name, at: start)
  }

  private func unknownCase(_ text: String, _ name: String, at start: Int) -> PredicateFormatError {
    let names = model.enumeration(named: name)?.cases.map(\.name) ?? []
    let closest = NearestName.closest(to: text, among: names)
    let hint = closest.map { "; did you mean '\($0)'?" } ?? "; there are \(names.prefix(12).joined(separator: ", "))."
    return error(.unknownCase, "The enum \(name) has no such case\(hint)", at: start, suggestion: closest)
  }
}

// MARK: - Format functions

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
    if let result = FormatDateFunctions.results[plain] { return try date(result, arguments, start) }
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
    if let way = Self.foreignFunctions[plain] {
      return error(.unknownFunction, "The function '\(name.prefix(60))' is not known; write \(way).", at: start)
    }
    let known =
      Self.functions.keys.sorted() + Self.signs.keys.sorted() + Self.collections + [
        "now", "cast", "subquery", "ternary",
      ] + FormatDateFunctions.names
    let closest = NearestName.closest(to: plain, among: known)
    let hint =
      closest.map { "; did you mean '\($0)'?" }
      ?? "; there are now, lowercase, uppercase, length, abs, ceiling, floor, round, trunc, sqrt, ln, log, exp, modulus:by:, count, sum, average, min, max, day, week, month, quarter, year, weekday, CAST, TERNARY and SUBQUERY."
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

// MARK: - Format arithmetic

/// Arithmetic between numbers, between a date and seconds, and joined texts.
extension FormatChecker {
  mutating func arithmetic(_ node: FormatNode) throws(PredicateFormatError) -> FormatSide {
    switch node.content {
    case .negative(let inner):
      let (operand, type) = try numeric(inner)
      return .typed(.computed(.function(.negative, operand)), type)
    case .arithmetic(let sign, let left, let right): return try arithmetic(sign, left, right)
    default: throw error(.notAValue, "A value is needed here.", at: node.start)
    }
  }

  mutating func arithmetic(
    _ sign: ArithmeticOperator, _ left: FormatNode, _ right: FormatNode
  ) throws(PredicateFormatError) -> FormatSide {
    let (a, b) = (try side(left), try side(right))
    if isDate(a) { return try date(a, sign, b, at: (left.start, right.start)) }
    if isDate(b) {
      throw error(.typeMismatch, "A date may stand before '+' or '-', with seconds behind.", at: right.start)
    }
    if sign == .add, isText(a), isText(b) {
      let texts = (try typed(a, at: left.start).0, try typed(b, at: right.start).0)
      return .typed(.computed(.arithmetic(.concatenate, texts.0, texts.1)), .text)
    }
    let sides = try numbers(a, b, at: (left.start, right.start))
    if sign.isOfBits && sides.2 != .integer {
      throw error(
        .typeMismatch, "This is \(sides.2.name); only whole numbers have bits.", at: left.start)
    }
    return .typed(.computed(.arithmetic(sign, sides.0, sides.1)), sides.2)
  }

  /// Converts both sides to numbers. A constant takes the type of the other side.
  private mutating func numbers(
    _ a: FormatSide, _ b: FormatSide, at starts: (Int, Int)
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    let result: (Operand, Operand, FormatType)
    switch (a, b) {
    case (.typed(let x, let left), .typed(let y, let right)):
      try expectNumber(left, at: starts.0)
      try expectNumber(right, at: starts.1)
      return (x, y, Self.wider(left, right))
    case (.typed(let x, .integer), _) where isFraction(b):
      return (x, try typed(b, at: starts.1).0, .real)
    case (_, .typed(let y, .integer)) where isFraction(a):
      return (try typed(a, at: starts.0).0, y, .real)
    case (.number, .number):
      let (left, right) = (try typed(a, at: starts.0), try typed(b, at: starts.1))
      return (left.0, right.0, Self.wider(left.1, right.1))
    default: result = try unified(a, b, at: starts)
    }
    try expectNumber(result.2, at: starts.0)
    return result
  }

  /// Whether a constant makes the result with an integer a real, even if its value is whole: `stars / 2.0`.
  private func isFraction(_ side: FormatSide) -> Bool {
    switch side {
    case .number(let digits): Int64(digits) == nil
    case .argument(.value(.real, .real)): true
    default: false
    }
  }

  static func wider(_ a: FormatType, _ b: FormatType) -> FormatType {
    a == .real || b == .real ? .real : a == .decimal || b == .decimal ? .decimal : .integer
  }

  func expectNumber(_ type: FormatType, at start: Int) throws(PredicateFormatError) {
    guard type.isNumber else { throw error(.typeMismatch, "This is \(type.name); a number is needed.", at: start) }
  }

  private mutating func numeric(_ node: FormatNode) throws(PredicateFormatError) -> (Operand, FormatType) {
    let (operand, type) = try typed(try side(node), at: node.start)
    try expectNumber(type, at: node.start)
    return (operand, type)
  }

  private func isText(_ side: FormatSide) -> Bool {
    switch side {
    case .typed(_, .text), .text, .argument(.value(_, .text)): true
    default: false
    }
  }

  private func isDate(_ side: FormatSide) -> Bool {
    switch side {
    case .typed(_, .date), .argument(.value(_, .date)): true
    default: false
    }
  }

  /// A date plus or minus seconds is a date.
  private mutating func date(
    _ date: FormatSide, _ sign: ArithmeticOperator, _ seconds: FormatSide, at starts: (Int, Int)
  ) throws(PredicateFormatError) -> FormatSide {
    guard sign == .add || sign == .subtract else {
      throw error(.typeMismatch, "Seconds can be added to a date or subtracted, and nothing else.", at: starts.0)
    }
    let (start, _) = try typed(date, at: starts.0)
    let (operand, type) = try typed(seconds, at: starts.1)
    guard type.isNumber else {
      throw error(.typeMismatch, "This is \(type.name); a number of seconds is needed.", at: starts.1)
    }
    return .typed(.computed(.arithmetic(sign, start, .computed(.function(.microseconds, operand)))), .date)
  }
}

extension ArithmeticOperator {
  var isOfBits: Bool {
    switch self {
    case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight: true
    case .add, .subtract, .multiply, .divide, .power, .remainder, .concatenate: false
    }
  }
}
