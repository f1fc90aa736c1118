import Foundation

/// How texts are prepared before they are compared: the same in memory and in every store, in every language setting.
public enum TextFolding {
  /// The text in the form in which it is compared under these options. The result is canonically composed (NFC), so that
  /// a part of a syllable is not found inside the syllable.
  ///
  /// - `caseInsensitive` is Unicode's full case folding: ß is ss, ς is σ; İ is i with a dot, and ı stays itself.
  /// - `diacriticInsensitive` drops marks that stand above, below or across a letter. Signs that make another letter or
  ///   syllable stay: Hangul jamo, the voicing of kana, vowel signs of Indic scripts, points of Hebrew and Arabic.
  /// - `normalized` only unites composed and decomposed spellings.
  ///
  /// - Complexity: linear in the text; ASCII texts take a short way.
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
      // The folding of one letter may bring a mark of its own: İ becomes i and a dot.
      for part in caseFolded(scalar) where !ignoresMarks || !isDiacritic(part) { folded.append(part) }
    }
    return composed(String(folded))
  }

  private static func composed(_ text: String) -> String {
    let composed = text.precomposedStringWithCanonicalMapping
    // Comparison reads bytes; a string that Foundation made may not have them in one piece.
    return composed.isContiguousUTF8 ? composed : String(decoding: Array(composed.utf8), as: UTF8.self)
  }

  private static func foldASCII(_ text: String, _ options: TextOptions) -> String {
    options.contains(.caseInsensitive) ? text.lowercased() : text
  }

  /// Full case folding by way of the case mappings. Tried over all scalars, it unites what Unicode's folding table unites,
  /// but for ı, whose upper case is I.
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

  /// A mark beside a letter, by its combining class: 1 lies across it, from 200 on it stands above, below or on it.
  /// Classes between are for signs that belong to one script's spelling.
  private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x300 else { return false }
    let combining = scalar.properties.canonicalCombiningClass.rawValue
    return combining == 1 || combining >= 200
  }
}
