extension JSONScanner {
  // MARK: Strings

  /// The range of a string's content, and whether it has escapes. All escapes are checked.
  @inline(__always) mutating func stringSpan() throws(DocumentFault) -> (content: Range<Int>, hasEscapes: Bool) {
    let start = offset + 1
    var hasEscapes = false
    offset = start
    while offset < bytes.count {
      let byte = bytes[offset]
      if byte == UInt8(ascii: "\"") {
        offset += 1
        return (start..<offset - 1, hasEscapes)
      }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        _ = try escape()
      } else if byte < 0x20 {
        throw DocumentFault("a control character in a string must be written as an escape, such as \\n", at: offset)
      } else {
        offset += 1
      }
    }
    throw DocumentFault("the string that begins here is not closed", at: start - 1)
  }

  /// Reads a string, starting at its opening quote.
  mutating func string() throws(DocumentFault) -> String {
    let (content, hasEscapes) = try stringSpan()
    if !hasEscapes { return String(decoding: UnsafeBufferPointer(rebasing: bytes[content]), as: UTF8.self) }
    return unescaped(content)
  }

  /// The text of a string whose escapes were checked before.
  private func unescaped(_ content: Range<Int>) -> String {
    var inner = JSONScanner(bytes, at: content.lowerBound)
    var result: [UInt8] = []
    result.reserveCapacity(content.count)
    while inner.offset < content.upperBound {
      if inner.bytes[inner.offset] == UInt8(ascii: "\\") {
        guard let scalar = try? inner.escape() else { break }
        result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      } else {
        result.append(inner.bytes[inner.offset])
        inner.offset += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Reads the character of the escape that begins here.
  private mutating func escape() throws(DocumentFault) -> Unicode.Scalar {
    let start = offset
    offset += 2
    switch start + 1 < bytes.count ? bytes[start + 1] : 0 {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try codePoint(from: start)
    default: throw DocumentFault("the backslash begins no escape that JSON knows", at: start)
    }
  }

  private mutating func codePoint(from start: Int) throws(DocumentFault) -> Unicode.Scalar {
    let fault = DocumentFault(
      "\\u must be followed by four hexadecimal digits, and a high surrogate by a low one", at: start)
    guard var value = hexDigits() else { throw fault }
    if value & 0xFC00 == 0xD800 {
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let low = hexDigits(), low & 0xFC00 == 0xDC00 else {
        throw fault
      }
      value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
    }
    guard let scalar = Unicode.Scalar(value) else { throw fault }
    return scalar
  }

  private mutating func hexDigits() -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Self.hexDigit(byte) else { return nil }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }

  private static func hexDigit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 0x30
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte) - 0x37
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte) - 0x57
    default: nil
    }
  }

  // MARK: Numbers

  /// The range of a number, checked against JSON's grammar.
  mutating func number() throws(DocumentFault) -> Range<Int> {
    let start = offset
    _ = take(UInt8(ascii: "-"))
    let whole = skipDigits()
    guard whole > 0, whole == 1 || bytes[offset - whole] != UInt8(ascii: "0") else {
      throw expected("a number as JSON writes it", at: start)
    }
    if take(UInt8(ascii: ".")), skipDigits() == 0 { throw expected("a digit") }
    if let letter = next, letter | 32 == UInt8(ascii: "e") {
      offset += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
      if skipDigits() == 0 { throw expected("a digit") }
    }
    return start..<offset
  }

  private mutating func skipDigits() -> Int {
    let start = offset
    while let byte = next, byte.isDigit { offset += 1 }
    return offset - start
  }

  /// An integer of 64 bits, written without fraction or exponent.
  mutating func integer(_ what: String) throws(DocumentFault) -> Int64 {
    let start = offset
    guard let first = next, first.isDigit || first == UInt8(ascii: "-") else { throw expected(what) }
    let span = try number()
    let isNegative = first == UInt8(ascii: "-")
    var value: Int64 = 0
    for byte in bytes[span].dropFirst(isNegative ? 1 : 0) {
      guard byte.isDigit else { throw expected(what, at: start) }
      let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(byte - UInt8(ascii: "0"))
      // Accumulates with the sign, because the minimum has no positive counterpart.
      let (sum, isSumTooLarge) =
        isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      guard !isTooLarge, !isSumTooLarge else { throw expected(what, at: start) }
      value = sum
    }
    return value
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }
}
