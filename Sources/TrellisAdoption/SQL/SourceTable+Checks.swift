extension SourceTable {
  /// Adds a condition as `CHECK (…)`.
  package mutating func addCheck(_ text: String) { checks.append(Self.condition(text)) }

  /// Adds the condition of a domain, in which the value of a column is called VALUE.
  package mutating func addCheck(ofDomain text: String, of column: String) {
    let tokens = SQLScanner.tokens(Self.condition(text)).map { $0.isWord("VALUE") ? .word(column, isQuoted: true) : $0 }
    checks.append(tokens.map(\.spelling).joined(separator: " "))
  }

  /// The text in the parentheses, without words such as NOT VALID after them.
  private static func condition(_ text: String) -> String {
    guard let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close else { return text }
    return String(text[text.index(after: open)..<close])
  }
}
