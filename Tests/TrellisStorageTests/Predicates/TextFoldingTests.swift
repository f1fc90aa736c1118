import Testing
import TrellisModel
import TrellisStorage

@Suite("Folding texts") struct TextFoldingTests {
  static func fold(_ text: String, _ options: TextOptions) -> [UInt8] {
    Array(TextFolding.fold(text, options: options).utf8)
  }

  static func same(_ a: String, _ b: String, _ options: TextOptions) -> Bool { fold(a, options) == fold(b, options) }

  static let composed = "\u{CEE4}\u{D53C}"
  static let decomposed = "\u{110F}\u{1165}\u{1111}\u{1175}"

  @Test("composed and decomposed Hangul are the same under every option, and differ without one")
  func hangul() {
    #expect(!Self.same(Self.composed, Self.decomposed, []))
    for options: TextOptions in [.normalized, .caseInsensitive, .diacriticInsensitive] {
      #expect(Self.same(Self.composed, Self.decomposed, options))
    }
  }

  @Test("ignoring diacritics leaves Hangul as it is, decomposed or not")
  func hangulKeepsItsJamo() {
    #expect(Self.fold(Self.decomposed, .diacriticInsensitive) == Array(Self.composed.utf8))
    #expect(!Self.same("각", "가", [.caseInsensitive, .diacriticInsensitive]))
  }

  @Test("an open syllable is not found inside a closed one")
  func syllablesAreWhole() {
    let text = TextFolding.fold("\u{1100}\u{1161}\u{11A8}", options: .normalized)
    #expect(!TextBytes.contains(text, TextFolding.fold("가", options: .normalized)))
  }

  @Test(
    "case folding unites",
    arguments: [
      ("Straße", "STRASSE"), ("ẞ", "ss"), ("ΟΔΟΣ", "οδος"), ("οδοσ", "οδος"), ("ﬁn", "FIN"), ("K", "k"), ("ſ", "S"),
      ("É", "e\u{301}"), ("İ", "i\u{307}"), ("Ǆ", "ǅ"), ("ᾳ", "αι"), ("Ⅷ", "ⅷ"),
    ])
  func caseFolding(_ a: String, _ b: String) {
    #expect(Self.same(a, b, .caseInsensitive))
  }

  @Test("dotless ı is no i, and İ is i only when marks are ignored")
  func turkish() {
    #expect(!Self.same("ı", "i", .caseInsensitive))
    #expect(!Self.same("ı", "I", .caseInsensitive))
    #expect(!Self.same("İ", "i", .caseInsensitive))
    #expect(Self.same("İ", "i", [.caseInsensitive, .diacriticInsensitive]))
    #expect(Self.same("I", "i", .caseInsensitive))
  }

  @Test(
    "ignoring diacritics drops marks",
    arguments: [
      ("café", "cafe"), ("cafe\u{301}", "cafe"), ("Ạ̈", "A"), ("ё", "е"), ("ñ", "n"), ("ᾳ", "α"),
    ])
  func diacritics(_ a: String, _ b: String) {
    #expect(Self.same(a, b, .diacriticInsensitive))
  }

  @Test(
    "ignoring diacritics keeps what makes another letter", arguments: [("が", "か"), ("कि", "क"), ("ø", "o"), ("É", "e")])
  func letters(_ a: String, _ b: String) {
    #expect(!Self.same(a, b, .diacriticInsensitive))
  }

  @Test("emoji stay as they are", arguments: ["❤️", "👩‍👩‍👧", "1️⃣", "🇰🇷", "👍🏽"])
  func emoji(_ text: String) {
    #expect(Self.fold(text, [.caseInsensitive, .diacriticInsensitive]) == Array(text.utf8))
  }

  @Test("folding what is folded changes nothing")
  func idempotent() {
    for text in ["Straße", "İstanbul", "ΟΔΟΣ", "커피 Café", "\u{1E9B}\u{323}", "ǰ", "Å"] {
      for options in [
        TextOptions.normalized, .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive],
      ] {
        let once = TextFolding.fold(text, options: options)
        #expect(Self.fold(once, options) == Array(once.utf8))
      }
    }
  }
}
