import Testing
import TrellisModel
import TrellisTestSupport

/// Patterns that take others hours: places that overlap, numbers inside numbers, what may be anything before what is missing.
@Suite("No pattern takes long") struct PatternCostTests {
  static let slowOnOneLetter = [
    "(a+)+b", "(a*)*b", "(a|a)*b", "(a|aa)+b", "(a|a?)+b", "(.*a){10}b", "(.*)*b", "(a+)*(a+)*(a+)*b", "(x+x+)+y",
    "([a-z]+)*1", "(a?){100}a{100}", "((a+)+)+b", "(((a*)*)*)*b", "(a|b|ab)*c", ".*.*.*.*.*b", "(.?){200}b",
    "(a.*){20}b",
    "[^b]*[^b]*[^b]*[^b]*b", "(aa|a)*b", "(a{0,100})*b", "(a|[ab]|[abc])*d", "(.|a)*b", "((a|b)*c|a)*d", "a{1000}b",
    "(a?){1000}b", "(.{1,30}){1,30}b", "(a+a+)+b", "(a*a*)*b", "(a*)*(a*)*(a*)*b", #"(\w+\w+)+!"#, #"(\w|\d|\s)*!"#,
    "^(a+)+$b", "(a|b?){300}c", "([ab]{0,20}){0,20}c", #"(.+)+\."#, "(.*,){30}x", "((.)*)*b", "(a{3}|a{5})*b",
    "(a|aa|aaa|aaaa|aaaaa)*b", "((((((a+)+)+)+)+)+)+b", "(a*b?)*c", "([a-y]*[b-z]*)*1", "(.*.*)*1", "(a.?){500}b",
    "(a[^b]?){500}b", ".{0,1000}b",
  ]
  static let slowOnTwoLetters = [
    "(a|b)*a(a|b){20}c", "(a|b)*a(a|b){200}c", ".*a.{500}b.{500}c", "(.*a.{20}){30}c", "((a|b)*a(a|b){30}){10}c",
    #"(\p{L}|\w)*a(\w|\d){100}c"#,
  ]
  private static let length = 65_536

  @Test("64 KiB of one letter differ, or are too costly", arguments: slowOnOneLetter)
  func oneLetter(text: String) throws {
    let pattern = try Pattern(text)
    #expect(pattern.match(String(repeating: "a", count: Self.length)) != .matches)
  }

  @Test("64 KiB of letters at random differ, or are too costly", arguments: slowOnTwoLetters)
  func twoLetters(text: String) throws {
    var random = SeededGenerator(seed: 7)
    let letters = (0..<Self.length).map { _ in random.below(2) == 0 ? "a" : "b" as Character }
    let pattern = try Pattern(text)
    #expect(pattern.match(String(letters)) != .matches)
  }

  @Test("a long text is no cost by itself") func longText() throws {
    #expect(try Pattern("([a-z]+)*1").match(String(repeating: "abc", count: 2_000_000) + "1") == .matches)
  }
}
