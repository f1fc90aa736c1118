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
    default: throw unexpected("a value")
    }
  }

  private mutating func literal(_ content: FormatNode.Content) throws(PredicateFormatError) -> FormatNode {
    let node = FormatNode(content: content, start: start)
    try advance()
    return node
  }

  private mutating func group() throws(PredicateFormatError) -> FormatNode {
    try advance()
    let inner = try expression(.or)
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
      case "and", "or", "in", "between", "beginswith", "endswith", "contains", "like", "matches", "matching":
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
