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
    guard token == .end else { throw foreignContinuation() ?? unexpected("'AND', 'OR' or the end") }
    try arguments.finish(lexer)
    return node
  }

  // MARK: Tokens

  mutating func advance() throws(PredicateFormatError) { (token, start) = try lexer.next() }

  func error(
    _ code: PredicateFormatError.Code, _ message: String, at offset: Int, suggestion: String? = nil
  ) -> PredicateFormatError {
    lexer.error(code, message, at: offset, suggestion: suggestion)
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

// MARK: - Operands

/// Values: literals, lists, paths, functions, arguments.
extension FormatParser {
  mutating func operand() throws(PredicateFormatError) -> FormatNode {
    let start = start
    switch token {
    case .number(let digits): return try literal(.number(digits))
    case .text(let text): return try literal(.text(text))
    case .argument(let directive): return try argumentNode(directive)
    case .variable(let name):
      try advance()
      return try path(FormatPath(variable: name, steps: []), start)
    case .name(let name, let isEscaped): return try named(name, isEscaped)
    case .sign("("): return try group()
    case .sign("{"): return try list()
    case .sign("-"): return try negative()
    case .sign("~"):
      try advance()
      return FormatNode(content: .call("onesComplement", [try expression(.operand)]), start: start)
    case .sign("+"):
      try advance()
      return try expression(.operand)
    default: throw foreignValue() ?? unexpected("a value")
    }
  }

  private mutating func literal(_ content: FormatNode.Content) throws(PredicateFormatError) -> FormatNode {
    let node = FormatNode(content: content, start: start)
    try advance()
    return node
  }

  private mutating func group() throws(PredicateFormatError) -> FormatNode {
    let opening = start
    try advance()
    let inner = try expression(.or)
    if token == .sign(",") { throw listInBraces(at: opening) }
    if token != .sign(")"), let foreign = foreignContinuation() { throw foreign }
    try expect(")")
    return inner
  }

  private mutating func list() throws(PredicateFormatError) -> FormatNode {
    let start = start
    try advance()
    var elements: [FormatNode] = []
    if try take("}") { return FormatNode(content: .list([]), start: start) }
    repeat { elements.append(try expression(.value)) } while try take(",")
    guard try take("}") else { throw unexpected("',' or '}'") }
    return FormatNode(content: .list(elements), start: start)
  }

  private mutating func negative() throws(PredicateFormatError) -> FormatNode {
    let start = start
    try advance()
    let inner = try expression(.operand)
    if case .number(let digits) = inner.content {
      return FormatNode(
        content: .number(digits.hasPrefix("-") ? String(digits.dropFirst()) : "-" + digits), start: start)
    }
    return FormatNode(content: .negative(inner), start: start)
  }

  private mutating func argumentNode(_ directive: String) throws(PredicateFormatError) -> FormatNode {
    let start = start
    let (argument, number) = try argument(directive)
    try advance()
    guard directive == "K" else {
      if token == .sign(".") {
        throw error(
          .unsupported,
          "An argument has a value and no properties here; bind the property's value: name == %@, other.name.",
          at: self.start)
      }
      return FormatNode(content: .argument(argument, number), start: start)
    }
    guard case .value(.text(let names), _) = argument else {
      throw error(.wrongArgument, "%K stands for a key path, so its argument must be a text.", at: start)
    }
    return try path(FormatPath(variable: nil, steps: Self.steps(names, start)), start)
  }

  // MARK: Names

  private mutating func named(_ name: String, _ isEscaped: Bool) throws(PredicateFormatError) -> FormatNode {
    let start = start
    if !isEscaped {
      switch name.lowercased() {
      case "null", "nil": return try literal(.null)
      case "true", "yes": return try literal(.bool(true))
      case "false", "no": return try literal(.bool(false))
      case "truepredicate": return try literal(.constant(true))
      case "falsepredicate": return try literal(.constant(false))
      case "self":
        try advance()
        return try path(FormatPath(variable: nil, steps: []), start)
      case let word where word == "and" || word == "or" || Self.words[word] != nil:
        throw error(
          .unexpected, "Expected a value before '\(name)'; if a property has this name, write '#\(name)'.", at: start)
      default: break
      }
    }
    try advance()
    let selector = try selector(name)
    if try take("(") { return try call(selector, start) }
    guard selector == name else { throw unexpected("'('") }
    return try path(
      FormatPath(variable: nil, steps: [FormatPath.Step(name: name, isOperator: false, start: start)]), start)
  }

  /// Parses the name of a function, including colons: `modulus:by:`.
  private mutating func selector(_ name: String) throws(PredicateFormatError) -> String {
    var name = name
    while try take(":") {
      name += ":"
      if case .name(let next, isEscaped: false) = token {
        name += next
        try advance()
      }
    }
    return name
  }

  private mutating func call(_ name: String, _ start: Int) throws(PredicateFormatError) -> FormatNode {
    if name.lowercased() == "subquery" { return try subquery(start) }
    var arguments: [FormatNode] = []
    if name.lowercased() == "ternary" {
      arguments.append(try expression(.or))
      try expect(",")
    }
    if try !take(")") {
      repeat { arguments.append(try expression(.value)) } while try take(",")
      guard try take(")") else { throw unexpected("',' or ')'") }
    }
    return FormatNode(content: .call(name, arguments), start: start)
  }

  private mutating func subquery(_ start: Int) throws(PredicateFormatError) -> FormatNode {
    let members = try expression(.value)
    try expect(",")
    let (variable, condition) = try bound()
    guard token == .sign("."), try take("."), try take("@"), keyword == "count" else {
      throw unexpected("'.@count' after SUBQUERY")
    }
    try advance()
    return FormatNode(content: .subquery(members, variable: variable, condition), start: start)
  }
}

// MARK: - Comparisons

/// Comparisons of two values.
extension FormatParser {
  private static let signs: [String: ComparisonOperator] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
    ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
  ]

  private static let words: [String: FormatComparison.Relation] = FormatKeywords.searches.reduce(
    into: ["between": .between, "in": .isIn]
  ) { $0[$1.spelling.word.lowercased()] = .compare($1) }

  var relation: FormatComparison.Relation? {
    if case .sign(let sign) = token { return Self.signs[sign].map { .compare($0) } }
    return keyword.flatMap { Self.words[$0] }
  }

  /// Parses a comparison; returns nil if none follows.
  mutating func comparison(
    _ left: FormatNode, _ quantifier: Quantifier?
  ) throws(PredicateFormatError) -> FormatNode? {
    let isNegated = keyword == "not"
    if isNegated { try advance() }
    guard let relation else {
      if isNegated {
        if let foreign = foreignContinuation() { throw foreign }
        let words = FormatKeywords.searches.map(\.spelling.word)
        throw unexpected("IN, BETWEEN, \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "") after 'NOT'")
      }
      return nil
    }
    try advance()
    let options = try options()
    let right = try expression(.value)
    let comparison = FormatComparison(
      quantifier: quantifier, left: left, relation: relation, options: options, right: right)
    if self.relation != nil { throw unexpected("'AND' or 'OR' between two comparisons") }
    let node = FormatNode(content: .comparison(comparison), start: left.start)
    return isNegated ? FormatNode(content: .not(node), start: left.start) : node
  }

  private static let optionLetters: [Character: TextOptions] = [
    "c": .caseInsensitive, "d": .diacriticInsensitive, "n": .normalized,
    // Locale order applies to sorts. In a comparison `[l]` ignores case and diacritics.
    "l": [.caseInsensitive, .diacriticInsensitive],
  ]

  private mutating func options() throws(PredicateFormatError) -> TextOptions {
    let opening = start
    guard try take("[") else { return [] }
    var options: TextOptions = []
    guard let letters = keyword else {
      switch token {
      case .text, .number, .argument, .variable: throw listInBraces(at: opening)
      default: throw unexpected("some of the options c, d, n and l")
      }
    }
    for letter in letters {
      guard let option = Self.optionLetters[letter] else { throw unexpected("some of the options c, d, n and l") }
      options.formUnion(option)
    }
    try advance()
    try expect("]")
    return options
  }
}

// MARK: - Paths

/// Paths: dotted names, and indexes in brackets.
extension FormatParser {
  /// Parses the rest of a path after its start.
  mutating func path(_ path: FormatPath, _ start: Int) throws(PredicateFormatError) -> FormatNode {
    var path = path
    while true {
      if try take(".") {
        path.steps += try named()
      } else if token == .sign("[") {
        path.steps.append(try bracketed())
      } else {
        return FormatNode(content: .path(path), start: start)
      }
    }
  }

  /// Parses a name after a point.
  private mutating func named() throws(PredicateFormatError) -> [FormatPath.Step] {
    let isOperator = try take("@")
    let start = start
    // After a point every word is a name, including keywords.
    if case .name(let name, _) = token {
      try advance()
      return [FormatPath.Step(name: name, isOperator: isOperator, start: start)]
    }
    guard case .argument("K") = token, !isOperator else { throw unexpected("a property's name") }
    guard case .value(.text(let names), _) = try argument("K").0 else {
      throw error(.wrongArgument, "%K stands for a key path, so its argument must be a text.", at: start)
    }
    try advance()
    return Self.steps(names, start)
  }

  /// Parses `[SIZE]`, `[FIRST]`, `[LAST]`, `[2]`, or a quoted name in brackets.
  private mutating func bracketed() throws(PredicateFormatError) -> FormatPath.Step {
    let start = start
    try advance()
    let step: FormatPath.Step
    switch token {
    case .text(let name): step = FormatPath.Step(name: name, isOperator: false, start: start)
    case .number(let digits):
      guard let number = Int32(digits) else {
        throw error(.invalidNumber, "A place is a whole number from 0.", at: self.start)
      }
      step = FormatPath.Step(name: "", isOperator: false, start: start, place: .at(Int(number)))
    default:
      switch keyword {
      case "size": step = FormatPath.Step(name: "count", isOperator: true, start: start)
      case "first": step = FormatPath.Step(name: "", isOperator: false, start: start, place: .first)
      case "last": step = FormatPath.Step(name: "", isOperator: false, start: start, place: .last)
      default: throw unexpected("SIZE, FIRST, LAST, a number from 0 or a name in quotes")
      }
    }
    try advance()
    try expect("]")
    return step
  }

  /// The steps of a key path passed as an argument. Its text is always taken as names.
  static func steps(_ names: String, _ start: Int) -> [FormatPath.Step] {
    names.split(separator: ".", omittingEmptySubsequences: false).map { name in
      name.hasPrefix("@")
        ? FormatPath.Step(name: String(name.dropFirst()), isOperator: true, start: start)
        : FormatPath.Step(name: String(name), isOperator: false, start: start)
    }
  }
}
