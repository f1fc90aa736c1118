/// The path from an object of a JSON document to a value, as written in a model file.
///
/// ```
/// sprites.other.official-artwork.front_default     keys of objects; "a.b" in quotes is one key
/// stats[stat.name=hp].base_stat                    the elements of a list of which a value has this text
/// types[*].type.name   moves[0].move               all elements of a list, and one of them by position
/// sprites.*                                        all values of an object whose keys are data
/// $key  $value                                     the key of such a value, and a value that is no object
/// ^.id                                             a value of the enclosing object
/// ```
package struct JSONPath: Hashable, Sendable {
  package enum Step: Hashable, Sendable {
    /// The value of a key.
    case name(String)
    /// All values of an object.
    case entries
    /// All elements of a list.
    case elements
    /// The element at a position.
    case element(Int)
    /// The elements of which the value at a path of keys is a text, a number, true or false with this spelling.
    case matching([String], String)
    /// The object that encloses the one that the path begins at.
    case enclosing
    /// The key of the value that the path begins at, among the values of an object.
    case key
    /// The value that the path begins at.
    case value
  }

  package var steps: [Step]

  package init(_ steps: [Step]) { self.steps = steps }

  /// Whether the path leads to several values.
  package var isPlural: Bool {
    steps.contains { step in
      switch step {
      case .entries, .elements: true
      case .name, .element, .matching, .enclosing, .key, .value: false
      }
    }
  }
}

// MARK: - Text

extension JSONPath {
  /// The path as it is written in a model file. Reading it gives an equal path.
  package var text: String {
    var text = ""
    for step in steps {
      switch step {
      case .elements: text += "[*]"
      case .element(let position): text += "[\(position)]"
      case .matching(let names, let value): text += "[\(Self.spelling(of: names))=\(Self.spelling(ofText: value))]"
      case .name(let name): text += Self.separator(after: text) + Self.spelling(of: name)
      case .entries: text += Self.separator(after: text) + "*"
      case .enclosing: text += Self.separator(after: text) + "^"
      case .key: text += Self.separator(after: text) + "$key"
      case .value: text += Self.separator(after: text) + "$value"
      }
    }
    return text
  }

  private static func separator(after text: String) -> String { text.isEmpty ? "" : "." }

  private static func spelling(of names: [String]) -> String { names.map { spelling(of: $0) }.joined(separator: ".") }

  private static func spelling(of name: String) -> String {
    name.isEmpty || name.contains(where: JSONPathReader.isSpecial) ? quoted(name) : name
  }

  private static func spelling(ofText value: String) -> String {
    value.first == "\"" || value.contains("]") ? quoted(value) : value
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
  }
}

// MARK: - Reading

/// The reason why a text is no path.
package struct JSONPathFault: Error, Hashable, Sendable {
  /// What is wrong and how to write it, as a sentence without a full stop.
  package let message: String

  package init(message: String) { self.message = message }
}

extension JSONPath {
  /// The most steps of a path.
  package static let maximumSteps = 32

  /// Reads a path.
  ///
  /// - Throws: ``JSONPathFault``.
  package init(_ text: String) throws(JSONPathFault) {
    var reader = JSONPathReader(text)
    self.init(try reader.readPath())
  }
}

private struct JSONPathReader {
  private let letters: [Character]
  private var place = 0

  init(_ text: String) { letters = Array(text) }

  /// Whether a letter has a meaning in a path, so that a key with it stands in quotes.
  static func isSpecial(_ letter: Character) -> Bool { ".[]\"=^*$".contains(letter) }

  private var next: Character? { place < letters.count ? letters[place] : nil }

  private mutating func take(_ letter: Character) -> Bool {
    guard next == letter else { return false }
    place += 1
    return true
  }

  mutating func readPath() throws(JSONPathFault) -> [JSONPath.Step] {
    guard !letters.isEmpty else { throw JSONPathFault(message: "a path is not empty") }
    var steps: [JSONPath.Step] = []
    repeat {
      try readStep(&steps)
      while take("[") { steps.append(try readSelector()) }
      guard steps.count <= JSONPath.maximumSteps else {
        throw JSONPathFault(message: "a path has at most \(JSONPath.maximumSteps) steps")
      }
    } while take(".")
    if let letter = next { throw JSONPathFault(message: "'\(letter)' is not expected here; a dot or a bracket is") }
    try check(steps)
    return steps
  }

  private mutating func readStep(_ steps: inout [JSONPath.Step]) throws(JSONPathFault) {
    switch next {
    case "[" where steps.isEmpty: return
    case "^":
      place += 1
      steps.append(.enclosing)
    case "*":
      place += 1
      steps.append(.entries)
    case "$":
      place += 1
      switch try readName() {
      case "key": steps.append(.key)
      case "value": steps.append(.value)
      case let other: throw JSONPathFault(message: "'$\(other)' is none of '$key' and '$value'")
      }
    default: steps.append(.name(try readName()))
    }
  }

  private mutating func readName() throws(JSONPathFault) -> String {
    if next == "\"" { return try readQuoted() }
    let start = place
    while let letter = next, !Self.isSpecial(letter) { place += 1 }
    guard place > start else {
      throw JSONPathFault(
        message: next.map { "a key is expected where '\($0)' is; a key with such letters stands in double quotes" }
          ?? "a key is expected at the end")
    }
    return String(letters[start..<place])
  }

  private mutating func readQuoted() throws(JSONPathFault) -> String {
    place += 1
    var text = ""
    while let letter = next {
      place += 1
      if letter == "\"" { return text }
      if letter == "\\", let escaped = next {
        text.append(escaped)
        place += 1
      } else {
        text.append(letter)
      }
    }
    throw JSONPathFault(message: "a double quote is not closed")
  }

  private mutating func readSelector() throws(JSONPathFault) -> JSONPath.Step {
    defer { _ = take("]") }
    if take("*") {
      guard next == "]" else { throw JSONPathFault(message: "'[*' is not closed by ']'") }
      return .elements
    }
    let start = place
    while let letter = next, letter.isASCII, letter.isNumber { place += 1 }
    if place > start, next == "]" {
      guard let position = Int(String(letters[start..<place])), position <= Int(Int32.max) else {
        throw JSONPathFault(message: "a position in a list is at most \(Int32.max)")
      }
      return .element(position)
    }
    place = start
    var names = [try readName()]
    while take(".") { names.append(try readName()) }
    guard take("=") else {
      throw JSONPathFault(message: "brackets hold '*', a position, or a path and a text such as 'stat.name=hp'")
    }
    let value = next == "\"" ? try readQuoted() : readPlainText()
    guard next == "]" else { throw JSONPathFault(message: "a bracket is not closed by ']'") }
    return .matching(names, value)
  }

  private mutating func readPlainText() -> String {
    let start = place
    while let letter = next, letter != "]" { place += 1 }
    return String(letters[start..<place])
  }

  private func check(_ steps: [JSONPath.Step]) throws(JSONPathFault) {
    for (place, step) in steps.enumerated() {
      switch step {
      case .key, .value:
        guard steps.count == 1 else { throw JSONPathFault(message: "'$key' and '$value' stand alone") }
      case .enclosing:
        guard steps[..<place].allSatisfy({ $0 == .enclosing }) else {
          throw JSONPathFault(message: "'^' stands at the beginning")
        }
        guard place + 1 < steps.count else { throw JSONPathFault(message: "a path goes on after '^'") }
      default: break
      }
    }
  }
}
