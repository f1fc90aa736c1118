import Foundation

/// Arithmetic on stored values, shared by the evaluation in memory and all stores.
public enum ValueArithmetic {
  /// The result; null if there is none. A text counts as a decimal.
  public static func compute(_ sign: ArithmeticOperator, _ left: StoredValue, _ right: StoredValue) -> StoredValue {
    switch (left, right) {
    case (.text(let a), .text(let b)) where sign == .concatenate: .text(a + b)
    case (.integer(let a), .integer(let b)): integer(sign, a, b).map { .integer($0) } ?? .null
    case (.text(let a), .text(let b)): decimal(sign, DecimalNumber(a), DecimalNumber(b))
    case (.text(let a), .integer(let b)): decimal(sign, DecimalNumber(a), DecimalNumber(b))
    case (.integer(let a), .text(let b)): decimal(sign, DecimalNumber(a), DecimalNumber(b))
    default: real(sign, real(left), real(right))
    }
  }

  private static func integer(_ sign: ArithmeticOperator, _ a: Int64, _ b: Int64) -> Int64? {
    let (result, isTooLarge) =
      switch sign {
      case .add: a.addingReportingOverflow(b)
      case .subtract: a.subtractingReportingOverflow(b)
      case .multiply: a.multipliedReportingOverflow(by: b)
      case .divide: a.dividedReportingOverflow(by: b)
      case .power: power(a, b)
      case .remainder: a.remainderReportingOverflow(dividingBy: b)
      case .bitAnd: (a & b, false)
      case .bitOr: (a | b, false)
      case .bitXor: (a ^ b, false)
      case .shiftLeft: (a << b, b < 0)
      case .shiftRight: (a >> b, b < 0)
      case .concatenate: (0, true)
      }
    // The remainder of a division by -1 is 0, even if the quotient overflows.
    if sign == .remainder && b == -1 { return 0 }
    return isTooLarge ? nil : result
  }

  private static func power(_ base: Int64, _ exponent: Int64) -> (partialValue: Int64, overflow: Bool) {
    guard exponent >= 0 else { return (0, true) }
    // Powers of these never grow; any other base overflows within 64 steps.
    if base == 0 || base == 1 { return (exponent == 0 ? 1 : base, false) }
    if base == -1 { return (exponent % 2 == 0 ? 1 : -1, false) }
    guard exponent < 64 else { return (0, true) }
    var result: Int64 = 1
    for _ in 0..<exponent {
      let (next, isTooLarge) = result.multipliedReportingOverflow(by: base)
      if isTooLarge { return (0, true) }
      result = next
    }
    return (result, false)
  }

  private static func real(_ sign: ArithmeticOperator, _ a: Double?, _ b: Double?) -> StoredValue {
    guard let a, let b else { return .null }
    let result =
      switch sign {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: a / b
      case .power: pow(a, b)
      case .remainder: fmod(a, b)
      case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight, .concatenate: Double.nan
      }
    return result.isFinite ? .real(result) : .null
  }

  private static func decimal(
    _ sign: ArithmeticOperator, _ a: DecimalNumber?, _ b: DecimalNumber?
  ) -> StoredValue {
    guard let a, let b else { return .null }
    let result: DecimalNumber? =
      switch sign {
      case .add: a + b
      case .subtract: a + (-b)
      case .multiply: a * b
      case .divide: a.divided(by: b)
      case .power: a.power(b)
      case .remainder: a.remainder(dividingBy: b)
      case .bitAnd, .bitOr, .bitXor, .shiftLeft, .shiftRight, .concatenate: nil
      }
    return result?.rounded.map { .text($0.text) } ?? .null
  }

  /// The value as a real; nil if it is not a number.
  static func real(_ value: StoredValue) -> Double? {
    switch value {
    case .integer(let integer): Double(integer)
    case .real(let real): real.isNaN ? nil : real
    case .text(let text): DecimalNumber(text)?.real
    case .null, .blob, .file: nil
    }
  }

  static func decimal(_ value: StoredValue) -> DecimalNumber? {
    switch value {
    case .integer(let integer): DecimalNumber(integer)
    case .real(let real): real.isNaN ? nil : DecimalNumber(real)
    case .text(let text): DecimalNumber(text)
    case .null, .blob, .file: nil
    }
  }
}

// MARK: - Value functions

/// Functions of one stored value, shared by the evaluation in memory and all stores.
extension ValueArithmetic {
  /// The result; null if there is none.
  public static func apply(_ function: ValueFunction, _ value: StoredValue) -> StoredValue {
    switch function {
    case .lowercase: text(value) { $0.lowercased() }
    case .uppercase: text(value) { $0.uppercased() }
    case .length: length(value)
    case .absolute: isBelowZero(value) ? negative(value) : number(value)
    case .negative: negative(value)
    case .ceiling: rounded(value, .up)
    case .floor: rounded(value, .down)
    case .truncated: rounded(value, .towardZero)
    case .rounded: rounded(value, .toNearestOrAwayFromZero)
    case .decimal: decimal(value).map { .text($0.text) } ?? .null
    case .real: real(value).map { .real($0) } ?? .null
    case .microseconds: microseconds(value)
    case .squareRoot: real(of: value, sqrt)
    case .naturalLogarithm: real(of: value, log)
    case .logarithm: real(of: value, log10)
    case .exponential: real(of: value, exp)
    case .complement: if case .integer(let bits) = value { .integer(~bits) } else { .null }
    case .text: digits(value)
    case .seconds: seconds(value)
    }
  }

  /// The start of 2001, in microseconds since 1970.
  package static let referenceDate: Int64 = 978_307_200_000_000

  private static func seconds(_ value: StoredValue) -> StoredValue {
    guard case .integer(let micros) = value else { return .null }
    let (since, isTooLarge) = micros.subtractingReportingOverflow(referenceDate)
    return isTooLarge ? .null : .real(Double(since) / 1_000_000)
  }

  private static func real(of value: StoredValue, _ function: (Double) -> Double) -> StoredValue {
    guard let result = real(value).map(function), result.isFinite else { return .null }
    return .real(result)
  }

  private static func digits(_ value: StoredValue) -> StoredValue {
    switch value {
    case .integer(let integer): .text(String(integer))
    // A database file may lose the sign of zero.
    case .real(let real): real.isNaN ? .null : .text(real == 0 ? "0.0" : real.description)
    case .text: value
    case .null, .blob, .file: .null
    }
  }

  private static func text(_ value: StoredValue, _ body: (String) -> String) -> StoredValue {
    if case .text(let text) = value { .text(body(text)) } else { .null }
  }

  private static func length(_ value: StoredValue) -> StoredValue {
    switch value {
    case .text(let text): .integer(Int64(text.unicodeScalars.count))
    case .blob(let bytes): .integer(Int64(bytes.count))
    case .file(let file): .integer(Int64(file.size))
    case .null, .integer, .real: .null
    }
  }

  private static func isBelowZero(_ value: StoredValue) -> Bool {
    switch value {
    case .integer(let integer): integer < 0
    case .real(let real): real < 0
    case .text(let text): text.utf8.first == UInt8(ascii: "-")
    case .null, .blob, .file: false
    }
  }

  /// The value if it is a number, otherwise null.
  private static func number(_ value: StoredValue) -> StoredValue {
    switch value {
    case .integer, .real: value
    case .text(let text): DecimalNumber(text).map { .text($0.text) } ?? .null
    case .null, .blob, .file: .null
    }
  }

  private static func negative(_ value: StoredValue) -> StoredValue {
    switch value {
    case .integer(let integer):
      let (result, isTooLarge) = Int64(0).subtractingReportingOverflow(integer)
      return isTooLarge ? .null : .integer(result)
    case .real(let real): return .real(-real)
    case .text(let text): return DecimalNumber(text).map { .text((-$0).text) } ?? .null
    case .null, .blob, .file: return .null
    }
  }

  private static func rounded(_ value: StoredValue, _ rule: FloatingPointRoundingRule) -> StoredValue {
    switch value {
    case .integer: value
    case .real(let real): .real(real.rounded(rule))
    case .text(let text): DecimalNumber(text).map { .text($0.whole(rule).text) } ?? .null
    case .null, .blob, .file: .null
    }
  }

  private static func microseconds(_ value: StoredValue) -> StoredValue {
    if case .real(let real) = value {
      return Int64(exactly: (real * 1_000_000).rounded()).map { .integer($0) } ?? .null
    }
    guard let seconds = decimal(value) else { return .null }
    let micros = (seconds * DecimalNumber(1_000_000)).whole(.toNearestOrAwayFromZero)
    return micros.integer.map { .integer($0) } ?? .null
  }
}

// MARK: - Value aggregates

/// Sums and averages of stored values, shared by the evaluation in memory and all stores. The order of the values does
/// not affect the result.
extension ValueArithmetic {
  /// The aggregate of the values that are not nil.
  public static func aggregate(
    _ function: AggregateFunction, _ values: [StoredValue], kind: ValueKind
  ) -> StoredValue {
    switch function {
    case .sum: sum(of: values, kind).sum(kind)
    case .average: sum(of: values, kind).average(kind)
    case .minimum: extreme(of: values, kind) { $0 < 0 }
    case .maximum: extreme(of: values, kind) { $0 > 0 }
    }
  }

  private static func sum(of values: [StoredValue], _ kind: ValueKind) -> NumberSum {
    var sum = NumberSum()
    for value in values { sum.add(value, kind: kind) }
    return sum
  }

  /// The first of the values that no other precedes.
  private static func extreme(
    of values: [StoredValue], _ kind: ValueKind, _ precedes: (Int) -> Bool
  ) -> StoredValue {
    var result = StoredValue.null
    for value in values where !ValueOrder.isNil(value) {
      if result.isNull || precedes(ValueOrder.compare(value, result, kind: kind)) { result = value }
    }
    return result
  }
}

// MARK: - Real sum

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

// MARK: - Evaluation error
