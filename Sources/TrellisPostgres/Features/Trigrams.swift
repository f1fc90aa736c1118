import TrellisModel
import TrellisStorage

/// What the server's extension `pg_trgm` is able to do for a store.
struct Trigrams: Sendable {
  /// The quoted schema of the extension.
  let schema: String
  /// Whether the database's locale knows letters beyond ASCII. Otherwise the extension skips them.
  let knowsAllLetters: Bool
}

/// What a text that satisfies a condition has in common with others that do, as a pattern of LIKE for its letters, which
/// are the text folded without case and diacritics. An index of trigrams finds the texts that have it.
///
/// Each of them has the pattern, but not each text with the pattern satisfies the condition.
struct TrigramPattern {
  /// The literal texts, in their order. Anything may be between two, and nothing before the first one and after the last.
  private var pieces = [String.UnicodeScalarView()]

  /// The letters of a text that the server may fold in another way, which no word has in a row. Each search looks for
  /// these, too.
  static let unknown = "zqxj"

  /// Whether a Greek iota of the condition may be the mark of another letter in the text, which is not among its letters.
  private let hasIotaMarks: Bool

  /// - Parameter text: the right side of the comparison.
  init?(_ comparison: Comparison, _ text: String) {
    let text = TextFolding.fold(text, options: comparison.folding)
    hasIotaMarks =
      comparison.folding.contains(.caseInsensitive) && !comparison.folding.contains(.diacriticInsensitive)
    switch comparison.relation {
    case .equal: add(text)
    case .contains:
      addGap()
      add(text)
      addGap()
    case .hasPrefix:
      add(text)
      addGap()
    case .hasSuffix:
      addGap()
      add(text)
    case .like: addMask(text)
    case .matches: if !addExpression(text, comparison.options.contains(.caseInsensitive)) { return nil }
    default: return nil
    }
  }

  // MARK: Literals

  private mutating func add(_ text: String) {
    for scalar in text.unicodeScalars { add(scalar) }
  }

  private mutating func add(_ scalar: Unicode.Scalar) {
    if scalar == "\u{3B9}" && hasIotaMarks { addGap() } else { pieces[pieces.count - 1].append(scalar) }
  }

  private mutating func addGap() { pieces.append(String.UnicodeScalarView()) }

  private mutating func addMask(_ text: String) {
    var scalars = text.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      switch scalar {
      case "*", "?": addGap()
      // A backslash at the very end is literal.
      case "\\": add(scalars.next() ?? scalar)
      default: add(scalar)
      }
    }
  }

  /// Adds the literals of a regular expression that each match has; false for one with groups, choices, sets or counts.
  private mutating func addExpression(_ text: String, _ ignoresCase: Bool) -> Bool {
    if text.unicodeScalars.contains(where: { "|()[]{}".unicodeScalars.contains($0) }) { return false }
    var scalars = text.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      var literal = scalar
      switch scalar {
      case "^", "$": continue
      case "*", "?":
        // What is repeated may be missing.
        _ = pieces[pieces.count - 1].popLast()
        addGap()
        continue
      case ".", "+":
        addGap()
        continue
      case "\\":
        guard let escaped = scalars.next() else { return false }
        literal = escaped
        if escaped.isASCII && escaped.isWord {
          addGap()
          continue
        }
      default: break
      }
      if !ignoresCase || literal.hasOneFolding { add(literal) } else { addGap() }
    }
    return true
  }

  // MARK: SQL

  /// The pattern; nil if an index has no trigram of it.
  func like(_ trigrams: Trigrams) -> String? {
    var isUsed = false
    var pattern = ""
    for (number, piece) in pieces.enumerated() {
      let options: TextOptions = [.caseInsensitive, .diacriticInsensitive]
      let folded = Array(TextFolding.fold(String(piece), options: options).unicodeScalars)
      let isWhole = pieces.count == 1
      let kept = (isWhole ? folded[...] : folded.settled).prefix(Self.mostScalars)
      // The first and the last letter of a word count, if the word ends there.
      if kept.longestWord(trigrams) >= (isWhole ? 1 : 3) { isUsed = true }
      let opens = number > 0 || kept.startIndex > 0
      if opens && !pattern.hasSuffix("%") { pattern += "%" }
      pattern += kept.map(\.escaped).joined()
      let closes = number < pieces.count - 1 || kept.endIndex < folded.count
      if closes && !kept.isEmpty { pattern += "%" }
    }
    return isUsed ? pattern : nil
  }

  /// More of a text does not find fewer ones.
  private static let mostScalars = 64
}

extension [Unicode.Scalar] {
  /// The scalars that are the same ones whatever stands before and after them: what composes with a neighbour is left out.
  fileprivate var settled: ArraySlice<Unicode.Scalar> {
    guard let first = firstIndex(where: \.isInert), let last = lastIndex(where: \.isInert) else { return [] }
    return self[last].isClosed && last == count - 1 ? self[first...] : self[first..<last]
  }
}

extension ArraySlice<Unicode.Scalar> {
  /// The number of letters of the longest word that the extension sees.
  fileprivate func longestWord(_ trigrams: Trigrams) -> Int {
    split { !$0.isWord || !trigrams.knowsAllLetters && !$0.isASCII }.map(\.count).max() ?? 0
  }
}

extension Unicode.Scalar {
  /// Whether the scalar composes with none before it.
  fileprivate var isInert: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .unassigned: false
    default: properties.canonicalCombiningClass == .notReordered && !(0x1100...0x11FF).contains(value)
    }
  }

  /// Whether the scalar of a folded text composes with none after it, either: letters of Latin, Greek and Cyrillic, whose
  /// marks are gone, ideographs, and Hangul syllables with a final consonant.
  fileprivate var isClosed: Bool {
    switch value {
    case 0..<0x590, 0x1E00..<0x3000, 0x3400..<0xA000: true
    case 0xAC00..<0xD7A4: (value - 0xAC00) % 28 != 0
    default: false
    }
  }

  fileprivate var isWord: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: true
    default: false
    }
  }

  /// Whether all letters that a pattern takes for this one, if it ignores case, are folded to the same. The capital I is
  /// that of ı as well.
  fileprivate var hasOneFolding: Bool { isASCII ? self != "I" : !properties.changesWhenCaseMapped }

  fileprivate var escaped: String {
    self == "%" || self == "_" || self == "\\" ? "\\\(self)" : String(self)
  }
}

extension ServerFunctions {
  /// The letters of a text, which ``TrigramPattern`` is for.
  func letters(_ sql: String) -> String { call("letters", sql) }
}
