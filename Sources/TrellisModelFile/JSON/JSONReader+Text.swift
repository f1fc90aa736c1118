extension JSONReader {
  /// Whether the file is valid UTF-8; reports the first invalid position.
  func checkEncoding() -> Bool {
    if String(validating: bytes, as: UTF8.self) != nil { return true }
    var place = 0
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { place += scalar.count }
    findings.error(.badUTF8, at: place, "The text is not UTF-8 from here on; save the file as UTF-8.")
    return false
  }

  /// Skips white space. Comments are reported and skipped.
  mutating func skipSpace() throws(Stop) {
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): offset += 1
      case UInt8(ascii: "/"): try skipComment()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(Stop) {
    let start = offset
    let second = start + 1 < bytes.count ? bytes[start + 1] : 0
    guard second == UInt8(ascii: "/") || second == UInt8(ascii: "*") else {
      throw stop("Here \(nextText()) has no meaning")
    }
    findings.error(.comment, at: start, "JSON has no comments; what people should read belongs into \"doc\".")
    offset += 2
    if second == UInt8(ascii: "/") {
      while let byte = peek(), byte != UInt8(ascii: "\n") { offset += 1 }
      return
    }
    while let byte = peek() {
      offset += 1
      if byte == UInt8(ascii: "*"), peek() == UInt8(ascii: "/") { return offset += 1 }
    }
  }

  // MARK: Strings

  /// Reads a string. A string in single quotes is reported and read anyway.
  mutating func readString() throws(Stop) -> String {
    let start = offset
    let quote = peek() ?? UInt8(ascii: "\"")
    if quote == UInt8(ascii: "'") {
      findings.error(.singleQuotes, at: start, "Strings are written in double quotes.")
    }
    offset += 1
    while let byte = peek(), byte != quote, byte != UInt8(ascii: "\\"), byte >= 0x20 { offset += 1 }
    let plain = start + 1..<offset
    if peek() == quote {
      offset += 1
      return text(plain)
    }
    return try readEscapedString(from: start, quote, plain)
  }

  private mutating func readEscapedString(
    from start: Int, _ quote: UInt8, _ plain: Range<Int>
  ) throws(Stop) -> String {
    var result = Array(bytes[plain])
    while let byte = peek(), byte != UInt8(ascii: "\n") {
      if byte == quote {
        offset += 1
        return String(decoding: result, as: UTF8.self)
      } else if byte == UInt8(ascii: "\\") {
        readEscape(into: &result)
      } else {
        if byte < 0x20 { reportControl(byte) }
        result.append(byte)
        offset += 1
      }
    }
    findings.error(
      .unterminatedString, at: start,
      "The string that begins here is not closed on its line; close it with a double quote, and write line breaks as \\n."
    )
    throw Stop()
  }

  private func reportControl(_ byte: UInt8) {
    let digits = String(byte, radix: 16)
    let escape = byte == UInt8(ascii: "\t") ? "\\t" : "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    findings.error(.badEscape, at: offset, "A control character in a string must be written as \(escape).")
  }

  private mutating func readEscape(into result: inout [UInt8]) {
    let start = offset
    offset += 1
    guard let byte = peek(), byte >= 0x20 else { return reportEscape(at: start) }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
    case UInt8(ascii: "b"): result.append(0x08)
    case UInt8(ascii: "f"): result.append(0x0C)
    case UInt8(ascii: "n"): result.append(0x0A)
    case UInt8(ascii: "r"): result.append(0x0D)
    case UInt8(ascii: "t"): result.append(0x09)
    case UInt8(ascii: "u"): readUnicodeEscape(from: start, into: &result)
    default:
      offset -= 1
      reportEscape(at: start)
    }
  }

  private func reportEscape(at start: Int) {
    findings.error(
      .badEscape, at: start,
      "The backslash begins no escape that JSON knows; a backslash itself is written as \\\\, as in the pattern \"\\\\d+\"."
    )
  }

  private mutating func readUnicodeEscape(from start: Int, into result: inout [UInt8]) {
    guard var value = readHexDigits() else { return reportCodePoint(at: start) }
    if value & 0xFC00 == 0xD800 {
      guard peek() == UInt8(ascii: "\\"), offset + 1 < bytes.count, bytes[offset + 1] == UInt8(ascii: "u") else {
        return reportCodePoint(at: start)
      }
      offset += 2
      guard let low = readHexDigits(), low & 0xFC00 == 0xDC00 else { return reportCodePoint(at: start) }
      value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
    }
    guard let scalar = Unicode.Scalar(value) else { return reportCodePoint(at: start) }
    result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
  }

  private func reportCodePoint(at start: Int) {
    findings.error(
      .badEscape, at: start,
      "\\u must be followed by four hexadecimal digits, and a high surrogate by a low one; or write the character itself."
    )
  }

  private mutating func readHexDigits() -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = Unicode.Scalar(byte).hexDigitValue else { return nil }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }

  // MARK: Numbers

  /// Reads a number as written; reports it if it is not a valid JSON number.
  mutating func readNumber() -> String {
    let start = offset
    while let byte = peek(), byte.isDigit || byte.isWord || "+-.".utf8.contains(byte) { offset += 1 }
    let number = text(start..<offset)
    if let fault = Self.fault(inNumber: Array(number.utf8)) {
      findings.error(.badNumber, at: start, "\(number.quoted) is no JSON number: \(fault).")
    }
    return number
  }

  private static func fault(inNumber text: [UInt8]) -> String? {
    var rest = text[...]
    if rest.first == UInt8(ascii: "+") { return "a number has no leading '+'" }
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    let whole = rest.prefix(while: \.isDigit)
    if whole.isEmpty { return "it must begin with a digit" }
    if whole.count > 1, whole.first == UInt8(ascii: "0") { return "it must not begin with a zero" }
    rest = rest.dropFirst(whole.count)
    if rest.first == UInt8(ascii: ".") {
      let fraction = rest.dropFirst().prefix(while: \.isDigit)
      if fraction.isEmpty { return "after the '.' a digit is missing" }
      rest = rest.dropFirst(fraction.count + 1)
    }
    if let letter = rest.first, letter | 32 == UInt8(ascii: "e") {
      rest.removeFirst()
      if let sign = rest.first, "+-".utf8.contains(sign) { rest.removeFirst() }
      let exponent = rest.prefix(while: \.isDigit)
      if exponent.isEmpty { return "after the 'e' a digit is missing" }
      rest = rest.dropFirst(exponent.count)
    }
    return rest.isEmpty ? nil : "only digits, one '.' and an exponent may be in it"
  }
}

extension Unicode.Scalar {
  fileprivate var hexDigitValue: UInt32? {
    switch self {
    case "0"..."9": value - 0x30
    case "a"..."f": value - 0x61 + 10
    case "A"..."F": value - 0x41 + 10
    default: nil
    }
  }
}
