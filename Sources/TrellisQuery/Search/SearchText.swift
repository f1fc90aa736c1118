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
