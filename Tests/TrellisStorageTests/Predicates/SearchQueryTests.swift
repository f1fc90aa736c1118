import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

/// The rule of searches, written down a second time: slowly, by scalars, and without an index.
private enum PlainSearch {
  enum Kind { case separator, spaced, joined, mark }

  static func kind(_ scalar: Unicode.Scalar) -> Kind {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return .mark
    case .otherSymbol: return .joined
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber:
      let joined: [ClosedRange<UInt32>] = [
        0xE00...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x2E80...0xA4CF, 0xAC00...0xD7FF, 0xFF66...0xFFDC,
      ]
      return joined.contains { $0.contains(scalar.value) } ? .joined : .spaced
    default: return .separator
    }
  }

  /// For each scalar: its kind, marks being of what they follow, and whether a part of a word begins there.
  static func parts(_ text: String) -> [(scalar: Unicode.Scalar, kind: Kind, isStart: Bool)] {
    var parts: [(scalar: Unicode.Scalar, kind: Kind, isStart: Bool)] = []
    for scalar in TextFolding.fold(text, options: [.caseInsensitive, .diacriticInsensitive]).unicodeScalars {
      let before = parts.last?.kind ?? .separator
      var own = kind(scalar)
      if own == .mark { own = before == .separator ? .spaced : before }
      parts.append((scalar, own, own != .separator && own != before))
    }
    return parts
  }

  static func matches(_ text: String, _ query: String) -> Bool {
    let text = parts(text)
    let words = parts(query).split { $0.kind == .separator }
    guard !words.isEmpty else { return false }
    return words.allSatisfy { word in
      text.indices.contains { place in
        text[place...].prefix(word.count).elementsEqual(word) { $0.scalar == $1.scalar }
          && (word.first?.kind == .joined || text[place].isStart)
      }
    }
  }
}

@Suite("Searching texts by words") struct SearchQueryTests {
  private static let pieces = [
    "커", "피", "아", "이", "스", "산책", "を", "ビ", "ー", "生", "c", "C", "o", "f", "é", "e\u{301}", "ß", "İ", "1", "2", " ",
    "  ",
    ",", "\"", "*", "-", "☕", "\u{FE0F}", "🎂", "\u{301}", "\u{110F}\u{1165}", "ก", "\u{E34}", "न", "\u{93F}", "\u{0}",
    "Σ",
    "ς",
  ]

  @Test(
    "it finds what the rule says, and the index never leaves out what matches",
    arguments: [UInt64](1...4) + [TestSettings.seed()])
  func random(_ seed: UInt64) {
    var numbers = SeededGenerator(seed: seed)
    var found = 0
    for _ in 0..<5_000 {
      let text = (0..<Int.random(in: 0...14, using: &numbers)).map { _ in piece(&numbers) }.joined()
      // Half of the queries are cut out of the text.
      let cut = text.unicodeScalars.dropFirst(Int.random(in: 0...8, using: &numbers)).prefix(
        Int.random(in: 1...4, using: &numbers))
      let query =
        Bool.random(using: &numbers)
        ? String(String.UnicodeScalarView(cut))
        : (0..<Int.random(in: 0...4, using: &numbers)).map { _ in piece(&numbers) }.joined()
      let expected = PlainSearch.matches(text, query)
      let search = SearchQuery(query)
      #expect(search.matches(text) == expected, "\(text.debugDescription) for \(query.debugDescription), seed \(seed)")
      #expect((search.rank(of: text) > 0) == expected)
      #expect(search.rank(of: text) <= Double(search.terms.count))
      if expected {
        found += 1
        let isKept = Self.indexFinds(text, query)
        #expect(isKept, "no candidate: \(text.debugDescription) for \(query.debugDescription), seed \(seed)")
      }
    }
    print("seed \(seed): \(found) of 5000 texts found")
    #expect(found > 300)
  }

  private func piece(_ numbers: inout SeededGenerator) -> String { Self.pieces.randomElement(using: &numbers) ?? "" }

  /// What a full-text table does with the question: each word, or beginning of a word, must be among those kept.
  private static func indexFinds(_ text: String, _ query: String) -> Bool {
    // By bytes: a mark behind a space or a quote would be one character with it.
    let kept = SearchTokens.kept(of: text).utf8.split(separator: UInt8(ascii: " ")).map(Array.init)
    let asked = SearchTokens.asked(by: query).utf8.split(separator: UInt8(ascii: "\""))
    // A word, then what stands between its quote and the next.
    return stride(from: 0, to: asked.count, by: 2).allSatisfy { place in
      let isBeginning = place + 1 < asked.count && asked[place + 1].contains(UInt8(ascii: "*"))
      return kept.contains { isBeginning ? $0.starts(with: asked[place]) : $0.elementsEqual(asked[place]) }
    }
  }

  @Test("words are taken apart, folded, and each counts once")
  func terms() {
    #expect(SearchQuery(" Coffee, 커피shop! coffee ").terms == ["coffee", "커피shop"])
    #expect(SearchQuery("…\"*-").terms == [])
    #expect(SearchQuery("é").terms == SearchQuery("e\u{301}").terms)
  }

  @Test("the rank grows with places and whole words, and falls with length")
  func rank() {
    let query = SearchQuery("커피")
    let texts = ["커피 커피", "커피", "아이스커피", "커피 " + String(repeating: "긴 글 ", count: 100)]
    let ranks = texts.map { query.rank(of: $0) }
    #expect(ranks == ranks.sorted(by: >) && Set(ranks).count == 4 && ranks.allSatisfy { $0 > 0 && $0 < 1 })
    #expect(query.rank(of: "홍차") == 0)
    #expect(SearchQuery("").rank(of: "커피") == 0)
  }

  @Test("a text of a hundred thousand letters of one kind is searched")
  func long() {
    let text = String(repeating: "가", count: 100_000)
    #expect(SearchQuery("가나").matches(text) == false)
    #expect(SearchQuery("aaaa").matches(String(repeating: "a", count: 100_000)))
    #expect(SearchQuery("aab").matches(String(repeating: "a", count: 100_000)) == false)
    #expect(SearchTokens.kept(of: text) == "가가 가")
  }

  @Test("words and queries longer than the index looks at are decided by the text")
  func longWords() {
    let (long, longer) = (String(repeating: "a", count: 32), String(repeating: "a", count: 33))
    #expect(SearchTokens.kept(of: longer + "b") == long)
    #expect(SearchTokens.asked(by: longer) == "\"\(long)\" *")
    #expect(SearchQuery(longer).matches(longer) && !SearchQuery(longer).matches(long))
    let words = (0..<40).map { "w\($0)" }
    #expect(SearchTokens.asked(by: words.joined(separator: " ")).split(separator: "A").count == 32)
    #expect(SearchQuery(words.joined(separator: " ")).matches(words.reversed().joined(separator: ",")))
    #expect(!SearchQuery(words.joined(separator: " ")).matches(words.dropLast().joined(separator: ",")))
  }

  // MARK: Snippets

  @Test("a snippet shows the first place with what is around it, in the text's own spelling")
  func snippet() {
    let text = "오늘은 비가 왔다. 한강에서 아이스커피를 마시고 CAFE\u{301}에 앉아 커피 이야기를 했다."
    let query = SearchQuery("커피 café")
    #expect(query.snippet(of: text, length: 20).marked("[", "]") == "…서 아이스[커피]를 마시고 [CAFE\u{301}]에 앉…")
    #expect(
      query.snippet(of: text, length: 500).marked("[", "]")
        == "오늘은 비가 왔다. 한강에서 아이스[커피]를 마시고 [CAFE\u{301}]에 앉아 [커피] 이야기를 했다.")
    // The snippet of a text that has only one of the words is its beginning.
    #expect(query.snippet(of: "홍차와 커피", length: 4).marked("[", "]") == "홍차와 …")
    #expect(SearchQuery("straße").snippet(of: "Die STRASSE", length: 99).marked("<", ">") == "Die <STRASSE>")
    #expect(SearchQuery("ss").snippet(of: "ßa").marked("<", ">") == "<ß>a")
    #expect(SearchQuery("").snippet(of: "커피").marked("<", ">") == "커피")
    #expect(SearchQuery("커피").snippet(of: "").marked("<", ">") == "")
    #expect(SearchQuery("커피").snippet(of: "커피", length: -1).marked("<", ">") == "…")
  }

  @Test(
    "the places of any snippet lie in order inside it, and each is found by the query",
    arguments: [UInt64](1...3) + [TestSettings.seed()])
  func snippets(_ seed: UInt64) {
    var numbers = SeededGenerator(seed: seed)
    for _ in 0..<2_000 {
      let text = (0..<Int.random(in: 0...30, using: &numbers)).map { _ in piece(&numbers) }.joined()
      let query = SearchQuery((0..<Int.random(in: 0...3, using: &numbers)).map { _ in piece(&numbers) }.joined())
      let length = Int.random(in: 0...40, using: &numbers)
      let snippet = query.snippet(of: text, length: length)
      #expect(Array(snippet.text.utf8).count <= text.utf8.count && snippet.text.count <= length)
      #expect(snippet.marked("", "").utf8.count >= snippet.text.utf8.count)
      var end = snippet.text.startIndex
      for place in snippet.places {
        #expect(place.lowerBound >= end && place.upperBound > place.lowerBound, "seed \(seed)")
        end = place.upperBound
      }
      #expect(end <= snippet.text.endIndex)
      if !query.matches(text) { #expect(snippet.places.isEmpty) }
    }
  }
}
