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
    var (low, high) = (0, offsets.count - 1)
    while low < high {
      let middle = (low + high) / 2
      // If several begin at the same byte, the last one owns it; the others folded to nothing.
      if offsets[middle + 1] <= offset { low = middle + 1 } else { high = middle }
    }
    return min(low, starts.count - 2)
  }
}
