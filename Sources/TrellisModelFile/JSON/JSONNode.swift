/// A JSON value with its byte offset.
struct JSONNode {
  indirect enum Content {
    case null
    case bool(Bool)
    /// The number as written, so that rounding loses nothing.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object(JSONObject)
  }

  let offset: Int
  let content: Content

  /// The kind of the value in messages.
  var kind: String {
    switch content {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }

  var string: String? {
    if case .string(let text) = content { text } else { nil }
  }

  var array: [JSONNode]? {
    if case .array(let elements) = content { elements } else { nil }
  }

  var object: JSONObject? {
    if case .object(let object) = content { object } else { nil }
  }

  /// The number as a 64-bit integer, if it is written without fraction or exponent.
  var integer: Int64? {
    if case .number(let text) = content { Int64(text) } else { nil }
  }
}

/// The members of an object, in the order of the file.
struct JSONObject {
  struct Member {
    let key: String
    let keyOffset: Int
    let value: JSONNode
  }

  var members: [Member] = []

  subscript(key: String) -> Member? { members.first { $0.key == key } }
}
