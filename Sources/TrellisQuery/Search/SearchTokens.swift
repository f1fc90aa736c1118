/// The tokens that a full-text index stores for a text, and the query against it. The index finds every text that a
/// ``SearchQuery`` matches. It may find others, so each result is checked against the query.
///
/// For a part of a word in a script with spaces between words, the index stores its beginning. For any other part it
/// stores all pairs of adjacent scalars, and the last scalar alone. A single letter is therefore a prefix of a pair or
/// that last token.
package enum SearchTokens {
  /// Longer words are distinguished only by their first scalars.
  private static let longestToken = 32
  /// The maximum number of terms in an index query. A few terms narrow the results as well as many.
  private static let mostAsked = 32

  /// The distinct tokens of a text, separated by spaces.
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

  /// The query for an SQLite full-text table that stores ``kept(of:)``. A query without words finds nothing.
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

/// Distinct tokens, separated by spaces.
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
