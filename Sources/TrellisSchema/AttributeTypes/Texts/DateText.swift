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

  /// As ``microseconds(_:)``, for an attribute's value; nil beyond some 292,000 years around 1970, which no attribute
  /// can hold.
  package static func keptMicroseconds(_ text: String) -> Int64? {
    guard let found = microseconds(text), found.magnitude <= 9_222_000_000_000_000_000 else { return nil }
    return found
  }

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

  static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
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
