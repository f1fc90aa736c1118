/// Reads strict JSON (RFC 8259) to a tree, up to the first fault.
struct JSONTree {
  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The value of a text, which may begin with a byte order mark.
  ///
  /// - Throws: ``StoredModelReader/Fault``.
  static func read(_ bytes: [UInt8]) throws(StoredModelReader.Fault) -> JSONNode {
    guard bytes.count <= Limits.fileSize else {
      throw .init(.limit, at: 0, "The text has \(bytes.count) bytes; that of a model may have \(Limits.fileSize).")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw .init(.damaged, at: 0, "The text is not UTF-8.")
    }
    var tree = JSONTree(bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { tree.offset = 3 }
    tree.skipSpace()
    let root = try tree.value()
    tree.skipSpace()
    if tree.offset < bytes.count { throw tree.expected("the end of the text") }
    return root
  }

  private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func expected(_ what: String) -> StoredModelReader.Fault {
    .init(.damaged, at: offset, "Here \(what) should be" + (offset < bytes.count ? "." : ", and the text ends."))
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  // MARK: Values

  private mutating func value() throws(StoredModelReader.Fault) -> JSONNode {
    let start = offset
    let content: JSONNode.Content
    switch next {
    case UInt8(ascii: "{"): content = .object(try object())
    case UInt8(ascii: "["): content = .array(try array())
    case UInt8(ascii: "\""): content = .string(try string())
    case .some(let byte) where byte.isDigit || byte == UInt8(ascii: "-"): content = .number(try number())
    default:
      while let byte = next, byte.isWord { offset += 1 }
      switch String(decoding: bytes[start..<offset], as: UTF8.self) {
      case "true": content = .bool(true)
      case "false": content = .bool(false)
      case "null": content = .null
      default:
        offset = start
        throw expected("a value")
      }
    }
    return JSONNode(offset: start, content: content)
  }

  private mutating func object() throws(StoredModelReader.Fault) -> JSONObject {
    var object = JSONObject()
    var keys: Set<String> = []
    while try hasNext("{", "}", isFirst: object.members.isEmpty) {
      let start = offset
      guard next == UInt8(ascii: "\"") else { throw expected("a key in double quotes") }
      let key = try string()
      guard keys.insert(key).inserted else {
        throw .init(.damaged, at: start, "The key '\(key.shown)' is in the object twice.")
      }
      skipSpace()
      guard take(":") else { throw expected("a ':'") }
      skipSpace()
      object.members.append(JSONObject.Member(key: key, keyOffset: start, value: try value()))
    }
    return object
  }

  private mutating func array() throws(StoredModelReader.Fault) -> [JSONNode] {
    var elements: [JSONNode] = []
    while try hasNext("[", "]", isFirst: elements.isEmpty) { elements.append(try value()) }
    return elements
  }

  /// Moves to the next element of an object or a list, or past its end.
  private mutating func hasNext(
    _ opener: Unicode.Scalar, _ closer: Unicode.Scalar, isFirst: Bool
  ) throws(StoredModelReader.Fault) -> Bool {
    if isFirst {
      depth += 1
      guard depth <= Limits.depth else {
        throw .init(.limit, at: offset, "Objects and lists lie in each other more than \(Limits.depth) levels deep.")
      }
      offset += 1
    }
    skipSpace()
    if isFirst ? next != UInt8(ascii: closer) : take(",") {
      skipSpace()
      return true
    }
    guard take(closer) else { throw expected("a ',' or a '\(closer)'") }
    depth -= 1
    return false
  }

  // MARK: Scalars

  private mutating func number() throws(StoredModelReader.Fault) -> String {
    let start = offset
    _ = take("-")
    let whole = offset
    skipDigits()
    var isValid = offset == whole + 1 || offset > whole && bytes[whole] != UInt8(ascii: "0")
    if take(".") {
      let fraction = offset
      skipDigits()
      isValid = isValid && offset > fraction
    }
    if take("e") || take("E") {
      _ = take("+") || take("-")
      let exponent = offset
      skipDigits()
      isValid = isValid && offset > exponent
    }
    guard isValid else { throw expected("a number as JSON writes it") }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func skipDigits() {
    while let byte = next, byte.isDigit { offset += 1 }
  }

  private mutating func string() throws(StoredModelReader.Fault) -> String {
    offset += 1
    let start = offset
    while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { offset += 1 }
    var text = Array(bytes[start..<offset])
    while !take("\"") {
      guard let byte = next, byte >= 0x20 else { throw expected("a double quote that ends the string") }
      offset += 1
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      guard let scalar = escape() else { throw expected("an escape that JSON knows") }
      text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The character of the escape whose backslash was read.
  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = next else { return nil }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      guard let high = hexDigits() else { return nil }
      guard high & 0xFC00 == 0xD800 else { return Unicode.Scalar(high) }
      guard take("\\"), take("u"), let low = hexDigits(), low & 0xFC00 == 0xDC00 else { return nil }
      return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + low & 0x3FF)
    default: return nil
    }
  }

  private mutating func hexDigits() -> UInt32? {
    guard offset + 4 <= bytes.count else { return nil }
    let digits = bytes[offset..<offset + 4]
    guard digits.allSatisfy({ $0.isDigit || ($0 | 32) >= UInt8(ascii: "a") && ($0 | 32) <= UInt8(ascii: "f") }) else {
      return nil
    }
    offset += 4
    return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}
