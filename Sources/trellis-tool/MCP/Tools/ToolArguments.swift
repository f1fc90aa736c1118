import TrellisDynamic

/// The arguments of a call, by name.
struct ToolArguments {
  private let members: [String: JSONValue]
  private let names: [String]

  /// - Throws: ``ToolFailure`` if the tool has no parameter of a name, or a required one is missing.
  init(_ members: [(key: String, value: JSONValue)], of tool: StoreTool) throws(ToolFailure) {
    try self.init(
      members, in: tool.name, names: tool.parameters.map(\.name),
      required: tool.parameters.filter(\.isRequired).map(\.name))
  }

  /// - Parameter place: What the members are of, in messages.
  init(
    _ members: [(key: String, value: JSONValue)], in place: String, names: [String], required: [String]
  ) throws(ToolFailure) {
    for (name, _) in members where !names.contains(name) {
      throw Self.wrong("\(place) has no argument \(name.inMessage)\(ToolFailure.suggestion(for: name, among: names))")
    }
    // Null stands for an argument that is not given.
    self.members = Dictionary(members.filter { !$0.value.isNull }) { first, _ in first }
    self.names = names
    for name in required where self.members[name] == nil { throw Self.wrong("\(place) needs \(name.inMessage).") }
  }

  static func wrong(_ message: String) -> ToolFailure { ToolFailure(.usage, "error: \(message)") }

  subscript(name: String) -> JSONValue? { members[name] }

  func text(_ name: String) throws(ToolFailure) -> String? {
    guard let value = members[name] else { return nil }
    guard let text = value.string else { throw misfit(name, "a text", value) }
    return text
  }

  func needText(_ name: String) throws(ToolFailure) -> String {
    guard let text = try text(name) else { throw Self.wrong("\(name.inMessage) is missing.") }
    return text
  }

  func texts(_ name: String) throws(ToolFailure) -> [String]? {
    guard let value = members[name] else { return nil }
    // A single text is taken for a list of one, which language models often mean.
    if let text = value.string { return [text] }
    guard let list = value.list else { throw misfit(name, "a list of texts", value) }
    return try list.enumerated().map { place, value throws(ToolFailure) in
      guard let text = value.string else {
        throw Self.wrong(
          "\(name.inMessage) must be a list of texts, and its element \(place) is \(Self.described(value)).")
      }
      return text
    }
  }

  func number(_ name: String, in range: ClosedRange<Int>) throws(ToolFailure) -> Int? {
    guard let value = members[name] else { return nil }
    guard let number = value.integer, range.contains(number) else {
      throw misfit(name, "a whole number from \(range.lowerBound) to \(range.upperBound)", value)
    }
    return number
  }

  func flag(_ name: String) throws(ToolFailure) -> Bool? {
    guard let value = members[name] else { return nil }
    guard case .bool(let flag) = value else { throw misfit(name, "true or false", value) }
    return flag
  }

  /// The position that a cursor of a former result stands for; 0 without one.
  func position() throws(ToolFailure) -> Int {
    guard let text = try text("cursor") else { return 0 }
    guard let number = Int(text), number >= 0, number <= Int(Int32.max) else {
      throw Self.wrong("\(text.inMessage) is no cursor of a former result.")
    }
    return number
  }

  func objectName(_ name: String) throws(ToolFailure) -> ObjectName { try ObjectName(argument: needText(name)) }

  private func misfit(_ name: String, _ expected: String, _ value: JSONValue) -> ToolFailure {
    Self.wrong("\(name.inMessage) must be \(expected), and not \(Self.described(value)).")
  }

  /// A value in a message: a number as it is, anything else by its kind.
  private static func described(_ value: JSONValue) -> String {
    if case .number(let text) = value { String(text.prefix(40)) } else { value.kind }
  }
}

extension ObjectName {
  init(argument text: String) throws(ToolFailure) {
    guard let name = ObjectName(text) else {
      throw ToolArguments.wrong("\(text.inMessage) is no name of an object, as Entity#7 is.")
    }
    self = name
  }
}
