/// Dates in the notation of model files: ISO 8601, such as `2026-01-31`, `2026-01-31T09:30:00Z` or
/// `2026-01-31T09:30:00.250+09:00`.
public enum DateText {
  /// Microseconds since 1970-01-01T00:00:00Z; nil if the text is not such a date. A date without a time is midnight in
  /// UTC.
  public static func microseconds(_ text: String) -> Int64? {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let day = reader.day() else { return nil }
    var seconds = day * 86_400
    var microseconds: Int64 = 0
    if !reader.rest.isEmpty {
      guard reader.take("T"), let time = reader.time(), let offset = reader.zone(), reader.rest.isEmpty else {
        return nil
      }
      seconds += time.seconds - offset
      microseconds = time.microseconds
    }
    // Rounds towards zero first: the whole seconds of the earliest date would overflow on their own.
    if seconds < 0, microseconds > 0 { (seconds, microseconds) = (seconds + 1, microseconds - 1_000_000) }
    let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, isSumTooLarge) = product.addingReportingOverflow(microseconds)
    return isTooLarge || isSumTooLarge ? nil : sum
  }

  /// The greatest distance from 1970 of a date that an attribute can hold: some 292,000 years.
  package static let mostMicroseconds: Int64 = 9_222_000_000_000_000_000

  /// As ``microseconds(_:)``, for an attribute's value; nil beyond ``mostMicroseconds``.
  package static func keptMicroseconds(_ text: String) -> Int64? {
    guard let found = microseconds(text), isKept(found) else { return nil }
    return found
  }

  /// Whether an attribute can hold a date.
  package static func isKept(_ microseconds: Int64) -> Bool { microseconds.magnitude <= mostMicroseconds.magnitude }

  /// The text in UTC, with a fraction of six digits if the date has one.
  public static func text(_ microseconds: Int64) -> String {
    let (seconds, fraction) = floored(microseconds, 1_000_000)
    let (days, time) = floored(seconds, 86_400)
    let (year, month, day) = civil(days)
    // Documents contain many dates, so this builds bytes rather than concatenating strings.
    var bytes: [UInt8] = []
    bytes.reserveCapacity(32)
    if year > 9_999 || year < 0 { bytes.append(UInt8(ascii: year < 0 ? "-" : "+")) }
    append(abs(year), year > 9_999 || year < 0 ? 6 : 4, to: &bytes)
    for (separator, number, width) in [
      ("-", month, 2), ("-", day, 2), ("T", time / 3_600, 2), (":", time / 60 % 60, 2), (":", time % 60, 2),
    ] as [(Unicode.Scalar, Int64, Int)] {
      bytes.append(UInt8(ascii: separator))
      append(number, width, to: &bytes)
    }
    if fraction != 0 {
      bytes.append(UInt8(ascii: "."))
      append(fraction, 6, to: &bytes)
    }
    bytes.append(UInt8(ascii: "Z"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends digits, padded with leading zeros to a width.
  private static func append(_ number: Int64, _ width: Int, to bytes: inout [UInt8]) {
    var (rest, count) = (number, 0)
    let start = bytes.count
    while rest > 0 || count < width {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      (rest, count) = (rest / 10, count + 1)
    }
    bytes[start...].reverse()
  }

  private static func floored(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let remainder = (value % divisor + divisor) % divisor
    return ((value / divisor) - (value % divisor < 0 ? 1 : 0), remainder)
  }

  // Calendar arithmetic in eras of 400 years that begin in March, so that leap days come last.

  package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floored(shifted, 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, day) = floored(days + 719_468, 146_097)
    let yearOfEra = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// Consumes the components of a date from the start of a text.
  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func number(_ width: ClosedRange<Int>, in range: ClosedRange<Int64>) -> Int64? {
      let digits = rest.prefix(while: { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }).prefix(width.upperBound)
      guard digits.count >= width.lowerBound, let value = Int64(String(decoding: digits, as: UTF8.self)),
        range.contains(value)
      else { return nil }
      rest = rest.dropFirst(digits.count)
      return value
    }

    mutating func day() -> Int64? {
      let isNegative = take("-")
      let isExtended = isNegative || take("+")
      guard let year = number(isExtended ? 6...6 : 4...4, in: 0...999_999), take("-"),
        let month = number(2...2, in: 1...12), take("-"), let day = number(2...2, in: 1...31)
      else { return nil }
      let signed = isNegative ? -year : year
      let (nextYear, nextMonth) = month == 12 ? (signed + 1, 1) : (signed, month + 1)
      let first = DateText.days(year: signed, month: month, day: 1)
      guard day <= DateText.days(year: nextYear, month: nextMonth, day: 1) - first else { return nil }
      return first + day - 1
    }

    mutating func time() -> (seconds: Int64, microseconds: Int64)? {
      guard let hour = number(2...2, in: 0...23), take(":"), let minute = number(2...2, in: 0...59) else { return nil }
      guard take(":") else { return (hour * 3_600 + minute * 60, 0) }
      guard let second = number(2...2, in: 0...59) else { return nil }
      var microseconds: Int64 = 0
      if take(".") {
        let length = rest.prefix(while: { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }).count
        guard let digits = number(1...6, in: 0...999_999) else { return nil }
        guard length <= 6 else { return nil }
        microseconds = (length..<6).reduce(digits) { value, _ in value * 10 }
      }
      return (hour * 3_600 + minute * 60 + second, microseconds)
    }

    /// The offset in seconds east of UTC.
    mutating func zone() -> Int64? {
      if take("Z") { return 0 }
      let isWest = take("-")
      guard isWest || take("+"), let hours = number(2...2, in: 0...23), take(":"),
        let minutes = number(2...2, in: 0...59)
      else { return nil }
      return (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
    }
  }
}

// MARK: - Decimal text

/// The canonical text of decimals: digits without redundant zeros and without an exponent, as in `-0.5`, `12`, `0`.
public enum DecimalText {
  /// The maximum number of digits of a decimal, from the first nonzero digit to the last.
  public static let maximumDigits = 38

  /// The canonical form of a number as written in JSON or by hand; nil if the text is not a number, has more than
  /// ``maximumDigits`` digits, or has an exponent beyond ±127.
  public static func canonical(_ text: String) -> String? {
    var rest = Array(text.utf8)[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    let whole = rest.prefix(while: isDigit)
    rest = rest.dropFirst(whole.count)
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix(while: isDigit)
      guard !fraction.isEmpty else { return nil }
      rest = rest.dropFirst(fraction.count + 1)
    }
    guard !whole.isEmpty, let exponent = exponent(rest) else { return nil }
    return canonical(digits: Array(whole + fraction), point: whole.count, exponent, isNegative)
  }

  private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
    guard let letter = text.first else { return 0 }
    guard letter | 32 == UInt8(ascii: "e"),
      let value = Int(String(decoding: text.dropFirst(), as: UTF8.self)), abs(value) <= 127
    else { return nil }
    return value
  }

  /// - Parameter point: the number of digits before the decimal point.
  private static func canonical(digits: [UInt8], point: Int, _ exponent: Int, _ isNegative: Bool) -> String? {
    guard let first = digits.firstIndex(where: { $0 != zero }), let last = digits.lastIndex(where: { $0 != zero })
    else { return "0" }
    let significant = Array(digits[first...last])
    let newPoint = point - first + exponent
    guard significant.count <= maximumDigits, abs(newPoint) <= 165 else { return nil }
    let padded =
      newPoint <= 0
      ? Array(repeating: zero, count: 1 - newPoint) + significant
      : significant + Array(repeating: zero, count: max(0, newPoint - significant.count))
    let split = max(1, newPoint)
    let text = (isNegative ? "-" : "") + String(decoding: padded[..<split], as: UTF8.self)
    return split < padded.count ? text + "." + String(decoding: padded[split...], as: UTF8.self) : text
  }

  /// Whether the first canonical text is a smaller number than the second.
  public static func isLess(_ left: String, _ right: String) -> Bool {
    let isLeftNegative = left.utf8.first == UInt8(ascii: "-")
    let isRightNegative = right.utf8.first == UInt8(ascii: "-")
    if isLeftNegative != isRightNegative { return isLeftNegative }
    return isLeftNegative
      ? isMagnitudeLess(right.utf8.dropFirst(), left.utf8.dropFirst())
      : isMagnitudeLess(left.utf8[...], right.utf8[...])
  }

  private static func isMagnitudeLess(_ left: String.UTF8View.SubSequence, _ right: String.UTF8View.SubSequence) -> Bool
  {
    let leftWhole = left.prefix(while: isDigit).count
    let rightWhole = right.prefix(while: isDigit).count
    return leftWhole != rightWhole ? leftWhole < rightWhole : left.lexicographicallyPrecedes(right)
  }

  private static let zero = UInt8(ascii: "0")

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= zero && byte <= UInt8(ascii: "9") }
}

// MARK: - Binary text

/// Data in the notation of model files: Base64 with padding.
public enum Base64Text {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The bytes; nil if the text is not valid Base64.
  public static func bytes(_ text: String) -> [UInt8]? {
    let letters = Array(text.utf8)
    let body = letters.prefix(while: { $0 != padding })
    let tail = letters[body.endIndex...]
    guard letters.count.isMultiple(of: 4), tail.count <= 2, tail.allSatisfy({ $0 == padding }) else { return nil }
    var result: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for letter in body {
      guard let value = sextet(letter) else { return nil }
      bits = (bits << 6 | UInt32(value)) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    // Unused bits must be zero, so that each value has exactly one text.
    return bits & (1 << UInt32(count) - 1) == 0 ? result : nil
  }

  private static func sextet(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - 65
    case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - 71
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter + 4
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }

  /// The Base64 text of the bytes.
  public static func text(_ bytes: [UInt8]) -> String {
    var letters: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      for place in 0..<4 {
        letters.append(place <= group.count ? alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)] : padding)
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }
}

/// UUIDs in the notation of model files: 8-4-4-4-12 hexadecimal digits.
public enum UUIDText {
  /// The 16 bytes; nil if the text is not a UUID.
  public static func bytes(_ text: String) -> [UInt8]? {
    guard text.utf8.count == 36 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    var high: UInt8?
    for (place, letter) in text.utf8.enumerated() {
      if place == 8 || place == 13 || place == 18 || place == 23 {
        guard letter == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = hexDigit(letter) else { return nil }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }

  private static func hexDigit(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): letter - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The text of 16 bytes, in uppercase.
  public static func text(_ bytes: [UInt8]) -> String {
    var text = ""
    for (place, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(place) { text += "-" }
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return text
  }
}

// MARK: - Quoted text

/// Texts as constants of the format language: in single quotes.
enum QuotedText {
  static func text(_ text: String) -> String {
    var result = "'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "'", "\\": result += "\\" + String(scalar)
      case "%": result += "%%"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "'"
  }
}
