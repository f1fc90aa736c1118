import Foundation
public import TrellisModel

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
