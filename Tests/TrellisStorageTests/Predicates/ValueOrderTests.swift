import Testing
import TrellisModel
import TrellisStorage

@Suite("The order of values") struct ValueOrderTests {
  @Test("decimals are ordered as numbers, of any length")
  func decimals() {
    let ascending = [
      "-100000000000000000000000000000000000000", "-99999999999999999999999999999999999999.5", "-10", "-9.5", "-9",
      "-0.1",
      "0", "0.0000000000000000000000000000000000001", "0.09", "0.1", "0.11", "1", "2", "10",
      "12345678901234567890123456789012345678", "12345678901234567890123456789012345678.1",
    ]
    for (i, a) in ascending.enumerated() {
      for (j, b) in ascending.enumerated() {
        #expect(DecimalOrder.compare(a, b).signum() == (i - j).signum(), "\(a) and \(b)")
      }
    }
  }

  @Test(
    "equal decimals are equal however they are written",
    arguments: [("1", "1.0"), ("-0", "0"), ("007.50", "7.5"), ("+3", "3")])
  func equalDecimals(_ a: String, _ b: String) {
    #expect(DecimalOrder.compare(a, b) == 0)
    #expect(DecimalOrder.canonical(a) == DecimalOrder.canonical(b))
  }

  @Test("what is no decimal comes before every number", arguments: ["NaN", "", "-", ".", "1.", "1e3", "--1"])
  func notDecimal(_ text: String) {
    #expect(DecimalOrder.compare(text, "-5") < 0)
    #expect(DecimalOrder.compare("-5", text) > 0)
  }

  @Test("texts are ordered by their UTF-8 bytes")
  func texts() {
    #expect(TextBytes.compare("Z", "a") < 0)
    #expect(TextBytes.compare("abc", "abcd") < 0)
    #expect(TextBytes.compare("\u{FFFF}", "\u{10000}") < 0, "not by UTF-16")
    #expect(TextBytes.compare("e\u{301}", "é") < 0)
    #expect(TextBytes.compare("abcdefgh\u{0}1", "abcdefgh\u{0}2") < 0)
  }

  @Test("search goes by bytes and finds the empty text everywhere")
  func search() {
    #expect(TextBytes.contains("아이스커피", "커피") && TextBytes.hasSuffix("아이스커피", "커피"))
    #expect(TextBytes.contains("x", "") && TextBytes.hasPrefix("", "") && TextBytes.hasSuffix("x", ""))
    #expect(!TextBytes.contains("é", "e") && !TextBytes.hasPrefix("ab", "abc"))
  }

  @Test("numbers of both classes are compared exactly")
  func numbers() {
    #expect(ValueOrder.compare(.integer(.max), .real(0x1p63), kind: .real) < 0)
    #expect(ValueOrder.compare(.integer(9_007_199_254_740_993), .real(9_007_199_254_740_992), kind: .real) > 0)
    #expect(ValueOrder.compare(.integer(-2), .real(-1.5), kind: .real) < 0)
    #expect(ValueOrder.areEqual(.real(-0.0), .real(0), kind: .real))
    #expect(ValueOrder.compare(.real(-.infinity), .integer(.min), kind: .real) < 0)
  }

  @Test("a real that is no number counts as nil")
  func notANumber() {
    #expect(ValueOrder.areEqual(.real(.nan), .null, kind: .real))
    #expect(ValueOrder.compare(.real(.nan), .real(-.infinity), kind: .real) < 0)
  }

  @Test("the order is total over all classes")
  func total() {
    let values: [StoredValue] = [
      .null, .real(.nan), .real(-.infinity), .integer(.min), .integer(-1), .real(-0.5), .integer(0), .real(0),
      .real(0.5),
      .integer(.max), .real(.infinity), .text(""), .text("a"), .blob([]), .blob([0]), .blob([0, 0]), .blob([1]),
    ]
    for a in values {
      for b in values {
        let order = ValueOrder.compare(a, b, kind: .real).signum()
        #expect(order == -ValueOrder.compare(b, a, kind: .real).signum())
        for c in values where order <= 0 && ValueOrder.compare(b, c, kind: .real) <= 0 {
          #expect(ValueOrder.compare(a, c, kind: .real) <= 0)
        }
      }
    }
  }
}
