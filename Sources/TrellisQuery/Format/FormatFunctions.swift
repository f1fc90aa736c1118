import TrellisSchema

/// Arithmetic and functions.
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

  private mutating func arithmetic(
    _ sign: ArithmeticOperator, _ left: FormatNode, _ right: FormatNode
  ) throws(PredicateFormatError) -> FormatSide {
    let (a, b) = (try side(left), try side(right))
    if isDate(a) { return try date(a, sign, b, at: (left.start, right.start)) }
    if isDate(b) {
      throw error(.typeMismatch, "A date may stand before '+' or '-', with seconds behind.", at: right.start)
    }
    let sides = try numbers(a, b, at: (left.start, right.start))
    return .typed(.computed(.arithmetic(sign, sides.0, sides.1)), sides.2)
  }

  /// Two numbers; a constant takes the type of what is beside it.
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

  /// A constant that makes a real of a whole number beside it, even when it is whole: `stars / 2.0`.
  private func isFraction(_ side: FormatSide) -> Bool {
    switch side {
    case .number(let digits): Int64(digits) == nil
    case .argument(.value(.real, .real)): true
    default: false
    }
  }

  private static func wider(_ a: FormatType, _ b: FormatType) -> FormatType {
    a == .real || b == .real ? .real : a == .decimal || b == .decimal ? .decimal : .integer
  }

  private func expectNumber(_ type: FormatType, at start: Int) throws(PredicateFormatError) {
    guard type.isNumber else { throw error(.typeMismatch, "This is \(type.name); a number is needed.", at: start) }
  }

  private mutating func numeric(_ node: FormatNode) throws(PredicateFormatError) -> (Operand, FormatType) {
    let (operand, type) = try typed(try side(node), at: node.start)
    try expectNumber(type, at: node.start)
    return (operand, type)
  }

  private func isDate(_ side: FormatSide) -> Bool {
    switch side {
    case .typed(_, .date), .argument(.value(_, .date)): true
    default: false
    }
  }

  /// A date and seconds give a date.
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

  // MARK: Functions

  private static let functions: [String: ValueFunction] = [
    "lowercase": .lowercase, "uppercase": .uppercase, "length": .length, "abs": .absolute, "ceiling": .ceiling,
    "ceil": .ceiling, "floor": .floor, "trunc": .truncated, "round": .rounded, "lowercasestring": .lowercase,
    "uppercasestring": .uppercase, "lowercased": .lowercase, "uppercased": .uppercase,
  ]

  private static let signs: [String: ArithmeticOperator] = [
    "add:to": .add, "from:subtract": .subtract, "multiply:by": .multiply, "divide:by": .divide,
    "raise:topower": .power, "raise:tothepower": .power,
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
    switch plain {
    case "cast": return try cast(arguments, start)
    case "function": return try function(arguments, start)
    default: throw unknown(name, plain, start)
    }
  }

  private func unknown(_ name: String, _ plain: String, _ start: Int) -> PredicateFormatError {
    let known =
      Self.functions.keys.sorted() + Self.signs.keys.sorted() + Self.collections + ["now", "cast", "subquery"]
    let closest = NearestName.closest(to: plain, among: known)
    let hint =
      closest.map { "; did you mean '\($0)'?" }
      ?? "; there are now, lowercase, uppercase, length, abs, ceiling, floor, round, trunc, count, sum, average, min, max, CAST and SUBQUERY."
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
    default:
      try expectNumber(type, at: node.start)
      return .typed(.computed(.function(function, operand)), type)
    }
  }

  /// `sum(images.size)` and `count(images)`, which are `images.@sum.size` and `images.@count`.
  private mutating func collection(
    _ name: String, _ arguments: [FormatNode], _ start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    if arguments.count == 3 { return try collection(name, over: arguments) }
    let node = try only(arguments, start)
    guard case .path(var path) = node.content else {
      throw error(.notMany, "'\(name)' needs a path through a to-many relationship.", at: node.start)
    }
    path.steps.append(FormatPath.Step(name: name, isOperator: true, start: node.start))
    let resolved = try resolve(path, at: node.start)
    return .typed(resolved.operand, resolved.type)
  }

  /// `sum(images, $image, $image.size * 2)`: as SUBQUERY binds its variable.
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

  // MARK: Casts

  private mutating func cast(_ arguments: [FormatNode], _ start: Int) throws(PredicateFormatError) -> FormatSide {
    guard arguments.count == 2, case .text(let target) = arguments[1].content else {
      throw error(
        .wrongArgument, "CAST needs a value and a type in quotes, as in CAST('2026-01-31', 'NSDate').", at: start)
    }
    let value = try side(arguments[0])
    let place = arguments[0].start
    switch target.lowercased() {
    case "nsdate", "date": return try date(value, at: place)
    case "nsdecimalnumber", "decimal":
      if case .number(let digits) = value, let text = DecimalText.canonical(digits) {
        return .typed(.value(.text(text)), .decimal)
      }
      return try converted(value, .decimal, .decimal, at: place)
    case "nsnumber", "double": return try converted(value, .real, .real, at: place)
    case "nsdata", "data": return .typed(.value(.blob(try decoded(value, "Base64", Base64Text.bytes, place))), .data)
    case "nsuuid", "uuid": return .typed(.value(.blob(try decoded(value, "UUID", UUIDText.bytes, place))), .uuid)
    case "objectid", "nsmanagedobjectid":
      guard case .number(let digits) = value, let key = Int64(digits) else {
        throw error(.invalidConstant, "An object's key is a whole number.", at: place)
      }
      return .typed(.value(.integer(key)), .object(nil))
    default:
      throw error(
        .unknownFunction, "There is no such type to cast to; there are 'NSDate', 'Decimal', 'Double', 'Data', 'UUID'.",
        at: arguments[1].start)
    }
  }

  private func date(_ value: FormatSide, at start: Int) throws(PredicateFormatError) -> FormatSide {
    switch value {
    case .typed(_, .date), .argument(.value(_, .date)): return value
    case .text(let text), .argument(.value(.text(let text), .text)):
      if let micros = DateText.microseconds(text) { return .typed(.value(.integer(micros)), .date) }
      throw error(
        .invalidConstant, "This is no date; dates are written 2026-01-31 or 2026-01-31T09:30:00Z.", at: start)
    case .number(let digits):
      // As Core Data prints dates: seconds since 2001.
      let sinceReference = ValueArithmetic.apply(
        .microseconds, DecimalText.canonical(digits).map { .text($0) } ?? .null)
      let micros = ValueArithmetic.compute(.add, sinceReference, .integer(978_307_200_000_000))
      if case .integer = micros { return .typed(.value(micros), .date) }
      throw error(.invalidConstant, "This number of seconds is too large for a date.", at: start)
    default: throw error(.typeMismatch, "Only a text or seconds since 2001 can be made a date.", at: start)
    }
  }

  private func converted(
    _ value: FormatSide, _ function: ValueFunction, _ type: FormatType, at start: Int
  ) throws(PredicateFormatError) -> FormatSide {
    let (operand, given) = try typed(value, at: start)
    try expectNumber(given, at: start)
    if given == type { return value }
    if case .value(let constant) = operand { return .typed(.value(ValueArithmetic.apply(function, constant)), type) }
    return .typed(.computed(.function(function, operand)), type)
  }

  private func decoded(
    _ value: FormatSide, _ what: String, _ decode: (String) -> [UInt8]?, _ start: Int
  ) throws(PredicateFormatError) -> [UInt8] {
    if case .text(let text) = value, let bytes = decode(text) { return bytes }
    throw error(.invalidConstant, "This is no \(what).", at: start)
  }
}
