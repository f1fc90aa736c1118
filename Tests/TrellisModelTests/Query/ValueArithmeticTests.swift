import Foundation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("Arithmetic of predicates") struct ValueArithmeticTests {
  @Test("whole numbers: overflow, division by zero and powers below zero are nil; quotients drop their fraction")
  func integers() {
    func result(_ a: Int64, _ sign: ArithmeticOperator, _ b: Int64) -> StoredValue {
      ValueArithmetic.compute(sign, .integer(a), .integer(b))
    }
    #expect(result(7, .divide, 2) == .integer(3))
    #expect(result(-7, .divide, 2) == .integer(-3))
    #expect(result(7, .divide, 0) == .null)
    #expect(result(.min, .divide, -1) == .null)
    #expect(result(.max, .add, 1) == .null)
    #expect(result(.min, .subtract, 1) == .null)
    #expect(result(.max, .multiply, 2) == .null)
    #expect(result(2, .power, 62) == .integer(1 << 62))
    #expect(result(2, .power, 63) == .null)
    #expect(result(-2, .power, 63) == .integer(.min))
    #expect(result(2, .power, -1) == .null)
    #expect(result(-1, .power, .max) == .integer(-1))
    #expect(result(0, .power, 0) == .integer(1))
    #expect(ValueArithmetic.apply(.negative, .integer(.min)) == .null)
    #expect(ValueArithmetic.apply(.absolute, .integer(.min)) == .null)
  }

  @Test("reals: what is no number, or beyond all bounds, is nil")
  func reals() {
    #expect(ValueArithmetic.compute(.divide, .real(1), .integer(0)) == .null)
    #expect(ValueArithmetic.compute(.multiply, .real(1e300), .real(1e300)) == .null)
    #expect(ValueArithmetic.compute(.subtract, .real(.infinity), .real(.infinity)) == .null)
    #expect(ValueArithmetic.compute(.divide, .integer(1), .real(4)) == .real(0.25))
    #expect(ValueArithmetic.compute(.add, .null, .real(4)) == .null)
  }

  @Test("decimals are exact to 38 digits, and round to even")
  func decimals() {
    func result(_ a: String, _ sign: ArithmeticOperator, _ b: String) -> StoredValue {
      ValueArithmetic.compute(sign, .text(a), .text(b))
    }
    #expect(result("0.1", .add, "0.2") == .text("0.3"))
    #expect(result("1", .divide, "3") == .text("0.33333333333333333333333333333333333333"))
    #expect(result("2", .divide, "3") == .text("0.66666666666666666666666666666666666667"))
    #expect(result("1", .divide, "0") == .null)
    #expect(result("-1.50", .multiply, "2") == .text("-3"))
    #expect(result("1.1", .power, "3") == .text("1.331"))
    #expect(result("10", .power, "200") == .null)
    #expect(result("nonsense", .add, "1") == .null)
    #expect(ValueArithmetic.compute(.multiply, .text("1.5"), .integer(3)) == .text("4.5"))
    #expect(ValueArithmetic.apply(.rounded, .text("-2.5")) == .text("-3"))
    #expect(ValueArithmetic.apply(.floor, .text("-2.1")) == .text("-3"))
    #expect(ValueArithmetic.apply(.ceiling, .text("-0.5")) == .text("0"))
    #expect(ValueArithmetic.apply(.decimal, .real(0.1)) == .text("0.1"))
    #expect(ValueArithmetic.apply(.decimal, .real(1e21)) == .text("1000000000000000000000"))
  }

  @Test("random decimals agree with Foundation's")
  func againstFoundation() {
    var random = SeededGenerator(seed: TestSettings.seed())
    for _ in 0..<2_000 {
      let (a, b) = (
        Decimal(Int64.random(in: -999_999_999...999_999_999, using: &random)) / 1_000,
        Decimal(Int64.random(in: -999_999_999...999_999_999, using: &random)) / 100
      )
      for (sign, expected) in [(ArithmeticOperator.add, a + b), (.subtract, a - b), (.multiply, a * b)] {
        let result = ValueArithmetic.compute(sign, .text("\(a)"), .text("\(b)"))
        #expect(result == .text("\(expected)"), "\(a) \(sign) \(b)")
      }
    }
  }

  @Test("a sum does not depend on the order, nor on what overflows on the way")
  func sums() {
    let values: [StoredValue] = [.integer(.max), .integer(.max), .integer(.min), .null]
    for order in [values, values.reversed()] {
      #expect(ValueArithmetic.aggregate(.sum, order, kind: .integer) == .integer(.max - 1))
    }
    #expect(ValueArithmetic.aggregate(.sum, [.integer(.max), .integer(1)], kind: .integer) == .null)
    let reals: [StoredValue] = [.real(1e16), .real(1), .real(-1e16), .real(0.1)]
    let sum = ValueArithmetic.aggregate(.sum, reals, kind: .real)
    #expect(ValueArithmetic.aggregate(.sum, reals.reversed(), kind: .real) == sum)
    #expect(ValueArithmetic.aggregate(.sum, [], kind: .decimal) == .text("0"))
    #expect(ValueArithmetic.aggregate(.average, [], kind: .integer) == .null)
    #expect(ValueArithmetic.aggregate(.average, [.integer(1), .integer(2)], kind: .integer) == .real(1.5))
    #expect(ValueArithmetic.aggregate(.minimum, [.text("10"), .null, .text("9")], kind: .decimal) == .text("9"))
  }
}

@Suite("Masks and patterns") struct TextPatternTests {
  @Test(
    "LIKE looks at the whole text",
    arguments: [
      ("abc", "abc", true), ("abc", "a*", true), ("abc", "*c", true), ("abc", "a?c", true), ("abc", "ab", false),
      ("", "*", true), ("", "?", false), ("a*c", "a\\*c", true), ("abc", "a\\*c", false), ("a\\", "a\\", true),
      ("커피", "?피", true), ("aXbXc", "*X?", true), ("aab", "*a*b*", true), ("abcabd", "*abd", true),
      ("abc", "***", true),
    ])
  func like(_ text: String, _ mask: String, _ holds: Bool) {
    #expect(TextPattern.isLike(text, mask) == holds)
  }

  /// `like` as its definition says it: a `*` stands for nothing, or for one scalar and what it stands for then.
  private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ mask: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let step = mask.first else { return text.isEmpty }
    if step == "*" { return isLike(text, mask.dropFirst()) || !text.isEmpty && isLike(text.dropFirst(), mask) }
    guard let scalar = text.first else { return false }
    if step == "\\", let quoted = mask.dropFirst().first {
      return quoted == scalar && isLike(text.dropFirst(), mask.dropFirst(2))
    }
    return (step == "?" || step == scalar) && isLike(text.dropFirst(), mask.dropFirst())
  }

  @Test("LIKE agrees with its definition on random masks") func likeAtRandom() {
    var random = SeededGenerator(seed: TestSettings.number("TRELLIS_LIKE_SEED", or: UInt64(1)))
    var hits = 0
    for _ in 0..<20_000 {
      func draw(_ scalars: [String], _ most: Int) -> String {
        (0..<random.below(most)).map { _ in scalars[random.below(scalars.count)] }.joined()
      }
      let text = draw(["a", "b", "é", "피", "😀", "\\"], 9)
      let mask = draw(["a", "b", "é", "피", "*", "*", "?", "\\"], 8)
      let holds = isLike(Array(text.unicodeScalars)[...], Array(mask.unicodeScalars)[...])
      if holds { hits += 1 }
      #expect(TextPattern.isLike(text, mask) == holds, "\(text) LIKE \(mask)")
    }
    #expect(hits > 500)
  }

  /// Compared place by place, this would take minutes.
  @Test("LIKE takes a long text and a long mask in linear time", .timeLimit(.minutes(60))) func likeOfLongTexts() {
    let text = String(repeating: "a", count: 400_000)
    let part = String(repeating: "a", count: 100_000)
    #expect(!TextPattern.isLike(text, "*\(part)b*\(part)*"))
    #expect(TextPattern.isLike(text + "b" + text, "*\(part)b*\(part)*"))
  }

  @Test("a pattern without regard to case keeps the meaning of its classes")
  func patterns() {
    #expect(TextPattern("[^a]", ignoringCase: true).matches("b"))
    #expect(!TextPattern("[^a]", ignoringCase: true).matches("A"))
    #expect(TextPattern("a\\D", ignoringCase: true).matches("AX"))
    #expect(!TextPattern("a\\D", ignoringCase: true).matches("A1"))
    #expect(!TextPattern("(", ignoringCase: false).matches("("))
  }
}
