/// A JSON value with its byte offset.
package struct JSONNode {
  package indirect enum Content {
    case null
    case bool(Bool)
    /// The number as written, so that rounding loses nothing.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object(JSONObject)
  }

  package let offset: Int
  package let content: Content

  package init(offset: Int, content: Content) {
    self.offset = offset
    self.content = content
  }

  /// The kind of the value in messages.
  package var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }

  package var string: String? {
    if case .string(let text) = content { text } else { nil }
  }

  package var array: [JSONNode]? {
    if case .array(let elements) = content { elements } else { nil }
  }

  package var object: JSONObject? {
    if case .object(let object) = content { object } else { nil }
  }

  /// The number as a 64-bit integer, if it is written without fraction or exponent.
  package var integer: Int64? {
    if case .number(let text) = content { Int64(text) } else { nil }
  }
}

/// The members of an object, in the order of the file.
package struct JSONObject {
  package struct Member {
    package let key: String
    package let keyOffset: Int
    package let value: JSONNode

    package init(key: String, keyOffset: Int, value: JSONNode) {
      self.key = key
      self.keyOffset = keyOffset
      self.value = value
    }
  }

  package var members: [Member] = []

  package init() {}

  package subscript(key: String) -> Member? { members.first { $0.key == key } }
}

// MARK: - Bytes

extension UInt8 {
  package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

  /// Whether the byte may begin a word: a letter or an underscore.
  package var isWord: Bool {
    (self | 32) >= UInt8(ascii: "a") && (self | 32) <= UInt8(ascii: "z") || self == UInt8(ascii: "_")
  }
}
