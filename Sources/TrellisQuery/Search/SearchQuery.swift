import TrellisSchema

/// Words to look for in texts: what `matching` asks, in memory and in every store.
///
/// ```swift
/// let query = SearchQuery("커피 cof")
/// query.matches("아이스커피, iced Coffee")   // true: 커피 stands inside a word, and a word begins with cof
/// ```
/// The query is taken apart into its words, and a text matches that has all of them, in any order. Case and diacritics make
/// no difference, and composed and decomposed spellings are the same.
///
/// - A word that begins with a letter of a script that joins words or their endings (Hangul, Han, kana, Thai, Lao, Khmer,
///   Myanmar), or with a picture such as an emoji, is found anywhere.
/// - Any other word is found where a word of the text begins so: `cof` finds Coffee, `fee` does not. A word begins also
///   where such a script meets another: `shop` finds 커피shop.
///
/// What is no letter, digit, mark or picture only separates words. A query without a word matches nothing.
public struct SearchQuery: Hashable, Sendable {
  /// The words, folded, each once.
  public let terms: [String]
  /// Which of the words must stand where a word begins.
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

  /// Whether the text has all words of the query.
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

  /// How well a text matches, to put the best first: more for each further place at which a word stands, for whole words,
  /// and for short texts. It depends on the text alone, so it is the same in every store, whatever else that holds.
  ///
  /// - Returns: 0 for a text that does not match; else more, and less than the number of words.
  /// - Complexity: linear in the text for each word.
  public func rank(of text: String) -> Double {
    guard !terms.isEmpty else { return 0 }
    let text = SearchText(text)
    let ballast = 1 + Double(text.folded.unicodeScalars.count) / 100
    var sum = 0.0
    for number in terms.indices {
      var weight = 0.0
      forEachPlace(of: number, in: text) { place in
        // A whole word counts like two words of which it is a piece.
        weight += text.isStart(place.lowerBound) && text.isEnd(place.upperBound) ? 2 : 1
        return true
      }
      if weight == 0 { return 0 }
      sum += weight / (weight + ballast)
    }
    return sum
  }

  /// Gives the places at which a word stands, from front to end and without overlap, for as long as `body` wants more.
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
