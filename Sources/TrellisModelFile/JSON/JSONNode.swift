/// A value of a JSON file and the byte offset at which it begins.
struct JSONNode {
  indirect enum Content {
    case null
    case bool(Bool)
    /// The number's own text, so that nothing is lost by rounding.
    case number(String)
    case string(String)
    case array([JSONNode])
    case object(JSONObject)
  }

  let offset: Int
  let content: Content

  /// What messages call it.
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

  /// A whole number that fits 64 bits, written without fraction or exponent.
  var integer: Int64? {
    if case .number(let text) = content { Int64(text) } else { nil }
  }
}

/// The members of an object in the order of the file.
struct JSONObject {
  struct Member {
    let key: String
    let keyOffset: Int
    let value: JSONNode
  }

  var members: [Member] = []

  subscript(key: String) -> Member? { members.first { $0.key == key } }
}
