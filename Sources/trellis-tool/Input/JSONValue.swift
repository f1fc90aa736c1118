import TrellisJSON

/// A JSON value of a message, as a tree.
indirect enum JSONValue {
  case null
  case bool(Bool)
  /// A number as it is spelled, so that no digit is lost.
  case number(String)
  case string(String)
  case list([JSONValue])
  case object([(key: String, value: JSONValue)])

  /// Reads one value with nothing but white space around it.
  ///
  /// - Throws: ``DocumentFault`` at the first byte that is no strict JSON in UTF-8, at a key that an object has twice, and for values
  ///   that lie too deep in each other.
  /// - Complexity: linear in the number of bytes.
  init(_ bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBufferPointer { bytes in
      try JSONScanner.checkEncoding(bytes)
      var scanner = JSONScanner(bytes)
      scanner.skipSpace()
      let start = scanner.offset
      // The depth is checked before the tree is read, which needs a part of the stack for each level.
      try scanner.skipValue()
      scanner.skipSpace()
      guard scanner.offset == bytes.count else {
        throw DocumentFault("after the value there is more", at: scanner.offset)
      }
      scanner.offset = start
      return try Self.read(&scanner)
    }
  }

  private static func read(_ scanner: inout JSONScanner) throws(DocumentFault) -> JSONValue {
    switch scanner.next {
    case UInt8(ascii: "{"): return try object(&scanner)
    case UInt8(ascii: "["):
      var values: [JSONValue] = []
      if try scanner.open("[", "]", "a list") {
        repeat { values.append(try read(&scanner)) } while try scanner.goOn("]")
      }
      return .list(values)
    case UInt8(ascii: "\""): return .string(try scanner.string())
    case UInt8(ascii: "t"), UInt8(ascii: "f"):
      let flag = scanner.next == UInt8(ascii: "t")
      try scanner.skipValue()
      return .bool(flag)
    case UInt8(ascii: "n"):
      try scanner.skipValue()
      return .null
    default:
      let start = scanner.offset
      try scanner.skipValue()
      return .number(String(decoding: scanner.bytes[start..<scanner.offset], as: UTF8.self))
    }
  }

  private static func object(_ scanner: inout JSONScanner) throws(DocumentFault) -> JSONValue {
    var members: [(key: String, value: JSONValue)] = []
    var keys: Set<String> = []
    if try scanner.open("{", "}", "an object") {
      repeat {
        let start = scanner.offset
        let key = try scanner.key()
        guard keys.insert(key).inserted else { throw DocumentFault("the object has this key twice", at: start) }
        members.append((key, try read(&scanner)))
      } while try scanner.goOn("}")
    }
    return .object(members)
  }

  // MARK: Access

  /// The value of a key; nil if this is no object, or has no such key.
  subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  var string: String? { if case .string(let text) = self { text } else { nil } }
  var list: [JSONValue]? { if case .list(let values) = self { values } else { nil } }
  var isNull: Bool { if case .null = self { true } else { false } }
  var isObject: Bool { if case .object = self { true } else { false } }

  /// The whole number that is spelled without fraction and exponent; nil for anything else, and beyond 64 bits.
  var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }

  /// The value as JSON on one line.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .number(let text): text
    case .string(let text): JSONText.quoted(text)
    case .list(let values): JSONText.list(values.map(\.text))
    case .object(let members): JSONText.object(members.map { ($0.key, $0.value.text) })
    }
  }

  /// What the value is, in the words of a message.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a text"
    case .list: "a list"
    case .object: "an object"
    }
  }
}
