/// An integer of any size, by schoolbook arithmetic: an exact sum that has nothing in common with the tested one.
struct ExactInteger: Comparable {
  private var isNegative = false
  /// Digits of 32 bits, least significant first, without leading zeros.
  private var digits: [UInt32] = []

  static let zero = ExactInteger()

  init() {}

  init(_ number: Int64) {
    isNegative = number < 0
    digits = Self.trimmed([UInt32(truncatingIfNeeded: number.magnitude), UInt32(number.magnitude >> 32)])
  }

  /// A finite real as a multiple of the least real.
  init(units real: Double) {
    let exponent = Int(real.exponentBitPattern)
    let bits = Int64(real.significandBitPattern) + (exponent > 0 ? 1 << 52 : 0)
    self = ExactInteger(bits).times(powerOfTwo: max(0, exponent - 1))
    isNegative = real.sign == .minus && !digits.isEmpty
  }

  /// The digits of a decimal text as a multiple of 10⁻⁵⁰.
  init(decimal text: String) {
    var places = 50
    var hasPoint = false
    for letter in text where letter != "-" {
      guard let digit = letter.wholeNumberValue else {
        hasPoint = true
        continue
      }
      self = times(10) + ExactInteger(Int64(digit))
      if hasPoint { places -= 1 }
    }
    for _ in 0..<places { self = times(10) }
    isNegative = text.first == "-" && !digits.isEmpty
  }

  /// The nearest integer that a real can be.
  init(nearest number: ExactInteger) {
    // Reals of this size are integers.
    var low = Double(sign: .plus, exponent: 62, significand: 1).bitPattern
    var high = Double(sign: .plus, exponent: 200, significand: 1).bitPattern
    let size = number.magnitude
    while low < high {
      let middle = low + (high - low + 1) / 2
      if Self.whole(middle) <= size { low = middle } else { high = middle - 1 }
    }
    let (twice, border) = (size + size, Self.whole(low) + Self.whole(low + 1))
    let isUp = twice > border || (twice == border && low % 2 == 1)
    self = Self.whole(isUp ? low + 1 : low)
    isNegative = number.isNegative
  }

  private static func whole(_ pattern: UInt64) -> ExactInteger {
    let real = Double(bitPattern: pattern)
    let bits = Int64(real.significandBitPattern) + (1 << 52)
    return ExactInteger(bits).times(powerOfTwo: Int(real.exponent) - 52)
  }

  /// The real nearest to the multiple of the least real, the even one of two.
  var real: Double {
    var (low, high) = (UInt64(0), Double.greatestFiniteMagnitude.bitPattern)
    let size = magnitude
    while low < high {
      let middle = low + (high - low + 1) / 2
      if Self.units(middle) <= size { low = middle } else { high = middle - 1 }
    }
    let twice = size + size
    let border = Self.units(low) + Self.units(low + 1)
    let isUp = twice > border || (twice == border && low % 2 == 1)
    let result = Double(bitPattern: isUp ? low + 1 : low)
    return isNegative ? -result : result
  }

  private static func units(_ pattern: UInt64) -> ExactInteger { ExactInteger(units: Double(bitPattern: pattern)) }

  var magnitude: ExactInteger {
    var result = self
    result.isNegative = false
    return result
  }

  /// Nil if the number does not fit.
  var integer: Int64? {
    guard digits.count <= 2 else { return nil }
    let size = digits.reversed().reduce(UInt64(0)) { $0 << 32 | UInt64($1) }
    return isNegative ? (size <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- size) : nil) : Int64(exactly: size)
  }

  /// The number with at most 38 decimal digits that are not zeros at the end, rounded half to even.
  var decimal: ExactInteger {
    let all = decimalDigits
    let surplus = all.count - 38
    guard surplus > 0 else { return self }
    let kept = all[surplus...]
    let isMore = all[..<(surplus - 1)].contains { $0 != 0 }
    let last = all[surplus - 1]
    var result = kept.reversed().reduce(Self.zero) { $0.times(10) + ExactInteger(Int64($1)) }
    if last > 5 || last == 5 && (isMore || kept[surplus] % 2 == 1) { result = result + ExactInteger(1) }
    for _ in 0..<surplus { result = result.times(10) }
    result.isNegative = isNegative
    return result
  }

  /// The decimal digits of the magnitude, least significant first.
  private var decimalDigits: [UInt64] {
    var found: [UInt64] = []
    var rest = digits
    while !rest.isEmpty {
      var remainder = UInt64(0)
      for place in rest.indices.reversed() {
        let part = remainder << 32 | UInt64(rest[place])
        rest[place] = UInt32(part / 10)
        remainder = part % 10
      }
      found.append(remainder)
      rest = Self.trimmed(rest)
    }
    return found
  }

  // MARK: Arithmetic

  func times(_ factor: UInt32) -> ExactInteger {
    var (result, carry) = (self, UInt64(0))
    for place in digits.indices {
      let product = UInt64(digits[place]) * UInt64(factor) + carry
      result.digits[place] = UInt32(truncatingIfNeeded: product)
      carry = product >> 32
    }
    result.digits = Self.trimmed(result.digits + [UInt32(carry)])
    return result
  }

  private func times(powerOfTwo power: Int) -> ExactInteger {
    var result = times(1 << UInt32(power % 32))
    if !result.digits.isEmpty { result.digits = Array(repeating: 0, count: power / 32) + result.digits }
    return result
  }

  static prefix func - (number: ExactInteger) -> ExactInteger {
    var result = number
    result.isNegative = !number.isNegative && !number.digits.isEmpty
    return result
  }

  static func + (left: ExactInteger, right: ExactInteger) -> ExactInteger {
    if left.isNegative != right.isNegative {
      let (large, small) = isLess(left.digits, right.digits) ? (right, left) : (left, right)
      var (result, borrow) = (large, Int64(0))
      for place in large.digits.indices {
        let digit = place < small.digits.count ? Int64(small.digits[place]) : 0
        let difference = Int64(large.digits[place]) - digit - borrow
        borrow = difference < 0 ? 1 : 0
        result.digits[place] = UInt32(truncatingIfNeeded: difference)
      }
      result.digits = trimmed(result.digits)
      if result.digits.isEmpty { result.isNegative = false }
      return result
    }
    var (result, carry) = (left, UInt64(0))
    result.digits = []
    for place in 0...max(left.digits.count, right.digits.count) {
      let a = place < left.digits.count ? UInt64(left.digits[place]) : 0
      let b = place < right.digits.count ? UInt64(right.digits[place]) : 0
      result.digits.append(UInt32(truncatingIfNeeded: a + b + carry))
      carry = (a + b + carry) >> 32
    }
    result.digits = trimmed(result.digits)
    return result
  }

  static func < (left: ExactInteger, right: ExactInteger) -> Bool {
    if left.isNegative != right.isNegative { return left.isNegative }
    return left.isNegative ? isLess(right.digits, left.digits) : isLess(left.digits, right.digits)
  }

  private static func isLess(_ a: [UInt32], _ b: [UInt32]) -> Bool {
    a.count != b.count ? a.count < b.count : a.reversed().lexicographicallyPrecedes(b.reversed())
  }

  private static func trimmed(_ digits: [UInt32]) -> [UInt32] {
    var digits = digits
    while digits.last == 0 { digits.removeLast() }
    return digits
  }
}
