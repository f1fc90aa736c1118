/// A token of a format: a name, number, text or sign.
enum FormatToken: Equatable {
  case end
  /// A name. With a leading `#` it is never a keyword.
  case name(String, isEscaped: Bool)
  case text(String)
  case number(String)
  /// `$name`.
  case variable(String)
  /// `%@` and similar directives, by the letters after the sign.
  case argument(String)
  case sign(String)
}

/// Splits a format into tokens.
struct FormatLexer {
  let text: String
  let bytes: [UInt8]
  var position = 0

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  private static let signs = [
    "**", "==", "=<", "=>", "!=", "<>", "<=", ">=", "<<", ">>", "&&", "||", "=", "<", ">", "!", "+", "-", "*", "/", "(",
    ")", "{", "}", "[", "]", ",", ".", "@", ":", "&", "|", "^", "~",
  ].map { Array($0.utf8) }

  /// The next token and its offset.
  mutating func next() throws(PredicateFormatError) -> (token: FormatToken, start: Int) {
    while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    let start = position
    guard let byte = peek() else { return (.end, start) }
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return (.text(try quoted(byte)), start)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return (.number(try number()), start)
    case UInt8(ascii: ".") where peek(1).map(Self.isDigit) == true: return (.number(try number()), start)
    case UInt8(ascii: "$"):
      position += 1
      return (.variable(try name("a variable's name; a property is written without '$0.'")), start)
    case UInt8(ascii: "#"):
      position += 1
      return (.name(try name("a name"), isEscaped: true), start)
    case UInt8(ascii: "%"): return (.argument(try directive()), start)
    case _ where Self.isNameStart(byte): return (.name(try name("a name"), isEscaped: false), start)
    default: return (try sign(), start)
    }
  }

  func error(
    _ code: PredicateFormatError.Code, _ message: String, at offset: Int, suggestion: String? = nil
  ) -> PredicateFormatError {
    PredicateFormatError(code, message, in: text, at: offset, suggestion: suggestion)
  }

  // MARK: Bytes

  func peek(_ distance: Int = 0) -> UInt8? {
    position + distance < bytes.count ? bytes[position + distance] : nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) }
  static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private static func isNameStart(_ byte: UInt8) -> Bool {
    (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")) || byte == UInt8(ascii: "_") || byte >= 0x80
  }

  private mutating func take(while fits: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let start = position
    while position < bytes.count, fits(bytes[position]) { position += 1 }
    return bytes[start..<position]
  }

  // MARK: Names and signs

  private mutating func name(_ what: String) throws(PredicateFormatError) -> String {
    guard let first = peek(), Self.isNameStart(first) else {
      throw error(.unexpected, "Expected \(what).", at: position)
    }
    return String(decoding: take { Self.isNameStart($0) || Self.isDigit($0) }, as: UTF8.self)
  }

  private mutating func sign() throws(PredicateFormatError) -> FormatToken {
    let rest = bytes[position...]
    guard let sign = Self.signs.first(where: { rest.starts(with: $0) }) else {
      let way = bytes[position] == UInt8(ascii: "?") ? " Bind a value with %@ or an interpolation." : ""
      throw error(.unexpected, "This character has no meaning here.\(way)", at: position)
    }
    position += sign.count
    return .sign(String(decoding: sign, as: UTF8.self))
  }

  /// Parses the letters of `%@`, `%K`, `%d`, `%lld` and so on.
  private mutating func directive() throws(PredicateFormatError) -> String {
    let start = position
    position += 1
    if peek() == UInt8(ascii: "%") {
      throw error(.unexpected, "'%%' has a meaning only inside quotes.", at: start)
    }
    let length = String(
      decoding: take {
        $0 == UInt8(ascii: "l") || $0 == UInt8(ascii: "h") || $0 == UInt8(ascii: "q") || $0 == UInt8(ascii: "z")
      }, as: UTF8.self)
    guard let letter = peek(), "@KdDiuUxXocfFeEgGsS".utf8.contains(letter), length.utf8.count <= 2 else {
      throw error(
        .unexpected,
        "Expected '@', 'K' or the letter of a number after '%', as in %@ and %d; a remainder is modulus:by:(stars, 2).",
        at: start)
    }
    position += 1
    return length + String(Unicode.Scalar(letter))
  }

  // MARK: Numbers

  private mutating func number() throws(PredicateFormatError) -> String {
    let start = position
    let digits = take { Self.isNameStart($0) && $0 < 0x80 || Self.isDigit($0) || $0 == UInt8(ascii: ".") }
    var text = String(decoding: digits, as: UTF8.self)
    // The sign of an exponent is part of the number.
    let isHexadecimal = text.lowercased().hasPrefix("0x")
    if text.last == "e" || text.last == "E", !isHexadecimal, let sign = peek(),
      sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
    {
      position += 1
      text +=
        String(Unicode.Scalar(sign))
        + String(decoding: take { Self.isDigit($0) || $0 == UInt8(ascii: "_") }, as: UTF8.self)
    }
    guard let value = Self.plain(text) else {
      throw error(
        .invalidNumber, "This is no number; numbers are written 12, 1_000, 0.5, 6e23, 0xFF, 0o17 or 0b101.", at: start)
    }
    return value
  }

  /// The number without underscores and prefixes; nil if it is malformed.
  private static func plain(_ text: String) -> String? {
    let letters = text.lowercased()
    guard !letters.hasSuffix("_"), !letters.contains("__"), !letters.contains("_."), !letters.contains("._") else {
      return nil
    }
    let bare = letters.filter { $0 != "_" }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where bare.hasPrefix(prefix) {
      // `Int64` would accept a sign here.
      let digits = bare.dropFirst(2)
      guard digits.first != "+", digits.first != "-" else { return nil }
      return Int64(digits, radix: radix).map { String($0) }
    }
    let parts = bare.split(separator: "e", omittingEmptySubsequences: false)
    guard parts.count <= 2, let mantissa = parts.first, isMantissa(mantissa) else { return nil }
    if parts.count == 2, Int(parts[1]) == nil { return nil }
    return bare.hasPrefix(".") ? "0" + bare : bare
  }

  private static func isMantissa(_ text: Substring) -> Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.allSatisfy({ $0.utf8.allSatisfy(isDigit) }) else { return false }
    return parts.last?.isEmpty == false
  }
}

// MARK: - Texts

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

// MARK: - Format node

/// A node of a parsed format. Names are not resolved yet.
struct FormatNode {
  indirect enum Content {
    case constant(Bool)
    case not(FormatNode)
    case and([FormatNode])
    case or([FormatNode])
    case comparison(FormatComparison)
    /// `ANY(path, $variable, condition)`.
    case quantified(Quantifier, FormatNode, variable: String, FormatNode)
    case path(FormatPath)
    case null
    case bool(Bool)
    /// The digits as written, without underscores. Hexadecimal, octal and binary numbers are converted to decimal.
    case number(String)
    case text(String)
    case list([FormatNode])
    /// An argument, with its number.
    case argument(FormatArgument, Int)
    case arithmetic(ArithmeticOperator, FormatNode, FormatNode)
    case negative(FormatNode)
    case call(String, [FormatNode])
    /// `SUBQUERY(path, $variable, condition).@count`.
    case subquery(FormatNode, variable: String, FormatNode)
  }

  let content: Content
  /// The offset of the node, in bytes of UTF-8.
  let start: Int
}

struct FormatComparison {
  enum Relation: Equatable {
    case compare(ComparisonOperator)
    case between
    case isIn
  }

  let quantifier: Quantifier?
  let left: FormatNode
  let relation: Relation
  let options: TextOptions
  let right: FormatNode
}

/// A dotted path of names.
struct FormatPath {
  struct Step {
    let name: String
    /// Whether the name has a leading `@`.
    let isOperator: Bool
    let start: Int
    /// The member to select from the previous step. The step then has no name.
    var place: MemberPlace?
  }

  /// The variable that the path starts with; nil for the object itself.
  let variable: String?
  var steps: [Step]
}
