/// Appends JSON as bytes: each save writes the whole document here, possibly a hundred thousand objects.
extension [UInt8] {
  mutating func append(_ text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a string in quotes, on one line.
  mutating func appendQuoted(_ text: String) {
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
