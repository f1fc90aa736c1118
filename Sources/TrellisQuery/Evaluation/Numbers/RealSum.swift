/// The sum of reals: exact, and rounded once at the end. The result does not depend on the order of the values, and
/// cancellation leaves no rounding error.
package struct RealSum: Sendable {
  /// The sum so far is `high + low`, as long as that is exact.
  private var high = 0.0
  private var low = 0.0
  /// The whole sum, once two reals cannot hold it exactly.
  private var wide: WideSum?
  /// The sum of the infinite values.
  private var infinite = 0.0

  package init() {}

  package mutating func add(_ number: Double) {
    guard number.isFinite else { return infinite += number }
    if wide != nil {
      wide?.add(number)
      return
    }
    let (sum, rest) = Self.exactSum(high, number)
    let (newLow, lost) = Self.exactSum(low, rest)
    if lost == 0 && sum.isFinite {
      (high, low) = (sum, newLow)
    } else {
      var all = WideSum()
      for part in [high, low, number] { all.add(part) }
      wide = all
    }
  }

  /// The real nearest to the sum; an infinity if the sum exceeds all reals or an infinity was added; NaN if opposite
  /// infinities were added.
  package var value: Double {
    if infinite != 0 { return infinite }
    return wide?.value ?? (high + low)
  }

  /// The rounded sum and its rounding error. The error is undefined if the sum overflows.
  private static func exactSum(_ a: Double, _ b: Double) -> (Double, Double) {
    let sum = a + b
    let second = sum - a
    return (sum, (a - (sum - second)) + (b - second))
  }
}

/// A number with a digit for each bit of a finite real, and room for as many additions as a program can make.
private struct WideSum {
  /// Digits of 32 bits, least significant first; the first bit counts 2⁻¹⁰⁷⁴. Between two carries a digit may be
  /// larger.
  private var digits = [Int64](repeating: 0, count: 70)
  private var additions = 0

  mutating func add(_ number: Double) {
    let isSmall = number.exponentBitPattern == 0
    let significand = number.significandBitPattern | (isSmall ? 0 : 1 << 52)
    let place = isSmall ? 0 : Int(number.exponentBitPattern) - 1
    let bits = UInt128(significand) << UInt128(place % 32)
    for step in 0..<3 {
      let digit = Int64(truncatingIfNeeded: bits >> UInt128(32 * step)) & 0xFFFF_FFFF
      digits[place / 32 + step] += number.sign == .minus ? -digit : digit
    }
    additions += 1
    if additions == 1 << 30 {
      carry()
      additions = 0
    }
  }

  /// Reduces each digit but the last to 32 bits. The last digit carries the sign.
  private mutating func carry() {
    for place in 0..<(digits.count - 1) {
      digits[place + 1] += digits[place] >> 32
      digits[place] &= 0xFFFF_FFFF
    }
  }

  /// The nearest real, rounded half to even.
  var value: Double {
    var size = self
    size.carry()
    let isNegative = size.digits[size.digits.count - 1] < 0
    if isNegative {
      for place in size.digits.indices { size.digits[place].negate() }
      size.carry()
    }
    let result = size.nearest
    return isNegative ? -result : result
  }

  /// - Precondition: the digits are carried, and no digit is negative.
  private var nearest: Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    // The top digits hold more bits than a real. All lower digits count only as one sticky bit.
    var bits: UInt128 = 0
    let lowest = max(0, top - 3)
    for place in (lowest...top).reversed() { bits = bits << 32 | UInt128(UInt64(digits[place])) }
    if digits[..<lowest].contains(where: { $0 != 0 }) { bits |= 1 }
    // 64 bits with a sticky bit at the end round as all bits would.
    let surplus = max(0, 64 - bits.leadingZeroBitCount)
    let lost = bits & ((1 << UInt128(surplus)) - 1)
    let kept = UInt64(truncatingIfNeeded: bits >> UInt128(surplus)) | (lost == 0 ? 0 : 1)
    return Double(sign: .plus, exponent: 32 * lowest + surplus - 1074, significand: Double(kept))
  }
}
