import TrellisModel
import TrellisModelFile

/// A value of a model file with what its layout depends on: its spelling, its width in one line, and its part in a model.
struct LayoutNode {
  /// A text, a number or a word, as it is spelled in the file. The width counts Unicode scalars, as diagnostics do.
  struct Token {
    let range: Range<Int>
    let width: Int
  }

  struct Member {
    let key: Token
    let value: LayoutNode

    var width: Int { key.width + 2 + value.width }
  }

  indirect enum Content {
    case token(Token)
    case object([Member])
    case list([LayoutNode])
  }

  /// What a value is for a model. It follows from the keys alone, so that a file with errors in its model has a layout
  /// too.
  enum Part {
    case model
    /// Values by their names.
    indirect case declarations(Part)
    case entity
    case enumeration
    case other

    fileprivate func part(of key: String) -> Part {
      switch (self, key) {
      case (.model, "entities"): .declarations(.entity)
      case (.model, "enums"): .declarations(.enumeration)
      case (.entity, "attributes"), (.entity, "relationships"), (.entity, "fetchRequests"): .declarations(.other)
      case (.declarations(let part), _): part
      default: .other
      }
    }
  }

  let content: Content
  /// The width if the whole value stands in one line.
  let width: Int
  /// Whether the value stands in one line if there is room.
  let mayBeFlat: Bool
  /// Whether its elements share lines if they do not fit in one.
  let isFilled: Bool

  init(_ node: JSONNode, as part: Part, in bytes: [UInt8]) {
    switch node.content {
    case .null: self.init(Token(at: node.offset, count: 4))
    case .bool(let value): self.init(Token(at: node.offset, count: value ? 4 : 5))
    case .number(let text): self.init(Token(at: node.offset, count: text.utf8.count))
    case .string: self.init(Token(stringAt: node.offset, in: bytes))
    case .array(let elements): self.init(elements.map { LayoutNode($0, as: .other, in: bytes) })
    case .object(let object):
      let members = object.members.map { member in
        Member(
          key: Token(stringAt: member.keyOffset, in: bytes),
          value: LayoutNode(member.value, as: part.part(of: member.key), in: bytes))
      }
      self.init(members, as: part, object)
    }
  }

  private init(_ token: Token) {
    content = .token(token)
    width = token.width
    mayBeFlat = true
    isFilled = false
  }

  private init(_ elements: [LayoutNode]) {
    content = .list(elements)
    width = elements.reduce(2 + 2 * max(0, elements.count - 1)) { $0 + $1.width }
    mayBeFlat = elements.count(where: \.isObject) < 2 && elements.allSatisfy(\.mayBeFlat)
    isFilled = elements.allSatisfy(\.isToken)
  }

  private init(_ members: [Member], as part: Part, _ object: JSONObject) {
    content = .object(members)
    width = members.isEmpty ? 2 : members.reduce(4 + 2 * (members.count - 1)) { $0 + $1.width }
    let mayBe =
      switch part {
      case .model: false
      case .declarations: members.count < 2
      case .entity: Self.properties(of: object) < 2
      case .enumeration, .other: true
      }
    mayBeFlat = members.isEmpty || mayBe && members.allSatisfy(\.value.mayBeFlat)
    isFilled = if case .other = part { true } else { false }
  }

  private static func properties(of entity: JSONObject) -> Int {
    entity.members.reduce(0) { count, member in
      guard case .declarations = Part.entity.part(of: member.key) else { return count }
      return count + (member.value.object?.members.count ?? 0)
    }
  }

  private var isObject: Bool { if case .object = content { true } else { false } }
  private var isToken: Bool { if case .token = content { true } else { false } }
}

extension LayoutNode.Token {
  /// A number or a word.
  fileprivate init(at offset: Int, count: Int) {
    self.init(range: offset..<offset + count, width: count)
  }

  /// A string with its quotes.
  fileprivate init(stringAt offset: Int, in bytes: [UInt8]) {
    var end = offset + 1
    var width = 1
    while end < bytes.count {
      let byte = bytes[end]
      end += 1
      if byte & 0b1100_0000 != 0b1000_0000 { width += 1 }
      if byte == UInt8(ascii: "\"") { break }
      guard byte == UInt8(ascii: "\\"), end < bytes.count else { continue }
      // The escaped byte is ASCII, and no end of the string.
      end += 1
      width += 1
    }
    self.init(range: offset..<min(end, bytes.count), width: width)
  }
}
