import TrellisSchema

/// Words to search for in texts: the semantics of `matching`, in memory and in every store.
///
/// ```swift
/// let query = SearchQuery("커피 cof")
/// query.matches("아이스커피, iced Coffee")   // true: 커피 is inside a word, and a word begins with cof
/// ```
/// The query is split into words. A text matches if it contains all of them, in any order. Case and diacritics are
/// ignored, and composed and decomposed spellings are equal.
///
/// - A word that begins with a letter of a script that joins words or their endings (Hangul, Han, kana, Thai, Lao,
///   Khmer, Myanmar), or with a pictograph such as an emoji, matches anywhere.
/// - Any other word matches the beginning of a word in the text: `cof` finds Coffee, `fee` does not. A word also begins
///   at a change from such a script to another: `shop` finds 커피shop.
///
/// Characters other than letters, digits, marks and pictographs only separate words. A query without words matches
/// nothing.
public struct SearchQuery: Hashable, Sendable {
  /// The distinct words, folded.
  public let terms: [String]
  /// Whether each word matches only at the beginning of a word.
  private let areBeginnings: [Bool]

  /// - Complexity: linear in the text.
  public init(_ text: String) {
    var terms: [(text: String, isBeginning: Bool)] = []
    for part in SearchText(text).parts {
      if part.startsWord { terms.append(("", !part.isJoined)) }
      guard !terms.isEmpty else { continue }
      terms[terms.count - 1].text.unicodeScalars.append(contentsOf: part.scalars)
    }
    var known: Set<[UInt8]> = []
    terms.removeAll { !known.insert(Array($0.text.utf8)).inserted }
    self.terms = terms.map(\.text)
    areBeginnings = terms.map(\.isBeginning)
  }

  /// Whether the text contains all words of the query.
  ///
  /// - Complexity: linear in the text for each word.
  public func matches(_ text: String) -> Bool {
    guard !terms.isEmpty else { return false }
    let text = SearchText(text)
    for number in terms.indices {
      var isFound = false
      forEachPlace(of: number, in: text) { _ in
        isFound = true
        return false
      }
      if !isFound { return false }
    }
    return true
  }

  /// The relevance of a text, for sorting the best matches first: higher for each further occurrence of a word, for
  /// whole words, and for short texts. It depends on the text alone, so it is the same in every store, whatever else
  /// the store contains.
  ///
  /// - Returns: 0 if the text does not match; otherwise a positive number less than the number of words.
  /// - Complexity: linear in the text for each word.
  public func rank(of text: String) -> Double {
    guard !terms.isEmpty else { return 0 }
    let text = SearchText(text)
    let ballast = 1 + Double(text.folded.unicodeScalars.count) / 100
    var sum = 0.0
    for number in terms.indices {
      var weight = 0.0
      forEachPlace(of: number, in: text) { place in
        // A whole word counts as much as two occurrences inside words.
        weight += text.isStart(place.lowerBound) && text.isEnd(place.upperBound) ? 2 : 1
        return true
      }
      if weight == 0 { return 0 }
      sum += weight / (weight + ballast)
    }
    return sum
  }

  /// Calls `body` with the occurrences of a word, front to back and without overlap, until it returns false.
  func forEachPlace(of number: Int, in text: SearchText, _ body: (Range<String.Index>) -> Bool) {
    let utf8 = text.folded.utf8
    var from = utf8.startIndex
    while let place = TextBytes.firstPlace(of: terms[number], in: text.folded, from: from) {
      if !areBeginnings[number] || text.isStart(place.lowerBound) {
        guard body(place) else { return }
        from = place.upperBound
      } else {
        from = text.folded.unicodeScalars.index(after: place.lowerBound)
      }
    }
  }
}
