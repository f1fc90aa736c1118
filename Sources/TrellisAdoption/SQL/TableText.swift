/// What only the text of a CREATE TABLE tells: conditions, comments, collations, and the expressions of computed columns.
struct TableText {
  private(set) var checks: [String] = []
  private(set) var doc: String?
  private(set) var docs: [String: String] = [:]
  private(set) var generations: [String: String] = [:]
  /// The collations of columns that are not that of bytes.
  private(set) var collations: [String: String] = [:]

  /// - Parameter columns: The columns of the table. Keys of the results are their names.
  init(_ sql: String, columns: [String]) {
    let tokens = SQLScanner.tokens(sql)
    guard let open = tokens.firstIndex(where: { $0.isSymbol("(") }) else { return }
    // What SQLite keeps begins with CREATE, so a comment before the columns follows the name.
    let body = Array(tokens[(open + 1)...])
    var parts = Self.parts(body)
    // A comment after the parenthesis describes the table.
    if case .comment(let text, isTrailing: true)? = body.first, !parts[0].comments.isEmpty {
      doc = text.isEmpty ? nil : text
      if !text.isEmpty { parts[0].comments.removeFirst() }
    }
    for part in parts { read(part, columns) }
    if doc == nil,
      case .comment(let text, _)? = tokens[..<open].last(where: { if case .comment = $0 { true } else { false } }),
      !text.isEmpty
    {
      doc = text
    }
  }

  private struct Part {
    var tokens: [SQLToken] = []
    var comments: [String] = []
  }

  /// The definitions between the commas at the top level, each with the comments that belong to it: those on lines of
  /// their own before it, and one behind it on its line.
  private static func parts(_ body: [SQLToken]) -> [Part] {
    var parts: [Part] = []
    var part = Part()
    var depth = 0
    for token in body {
      switch token {
      case .comment(let text, let isTrailing):
        if text.isEmpty { continue }
        if isTrailing, part.tokens.isEmpty, !parts.isEmpty {
          parts[parts.count - 1].comments.append(text)
        } else {
          part.comments.append(text)
        }
        continue
      case .symbol("("): depth += 1
      case .symbol(")"):
        depth -= 1
        if depth < 0 {
          parts.append(part)
          return parts
        }
      case .symbol(",") where depth == 0:
        parts.append(part)
        part = Part()
        continue
      default: break
      }
      part.tokens.append(token)
    }
    parts.append(part)
    return parts
  }

  private mutating func read(_ part: Part, _ columns: [String]) {
    let column: String? =
      if case .word(let word, _)? = part.tokens.first {
        columns.first { $0 == word } ?? columns.first { $0.lowercased() == word.lowercased() }
      } else { nil }
    if let column, !part.comments.isEmpty { docs[column] = part.comments.joined(separator: " ") }
    var depth = 0
    for (place, token) in part.tokens.enumerated() where place > 0 || column == nil {
      if token.isSymbol("(") { depth += 1 }
      if token.isSymbol(")") { depth -= 1 }
      if token.isWord("CHECK"), let text = Self.parentheses(part.tokens, after: place) {
        checks.append(text)
      } else if let column, token.isWord("AS"), generations[column] == nil,
        let text = Self.parentheses(part.tokens, after: place)
      {
        generations[column] = text
      } else if let column, depth == 0, token.isWord("COLLATE"),
        case .word(let name, _)? = part.tokens.dropFirst(place + 1).first,
        name.uppercased() != "BINARY"
      {
        collations[column] = name.uppercased()
      }
    }
  }

  /// The text in parentheses after a token.
  private static func parentheses(_ tokens: [SQLToken], after place: Int) -> String? {
    guard tokens.indices.contains(place + 1), tokens[place + 1].isSymbol("(") else { return nil }
    var depth = 0
    for end in (place + 1)..<tokens.count {
      if tokens[end].isSymbol("(") { depth += 1 }
      if tokens[end].isSymbol(")") { depth -= 1 }
      if depth == 0 { return tokens[(place + 2)..<end].map(\.spelling).joined(separator: " ") }
    }
    return nil
  }
}

extension SQLToken {
  /// The token as SQL.
  var spelling: String {
    switch self {
    case .word(let word, isQuoted: false): word
    case .word(let word, isQuoted: true):
      "\"" + word.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    case .text(let text):
      "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .number(let text), .symbol(let text): text
    case .comment: ""
    }
  }
}
