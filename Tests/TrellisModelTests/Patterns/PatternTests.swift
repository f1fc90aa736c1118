import Testing
import TrellisModel

@Suite("Patterns") struct PatternTests {
  @Test(
    "the whole text must match",
    arguments: [
      ("[0-9]{3}-[0-9]{4}", "010-1234", true), ("[0-9]{3}-[0-9]{4}", "x010-1234", false), ("a|bc", "bc", true),
      ("a|bc", "abc", false), ("(ab)*", "", true), ("(ab)*", "ababab", true), ("(ab)*", "aba", false),
      ("^a+$", "aaa", true), ("a{2,3}", "a", false), ("a{2,3}", "aaa", true), ("a{2,3}", "aaaa", false),
      ("a{2,}", "aaaaa", true), ("[^a-c]+", "xyz", true), ("[^a-c]+", "xaz", false),
      ("\\w+@\\w+\\.com", "a_1@b.com", true),
      ("[가-힣]+", "커피", true), ("\\p{Lu}\\p{Ll}*", "Ärger", true), ("\\d+", "٣", true), ("[\\d-]+", "1-2", true),
      (".", "\n", false), (".", "👍", true), ("\\u{1F44D}", "👍", true), ("[]a]", "]", true), ("a??b", "b", true),
      ("", "", true),
    ])
  func matching(pattern: String, text: String, matches: Bool) throws {
    #expect(try Pattern(pattern).match(text) == (matches ? .matches : .differs))
  }

  @Test(
    "a mistake is told with its position",
    arguments: [
      ("a(b", 3), ("a)", 1), ("[a", 2), ("*a", 0), ("a{3,1}", 6), ("(?=a)", 2), ("\\1", 1), ("a{99999}", 6),
      ("[b-a]", 4), ("\\", 1),
    ])
  func mistakes(pattern: String, position: Int) {
    let error = #expect(throws: PatternError.self) { try Pattern(pattern) }
    #expect(error?.position == position)
  }

  @Test(
    "patterns that are catastrophic elsewhere end",
    arguments: ["(a+)+b", "(a|aa)+b", "(a|a?)+b", "(.*a){20}b", "((a*)*)*b"])
  func catastrophes(pattern: String) throws {
    let text = String(repeating: "a", count: 20_000)
    #expect(try Pattern(pattern).match(text) != .matches)
  }

  @Test("nesting and size have limits")
  func limits() {
    #expect(throws: PatternError.self) { try Pattern(String(repeating: "(", count: 100_000)) }
    #expect(throws: PatternError.self) { try Pattern("((((a{100}){100}){100}){100})") }
  }
}
