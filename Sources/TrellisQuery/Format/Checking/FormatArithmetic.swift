import TrellisSchema

/// Arithmetic between numbers, and between a date and seconds.
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
    case .add, .subtract, .multiply, .divide, .power, .remainder: false
    }
  }
}
