import Foundation
public import TrellisModel

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

// MARK: - Search tokens

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

  /// A token that a text must have, or the beginning of one.
  package struct Term {
    /// Letters, digits, marks and pictographs only.
    package let text: String
    package let isPrefix: Bool
  }

  /// The tokens of a query. A query without words has none.
  ///
  /// - Complexity: linear in the query.
  package static func terms(of query: String) -> [Term] {
    var terms: [Term] = []
    for part in SearchText(query).parts where terms.count < mostAsked {
      let pairs = pairs(part.scalars)
      if part.isJoined && !pairs.isEmpty {
        terms += pairs.map { Term(text: String(String.UnicodeScalarView($0)), isPrefix: false) }
      } else {
        let text = String(String.UnicodeScalarView(part.scalars.prefix(longestToken)))
        terms.append(Term(text: text, isPrefix: true))
      }
    }
    return Array(terms.prefix(mostAsked))
  }

  /// The query for an SQLite full-text table that stores ``kept(of:)``. A query without words finds nothing.
  ///
  /// - Complexity: linear in the query.
  package static func asked(by query: String) -> String {
    let terms = terms(of: query).map { "\"\($0.text)\"\($0.isPrefix ? " *" : "")" }
    return terms.isEmpty ? "\"\"" : terms.joined(separator: " AND ")
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

// MARK: - Search text

/// A text as searches see it: folded, and split into words.
///
/// A word is a run of letters, digits, marks and pictographs. A part of a word ends where a script with spaces between
/// words meets one without: `커피shop` is one word of two parts.
struct SearchText {
  struct Part {
    let scalars: Substring.UnicodeScalarView
    let isJoined: Bool
    let startsWord: Bool
  }

  /// The folding options of every search.
  static let options: TextOptions = [.caseInsensitive, .diacriticInsensitive]

  let folded: String

  init(_ text: String) { folded = TextFolding.fold(text, options: Self.options) }

  /// - Complexity: linear in the text.
  var parts: [Part] {
    let scalars = folded.unicodeScalars
    var parts: [Part] = []
    var start = scalars.startIndex
    var current: (isJoined: Bool, startsWord: Bool)?
    func end(at place: String.Index) {
      guard let part = current else { return }
      parts.append(
        Part(
          scalars: Substring(scalars[start..<place]).unicodeScalars, isJoined: part.isJoined,
          startsWord: part.startsWord))
    }
    var place = start
    while place < scalars.endIndex {
      let kind = SearchScalar(scalars[place])
      switch (kind, current) {
      case (.separator, _):
        end(at: place)
        current = nil
      case (.mark, .some): break
      default:
        let isJoined = kind == .joined
        if current?.isJoined != isJoined {
          end(at: place)
          current = (isJoined, current == nil)
          start = place
        }
      }
      scalars.formIndex(after: &place)
    }
    end(at: place)
    return parts
  }

  /// Whether a part of a word begins at this position, consistent with ``parts``. The position must be that of a scalar
  /// other than a separator.
  func isStart(_ place: String.Index) -> Bool {
    let scalars = folded.unicodeScalars
    guard place > scalars.startIndex else { return true }
    let own = SearchScalar(scalars[place])
    var before = scalars.index(before: place)
    var kind = SearchScalar(scalars[before])
    if own == .mark { return kind == .separator }
    while kind == .mark {
      guard before > scalars.startIndex else { return own != .spaced }
      before = scalars.index(before: before)
      kind = SearchScalar(scalars[before])
      // Marks that follow nothing form a part of their own, of the scripts with spaces.
      if kind == .separator { return own != .spaced }
    }
    return kind == .separator || kind != own
  }

  /// Whether a word ends at this position.
  func isEnd(_ place: String.Index) -> Bool {
    let scalars = folded.unicodeScalars
    return place == scalars.endIndex || SearchScalar(scalars[place]) == .separator
  }
}

// MARK: - Search scalar

/// The role of a scalar of a folded text in a search.
enum SearchScalar: Equatable {
  /// Separates words and belongs to none.
  case separator
  /// A letter or digit of a script with spaces between words.
  case spaced
  /// A letter of a script that joins words or their endings without a space, or a pictograph.
  case joined
  /// Belongs to the preceding scalar.
  case mark

  init(_ scalar: Unicode.Scalar) {
    if scalar.value < 0x80 {
      self = Self.isASCIIWord(scalar.value) ? .spaced : .separator
      return
    }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      self = Self.isJoined(scalar.value) ? .joined : .spaced
    case .nonspacingMark, .spacingMark, .enclosingMark: self = .mark
    case .otherSymbol: self = .joined
    default: self = .separator
    }
  }

  private static func isASCIIWord(_ value: UInt32) -> Bool {
    switch value {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    default: false
    }
  }

  private static func isJoined(_ value: UInt32) -> Bool {
    switch value {
    // Thai, Lao, Tibetan, Myanmar, Hangul jamo.
    case 0x0E00...0x11FF: value < 0x10A0 || value > 0x10FF
    // Khmer; New Tai Lue and Khmer symbols; Tai Tham.
    case 0x1780...0x17FF, 0x1980...0x19FF, 0x1A20...0x1AAF: true
    // Radicals, kana, bopomofo, Hangul compatibility jamo, ideographs, Yi.
    case 0x2E80...0xA4CF: true
    // Hangul extensions, Myanmar and Tai Viet.
    case 0xA960...0xA97F, 0xA9E0...0xA9FF, 0xAA60...0xAADF, 0xAC00...0xD7FF: true
    // Compatibility ideographs, halfwidth kana and Hangul.
    case 0xF900...0xFAFF, 0xFF66...0xFFDC: true
    // Historic kana, and the ideographic planes.
    case 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFF: true
    default: false
    }
  }
}

// MARK: - Search snippet

/// An excerpt of a text around the first match of a query, with the matches in it to highlight.
///
/// ```swift
/// let snippet = SearchQuery("커피").snippet(of: diary.content, length: 40)
/// print(snippet.marked("[", "]"))   // …마신 아이스[커피] 한 잔…
/// ```
public struct SearchSnippet: Hashable, Sendable {
  /// The excerpt, character for character as in the text.
  public let text: String
  /// The matches in ``text``, in order and without overlap.
  public let places: [Range<String.Index>]
  /// Whether text before the excerpt was cut off.
  public let isCutAtStart: Bool
  /// Whether text after the excerpt was cut off.
  public let isCutAtEnd: Bool

  /// The excerpt with marks around the matches, and an ellipsis at each cut.
  public func marked(_ opening: String, _ closing: String) -> String {
    var result = isCutAtStart ? "…" : ""
    var place = text.startIndex
    for range in places {
      result += text[place..<range.lowerBound] + opening + text[range] + closing
      place = range.upperBound
    }
    return result + text[place...] + (isCutAtEnd ? "…" : "")
  }
}

extension SearchQuery {
  /// The excerpt that best shows the match; the beginning of the text, without matches, if the text does not match.
  ///
  /// - Parameter length: the maximum number of characters; 0 or less yields an empty excerpt.
  /// - Parameter text: The text that the excerpt is from.
  /// - Complexity: linear in the text for each word.
  public func snippet(of text: String, length: Int = 80) -> SearchSnippet {
    let length = max(0, length)
    let places = matches(text) ? places(in: text) : []
    let first = places.first?.lowerBound ?? text.startIndex
    // Puts a quarter of the excerpt before the first match, more if the text ends soon.
    var start = text.index(first, offsetBy: -(length / 4), limitedBy: text.startIndex) ?? text.startIndex
    let end = text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
    if end == text.endIndex {
      start = text.index(end, offsetBy: -length, limitedBy: text.startIndex) ?? text.startIndex
    }
    let piece = String(text[start..<end])
    func moved(_ place: String.Index) -> String.Index {
      piece.utf8.index(piece.startIndex, offsetBy: text.utf8.distance(from: start, to: place))
    }
    return SearchSnippet(
      text: piece,
      places: places.filter { $0.lowerBound >= start && $0.upperBound <= end }
        .map { moved($0.lowerBound)..<moved($0.upperBound) },
      isCutAtStart: start > text.startIndex, isCutAtEnd: end < text.endIndex)
  }

  /// The matches, extended to whole characters of the original text.
  private func places(in text: String) -> [Range<String.Index>] {
    guard let folded = FoldedCharacters(text) else { return [] }
    var found: [Range<Int>] = []
    for number in terms.indices {
      forEachPlace(of: number, in: folded.whole) { place in
        found.append(folded.characters(at: place))
        return true
      }
    }
    var places: [Range<String.Index>] = []
    for range in found.sorted(by: { ($0.lowerBound, $1.upperBound) < ($1.lowerBound, $0.upperBound) }) {
      let place = folded.starts[range.lowerBound]..<folded.starts[range.upperBound]
      if places.last.map({ $0.upperBound <= place.lowerBound }) ?? true { places.append(place) }
    }
    return places
  }
}

/// A text folded character by character, to map ranges of the folded text back to characters.
private struct FoldedCharacters {
  let whole: SearchText
  /// The start of each character of the text, and the end of the text.
  private(set) var starts: [String.Index] = []
  /// The byte offset of each folded character in the folded text, and its length.
  private var offsets: [Int] = []

  /// Returns nil if characters fold differently on their own than in the text, because then no mapping exists.
  init?(_ text: String) {
    whole = SearchText(text)
    var length = 0
    var place = text.startIndex
    while place < text.endIndex {
      starts.append(place)
      offsets.append(length)
      length += TextFolding.fold(String(text[place]), options: SearchText.options).utf8.count
      text.formIndex(after: &place)
    }
    starts.append(place)
    offsets.append(length)
    guard length == whole.folded.utf8.count else { return nil }
  }

  /// The characters that a range overlaps.
  func characters(at place: Range<String.Index>) -> Range<Int> {
    let utf8 = whole.folded.utf8
    let lower = utf8.distance(from: utf8.startIndex, to: place.lowerBound)
    let upper = utf8.distance(from: utf8.startIndex, to: place.upperBound)
    return character(at: lower)..<(character(at: upper - 1) + 1)
  }

  /// The last character that begins at or before a byte offset.
  private func character(at offset: Int) -> Int {
    // If several begin at the same byte, the last one owns it; the others folded to nothing.
    min(offsets.dropFirst().endOfPrefix { $0 <= offset } - 1, starts.count - 2)
  }
}

// MARK: - Text folding

/// Prepares texts for comparison, identically in memory and in every store, independent of the locale.
public enum TextFolding {
  /// The text folded by the options. The result is canonically composed (NFC), so that a search does not match part of
  /// a syllable.
  ///
  /// - `caseInsensitive` is Unicode's full case folding: ß becomes ss, ς becomes σ, İ becomes i with a dot, and ı is
  ///   unchanged.
  /// - `diacriticInsensitive` removes marks above, below or across a letter. Signs that form another letter or syllable
  ///   remain: Hangul jamo, the voicing of kana, vowel signs of Indic scripts, points of Hebrew and Arabic.
  /// - `normalized` only unifies composed and decomposed spellings.
  ///
  /// - Complexity: linear in the text; ASCII texts take a fast path.
  public static func fold(_ text: String, options: TextOptions) -> String {
    guard !options.isEmpty else { return text }
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return foldASCII(text, options) }
    guard options.contains(.caseInsensitive) || options.contains(.diacriticInsensitive) else { return composed(text) }
    let ignoresCase = options.contains(.caseInsensitive)
    let ignoresMarks = options.contains(.diacriticInsensitive)
    var folded = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars {
      if ignoresMarks && isDiacritic(scalar) { continue }
      guard ignoresCase else {
        folded.append(scalar)
        continue
      }
      // Folding one letter may introduce a mark: İ becomes i and a dot.
      for part in caseFolded(scalar) where !ignoresMarks || !isDiacritic(part) { folded.append(part) }
    }
    return composed(String(folded))
  }

  private static func composed(_ text: String) -> String {
    let composed = text.precomposedStringWithCanonicalMapping
    // Comparison reads bytes; a string from Foundation may not store them contiguously.
    return composed.isContiguousUTF8 ? composed : String(decoding: Array(composed.utf8), as: UTF8.self)
  }

  private static func foldASCII(_ text: String, _ options: TextOptions) -> String {
    options.contains(.caseInsensitive) ? text.lowercased() : text
  }

  /// Full case folding through the case mappings. A test over all scalars shows that it matches Unicode's folding
  /// table, except for ı, which has the uppercase I.
  private static func caseFolded(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
    guard scalar.properties.changesWhenCaseMapped || scalar.properties.changesWhenCaseFolded, scalar != "\u{131}" else {
      return String.UnicodeScalarView([scalar])
    }
    var result = String.UnicodeScalarView()
    for low in scalar.properties.lowercaseMapping.unicodeScalars {
      for up in low.properties.uppercaseMapping.unicodeScalars {
        result.append(contentsOf: up.properties.lowercaseMapping.unicodeScalars)
      }
    }
    return result
  }

  /// Whether the scalar is a mark on a letter, by its combining class: 1 overlays the letter, 200 and above are above,
  /// below or attached to it. The classes between belong to the spelling of single scripts.
  private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x300 else { return false }
    let combining = scalar.properties.canonicalCombiningClass.rawValue
    return combining == 1 || combining >= 200
  }
}
