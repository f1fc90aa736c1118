/// A piece of a text around the first place that a query finds, with the places in it that are worth marking.
///
/// ```swift
/// let snippet = SearchQuery("커피").snippet(of: diary.content, length: 40)
/// print(snippet.marked("[", "]"))   // …마신 아이스[커피] 한 잔…
/// ```
public struct SearchSnippet: Hashable, Sendable {
  /// The piece, character for character as it stands in the text.
  public let text: String
  /// Where words of the query stand in ``text``, in order and without overlap.
  public let places: [Range<String.Index>]
  /// Whether the text goes on before the piece.
  public let isCutAtStart: Bool
  /// Whether the text goes on behind the piece.
  public let isCutAtEnd: Bool

  /// The piece with marks around the places, and an ellipsis where it was cut.
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
  /// The piece of a text that shows best why it was found; its beginning, without places, where it does not match.
  ///
  /// - Parameter length: how many characters the piece has at most; 0 and less give an empty one.
  /// - Complexity: linear in the text for each word.
  public func snippet(of text: String, length: Int = 80) -> SearchSnippet {
    let length = max(0, length)
    let places = matches(text) ? places(in: text) : []
    let first = places.first?.lowerBound ?? text.startIndex
    // A quarter of the piece before the first place, more where the text ends soon.
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

  /// Where the words stand, by whole characters of the text as it is spelt.
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

/// A text folded character by character, to tell which characters a place of the folded text comes from.
private struct FoldedCharacters {
  let whole: SearchText
  /// Where each character of the text begins, and its end.
  private(set) var starts: [String.Index] = []
  /// Where what becomes of each begins in the folded text, in bytes, and the end.
  private var offsets: [Int] = []

  /// Nil where characters are folded otherwise by themselves than in the text, so that nobody can tell.
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

  /// The characters that a place touches.
  func characters(at place: Range<String.Index>) -> Range<Int> {
    let utf8 = whole.folded.utf8
    let lower = utf8.distance(from: utf8.startIndex, to: place.lowerBound)
    let upper = utf8.distance(from: utf8.startIndex, to: place.upperBound)
    return character(at: lower)..<(character(at: upper - 1) + 1)
  }

  /// The last one that begins at a byte or before it.
  private func character(at offset: Int) -> Int {
    var (low, high) = (0, offsets.count - 1)
    while low < high {
      let middle = (low + high) / 2
      // Of several that begin at one byte, the last has it; those before have become nothing.
      if offsets[middle + 1] <= offset { low = middle + 1 } else { high = middle }
    }
    return min(low, starts.count - 2)
  }
}
