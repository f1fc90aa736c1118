// Spellings of SQL, of Swift and of other query languages. Each is an error, and its message names the spelling here.

extension FormatParser {
  /// The error for what follows a complete value or condition, if another language writes it there.
  func foreignContinuation() -> PredicateFormatError? {
    let word = keyword ?? ""
    if token == .sign("(") {
      return error(
        .unexpected,
        "A format has no methods; write an operator, as in content CONTAINS 'a', or a function, length(content).",
        at: start)
    }
    guard let way = Self.foreignWords[word] else { return misspeltOperator() }
    return error(.unexpected, "'\(word.uppercased())' is not known here; \(way)", at: start)
  }

  /// The error for a word that resembles an operator; nil for every other token.
  private func misspeltOperator() -> PredicateFormatError? {
    guard let keyword, !FormatKeywords.all.contains(keyword) else { return nil }
    let operators = FormatKeywords.searches.map(\.spelling.word) + ["IN", "BETWEEN", "AND", "OR"]
    guard let meant = NearestName.closest(to: keyword, among: operators) else { return nil }
    return error(
      .unexpected, "'\(keyword.uppercased())' is no operator; did you mean '\(meant)'?", at: start, suggestion: meant)
  }

  private static let foreignWords = [
    "is": "write '== NIL' or '!= NIL', or compare with TRUE or FALSE by '=='.",
    "ilike": "write LIKE[c], or CONTAINS[c] for a part of a text.",
    "glob": "write LIKE.", "regexp": "write MATCHES.", "rlike": "write MATCHES.", "similar": "write MATCHES.",
    "startswith": "write BEGINSWITH.", "hasprefix": "write BEGINSWITH.", "hassuffix": "write ENDSWITH.",
    "equals": "write '=='.", "mod": "write modulus:by:(a, b).",
    "order": "sort the request, as in sorted { $0.createdAt }.",
    "sort": "sort the request, as in sorted { $0.createdAt }.",
    "limit": "limit the request, as in limit(10).", "offset": "skip with the request, as in offset(10).",
    "group": "use grouped of the context.",
    "where": "a format is the condition alone, without what stands before WHERE.",
  ]

  /// The error for a list in other brackets.
  func listInBraces(at offset: Int) -> PredicateFormatError {
    error(.unexpected, "A list is written in braces, as in {'a', 'b'}.", at: offset)
  }

  /// The error for what begins no value, if another language writes a value so.
  func foreignValue() -> PredicateFormatError? {
    switch token {
    case .sign("["): listInBraces(at: start)
    case .sign(":"), .sign("@"):
      error(.unexpected, "A value is bound with %@ or an interpolation, and a variable is written $name.", at: start)
    case .sign("."): error(.unexpected, "The case of an enum is written in quotes, as in 'happy'.", at: start)
    default: nil
    }
  }
}

extension FormatChecker {
  /// The advice for a step that leads nowhere behind a to-many relationship or an attribute; nil if it is no known
  /// habit.
  func advice(on step: FormatPath.Step, after walk: PathWalk, _ path: FormatPath) -> String? {
    guard let place = path.steps.firstIndex(where: { $0.start == step.start }), place > 0 else { return nil }
    let owner = path.steps[..<place].map(\.name).joined(separator: ".")
    let name = step.name.lowercased()
    if walk.isWhole {
      switch name {
      case "count", "size", "length": return "write '\(owner).@count'."
      case "isempty": return "write '\(owner).@count == 0'."
      case "first", "last": return "write '\(owner)[\(name.uppercased())]'."
      case "sum", "min", "max", "avg", "average":
        return "write '\(owner).@\(name == "average" ? "avg" : name)' and the member's property behind it."
      default: return nil
      }
    }
    switch name {
    case "count", "length": return "write 'length(\(owner))'."
    case "isempty": return "write '\(owner) == \"\"'."
    case "lowercased", "lowercasestring", "lower": return "write 'lowercase(\(owner))'."
    case "uppercased", "uppercasestring", "upper": return "write 'uppercase(\(owner))'."
    case "rawvalue": return "compare '\(owner)' with a case in quotes."
    default: return nil
    }
  }

  /// Resolves a side. A name that the entity does not have is a constant without quotes if the other side has such a
  /// case, or is a text and has no name like it.
  mutating func placed(
    _ node: FormatNode, beside other: FormatSide
  ) throws(PredicateFormatError) -> (FormatSide, argument: Int?) {
    do {
      return try placed(node)
    } catch {
      guard error.code == .unknownProperty, let type = other.type, let name = Self.loneName(in: node, at: error.offset)
      else { throw error }
      switch type {
      case .enumeration(let enumeration?):
        let cases = model.enumeration(named: enumeration)?.cases.map(\.name) ?? []
        guard let meant = cases.first(where: { $0 == name }) ?? NearestName.closest(to: name, among: cases) else {
          throw error
        }
        throw self.error(
          .unknownProperty, "A case of \(enumeration) is written in quotes: '\(meant)'.", at: error.offset,
          suggestion: "'\(meant)'")
      case .text where error.suggestion == nil:
        throw self.error(
          .unknownProperty, "\(error.message) A text is written in quotes: '\(name)'.", at: error.offset)
      case .date
      where error.suggestion == nil
        && ["now", "today", "current_date", "current_timestamp"].contains(name.lowercased()):
        throw self.error(
          .unknownProperty, "The present moment is written now().", at: error.offset, suggestion: "now()")
      default: throw error
      }
    }
  }

  /// The name of a path of one step at a position, which may be an element of a list.
  private static func loneName(in node: FormatNode, at offset: Int) -> String? {
    switch node.content {
    case .path(let path) where path.variable == nil && path.steps.count == 1 && path.steps[0].start == offset:
      path.steps[0].name
    case .list(let elements): elements.lazy.compactMap { loneName(in: $0, at: offset) }.first
    default: nil
    }
  }

  /// Functions of other languages, each with the spelling here.
  static let foreignFunctions = [
    "lower": "lowercase(…)", "lcase": "lowercase(…)", "upper": "uppercase(…)", "ucase": "uppercase(…)",
    "len": "length(…)", "char_length": "length(…)", "character_length": "length(…)", "strlen": "length(…)",
    "getdate": "now()", "today": "now()", "sysdate": "now()", "date": "CAST('2026-01-31', 'NSDate')",
    "datetime": "CAST('2026-01-31T09:30:00Z', 'NSDate')", "to_date": "CAST('2026-01-31', 'NSDate')",
    "year": "two comparisons with the first moments of this year and the next",
    "month": "two comparisons with the first moments of this month and the next",
    "day": "two comparisons with the first moments of this day and the next",
    "strftime": "two comparisons with dates", "extract": "two comparisons with dates",
    "coalesce": "TERNARY(a == NIL, b, a)", "ifnull": "TERNARY(a == NIL, b, a)", "nvl": "TERNARY(a == NIL, b, a)",
    "isnull": "'== NIL'", "if": "TERNARY(condition, a, b)", "iif": "TERNARY(condition, a, b)",
    "mod": "modulus:by:(a, b)", "pow": "a ** b", "power": "a ** b", "concat": "a + b",
    "exists": "'.@count > 0' or ANY", "startswith": "a BEGINSWITH b", "contains": "a CONTAINS b",
    "begins_with": "a BEGINSWITH b", "instr": "a CONTAINS b", "charindex": "a CONTAINS b",
  ]
}

extension FormatChecker {
  /// Resolves the left side, which may be a constant without quotes beside a path on the right.
  mutating func placedLeft(
    of comparison: FormatComparison
  ) throws(PredicateFormatError) -> (FormatSide, argument: Int?) {
    do {
      return try placed(comparison.left)
    } catch {
      guard error.code == .unknownProperty, Self.loneName(in: comparison.left, at: error.offset) != nil,
        case .path = comparison.right.content, let right = try? side(comparison.right)
      else { throw error }
      return try placed(comparison.left, beside: right)
    }
  }
}
