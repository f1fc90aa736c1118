import TrellisModel
import TrellisStorage

// Values as bytes of JSON.

extension [UInt8] {
  /// Appends a value in a column's form.
  ///
  /// - Returns: false if the value cannot be written so that it can be read again. Then nothing useful was appended.
  mutating func append(_ value: StoredValue, as form: ValueForm) -> Bool {
    switch (form, value) {
    case (.bool, .integer(let flag)) where flag == 0 || flag == 1:
      append(contentsOf: flag == 1 ? "true".utf8 : "false".utf8)
    case (.integer(let range), .integer(let number)) where range.contains(number): appendInteger(number)
    case (.reference, .integer(let key)): appendInteger(key)
    case (.date, .integer(let microseconds)) where DateText.isKept(microseconds):
      appendQuoted(DateText.text(microseconds))
    case (.double, .real(let real)): return appendReal(real, minimumDigits: 0)
    case (.float, .real(let real)): return appendFloat(real)
    case (.string, .text(let text)), (.url, .text(let text)): appendQuoted(text)
    case (.decimal, .text(let text)):
      guard DecimalText.canonical(text) != nil else { return false }
      appendQuoted(text)
    case (.json, .text(let text)):
      guard JSONScanner.isValue(text) else { return false }
      append(contentsOf: text.utf8)
    case (.data, .blob(let bytes)), (.external, .blob(let bytes)): appendQuotedBase64(bytes)
    case (.external, .file(let file)): append(file)
    case (.uuid, .blob(let bytes)):
      guard bytes.count == 16 else { return false }
      appendQuotedUUID(bytes)
    default: return false
    }
    return true
  }

  // MARK: Reals

  /// Appends the shortest text that reads as the same number.
  private mutating func appendReal(_ value: Double, minimumDigits: Int) -> Bool {
    guard value.isFinite else { return appendSpecial(value) }
    let text = Array(value.description.utf8)
    let mantissa = text.prefix { $0 | 32 != UInt8(ascii: "e") }
    append(contentsOf: mantissa)
    let digits = RealText.significantDigits(mantissa)
    if digits < minimumDigits {
      if !mantissa.contains(UInt8(ascii: ".")) { append(UInt8(ascii: ".")) }
      for _ in digits..<minimumDigits { append(UInt8(ascii: "0")) }
    }
    append(contentsOf: text[mantissa.endIndex...])
    return true
  }

  /// Appends NaN or infinity, which JSON numbers cannot represent.
  private mutating func appendSpecial(_ value: Double) -> Bool {
    if value.isNaN { return false }
    appendQuoted(value > 0 ? RealText.infinity : RealText.minusInfinity)
    return true
  }

  /// Appends a float in its shortest form. A value between two floats gets more digits than any float has, so that the
  /// reader keeps it as a double.
  private mutating func appendFloat(_ value: Double) -> Bool {
    guard value.isFinite else { return appendSpecial(value) }
    guard let float = Float(exactly: value) else {
      return appendReal(value, minimumDigits: RealText.mostDigitsOfFloat + 1)
    }
    append(contentsOf: float.description.utf8)
    return true
  }

  // MARK: Bytes

  private mutating func appendQuotedBase64(_ bytes: [UInt8]) {
    append(UInt8(ascii: "\""))
    reserveCapacity(count + bytes.count / 3 * 4 + 8)
    append(contentsOf: Base64Text.text(bytes).utf8)
    append(UInt8(ascii: "\""))
  }

  private mutating func append(_ file: ExternalFile) {
    append(contentsOf: "{\"\(ValueForm.file)\": \"\(file.digest.text)\", \"\(ValueForm.size)\": ".utf8)
    appendInteger(Int64(file.size))
    append(UInt8(ascii: "}"))
  }

  private mutating func appendQuotedUUID(_ bytes: [UInt8]) {
    append(UInt8(ascii: "\""))
    for (place, byte) in bytes.enumerated() {
      if place == 4 || place == 6 || place == 8 || place == 10 { append(UInt8(ascii: "-")) }
      append(Self.capitalDigit(byte >> 4))
      append(Self.capitalDigit(byte & 15))
    }
    append(UInt8(ascii: "\""))
  }

  private static func capitalDigit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 55 + value }
}

/// The text forms of reals that JSON numbers cannot represent.
enum RealText {
  static let infinity = "Infinity"
  static let minusInfinity = "-Infinity"
  /// The number of digits that distinguishes every float from its neighbors.
  static let mostDigitsOfFloat = 9

  /// The number of digits from the first non-zero one, without the exponent.
  static func significantDigits(_ text: some Sequence<UInt8>) -> Int {
    text.prefix { $0 | 32 != UInt8(ascii: "e") }.drop {
      !$0.isDigit || $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".")
    }
    .count(where: \.isDigit)
  }
}

// MARK: - Byte writing

/// Appends JSON as bytes: each save writes the whole document here, possibly a hundred thousand objects.
extension [UInt8] {
  mutating func append(_ text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a string in quotes, on one line.
  package mutating func appendQuoted(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      append(UInt8(ascii: "\""))
      var start = 0
      // Ranges without characters to escape are copied as a whole.
      for place in bytes.indices where bytes[place].isEscaped {
        append(contentsOf: bytes[start..<place])
        appendEscape(bytes[place])
        start = place + 1
      }
      append(contentsOf: bytes[start...])
      append(UInt8(ascii: "\""))
    }
  }

  private mutating func appendEscape(_ byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case UInt8(ascii: "\n"): append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): append(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): append(UInt8(ascii: "t"))
    default:
      append("u00")
      append(Self.digits[Int(byte >> 4)])
      append(Self.digits[Int(byte & 15)])
    }
  }

  private static var digits: StaticDigits { StaticDigits() }

  mutating func appendInteger(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let start = count
    var rest = value.magnitude
    repeat {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }

  /// Appends a number with at least `width` digits.
  mutating func appendPadded(_ value: Int64, _ width: Int) {
    let digits = value.digitCount
    for _ in 0..<Swift.max(0, width - digits) { append(UInt8(ascii: "0")) }
    appendInteger(value)
  }
}

private struct StaticDigits {
  subscript(value: Int) -> UInt8 { UInt8(truncatingIfNeeded: value < 10 ? 48 + value : 87 + value) }
}

extension Int64 {
  fileprivate var digitCount: Int {
    var count = 1
    var rest = self / 10
    while rest != 0 {
      count += 1
      rest /= 10
    }
    return count
  }
}

extension UInt8 {
  fileprivate var isEscaped: Bool { self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\") }
}
