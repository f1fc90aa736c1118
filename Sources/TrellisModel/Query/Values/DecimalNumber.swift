/// A decimal number of any length: its digits and a power of ten.
struct DecimalNumber {
  /// The maximum number of digits of a result.
  static let precision = 38
  /// The maximum number of digits of a result before the decimal point, and of zeros after it.
  static let places = 165

  var isNegative: Bool
  /// The digits, most significant first, without leading zeros. Zero has none.
  var digits: [UInt8]
  var exponent: Int

  static let zero = DecimalNumber(isNegative: false, digits: [], exponent: 0)

  var isZero: Bool { digits.isEmpty }

  init(isNegative: Bool, digits: some Sequence<UInt8>, exponent: Int) {
    self.digits = Array(digits.drop { $0 == 0 })
    self.isNegative = isNegative && !self.digits.isEmpty
    self.exponent = exponent
  }

  /// Returns nil if the text is not a plain decimal.
  init?(_ text: String) {
    var bytes = Array(text.utf8)[...]
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative || bytes.first == UInt8(ascii: "+") { bytes.removeFirst() }
    let whole = bytes.prefix { $0 != UInt8(ascii: ".") }
    let hasPoint = whole.endIndex < bytes.endIndex
    let fraction = hasPoint ? bytes[(whole.endIndex + 1)...] : []
    let isDigit = { (byte: UInt8) in byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    guard !whole.isEmpty, !hasPoint || !fraction.isEmpty, whole.allSatisfy(isDigit), fraction.allSatisfy(isDigit) else {
      return nil
    }
    self.init(
      isNegative: isNegative, digits: (whole + fraction).map { $0 - UInt8(ascii: "0") }, exponent: -fraction.count)
  }

  init(_ integer: some BinaryInteger) {
    self.init(
      isNegative: integer < 0, digits: String(integer.magnitude).utf8.map { $0 - UInt8(ascii: "0") }, exponent: 0)
  }

  /// The shortest decimal that converts back to the real. An infinity is larger than every real and every decimal.
  init(_ real: Double) {
    guard real.isFinite else {
      self.init(isNegative: real < 0, digits: [1], exponent: 400)
      return
    }
    let parts = real.magnitude.description.utf8.split { $0 == UInt8(ascii: "e") }
    let exponent = parts.count == 2 ? Int(String(decoding: parts[1], as: UTF8.self)) ?? 0 : 0
    let mantissa = parts.first.flatMap { DecimalNumber(String(decoding: $0, as: UTF8.self)) } ?? .zero
    self.init(isNegative: real < 0, digits: mantissa.digits, exponent: mantissa.exponent + exponent)
  }

  // MARK: Results

  /// The canonical text.
  var text: String {
    var digits = digits
    var exponent = exponent
    while digits.last == 0 {
      digits.removeLast()
      exponent += 1
    }
    guard !digits.isEmpty else { return "0" }
    let zero = UInt8(ascii: "0")
    var letters = digits.map { $0 + zero }
    if exponent >= 0 {
      letters += repeatElement(zero, count: exponent)
    } else {
      if letters.count <= -exponent {
        letters = Array(repeatElement(zero, count: 1 - exponent - letters.count)) + letters
      }
      letters.insert(UInt8(ascii: "."), at: letters.count + exponent)
    }
    return (isNegative ? "-" : "") + String(decoding: letters, as: UTF8.self)
  }

  /// The number with at most ``precision`` digits; nil if it exceeds ``places``.
  var rounded: DecimalNumber? {
    var result = self
    let surplus = digits.count - Self.precision
    if surplus > 0 { result = result.dropping(surplus, .toNearestOrEven) }
    if result.isZero { return .zero }
    let point = result.digits.count + result.exponent
    return point > Self.places ? nil : point < -Self.places ? .zero : result
  }

  /// The number without its last digits, rounded by the rule.
  func dropping(_ count: Int, _ rule: FloatingPointRoundingRule) -> DecimalNumber {
    guard count > 0 else { return self }
    let kept = digits.dropLast(count)
    let dropped = digits.count >= count ? digits.suffix(count)[...] : ([0] + digits)[...]
    var result = DecimalNumber(isNegative: isNegative, digits: kept, exponent: exponent + count)
    result.isNegative = isNegative
    if isUp(dropped, after: kept.last ?? 0, rule) { result.addOne() }
    if result.isZero { result = .zero }
    return result
  }

  private func isUp(_ dropped: ArraySlice<UInt8>, after last: UInt8, _ rule: FloatingPointRoundingRule) -> Bool {
    let isAny = dropped.contains { $0 != 0 }
    switch rule {
    case .up: return isAny && !isNegative
    case .down: return isAny && isNegative
    case .towardZero: return false
    case .awayFromZero: return isAny
    default:
      let first = dropped.first ?? 0
      let isHalf = first == 5 && !dropped.dropFirst().contains { $0 != 0 }
      return isHalf && rule == .toNearestOrEven ? last % 2 == 1 : first >= 5
    }
  }

  private mutating func addOne() {
    for place in digits.indices.reversed() {
      if digits[place] < 9 {
        digits[place] += 1
        return
      }
      digits[place] = 0
    }
    digits.insert(1, at: 0)
  }

  /// The nearest integer, by the rule.
  func whole(_ rule: FloatingPointRoundingRule) -> DecimalNumber { dropping(-exponent, rule) }

  /// The number as a 64-bit integer; nil if it is not an integer or does not fit.
  var integer: Int64? { Int64(text) }

  /// The number as a real; nil if it is too large.
  var real: Double? { Double(text).flatMap { $0.isFinite ? $0 : nil } }
}

// MARK: - Arithmetic

extension DecimalNumber {
  static prefix func - (number: DecimalNumber) -> DecimalNumber {
    DecimalNumber(isNegative: !number.isNegative, digits: number.digits, exponent: number.exponent)
  }

  /// The exact sum, of any length.
  static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    let exponent = min(left.exponent, right.exponent)
    let (a, b) = (left.padded(to: exponent), right.padded(to: exponent))
    if left.isNegative == right.isNegative {
      return DecimalNumber(isNegative: left.isNegative, digits: sum(a, b), exponent: exponent)
    }
    return isLess(a, b)
      ? DecimalNumber(isNegative: right.isNegative, digits: difference(b, a), exponent: exponent)
      : DecimalNumber(isNegative: left.isNegative, digits: difference(a, b), exponent: exponent)
  }

  /// The exact product, of any length.
  static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
    guard !left.isZero, !right.isZero else { return .zero }
    var places = [Int](repeating: 0, count: left.digits.count + right.digits.count)
    for (i, a) in left.digits.enumerated() {
      for (j, b) in right.digits.enumerated() { places[i + j + 1] += Int(a) * Int(b) }
    }
    for place in places.indices.dropFirst().reversed() {
      places[place - 1] += places[place] / 10
      places[place] %= 10
    }
    return DecimalNumber(
      isNegative: left.isNegative != right.isNegative, digits: places.map { UInt8($0) },
      exponent: left.exponent + right.exponent)
  }

  /// The quotient with ``precision`` digits, rounded half to even; nil for a division by zero.
  func divided(by divisor: DecimalNumber) -> DecimalNumber? {
    guard !divisor.isZero else { return nil }
    // Computes two digits more than are kept. A remainder beyond them counts as one more digit.
    let surplus = max(0, Self.precision + 2 + divisor.digits.count - digits.count)
    var rest: [UInt8] = []
    var quotient: [UInt8] = []
    for digit in digits + repeatElement(0, count: surplus) {
      rest.append(digit)
      if rest.first == 0 { rest.removeFirst() }
      var times: UInt8 = 0
      while !Self.isLess(rest, divisor.digits) {
        rest = Array(Self.difference(rest, divisor.digits).drop { $0 == 0 })
        times += 1
      }
      quotient.append(times)
    }
    quotient.append(rest.isEmpty ? 0 : 1)
    return DecimalNumber(
      isNegative: isNegative != divisor.isNegative, digits: quotient,
      exponent: exponent - divisor.exponent - surplus - 1)
  }

  /// The exact remainder of the division, with the sign of this number; nil for a division by zero.
  func remainder(dividingBy divisor: DecimalNumber) -> DecimalNumber? {
    guard !divisor.isZero else { return nil }
    let common = min(exponent, divisor.exponent)
    let other = divisor.padded(to: common)
    var rest: [UInt8] = []
    for digit in padded(to: common) {
      rest.append(digit)
      if rest.first == 0 { rest.removeFirst() }
      while !Self.isLess(rest, other) { rest = Array(Self.difference(rest, other).drop { $0 == 0 }) }
    }
    return DecimalNumber(isNegative: isNegative, digits: rest, exponent: common)
  }

  /// The power; nil if the exponent is not an integer from 0 to 1,000, or if the result is too large.
  func power(_ exponent: DecimalNumber) -> DecimalNumber? {
    guard let count = exponent.integer, (0...1_000).contains(count) else { return nil }
    var result = DecimalNumber(1)
    for _ in 0..<count {
      guard let next = (result * self).rounded else { return nil }
      result = next
    }
    return result
  }

  // MARK: Digits

  private func padded(to exponent: Int) -> [UInt8] {
    isZero ? [] : digits + repeatElement(0, count: max(0, self.exponent - exponent))
  }

  private static func isLess(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count != b.count ? a.count < b.count : a.lexicographicallyPrecedes(b)
  }

  private static func sum(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    var (long, short) = a.count < b.count ? (b, a) : (a, b)
    long.insert(0, at: 0)
    short = repeatElement(0, count: long.count - short.count) + short
    var carry: UInt8 = 0
    for place in long.indices.reversed() {
      let digit = long[place] + short[place] + carry
      carry = digit > 9 ? 1 : 0
      long[place] = digit % 10
    }
    return long
  }

  /// - Precondition: `a` is not less than `b`.
  private static func difference(_ a: [UInt8], _ b: [UInt8]) -> [UInt8] {
    var result = a
    let offset = a.count - b.count
    var borrow: UInt8 = 0
    for place in result.indices.reversed() {
      let taken = borrow + (place >= offset ? b[place - offset] : 0)
      borrow = result[place] < taken ? 1 : 0
      result[place] = result[place] + 10 * borrow - taken
    }
    return result
  }
}
