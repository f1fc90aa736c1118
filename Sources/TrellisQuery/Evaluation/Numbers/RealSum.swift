/// The sum of reals: exact, and rounded once at the end. So it is the same in whatever order they come, and what cancels
/// leaves no trace.
package struct RealSum: Sendable {
  /// The sum so far is these two together, as long as that is exact.
  private var high = 0.0
  private var low = 0.0
  /// Everything, where two reals do not hold it.
  private var wide: WideSum?
  /// Infinities, which no number outweighs.
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

  /// The real that is nearest to the sum; an infinity where it lies beyond all reals or one was added, and no number where
  /// two opposite ones were.
  package var value: Double {
    if infinite != 0 { return infinite }
    return wide?.value ?? (high + low)
  }

  /// The rounded sum, and what rounding took away; of a sum that is too large, something else.
  private static func exactSum(_ a: Double, _ b: Double) -> (Double, Double) {
    let sum = a + b
    let second = sum - a
    return (sum, (a - (sum - second)) + (b - second))
  }
}

/// A number with a digit for each bit that a finite real can have, and room for as many reals as a program can add.
private struct WideSum {
  /// In steps of 32 bits from the least; the first bit counts 2⁻¹⁰⁷⁴. Between two times of carrying, each may be larger.
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

  /// Makes each digit but the last one of 32 bits; the last has the sign.
  private mutating func carry() {
    for place in 0..<(digits.count - 1) {
      digits[place + 1] += digits[place] >> 32
      digits[place] &= 0xFFFF_FFFF
    }
  }

  /// The nearest real, the even one of two.
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

  /// - Precondition: the digits are carried, and none is negative.
  private var nearest: Double {
    guard let top = digits.lastIndex(where: { $0 != 0 }) else { return 0 }
    // The highest digits hold more bits than a real; whether any bit lies below is all that the others tell.
    var bits: UInt128 = 0
    let lowest = max(0, top - 3)
    for place in (lowest...top).reversed() { bits = bits << 32 | UInt128(UInt64(digits[place])) }
    if digits[..<lowest].contains(where: { $0 != 0 }) { bits |= 1 }
    // 64 bits, of which the last stands for all below, round as all of them would.
    let surplus = max(0, 64 - bits.leadingZeroBitCount)
    let lost = bits & ((1 << UInt128(surplus)) - 1)
    let kept = UInt64(truncatingIfNeeded: bits >> UInt128(surplus)) | (lost == 0 ? 0 : 1)
    return Double(sign: .plus, exponent: 32 * lowest + surplus - 1074, significand: Double(kept))
  }
}
