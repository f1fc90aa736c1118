import TrellisModel

/// Reads and writes dates in a format of a mapping.
///
/// `SSS` reads any number of digits, to the microsecond. `Z` reads `Z`, `+09:00` and `+0900`. Without it a date is in
/// UTC. Names of months and locales are not known, since they differ between systems.
struct DateFormat {
  enum Unit {
    case text
    /// A number of units, each of so many microseconds.
    case number(Int64)
  }

  let unit: Unit
  private let name: String
  /// Empty for ISO 8601.
  private let parts: [JSONDateFormat.Part]

  /// - Returns: nil for a text that is no format.
  init?(_ text: String) {
    name = text
    guard let format = try? JSONDateFormat(text) else { return nil }
    switch format {
    case .iso8601: (unit, parts) = (.text, [])
    case .seconds: (unit, parts) = (.number(1_000_000), [])
    case .milliseconds: (unit, parts) = (.number(1_000), [])
    case .pattern(let parts): (unit, self.parts) = (.text, parts)
    }
  }

  /// Whether dates are texts in ISO 8601.
  var isISO: Bool { name == "iso8601" }

  var expectation: String {
    switch name {
    case "iso8601": "an ISO 8601 date, such as 2026-01-31T09:30:00Z"
    case "seconds", "milliseconds": "a number of \(name) since 1970"
    default: "a date in the format \(name)"
    }
  }

  // MARK: Reading

  /// The microseconds since 1970 of a date; nil for a text that is none.
  func microseconds(_ text: String) -> Int64? {
    if case .number(let scale) = unit { return microseconds(number: text, scale) }
    var reader = Reader(Array(text.utf8))
    let date = parts.isEmpty ? reader.isoDate() : reader.date(parts)
    guard let date, reader.isAtEnd, DateText.isKept(date) else { return nil }
    return date
  }

  /// The microseconds of a number of units, which may have a fraction. Digits beyond microseconds are cut off.
  func microseconds(number text: String, _ scale: Int64) -> Int64? {
    guard let canonical = DecimalText.canonical(text) else { return nil }
    let halves = canonical.split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = Int64(halves[0]) else { return nil }
    let digits = scale == 1_000 ? 3 : 6
    let fraction = halves.count > 1 ? String(halves[1].prefix(digits)) : ""
    let padded = fraction + String(repeating: "0", count: digits - fraction.count)
    let (product, isTooLarge) = whole.multipliedReportingOverflow(by: scale)
    guard !isTooLarge, let rest = Int64(padded) else { return nil }
    let (sum, isSumTooLarge) = product.addingReportingOverflow(canonical.hasPrefix("-") ? -rest : rest)
    return isSumTooLarge || !DateText.isKept(sum) ? nil : sum
  }

  // MARK: Writing

  /// The JSON text of a date.
  func json(_ microseconds: Int64) -> CanonicalJSON {
    switch unit {
    case .number(let scale): .verbatim(Self.decimal(microseconds, scale))
    case .text: .text(text(microseconds))
    }
  }

  private static func decimal(_ microseconds: Int64, _ scale: Int64) -> String {
    let rest = (microseconds % scale).magnitude
    let whole = "\(microseconds < 0 ? "-" : "")\((microseconds / scale).magnitude)"
    guard rest != 0 else { return whole }
    let digits = String(rest)
    let width = scale == 1_000 ? 3 : 6
    var fraction = String(repeating: "0", count: width - digits.count) + digits
    while fraction.last == "0" { fraction.removeLast() }
    return "\(whole).\(fraction)"
  }

  private func text(_ microseconds: Int64) -> String {
    let iso = DateText.text(microseconds)
    guard !parts.isEmpty else { return iso }
    // The text has fixed places, counted from the sign of the month: the year may have six digits and a sign.
    let letters = Array(iso.utf8)
    guard let day = letters.firstIndex(of: UInt8(ascii: "T")), day >= 10 else { return iso }
    func digits(_ start: Int, _ count: Int) -> ArraySlice<UInt8> { letters[start..<start + count] }
    let fraction = letters.firstIndex(of: UInt8(ascii: ".")).map { letters[($0 + 1)...].dropLast() }
    var bytes: [UInt8] = []
    for part in parts {
      switch part {
      case .field(.year): bytes += letters[..<(day - 6)]
      case .field(.month): bytes += digits(day - 5, 2)
      case .field(.day): bytes += digits(day - 2, 2)
      case .field(.hour): bytes += digits(day + 1, 2)
      case .field(.minute): bytes += digits(day + 4, 2)
      case .field(.second): bytes += digits(day + 7, 2)
      case .field(.millisecond): bytes += fraction.map(Array.init) ?? Array("000".utf8)
      case .field(.zone): bytes.append(UInt8(ascii: "Z"))
      case .literal(let text): bytes += Array(text.utf8)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension DateFormat {
  /// Consumes the fields of a date.
  fileprivate struct Reader {
    private let bytes: [UInt8]
    private var place = 0
    private var fields: [Int64] = [1970, 1, 1, 0, 0, 0]
    private var fraction: Int64 = 0
    private var offset: Int64 = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }
    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
      guard next == UInt8(ascii: letter) else { return false }
      place += 1
      return true
    }

    private mutating func number(_ width: Int) -> Int64? {
      var value: Int64 = 0
      for _ in 0..<width {
        guard let byte = next, byte.isDigit else { return nil }
        value = value * 10 + Int64(byte - UInt8(ascii: "0"))
        place += 1
      }
      return value
    }

    mutating func date(_ parts: [JSONDateFormat.Part]) -> Int64? {
      for part in parts { guard read(part) else { return nil } }
      return microseconds
    }

    /// ISO 8601: a day, and a time with or without seconds, a fraction of any length and a zone.
    mutating func isoDate() -> Int64? {
      if take("+") || next == UInt8(ascii: "-") {
        // Years beyond four digits are rare; the reader of model files knows them.
        place = bytes.count
        return DateText.microseconds(String(decoding: bytes, as: UTF8.self))
      }
      guard read(.field(.year)), take("-"), read(.field(.month)), take("-"), read(.field(.day)) else { return nil }
      if isAtEnd { return microseconds }
      guard take("T") || take("t") || take(" "), read(.field(.hour)), take(":"), read(.field(.minute)) else {
        return nil
      }
      if take(":") {
        guard read(.field(.second)) else { return nil }
        if take(".") || take(",") { guard read(.field(.millisecond)) else { return nil } }
      }
      if !isAtEnd { guard read(.field(.zone)) else { return nil } }
      return microseconds
    }

    private mutating func read(_ part: JSONDateFormat.Part) -> Bool {
      switch part {
      case .field(.year): return set(0, 4, in: 0...9999)
      case .field(.month): return set(1, 2, in: 1...12)
      case .field(.day): return set(2, 2, in: 1...31)
      case .field(.hour): return set(3, 2, in: 0...23)
      case .field(.minute): return set(4, 2, in: 0...59)
      // A leap second counts as the one after it.
      case .field(.second): return set(5, 2, in: 0...60)
      case .field(.millisecond): return readFraction()
      case .field(.zone): return readZone()
      case .literal(let text):
        guard bytes[place...].starts(with: text.utf8) else { return false }
        place += text.utf8.count
        return true
      }
    }

    private mutating func set(_ index: Int, _ width: Int, in range: ClosedRange<Int64>) -> Bool {
      guard let value = number(width), range.contains(value) else { return false }
      fields[index] = value
      return true
    }

    private mutating func readFraction() -> Bool {
      var digits = 0
      while let byte = next, byte.isDigit {
        if digits < 6 { fraction = fraction * 10 + Int64(byte - UInt8(ascii: "0")) }
        digits += 1
        place += 1
      }
      for _ in min(digits, 6)..<6 { fraction *= 10 }
      return digits > 0
    }

    private mutating func readZone() -> Bool {
      if take("Z") || take("z") { return true }
      let isWest = take("-")
      guard isWest || take("+"), let hours = number(2), hours <= 23 else { return false }
      _ = take(":")
      guard let minutes = isAtEnd ? 0 : number(2), minutes <= 59 else { return false }
      offset = (hours * 3_600 + minutes * 60) * (isWest ? -1 : 1)
      return true
    }

    private var microseconds: Int64? {
      let (nextYear, nextMonth) = fields[1] == 12 ? (fields[0] + 1, 1) : (fields[0], fields[1] + 1)
      let first = DateText.days(year: fields[0], month: fields[1], day: 1)
      guard fields[2] <= DateText.days(year: nextYear, month: nextMonth, day: 1) - first else { return nil }
      let seconds = (first + fields[2] - 1) * 86_400 + fields[3] * 3_600 + fields[4] * 60 + fields[5] - offset
      return seconds * 1_000_000 + fraction
    }
  }
}
