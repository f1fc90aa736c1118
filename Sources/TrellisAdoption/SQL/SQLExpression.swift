import TrellisForeignFiles
/// An expression of SQL, as far as conditions of columns need it.
indirect enum SQLExpression: Hashable {
  case column(String, isQuoted: Bool)
  case literal(ForeignValue)
  case call(String, [SQLExpression])
  /// Conditions of which all, or any, hold.
  case all([SQLExpression])
  case any([SQLExpression])
  /// An operator in capitals between two operands.
  case binary(String, SQLExpression, SQLExpression)
  case not(SQLExpression)
  case isNull(SQLExpression)
  case among(SQLExpression, [SQLExpression])
  case list([SQLExpression])
  /// An operand that is compared by a collation, whose name is in capitals.
  case collated(SQLExpression, String)

  /// - Returns: nil for a text that is no expression, or one with words that are not known here.
  init?(_ text: String) {
    var parser = SQLExpressionParser(SQLScanner.tokens(text))
    guard let expression = parser.whole() else { return nil }
    self = expression
  }

  init?(_ tokens: [SQLToken]) {
    var parser = SQLExpressionParser(tokens)
    guard let expression = parser.whole() else { return nil }
    self = expression
  }
}

/// Reads expressions by precedence: OR, AND, NOT, comparisons, sums, products, values.
private struct SQLExpressionParser {
  private let tokens: [SQLToken]
  private var place = 0
  private var depth = 0

  private static let mostNesting = 100

  init(_ tokens: [SQLToken]) {
    self.tokens = tokens.filter { if case .comment = $0 { false } else { true } }
  }

  mutating func whole() -> SQLExpression? {
    guard let found = disjunction(), place == tokens.count else { return nil }
    return found
  }

  private var token: SQLToken? { place < tokens.count ? tokens[place] : nil }

  private mutating func take(word: String) -> Bool {
    guard token?.isWord(word) == true else { return false }
    place += 1
    return true
  }

  private mutating func take(_ symbol: String) -> Bool {
    guard token?.isSymbol(symbol) == true else { return false }
    place += 1
    return true
  }

  private mutating func disjunction() -> SQLExpression? {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.mostNesting, let first = conjunction() else { return nil }
    var members = [first]
    while take(word: "OR") {
      guard let next = conjunction() else { return nil }
      members.append(next)
    }
    return members.count == 1 ? first : .any(members)
  }

  private mutating func conjunction() -> SQLExpression? {
    guard let first = negation() else { return nil }
    var members = [first]
    while take(word: "AND") {
      guard let next = negation() else { return nil }
      members.append(next)
    }
    return members.count == 1 ? first : .all(members)
  }

  private mutating func negation() -> SQLExpression? {
    var count = 0
    while take(word: "NOT") { count += 1 }
    guard let operand = comparison() else { return nil }
    return count.isMultiple(of: 2) ? operand : .not(operand)
  }

  private static let comparisons = ["=", "==", "<>", "!=", "<=", ">=", "<", ">"]

  private mutating func comparison() -> SQLExpression? {
    guard var left = sum() else { return nil }
    var count = 0
    while let found = nextComparison(of: left) {
      count += 1
      guard let found, count < Self.mostNesting else { return nil }
      left = found
    }
    return left
  }

  /// - Returns: nil if no comparison follows; nil inside for one that cannot be read.
  private mutating func nextComparison(of left: SQLExpression) -> SQLExpression?? {
    for symbol in Self.comparisons where take(symbol) {
      if take(word: "ANY") || take(word: "SOME") {
        guard symbol == "=", let list = parenthesized(), case .list(let values) = list else { return .some(nil) }
        return .among(left, values)
      }
      return .some(sum().map { .binary(symbol == "==" ? "=" : symbol == "!=" ? "<>" : symbol, left, $0) })
    }
    if take(word: "IS") {
      let isNegated = take(word: "NOT")
      if take(word: "NULL") { return isNegated ? .not(.isNull(left)) : .isNull(left) }
      return .some(sum().map { isNegated ? .binary("<>", left, $0) : .binary("=", left, $0) })
    }
    if take(word: "ISNULL") { return .isNull(left) }
    if take(word: "NOTNULL") { return .not(.isNull(left)) }
    let isNegated = take(word: "NOT")
    if take(word: "BETWEEN") {
      guard let low = sum(), take(word: "AND"), let high = sum() else { return .some(nil) }
      let both = SQLExpression.all([.binary(">=", left, low), .binary("<=", left, high)])
      return isNegated ? .not(both) : both
    }
    if take(word: "IN") {
      guard let list = parenthesized() else { return .some(nil) }
      let values = if case .list(let values) = list { values } else { [list] }
      return isNegated ? .not(.among(left, values)) : .among(left, values)
    }
    for word in ["LIKE", "GLOB", "REGEXP", "MATCH", "ILIKE"] where take(word: word) {
      guard let pattern = sum() else { return .some(nil) }
      return isNegated ? .not(.binary(word, left, pattern)) : .binary(word, left, pattern)
    }
    return isNegated ? .some(nil) : nil
  }

  private mutating func parenthesized() -> SQLExpression? {
    guard take("(") else { return nil }
    return closeList()
  }

  /// The rest of a list in parentheses: an expression, or several.
  private mutating func closeList() -> SQLExpression? {
    guard let first = disjunction() else { return nil }
    var members = [first]
    while take(",") {
      guard let next = disjunction() else { return nil }
      members.append(next)
    }
    guard take(")") else { return nil }
    return withCasts(members.count == 1 ? members[0] : .list(members))
  }

  private mutating func sum() -> SQLExpression? { chain(["+", "-", "||"]) { $0.product() } }

  private mutating func product() -> SQLExpression? { chain(["*", "/", "%"]) { $0.value() } }

  private mutating func chain(
    _ symbols: [String], _ operand: (inout SQLExpressionParser) -> SQLExpression?
  ) -> SQLExpression? {
    guard var left = operand(&self) else { return nil }
    var count = 0
    while let symbol = symbols.first(where: { token?.isSymbol($0) == true }) {
      place += 1
      count += 1
      guard count < Self.mostNesting, let right = operand(&self) else { return nil }
      left = .binary(symbol, left, right)
    }
    return left
  }

  private mutating func value() -> SQLExpression? {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.mostNesting, let token else { return nil }
    place += 1
    switch token {
    case .text(let text): return withCasts(.literal(.text(text)))
    case .number(let text): return Self.number(text).flatMap { withCasts(.literal($0)) }
    case .symbol("("): return closeList()
    case .symbol("-"): return value().flatMap(Self.negative)
    case .symbol("+"): return value()
    case .word("ARRAY", isQuoted: false): return array()
    case .word(let word, let isQuoted): return named(word, isQuoted).flatMap { withCasts($0) }
    default: return nil
    }
  }

  private static func number(_ text: String) -> ForeignValue? {
    if text.hasPrefix("0x") { return Int64(text.dropFirst(2), radix: 16).map { .integer($0) } }
    return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) }
  }

  private static func negative(_ operand: SQLExpression) -> SQLExpression? {
    switch operand {
    case .literal(.integer(let value)): .literal(.integer(0 &- value))
    case .literal(.real(let value)): .literal(.real(-value))
    default: .binary("-", .literal(.integer(0)), operand)
    }
  }

  private mutating func array() -> SQLExpression? {
    guard take("[") else { return nil }
    var members: [SQLExpression] = []
    repeat {
      guard let next = disjunction() else { return nil }
      members.append(next)
    } while take(",")
    guard take("]") else { return nil }
    return withCasts(.list(members))
  }

  private mutating func named(_ word: String, _ isQuoted: Bool) -> SQLExpression? {
    if !isQuoted {
      switch word.uppercased() {
      case "NULL": return .literal(.null)
      case "TRUE": return .literal(.integer(1))
      case "FALSE": return .literal(.integer(0))
      case "CAST": return cast()
      case "CASE", "SELECT", "EXISTS": return nil
      default: break
      }
    }
    if take("(") {
      if take(")") { return .call(word.lowercased(), []) }
      if take("*") { return take(")") ? .call(word.lowercased(), []) : nil }
      guard let arguments = closeList() else { return nil }
      if case .list(let arguments) = arguments { return .call(word.lowercased(), arguments) }
      return .call(word.lowercased(), [arguments])
    }
    // A name with that of its table before it.
    if take(".") {
      guard case .word(let name, let isQuoted)? = token else { return nil }
      place += 1
      return .column(name, isQuoted: isQuoted)
    }
    return .column(word, isQuoted: isQuoted)
  }

  private mutating func cast() -> SQLExpression? {
    guard take("("), let operand = disjunction(), take(word: "AS") else { return nil }
    var open = 1
    while open > 0, let token {
      place += 1
      if token.isSymbol("(") { open += 1 }
      if token.isSymbol(")") { open -= 1 }
    }
    return open == 0 ? operand : nil
  }

  /// The operand of casts such as `::character varying(20)[]`, and of a collation.
  private mutating func withCasts(_ operand: SQLExpression) -> SQLExpression? {
    while true {
      if take("::") {
        guard case .word? = token else { return nil }
        skipType()
      } else if take(word: "COLLATE") {
        guard case .word(let name, _)? = token else { return nil }
        place += 1
        // Other collations are those of programs, and of languages, by which different texts differ.
        if ["NOCASE", "RTRIM"].contains(name.uppercased()) { return .collated(operand, name.uppercased()) }
      } else {
        return operand
      }
    }
  }

  private static let moreOfType = ["VARYING", "PRECISION", "WITH", "WITHOUT", "TIME", "ZONE"]

  private mutating func skipType() {
    place += 1
    while true {
      if let token, Self.moreOfType.contains(where: token.isWord) {
        place += 1
      } else if take(".") {
        place += 1
      } else if take("[") {
        while token != nil, !take("]") { place += 1 }
      } else if token?.isSymbol("(") == true {
        while token != nil, !take(")") { place += 1 }
      } else {
        return
      }
    }
  }
}
