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

extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// Whether the byte may begin a word: a letter or an underscore.
  var isWord: Bool { (self | 32) >= UInt8(ascii: "a") && (self | 32) <= UInt8(ascii: "z") || self == UInt8(ascii: "_") }
}
