/// Paths: names after points, and what stands in brackets behind them.
extension FormatParser {
  /// What follows the start of a path.
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

  /// A name behind a point.
  private mutating func named() throws(PredicateFormatError) -> [FormatPath.Step] {
    let isOperator = try take("@")
    let start = start
    // After a point every word is a name, keywords too.
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

  /// `[SIZE]`, `[FIRST]`, `[LAST]`, `[2]`, and a name in quotes.
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

  /// The names of a key path that an argument holds. They are names and nothing else, whatever the text is.
  static func steps(_ names: String, _ start: Int) -> [FormatPath.Step] {
    names.split(separator: ".", omittingEmptySubsequences: false).map { name in
      name.hasPrefix("@")
        ? FormatPath.Step(name: String(name.dropFirst()), isOperator: true, start: start)
        : FormatPath.Step(name: String(name), isOperator: false, start: start)
    }
  }
}
