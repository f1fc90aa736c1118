/// The sum of numbers of one kind: exact, so that the order of the numbers does not affect the result. Evaluation in
/// memory and the functions of all stores share it.
package struct NumberSum: Sendable {
  /// The number of values that are not nil.
  package private(set) var count = 0
  private var integers = WholeSum()
  private var reals = RealSum()
  private var decimals = DecimalSum()

  package init() {}

  package mutating func add(_ integer: Int64) {
    count += 1
    integers.add(integer)
  }

  package mutating func add(_ real: Double) {
    count += 1
    reals.add(real)
  }

  /// Adds the decimal with some text. A text of another form counts as 0.
  package mutating func add(decimal text: UnsafeBufferPointer<UInt8>) {
    count += 1
    decimals.add(text)
  }

  /// Adds the sum of several numbers of the kind, which is exact.
  ///
  /// - Parameters:
  ///   - text: the sum as a decimal.
  ///   - count: the number of numbers.
  package mutating func add(sum text: String, of count: Int, kind: ValueKind) {
    if count == 0 { return }
    if kind == .integer, let sum = Int128(text) {
      integers.add(sum: sum)
      self.count += count
    } else {
      var text = text
      text.withUTF8 { add(decimal: $0) }
      self.count += count - 1
    }
  }

  /// Adds a value as a number of the kind. Nil is ignored; a value that is no such number counts as 0.
  package mutating func add(_ value: StoredValue, kind: ValueKind) {
    guard !ValueOrder.isNil(value) else { return }
    switch (kind, value) {
    case (.integer, .integer(let integer)): add(integer)
    case (.integer, _): count += 1
    case (.decimal, .text(var text)): text.withUTF8 { add(decimal: $0) }
    case (.decimal, _):
      count += 1
      if let number = ValueArithmetic.decimal(value) { decimals.add(number) }
    case (.real, _), (.text, _), (.blob, _): add(ValueArithmetic.real(value) ?? 0)
    }
  }

  /// The sum, whatever its size: an integer beyond 64 bits is the nearest real, and a decimal beyond the range of
  /// decimals has any number of digits; all other decimals are rounded as by ``sum(_:)``. Null is the sum of opposite
  /// infinities.
  package func total(_ kind: ValueKind) -> StoredValue {
    switch kind {
    case .integer: Int64(exactly: integers.value).map { .integer($0) } ?? .real(Double(integers.value))
    case .decimal: .text((decimals.value.rounded ?? decimals.value).text)
    case .real, .text, .blob: reals.value.isNaN ? .null : .real(reals.value)
    }
  }

  /// The sum as a value of the kind; null if it does not fit.
  package func sum(_ kind: ValueKind) -> StoredValue {
    switch kind {
    case .integer: Int64(exactly: integers.value).map { .integer($0) } ?? .null
    case .decimal: decimals.value.rounded.map { .text($0.text) } ?? .null
    case .real, .text, .blob: Self.finite(reals.value)
    }
  }

  /// The sum divided by the number of values, for integers a real; null if there are none, and for reals if it is
  /// infinite.
  package func average(_ kind: ValueKind) -> StoredValue {
    guard count > 0 else { return .null }
    switch kind {
    case .integer: return .real(Double(integers.value) / Double(count))
    case .decimal: return decimals.value.divided(by: DecimalNumber(count))?.rounded.map { .text($0.text) } ?? .null
    case .real, .text, .blob: return Self.finite(reals.value / Double(count))
    }
  }

  /// The same as ``average(_:)``, but an average of reals may be infinite.
  package func mean(_ kind: ValueKind) -> StoredValue {
    guard kind == .real, count > 0 else { return average(kind) }
    let result = reals.value / Double(count)
    return result.isNaN ? .null : .real(result)
  }

  private static func finite(_ real: Double) -> StoredValue { real.isFinite ? .real(real) : .null }
}

// MARK: - Whole sum

/// The sum of integers. It has 64 bits more than they have, so that no intermediate sum overflows.
private struct WholeSum {
  // Two words instead of one of 128 bits, which would be aligned to 16 bytes.
  private var high: Int64 = 0
  private var low: UInt64 = 0

  var value: Int128 { Int128(high) << 64 + Int128(low) }

  mutating func add(_ integer: Int64) {
    let (sum, carries) = low.addingReportingOverflow(UInt64(bitPattern: integer))
    low = sum
    high &+= (integer < 0 ? -1 : 0) + (carries ? 1 : 0)
  }

  mutating func add(sum: Int128) {
    let total = value &+ sum
    high = Int64(truncatingIfNeeded: total >> 64)
    low = UInt64(truncatingIfNeeded: total)
  }
}

// MARK: - Decimal sum

/// The sum of decimals, of any length.
private struct DecimalSum {
  /// The sum without ``rest`` is `coefficient` · 10⁻`scale`, as long as that fits in 128 bits.
  private var high: Int64 = 0
  private var low: UInt64 = 0
  private var scale = 0
  /// What did not fit.
  private var rest: DecimalNumber?

  private var coefficient: Int128 {
    get { Int128(high) << 64 + Int128(low) }
    set {
      high = Int64(truncatingIfNeeded: newValue >> 64)
      low = UInt64(truncatingIfNeeded: newValue)
    }
  }

  var value: DecimalNumber {
    let number = Self.number(coefficient, scale)
    return rest.map { $0 + number } ?? number
  }

  mutating func add(_ text: UnsafeBufferPointer<UInt8>) {
    if let (digits, places) = Self.short(text), add(digits, places) { return }
    if let number = DecimalNumber(String(decoding: text, as: UTF8.self)) { add(number) }
  }

  mutating func add(_ number: DecimalNumber) { rest = rest.map { $0 + number } ?? number }

  /// Adds a decimal if the sum stays short.
  private mutating func add(_ digits: Int128, _ places: Int) -> Bool {
    var (sum, digits) = (coefficient, digits)
    let newScale = max(scale, places)
    guard Self.shift(&sum, newScale - scale), Self.shift(&digits, newScale - places) else { return false }
    let (result, overflows) = sum.addingReportingOverflow(digits)
    guard !overflows else { return false }
    coefficient = result
    scale = newScale
    return true
  }

  /// Multiplies by a power of ten. Returns false if the product does not fit.
  private static func shift(_ number: inout Int128, _ places: Int) -> Bool {
    for _ in 0..<places {
      let (product, overflows) = number.multipliedReportingOverflow(by: 10)
      if overflows { return false }
      number = product
    }
    return true
  }

  /// The digits of a plain decimal of at most 18 digits, and the number of those after the point. Nil for other texts.
  private static func short(_ text: UnsafeBufferPointer<UInt8>) -> (digits: Int128, places: Int)? {
    var number: Int64 = 0
    var (digits, point) = (0, -1)
    for (index, byte) in text.enumerated() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        number = number &* 10 &+ Int64(byte &- UInt8(ascii: "0"))
        digits += 1
      case UInt8(ascii: "-") where index == 0: break
      case UInt8(ascii: ".") where point < 0 && digits > 0: point = digits
      default: return nil
      }
    }
    guard digits > 0, digits <= 18, point != digits else { return nil }
    let isNegative = text.first == UInt8(ascii: "-")
    return (Int128(isNegative ? -number : number), point < 0 ? 0 : digits - point)
  }

  private static func number(_ coefficient: Int128, _ scale: Int) -> DecimalNumber {
    let whole = DecimalNumber(coefficient)
    return DecimalNumber(isNegative: whole.isNegative, digits: whole.digits, exponent: -scale)
  }
}
