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
