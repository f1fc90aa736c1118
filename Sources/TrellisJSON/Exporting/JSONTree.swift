import TrellisModel

/// A JSON value that is put together from paths. Members of objects keep the order in which they were added.
final class JSONTree {
  enum Content {
    /// Nothing yet.
    case nothing
    /// JSON text.
    case text([UInt8])
    case object([(key: String, value: JSONTree)])
    case list([JSONTree])
  }

  private(set) var content = Content.nothing

  init() {}

  init(_ text: [UInt8]) { content = .text(text) }

  /// The value at a key. An absent one is added.
  func member(_ key: String) -> JSONTree {
    var members: [(key: String, value: JSONTree)] = []
    if case .object(let present) = content {
      if let found = present.first(where: { TextBytes.areEqual($0.key, key) }) { return found.value }
      members = present
    }
    // Without another reference to the members the next line copies none of them.
    content = .nothing
    let value = JSONTree()
    members.append((key, value))
    content = .object(members)
    return value
  }

  /// The element at a position. An absent one is added, with those before it.
  func element(_ position: Int) -> JSONTree {
    var elements: [JSONTree] = []
    if case .list(let present) = content {
      if position < present.count { return present[position] }
      elements = present
    }
    content = .nothing
    while elements.count <= position { elements.append(JSONTree()) }
    let element = elements[position]
    content = .list(elements)
    return element
  }

  /// The element of which the value at some keys is a text. An absent one is added.
  func element(where names: [String], is text: String) -> JSONTree {
    var count = 0
    if case .list(let known) = content {
      count = known.count
      if let found = known.first(where: { $0.text(at: names[...]).map { TextBytes.areEqual($0, text) } ?? false }) {
        return found
      }
    }
    let element = element(count)
    var place = element
    for name in names { place = place.member(name) }
    place.set(text)
    return element
  }

  private func text(at names: ArraySlice<String>) -> String? {
    guard let name = names.first else { return spelling }
    guard case .object(let members) = content else { return nil }
    return members.first { TextBytes.areEqual($0.key, name) }?.value.text(at: names.dropFirst())
  }

  /// The text that ``set(_:)-(String)`` has set.
  private var spelling: String?

  func set(_ text: String) {
    spelling = text
    var bytes: [UInt8] = []
    bytes.appendQuoted(text)
    content = .text(bytes)
  }

  func set(_ text: [UInt8]) { content = .text(text) }

  func setEmpty(isObject: Bool) {
    if case .nothing = content { content = isObject ? .object([]) : .list([]) }
  }

  /// Takes over what another tree has.
  func take(_ other: JSONTree) {
    content = other.content
    spelling = other.spelling
  }

  // MARK: Writing

  func write(to bytes: inout [UInt8]) {
    switch content {
    case .nothing: bytes += Array("null".utf8)
    case .text(let text): bytes += text
    case .list(let elements):
      bytes.append(UInt8(ascii: "["))
      for (place, element) in elements.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (place, member) in members.enumerated() {
        if place > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes.appendQuoted(member.key)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}
