/// Comparisons of two values.
extension FormatParser {
  private static let signs: [String: ComparisonOperator] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
    ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
  ]

  private static let words: [String: FormatComparison.Relation] = [
    "between": .between, "in": .isIn, "beginswith": .compare(.hasPrefix), "endswith": .compare(.hasSuffix),
    "contains": .compare(.contains), "like": .compare(.like), "matches": .compare(.matches),
    "matching": .compare(.matching),
  ]

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
        throw unexpected("IN, BETWEEN, CONTAINS, BEGINSWITH, ENDSWITH, LIKE, MATCHES or MATCHING after 'NOT'")
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
    guard try take("[") else { return [] }
    var options: TextOptions = []
    guard let letters = keyword else { throw unexpected("some of the options c, d, n and l") }
    for letter in letters {
      guard let option = Self.optionLetters[letter] else { throw unexpected("some of the options c, d, n and l") }
      options.formUnion(option)
    }
    try advance()
    try expect("]")
    return options
  }
}
