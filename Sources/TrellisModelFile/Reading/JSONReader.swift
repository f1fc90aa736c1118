import TrellisModel

/// Reads strict JSON (RFC 8259) and records the offset of each key and value.
///
/// Recoverable mistakes, such as a trailing comma or a comment, are reported and skipped, so that one run shows all of
/// them. Other mistakes end the reading.
struct JSONReader {
  /// Thrown after an unrecoverable problem was reported.
  struct Stop: Error {}

  let bytes: UnsafeBufferPointer<UInt8>
  let findings: Findings
  var offset = 0
  private var depth = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, _ findings: Findings) {
    self.bytes = bytes
    self.findings = findings
  }

  /// The value of the file; nil if reading had to stop.
  mutating func readFile() -> JSONNode? {
    guard checkEncoding() else { return nil }
    if bytes.starts(with: Positions.byteOrderMark) { offset = Positions.byteOrderMark.count }
    do throws(Stop) {
      try skipSpace()
      let root = try readValue()
      try skipSpace()
      if offset < bytes.count { throw stop("After the end of the model there is more text: \(nextText())") }
      return root
    } catch {
      return nil
    }
  }

  // MARK: Values

  mutating func readValue() throws(Stop) -> JSONNode {
    let start = offset
    switch peek() {
    case UInt8(ascii: "{"): return JSONNode(offset: start, content: .object(try readObject()))
    case UInt8(ascii: "["): return JSONNode(offset: start, content: .array(try readArray()))
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return JSONNode(offset: start, content: .string(try readString()))
    case .some(let byte) where byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"):
      return JSONNode(offset: start, content: .number(readNumber()))
    case .some(let byte) where byte.isWord: return JSONNode(offset: start, content: readWordValue())
    default: throw stop("Here a value should be, not \(nextText())")
    }
  }

  /// Enters an object or a list. The caller leaves it again.
  private mutating func enter() throws(Stop) {
    depth += 1
    guard depth <= Limits.depth else {
      findings.error(
        .tooDeep, at: offset, "Objects and lists lie in each other more than \(Limits.depth) levels deep.")
      throw Stop()
    }
  }

  private mutating func readWordValue() -> JSONNode.Content {
    let start = offset
    let word = readWord()
    switch word {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "null": return .null
    default:
      let meant = ["true", "false", "null"].first { $0 == word.lowercased() }
      let remedy = meant.map { "write \($0)" } ?? "a text is written in double quotes"
      findings.error(.malformedJSON, at: start, "\(word.quoted) is no JSON value; \(remedy).")
      return .null
    }
  }

  // MARK: Objects and lists

  private mutating func readObject() throws(Stop) -> JSONObject {
    try enter()
    defer { depth -= 1 }
    var object = JSONObject()
    var places: [String: Int] = [:]
    var list = ListState(opening: offset, closer: UInt8(ascii: "}"))
    offset += 1
    while try hasNext(&list) {
      let keyOffset = offset
      let key = try readKey()
      try skipSpace()
      guard peek() == UInt8(ascii: ":") else {
        throw stop("After the key \(key.quoted) a ':' should be, not \(nextText())")
      }
      offset += 1
      try skipSpace()
      let member = JSONObject.Member(key: key, keyOffset: keyOffset, value: try readValue())
      if let first = places[key] {
        reportDuplicate(member, of: object.members[first])
      } else {
        places[key] = object.members.count
        object.members.append(member)
      }
    }
    return object
  }

  private func reportDuplicate(_ member: JSONObject.Member, of first: JSONObject.Member) {
    findings.error(
      .duplicateKey, at: member.keyOffset,
      "The key \(member.key.quoted) is already in this object; keep one of the two.",
      notes: [("the first \(member.key.quoted) is here", first.keyOffset)])
  }

  private mutating func readKey() throws(Stop) -> String {
    switch peek() {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return try readString()
    case .some(let byte) where byte.isWord:
      let start = offset
      let word = readWord()
      findings.error(.malformedJSON, at: start, "The key \(word.quoted) must be written in double quotes.")
      return word
    default: throw stop("Here a key in double quotes should be, not \(nextText())")
    }
  }

  private mutating func readArray() throws(Stop) -> [JSONNode] {
    try enter()
    defer { depth -= 1 }
    var elements: [JSONNode] = []
    var list = ListState(opening: offset, closer: UInt8(ascii: "]"))
    offset += 1
    while try hasNext(&list) { elements.append(try readValue()) }
    return elements
  }

  private struct ListState {
    let opening: Int
    let closer: UInt8
    var isFirst = true

    var closerText: String { "'\(Character(Unicode.Scalar(closer)))'" }
  }

  /// Moves to the next element of an object or list, or past its end.
  private mutating func hasNext(_ list: inout ListState) throws(Stop) -> Bool {
    let end = offset
    try skipSpace()
    defer { list.isFirst = false }
    if peek() == list.closer {
      offset += 1
      return false
    }
    if offset >= bytes.count { return try stopAtEnd(list) }
    if list.isFirst { return true }
    guard peek() == UInt8(ascii: ",") else { return try passMissingComma(list, after: end) }
    let comma = offset
    offset += 1
    try skipSpace()
    guard peek() == list.closer else { return true }
    findings.error(
      .trailingComma, at: comma, "The ',' before \(list.closerText) must go; JSON has no trailing commas.")
    offset += 1
    return false
  }

  private func stopAtEnd(_ list: ListState) throws(Stop) -> Bool {
    findings.error(
      .malformedJSON, at: offset, "The file ends before \(list.closerText).",
      notes: [("what is not closed begins here", list.opening)])
    throw Stop()
  }

  private func passMissingComma(_ list: ListState, after end: Int) throws(Stop) -> Bool {
    let next = peek() ?? 0
    let isElement = next.isDigit || next.isWord || "\"'{[-".utf8.contains(next)
    guard isElement else { throw stop("Here a ',' or \(list.closerText) should be, not \(nextText())") }
    findings.error(.malformedJSON, at: end, "A ',' is missing before the next element.")
    return true
  }

  // MARK: Bytes

  func peek() -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Reports that reading cannot continue from here.
  func stop(_ message: String) -> Stop {
    findings.error(.malformedJSON, at: offset, message + ".")
    return Stop()
  }

  /// The next character, for a message.
  func nextText() -> String {
    guard offset < bytes.count else { return "the end of the file" }
    var end = offset + 1
    while end < bytes.count, bytes[end] & 0b1100_0000 == 0b1000_0000 { end += 1 }
    return text(offset..<end).quoted
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }

  mutating func readWord() -> String {
    let start = offset
    while let byte = peek(), byte.isWord || byte.isDigit { offset += 1 }
    return text(start..<offset)
  }
}

// MARK: - Text

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

// MARK: - JSON string

/// Maps offsets in the text of a string to offsets in the file, in which escapes are longer.
enum JSONString {
  /// The file offset for an offset in a string's text; the closing quote for the end of the text.
  ///
  /// - Parameters:
  ///   - textOffset: the offset in the text, in bytes of UTF-8.
  ///   - start: the offset of the string's opening quote. The string was read before, so its escapes are valid.
  /// - Complexity: linear in `textOffset`.
  static func place(of textOffset: Int, inStringAt start: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var place = start + 1
    var passed = 0
    while passed < textOffset, place < bytes.count, bytes[place] != UInt8(ascii: "\"") {
      let (length, meant) = unit(at: place, bytes)
      // An offset inside the text of one escape maps to that escape.
      guard passed + meant <= textOffset else { break }
      place += length
      passed += meant
    }
    return place
  }

  /// The length of a byte or an escape in the file, and in the text.
  private static func unit(at place: Int, _ bytes: UnsafeBufferPointer<UInt8>) -> (length: Int, meant: Int) {
    guard bytes[place] == UInt8(ascii: "\\") else { return (1, 1) }
    guard place + 5 < bytes.count, bytes[place + 1] == UInt8(ascii: "u") else { return (2, 1) }
    let digits = String(decoding: bytes[place + 2..<place + 6], as: UTF8.self)
    switch UInt32(digits, radix: 16) ?? 0 {
    case 0..<0x80: return (6, 1)
    case 0x80..<0x800: return (6, 2)
    // A surrogate pair: two escapes for one scalar beyond the Basic Multilingual Plane.
    case 0xD800..<0xE000: return (12, 4)
    default: return (6, 3)
    }
  }
}
