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
    var kept = KeptWords()
    for part in SearchText(text).parts {
      guard part.isJoined else {
        kept.add(part.scalars.prefix(longestToken))
        continue
      }
      var previous: Unicode.Scalar?
      for scalar in part.scalars {
        if let previous { kept.add(previous, scalar) }
        previous = scalar
      }
      if let last = previous { kept.add(last, nil) }
    }
    return String(kept.text)
  }

  /// The question for a full-text table of SQLite that holds ``kept(of:)``; it finds nothing for a query without words.
  ///
  /// - Complexity: linear in the query.
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
    return terms.isEmpty ? "\"\"" : terms.prefix(mostAsked).joined(separator: " AND ")
  }

  private static func pairs(_ scalars: Substring.UnicodeScalarView) -> [[Unicode.Scalar]] {
    zip(scalars, scalars.dropFirst()).map { [$0, $1] }
  }
}

/// Words with spaces between them, each once.
private struct KeptWords {
  private(set) var text = String.UnicodeScalarView()
  private var pairs: Set<UInt64> = []
  private var words: Set<[UInt32]> = []

  mutating func add(_ first: Unicode.Scalar, _ second: Unicode.Scalar?) {
    guard pairs.insert(UInt64(first.value) << 32 | UInt64(second?.value ?? 0)).inserted else { return }
    begin()
    text.append(first)
    if let second { text.append(second) }
  }

  mutating func add(_ word: Substring.UnicodeScalarView) {
    guard words.insert(word.map(\.value)).inserted else { return }
    begin()
    text.append(contentsOf: word)
  }

  private mutating func begin() {
    if !text.isEmpty { text.append(" ") }
  }
}
