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
