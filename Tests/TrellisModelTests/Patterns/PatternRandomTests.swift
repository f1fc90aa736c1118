import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@Suite("Patterns match what Foundation's match") struct PatternRandomTests {
  @Test("random patterns over random texts") func random() throws {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    var matches = 0
    for _ in 0..<600 {
      let text = random.pattern(3)
      let pattern = try Pattern(text)
      let other = try NSRegularExpression(pattern: #"\A(?:"# + text + #")\z"#)
      for _ in 0..<12 {
        let value = String((0..<random.below(9)).map { _ in random.letter() })
        let expected = other.firstMatch(in: value, range: NSRange(location: 0, length: value.utf16.count)) != nil
        #expect((pattern.match(value) == .matches) == expected, "seed \(seed): \(text) on \(value)")
        matches += expected ? 1 : 0
      }
    }
    #expect(matches > 200, "seed \(seed): the texts are such that many match")
  }

  @Test("more places than are remembered at once") func forgetting() throws {
    var random = SeededGenerator(seed: 11)
    let letters = (0..<30_000).map { _ in random.below(2) == 0 ? "a" : "b" as Character }
    let pattern = try Pattern("(a|b)*a(a|b){13}")
    for end in [29_990, 29_995, 29_999, 30_000] {
      #expect((pattern.match(String(letters[..<end])) == .matches) == (letters[end - 14] == "a"))
    }
  }
}

extension SeededGenerator {
  fileprivate mutating func letter() -> Character { ["a", "b", "c"][below(3)] }

  /// A pattern that Foundation reads in the same way.
  fileprivate mutating func pattern(_ depth: Int) -> String {
    if depth == 0 { return below(6) == 0 ? "." : below(5) == 0 ? "[^\(letter())]" : String(letter()) }
    switch below(5) {
    case 0: return "(\(pattern(depth - 1))|\(pattern(depth - 1)))"
    case 1: return "(\(pattern(depth - 1)))" + ["*", "+", "?"][below(3)]
    case 2: return "(\(pattern(depth - 1))){\(below(3)),\(2 + below(2))}"
    default: return pattern(depth - 1) + pattern(depth - 1)
    }
  }
}
