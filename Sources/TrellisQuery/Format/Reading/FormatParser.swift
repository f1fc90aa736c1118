/// Parses a format to ``FormatNode``, which the checker then resolves in a model.
///
/// Each operator has a rank and one function parses all ranks, so that a nesting level takes little stack.
struct FormatParser {
  /// The maximum length of a format, in bytes of UTF-8.
  static let lengthLimit = 100_000
  /// The maximum nesting depth of a format.
  static let depthLimit = 200

  private var lexer: FormatLexer
  private(set) var token: FormatToken = .end
  private(set) var start = 0
  private var arguments: FormatArguments
  private var depth = 0
  /// Whether arguments are key paths, which determine the shape of the predicate.
  private(set) var readKeyPaths = false

  init(_ text: String, _ arguments: FormatArguments) {
    lexer = FormatLexer(text)
    self.arguments = arguments
  }

  /// - Throws: ``PredicateFormatError``.
  /// - Complexity: linear in the text.
  mutating func parse() throws(PredicateFormatError) -> FormatNode {
    guard lexer.bytes.count <= Self.lengthLimit else {
      throw error(.tooLong, "The format is longer than \(Self.lengthLimit) bytes; bind long values with %@.", at: 0)
    }
    try advance()
    let node = try expression(.or)
    guard token == .end else { throw unexpected("'AND', 'OR' or the end") }
    try arguments.finish(lexer)
    return node
  }

  // MARK: Tokens

  mutating func advance() throws(PredicateFormatError) { (token, start) = try lexer.next() }

  func error(_ code: PredicateFormatError.Code, _ message: String, at offset: Int) -> PredicateFormatError {
    lexer.error(code, message, at: offset)
  }

  func unexpected(_ expected: String) -> PredicateFormatError {
    let found = token == .end ? "the format ends" : "there is something else"
    return error(.unexpected, "Expected \(expected), but \(found) here.", at: start)
  }

  mutating func take(_ sign: String) throws(PredicateFormatError) -> Bool {
    guard token == .sign(sign) else { return false }
    try advance()
    return true
  }

  mutating func expect(_ sign: String) throws(PredicateFormatError) {
    guard try take(sign) else { throw unexpected("'\(sign)'") }
  }

  var keyword: String? {
    if case .name(let name, isEscaped: false) = token { name.lowercased() } else { nil }
  }

  mutating func argument(_ directive: String) throws(PredicateFormatError) -> (FormatArgument, Int) {
    if directive == "K" { readKeyPaths = true }
    return try arguments.next(directive, at: start, lexer)
  }

  // MARK: Operators

  enum Rank: Int, Comparable {
    case or, and, not, comparison, bitOr, bitXor, bitAnd, shift, sum, product, power, operand

    /// The lowest rank of a value.
    static let value = Rank.bitOr

    static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
  }

  private var junction: Rank? {
    if token == .sign("&&") || keyword == "and" { return .and }
    if token == .sign("||") || keyword == "or" { return .or }
    return nil
  }

  private var arithmetic: (sign: ArithmeticOperator, rank: Rank)? {
    guard case .sign(let sign) = token else { return nil }
    return switch sign {
    case "+": (.add, .sum)
    case "-": (.subtract, .sum)
    case "*": (.multiply, .product)
    case "/": (.divide, .product)
    case "**": (.power, .power)
    case "&": (.bitAnd, .bitAnd)
    case "|": (.bitOr, .bitOr)
    case "^": (.bitXor, .bitXor)
    case "<<": (.shiftLeft, .shift)
    case ">>": (.shiftRight, .shift)
    default: nil
    }
  }

  /// Parses an expression of operators with this rank or higher.
  mutating func expression(_ least: Rank) throws(PredicateFormatError) -> FormatNode {
    depth += 1
    guard depth <= Self.depthLimit else { throw tooDeep() }
    let before = depth
    var left = try prefixed(least)
    while true {
      if let junction, junction >= least {
        left = try joined(left, junction)
      } else if let (sign, rank) = arithmetic, rank >= least {
        // A chain of operators is a tree as deep as the chain is long.
        depth += 1
        guard depth <= Self.depthLimit else { throw tooDeep() }
        try advance()
        let next = try expression(Rank(rawValue: rank.rawValue + 1) ?? .operand)
        left = FormatNode(content: .arithmetic(sign, left, next), start: left.start)
      } else if least <= .comparison, let compared = try comparison(left, nil) {
        left = compared
      } else {
        break
      }
    }
    depth = before - 1
    return left
  }

  private func tooDeep() -> PredicateFormatError {
    error(.tooDeep, "The format is nested deeper than \(Self.depthLimit) levels; use a list with IN.", at: start)
  }

  private mutating func joined(_ first: FormatNode, _ junction: Rank) throws(PredicateFormatError) -> FormatNode {
    var terms = [first]
    while self.junction == junction {
      try advance()
      terms.append(try expression(junction == .and ? .not : .and))
    }
    return FormatNode(content: junction == .and ? .and(terms) : .or(terms), start: first.start)
  }

  /// Parses NOT, a quantifier, or an operand.
  private mutating func prefixed(_ least: Rank) throws(PredicateFormatError) -> FormatNode {
    let start = start
    if token == .sign("!") || keyword == "not" {
      guard least <= .not else { throw unexpected("a value") }
      try advance()
      return FormatNode(content: .not(try expression(.not)), start: start)
    }
    if let quantifier = Self.quantifiers[keyword ?? ""] {
      guard least <= .not else { throw unexpected("a value") }
      try advance()
      return try quantified(quantifier, start)
    }
    return try operand()
  }

  private static let quantifiers: [String: Quantifier] = ["any": .any, "some": .any, "all": .all, "none": .none]

  private mutating func quantified(_ quantifier: Quantifier, _ start: Int) throws(PredicateFormatError) -> FormatNode {
    if try take("(") {
      let path = try expression(.value)
      if try take(",") {
        let (variable, condition) = try bound()
        return FormatNode(content: .quantified(quantifier, path, variable: variable, condition), start: start)
      }
      try expect(")")
      guard let node = try comparison(path, quantifier) else { throw unexpected("a comparison") }
      return node
    }
    guard let node = try comparison(try expression(.value), quantifier) else { throw unexpected("a comparison") }
    return node
  }

  /// Parses `$variable, condition)`.
  mutating func bound() throws(PredicateFormatError) -> (String, FormatNode) {
    guard case .variable(let variable) = token else { throw unexpected("a variable such as $x") }
    try advance()
    try expect(",")
    let condition = try expression(.or)
    try expect(")")
    return (variable, condition)
  }
}
