/// Quoted texts.
extension FormatLexer {
  mutating func quoted(_ quote: UInt8) throws(PredicateFormatError) -> String {
    let start = position
    position += 1
    var content: [UInt8] = []
    while let byte = peek() {
      position += 1
      switch byte {
      case quote: return String(decoding: content, as: UTF8.self)
      case UInt8(ascii: "\\"): try escape(into: &content)
      case UInt8(ascii: "%") where peek() == UInt8(ascii: "%"):
        position += 1
        content.append(byte)
      default: content.append(byte)
      }
    }
    throw error(.unterminatedText, "This text has no closing quote.", at: start)
  }

  /// An unknown escape is kept as it is, including the backslash: `'\d+'` is a pattern.
  private mutating func escape(into content: inout [UInt8]) throws(PredicateFormatError) {
    guard let byte = peek() else { return }
    position += 1
    switch byte {
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): content.append(byte)
    case UInt8(ascii: "n"): content.append(0x0A)
    case UInt8(ascii: "r"): content.append(0x0D)
    case UInt8(ascii: "t"): content.append(0x09)
    case UInt8(ascii: "u"): content += String(try scalar()).utf8
    default: content += [UInt8(ascii: "\\"), byte]
    }
  }

  /// Parses `\u00E9` or `\u{1F600}`.
  private mutating func scalar() throws(PredicateFormatError) -> Unicode.Scalar {
    let start = position - 2
    let isBraced = peek() == UInt8(ascii: "{")
    if isBraced { position += 1 }
    let isHexadecimal = { (byte: UInt8) in Self.isDigit(byte) || (byte | 0x20 >= 0x61 && byte | 0x20 <= 0x66) }
    var digits: [UInt8] = []
    while let byte = peek(), isHexadecimal(byte), digits.count < (isBraced ? 8 : 4) {
      digits.append(byte)
      position += 1
    }
    let isClosed = !isBraced || peek() == UInt8(ascii: "}")
    if isBraced && isClosed { position += 1 }
    guard isClosed, isBraced || digits.count == 4,
      let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16), let scalar = Unicode.Scalar(value)
    else { throw error(.invalidEscape, "Expected four hexadecimal digits, or some in braces, after '\\u'.", at: start) }
    return scalar
  }
}
