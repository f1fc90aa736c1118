import Foundation
import Testing
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

/// Changes sample models at random and reads them: nothing may trap or hang.
///
/// `TRELLIS_FUZZ=100000 swift test --filter FuzzTests` reads that many; `TRELLIS_FUZZ_SEED` repeats a run.
@Suite("Random changes") struct FuzzTests {

  private static let fragments = [
    "{", "}", "[", "]", ",", ":", "\"", "'", "\\", "\\u", "//", "null", "true", "-", "1e999", "99999999999999999999",
    "\0",
    "\n", "\u{FEFF}", "커피", "now", "new", "(", "(?<", "[a-", "string?", "[string]", "_", ".", "", "\"parent\":",
    "\"A\"",
  ].map { Array($0.utf8) }

  private static func samples() throws -> [[UInt8]] {
    let cases = try Folders.names(in: Folders.cases).map {
      Folders.cases.appending(path: $0).appending(path: "broken.model.json")
    }
    let good = try Folders.names(in: Folders.good).map { Folders.good.appending(path: $0) }
    return try (cases + good).compactMap {
      FileManager.default.fileExists(atPath: $0.path) ? try Folders.bytes($0) : nil
    }
  }

  private static func change(_ bytes: inout [UInt8], _ other: [UInt8], _ random: inout SeededGenerator) {
    let place = Int.random(in: 0...bytes.count, using: &random)
    let end = min(bytes.count, place + Int.random(in: 0...12, using: &random))
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes.replaceSubrange(place..<end, with: fragments.randomElement(using: &random) ?? [])
    case 1: bytes.removeSubrange(place..<end)
    case 2: if place < bytes.count { bytes[place] = UInt8.random(in: 0...255, using: &random) }
    case 3: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &random))
    default:
      let from = Int.random(in: 0...other.count, using: &random)
      bytes.insert(contentsOf: other[from..<min(other.count, from + 40)], at: place)
    }
  }

  @Test("are answered with a model or with messages")
  func changes() throws {
    let rounds = TestSettings.number("TRELLIS_FUZZ", or: 1_000)
    let seed = TestSettings.seed("TRELLIS_FUZZ_SEED")
    print("random changes: TRELLIS_FUZZ=\(rounds) TRELLIS_FUZZ_SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    let samples = try Self.samples()
    for _ in 0..<rounds {
      var bytes = try #require(samples.randomElement(using: &random))
      let other = try #require(samples.randomElement(using: &random))
      for _ in 0..<Int.random(in: 1...4, using: &random) { Self.change(&bytes, other, &random) }
      let result = ModelFile.parse(bytes, path: "f")
      #expect(result.description != nil || result.rendered().contains("error:"), "seed \(seed)")
      guard let description = result.description else { continue }
      // What passes the checks can be resolved, and comes back from its canonical text.
      #expect(throws: Never.self, "seed \(seed)") { try Model(description) }
      let text = description.canonicalJSON()
      #expect(ModelFile.parse(Array(text.utf8), path: "f").description == description, "seed \(seed)\n\(text)")
    }
  }

  @Test("in patterns are answered with the pattern, or with what is wrong with it")
  func patterns() throws {
    let rounds = TestSettings.number("TRELLIS_FUZZ", or: 1_000) / 4
    let seed = TestSettings.seed("TRELLIS_FUZZ_SEED")
    print("random patterns: TRELLIS_FUZZ=\(rounds * 4) TRELLIS_FUZZ_SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    let parts = [
      "a", "b", "(", ")", "[", "]", "[^", "(?:", "(?<n>", "(?i)", "(?=", "(?!", "*", "+", "?", "{2}", "{2,1}", "|", ".",
      "^", "$",
      "\\\\d", "\\\\w", "\\\\1", "\\\\k<n>", "\\\\p{L}", "\\\\p{x=y}", "\\\\X", "\\\\R", "\\\\Q", "\\\\E",
      "\\\\u{110000}", "(?R)", "(?C)", "(?#", "-", "&&",
      "[:alpha:]", "커", "\\\\b", "\\\\y", "(*FAIL)", "\\\\N{x}", "{99999999999}", "(?(1)", "(?|", "(?x)", "\\\\x{0}",
    ]
    var outcomes: Set<[String]> = []
    for _ in 0..<rounds {
      let pattern = (0..<Int.random(in: 1...6, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        .joined()
      let result = parse(
        #"{ "model": "M", "entities": { "A": { "attributes": { "a": { "type": "string", "#
          + #""pattern": "\#(pattern)", "default": "ab1" } } } } }"#)
      let codes = result.diagnostics.map(\.code.rawValue)
      outcomes.insert(codes)
      // What the reader says is what those find who use the pattern: that it is one, and whether the default matches it.
      let read = try? Pattern(pattern.replacingOccurrences(of: "\\\\", with: "\\"))
      let expected = read.map { $0.match("ab1") == .differs ? ["default-breaks-rule"] : [] } ?? ["invalid-pattern"]
      #expect(codes == expected, "seed \(seed): \(pattern)")
    }
    if rounds >= 250 {
      #expect(outcomes.isSuperset(of: [["default-breaks-rule"], ["invalid-pattern"]]), "seed \(seed)")
    }
  }
}
