/// What an index over texts keeps of each, and what it is asked for, so that it finds every text that a ``SearchQuery``
/// matches. It may find others, so the query is asked about each of them too.
///
/// Of a part of a word whose script puts spaces between words the index keeps the beginning; of any other part all pairs of
/// neighbouring scalars, and the last one alone. So a single letter is the beginning of a pair, or of that last one.
package enum SearchTokens {
  /// Longer words are told apart by their first scalars only.
  private static let longestToken = 32
  /// A few words narrow a search down as well as many.
  private static let mostAsked = 32

  /// What is kept of a text, in words with spaces between them. Each stands there once.
  ///
  /// - Complexity: linear in the text.
  package static func kept(of text: String) -> String {
    var known: Set<[UInt8]> = []
    var result = ""
    func add(_ token: some Collection<Unicode.Scalar>) {
      var word = ""
      word.unicodeScalars.append(contentsOf: token)
      guard known.insert(Array(word.utf8)).inserted else { return }
      if !result.isEmpty { result.append(" ") }
      result.append(word)
    }
    for part in SearchText(text).parts {
      guard part.isJoined else {
        add(part.scalars.prefix(longestToken))
        continue
      }
      for pair in pairs(part.scalars) { add(pair) }
      add(part.scalars.suffix(1))
    }
    return result
  }

  /// The question for a full-text table of SQLite that holds ``kept(of:)``; it finds nothing for a query without words.
  package static func asked(by query: String) -> String {
    var terms: [String] = []
    for part in SearchText(query).parts where terms.count < mostAsked {
      let pairs = pairs(part.scalars)
      if part.isJoined && !pairs.isEmpty {
        terms += pairs.map { "\"\(String(String.UnicodeScalarView($0)))\"" }
      } else {
        terms.append("\"\(String(String.UnicodeScalarView(part.scalars.prefix(longestToken))))\" *")
      }
    }
    return terms.prefix(mostAsked).joined(separator: " AND ")
  }

  private static func pairs(_ scalars: Substring.UnicodeScalarView) -> [[Unicode.Scalar]] {
    zip(scalars, scalars.dropFirst()).map { [$0, $1] }
  }
}
