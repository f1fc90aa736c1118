/// A small JSON tree, written with one property of a model per line.
enum CanonicalJSON {
  case text(String)
  /// Text that already is JSON: numbers and booleans.
  case verbatim(String)
  case list([CanonicalJSON])
  case object([(key: String, value: CanonicalJSON)])
  /// An object with one member per line.
  case lines([(key: String, value: CanonicalJSON)])

  func write(into text: inout String, indent: Int) {
    switch self {
    case .text(let value): Self.quote(value, into: &text)
    case .verbatim(let value): text += value
    case .list(let elements):
      text += "["
      for (place, element) in elements.enumerated() {
        if place > 0 { text += ", " }
        element.write(into: &text, indent: indent)
      }
      text += "]"
    case .object(let members): write(members, "{ ", ", ", " }", into: &text, indent: indent)
    case .lines(let members):
      let margin = "\n" + String(repeating: "  ", count: indent)
      write(members, "{" + margin + "  ", "," + margin + "  ", margin + "}", into: &text, indent: indent + 1)
    }
  }

  private func write(
    _ members: [(key: String, value: CanonicalJSON)], _ opener: String, _ separator: String, _ closer: String,
    into text: inout String, indent: Int
  ) {
    guard !members.isEmpty else { return text += "{}" }
    for (place, member) in members.enumerated() {
      text += place == 0 ? opener : separator
      Self.quote(member.key, into: &text)
      text += ": "
      member.value.write(into: &text, indent: indent)
    }
    text += closer
  }

  private static func quote(_ value: String, into text: inout String) {
    text += "\""
    // Names and most other texts need no escaping and are copied whole.
    if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
      text += value
      text += "\""
      return
    }
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

/// The members of an object that are written. Members with their default value are left out.
struct CanonicalMembers {
  private(set) var all: [(key: String, value: CanonicalJSON)] = []

  mutating func add(_ key: String, _ value: CanonicalJSON) { all.append((key, value)) }

  mutating func add(_ key: String, _ text: String?) {
    if let text { add(key, .text(text)) }
  }

  mutating func add(_ key: String, _ number: Int?) {
    if let number { add(key, .verbatim(String(number))) }
  }

  mutating func add(_ key: String, _ flag: Bool) {
    if flag { add(key, .verbatim("true")) }
  }

  mutating func add(_ userInfo: [UserInfoEntry]) {
    if !userInfo.isEmpty { add("userInfo", .object(userInfo.map { ($0.key, .text($0.value)) })) }
  }
}
