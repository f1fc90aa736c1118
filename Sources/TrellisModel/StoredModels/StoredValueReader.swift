/// Converts a value of the file to its stored form, exactly or not at all.
package struct StoredValueReader {
  /// The reason why a value does not match its type: the expected value, as the end of a sentence.
  package struct Misfit: Error {
    package let expected: String

    package init(expected: String) { self.expected = expected }
  }

  /// The raw values of each enum's cases, by enum name and case name.
  private let rawValues: [String: [String: StoredValue]]
  /// The names of each enum's cases, in order.
  package let caseNames: [String: [String]]

  package init(_ enums: [EnumDescription]) {
    var rawValues: [String: [String: StoredValue]] = [:]
    var caseNames: [String: [String]] = [:]
    for enumeration in enums {
      caseNames[enumeration.name] = enumeration.cases.map(\.name)
      for entry in enumeration.cases {
        rawValues[enumeration.name, default: [:]][entry.name] = entry.rawValue
      }
    }
    self.rawValues = rawValues
    self.caseNames = caseNames
  }

  /// Reads what a new object, or a row without a value, can be given: also `now`, `new`, and a list.
  package func readConstant(_ node: JSONNode, as type: AttributeType) throws(Misfit) -> DefaultValue {
    switch (type, node.string) {
    case (.date, "now"): return .now
    case (.uuid, "new"): return .new
    case (.array(let element), _):
      guard let nodes = node.array else { throw Misfit(expected: "a list") }
      var values: [StoredValue] = []
      for node in nodes { values.append(try read(node, asElement: element)) }
      return .list(values)
    default: return .value(try read(node, as: type))
    }
  }

  private func read(_ node: JSONNode, asElement type: AttributeType) throws(Misfit) -> StoredValue {
    do throws(Misfit) {
      return try read(node, as: type)
    } catch {
      throw Misfit(expected: "a list of which each element is \(error.expected)")
    }
  }

  package func read(_ node: JSONNode, as type: AttributeType) throws(Misfit) -> StoredValue {
    switch type {
    case .bool:
      guard case .bool(let flag) = node.content else { throw Misfit(expected: "true or false") }
      return .integer(flag ? 1 : 0)
    case .integer: return try integer(node, in: type.integerRange)
    case .float, .double: return try real(node, isFloat: type == .float)
    case .decimal: return try decimal(node)
    case .string: return .text(try text(node, "a string"))
    case .date: return try date(node)
    case .data:
      let text = try text(node, "Base64 text")
      guard let bytes = Base64Text.bytes(text) else {
        throw Misfit(expected: "Base64 text with padding, such as \"SGk=\"")
      }
      return .blob(bytes)
    case .uuid: return try uuid(node)
    case .url: return try url(node)
    case .enumeration(let name): return try rawValue(node, of: name)
    case .array, .codable: throw Misfit(expected: "left out: values of this type are set in Swift")
    }
  }

  private func text(_ node: JSONNode, _ expected: String) throws(Misfit) -> String {
    guard let text = node.string else { throw Misfit(expected: expected) }
    return text
  }

  private func integer(_ node: JSONNode, in range: ClosedRange<Int64>) throws(Misfit) -> StoredValue {
    guard let value = node.integer, range.contains(value) else {
      throw Misfit(
        expected: "a whole number from \(range.lowerBound) to \(range.upperBound), without fraction or exponent")
    }
    return .integer(value)
  }

  private func real(_ node: JSONNode, isFloat: Bool) throws(Misfit) -> StoredValue {
    guard case .number(let text) = node.content else { throw Misfit(expected: "a number") }
    let value = isFloat ? Float(text).map(Double.init) : Double(text)
    guard let value, value.isFinite else { throw Misfit(expected: "a number within the range of its type") }
    return .real(value)
  }

  private func decimal(_ node: JSONNode) throws(Misfit) -> StoredValue {
    let text: String? = if case .number(let number) = node.content { number } else { node.string }
    guard let canonical = text.flatMap({ DecimalText.canonical($0) }) else {
      throw Misfit(expected: "a number of at most \(DecimalText.maximumDigits) digits, such as \"9.95\"")
    }
    return .text(canonical)
  }

  private func date(_ node: JSONNode) throws(Misfit) -> StoredValue {
    guard let value = node.string.flatMap({ DateText.keptMicroseconds($0) }) else {
      throw Misfit(expected: "an ISO 8601 date, such as \"2026-01-31\" or \"2026-01-31T09:30:00Z\"")
    }
    return .integer(value)
  }

  private func uuid(_ node: JSONNode) throws(Misfit) -> StoredValue {
    guard let bytes = node.string.flatMap({ UUIDText.bytes($0) }) else {
      throw Misfit(expected: "a UUID, such as \"E621E1F8-C36C-495A-93FC-0C247A3E6E5F\", or \"new\"")
    }
    return .blob(bytes)
  }

  /// Reads a URL: a scheme, a colon, and text without white space. Foundation validates the rest.
  private func url(_ node: JSONNode) throws(Misfit) -> StoredValue {
    let text = try text(node, "a URL")
    let scheme = text.utf8.prefix(while: { $0.isWord || $0.isDigit || "+-.".utf8.contains($0) })
    let rest = text.utf8.dropFirst(scheme.count)
    let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"<>\"{}|\\^`".utf8.contains($0) }
    guard let first = scheme.first, first.isWord, first != UInt8(ascii: "_"), rest.first == UInt8(ascii: ":"),
      rest.count > 1, isPlain
    else { throw Misfit(expected: "an absolute URL, such as \"https://example.org/a.png\"") }
    return .text(text)
  }

  private func rawValue(_ node: JSONNode, of name: String) throws(Misfit) -> StoredValue {
    guard let value = node.string.flatMap({ rawValues[name]?[$0] }) else {
      let names = caseNames[name, default: []].prefix(12)
      throw Misfit(expected: "the name of a case of '\(name)', such as \(Array(names).listed)")
    }
    return value
  }

  /// Reads a backfill of a stored model; nil if it is neither a constant of its attribute's type nor an expression.
  func readBackfill(_ node: JSONNode, as type: AttributeType) -> Backfill? {
    // Any text would be a constant, and none an expression.
    if type != .string, let constant = try? readConstant(node, as: type) { return .value(constant) }
    guard let text = node.string, (try? CheckedFormat.checkSyntax(ofValue: text)) != nil else { return nil }
    return .expression(text)
  }
}
