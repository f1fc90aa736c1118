import TrellisSchema

/// Constants take the type of the side that they are compared with.
extension FormatChecker {
  /// Unifies a typed side and a constant on the other side.
  mutating func beside(
    _ operand: Operand, _ type: FormatType, _ constant: FormatSide, at start: Int
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    switch constant {
    case .null, .argument(.null): return (operand, .value(.null), type)
    case .unbound(let name):
      return (operand, try parameter(name, type, beside: operand, at: start), type)
    case .number(let digits) where type.isNumber: return try beside(operand, type, digits: digits, at: start)
    case .argument(.value(let value, let given)) where type.isNumber && given.isNumber:
      return try beside(operand, type, value, given, at: start)
    default: return (operand, .value(try self.constant(constant, type, at: start)), type)
    }
  }

  /// An integer compared with a fraction becomes a real; any number compared with a decimal becomes a decimal.
  private func beside(
    _ operand: Operand, _ type: FormatType, digits: String, at start: Int
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    switch type {
    case .decimal:
      guard let text = DecimalText.canonical(digits) else {
        throw error(.invalidNumber, "This number has more digits than a decimal, which has 38.", at: start)
      }
      return (operand, .value(.text(text)), .decimal)
    case .integer:
      if let integer = Int64(digits) ?? DecimalText.canonical(digits).flatMap({ Int64($0) }) {
        return (operand, .value(.integer(integer)), .integer)
      }
      fallthrough
    default:
      guard let real = Double(digits) else { throw error(.invalidNumber, "This is no number.", at: start) }
      return (operand, .value(.real(real)), .real)
    }
  }

  private func beside(
    _ operand: Operand, _ type: FormatType, _ value: StoredValue, _ given: FormatType, at start: Int
  ) throws(PredicateFormatError) -> (Operand, Operand, FormatType) {
    switch (type, value) {
    case (.integer, .real(let real)):
      if let integer = Int64(exactly: real) { return (operand, .value(.integer(integer)), .integer) }
      return (operand, .value(value), .real)
    case (.real, .integer(let integer)):
      return (operand, .value(Double(exactly: integer).map { .real($0) } ?? value), .real)
    case (.integer, .text(let text)):
      if let integer = Int64(text) { return (operand, .value(.integer(integer)), .integer) }
      return try unified((operand, type), (.value(value), .decimal), at: start)
    default: return try unified((operand, type), (.value(value), given), at: start)
    }
  }

  /// Converts a constant to a type.
  func constant(_ side: FormatSide, _ type: FormatType, at start: Int) throws(PredicateFormatError) -> StoredValue {
    switch (side, type) {
    case (.bool(let value), .bool): return .integer(value ? 1 : 0)
    case (.number("0"), .bool): return .integer(0)
    case (.number("1"), .bool): return .integer(1)
    case (.text(let text), .text), (.text(let text), .url): return .text(text)
    case (.text(let name), .entity): return try entityName(name, at: start)
    case (.text(let text), .uuid):
      guard let bytes = UUIDText.bytes(text) else { throw error(.invalidConstant, "This is no UUID.", at: start) }
      return .blob(bytes)
    case (.text(let text), .enumeration(let name?)): return try enumCase(text, name, at: start)
    case (.number(let digits), .enumeration(let name?)) where kind(type) == .integer:
      return try enumCase(.integer(Int64(digits) ?? .min), digits, name, at: start)
    case (.argument(.value(let value, let given)), _): return try argument(value, given, type, at: start)
    case (.argument, _), (.list, _):
      throw error(.manyValues, "A list stands where one value is needed; use IN for lists.", at: start)
    default: throw mismatch(type, side, at: start)
    }
  }

  private func argument(
    _ value: StoredValue, _ given: FormatType, _ type: FormatType, at start: Int
  ) throws(PredicateFormatError) -> StoredValue {
    if given == type { return value }
    switch (given, type) {
    case (.object(let a), .object(let b)) where isRelated(a, b): return value
    case (.object, .object): throw error(.typeMismatch, "The argument is an object of another entity.", at: start)
    case (.enumeration(let a), .enumeration(let b)) where a == nil || a == b: return value
    case (.integer, .bool) where value == .integer(0) || value == .integer(1): return value
    case (.url, .text), (.text, .url): return value
    case (.text, .entity):
      if case .text(let name) = value { return try entityName(name, at: start) }
      return value
    case (.text, .enumeration(let name?)):
      // With `preserve`, a predicate may use a stored value that only another version of the model declares.
      guard case .text(let text) = value else { return value }
      if model.enumeration(named: name)?.unknown == .preserve, kind(type) == .text {
        return storedCase(text, name) ?? value
      }
      return try enumCase(text, name, at: start)
    case (.integer, .enumeration) where kind(type) == .integer: return value
    case (.text, .uuid):
      if case .text(let text) = value, let bytes = UUIDText.bytes(text) { return .blob(bytes) }
      throw error(.invalidConstant, "The argument is a text that is no UUID.", at: start)
    default:
      throw error(
        .typeMismatch, "The argument is \(given.name), and what it is compared with is \(type.name).", at: start)
    }
  }

  private func mismatch(_ type: FormatType, _ side: FormatSide, at start: Int) -> PredicateFormatError {
    let found =
      switch side {
      case .bool: "TRUE or FALSE"
      case .number: "a number"
      case .text: "a text"
      default: "something else"
      }
    let way = type == .date ? " Bind a date with %@, or write CAST('2026-01-31', 'NSDate')." : ""
    return error(.typeMismatch, "This is \(found), and what it is compared with is \(type.name).\(way)", at: start)
  }

  private func entityName(_ name: String, at start: Int) throws(PredicateFormatError) -> StoredValue {
    if model.entity(named: name) != nil { return .text(name) }
    let names = model.entities.map(\.name)
    let closest = NearestName.closest(to: name, among: names)
    let hint = closest.map { "; did you mean '\($0)'?" } ?? "; there are \(names.prefix(12).joined(separator: ", "))."
    throw error(.unknownCase, "The model has no such entity\(hint)", at: start, suggestion: closest)
  }

  // MARK: Enums

  private func storedCase(_ text: String, _ name: String) -> StoredValue? {
    let cases = model.enumeration(named: name)?.cases ?? []
    return cases.first { $0.rawValue == .text(text) }?.rawValue ?? cases.first { $0.name == text }?.rawValue
  }

  /// Looks up a case by its stored value or by its name.
  private func enumCase(_ text: String, _ name: String, at start: Int) throws(PredicateFormatError) -> StoredValue {
    if let value = storedCase(text, name) { return value }
    throw unknownCase(text, name, at: start)
  }

  private func enumCase(
    _ value: StoredValue, _ text: String, _ name: String, at start: Int
  ) throws(PredicateFormatError) -> StoredValue {
    if model.enumeration(named: name)?.cases.contains(where: { $0.rawValue == value }) == true { return value }
    throw unknownCase(text, name, at: start)
  }

  private func unknownCase(_ text: String, _ name: String, at start: Int) -> PredicateFormatError {
    let names = model.enumeration(named: name)?.cases.map(\.name) ?? []
    let closest = NearestName.closest(to: text, among: names)
    let hint = closest.map { "; did you mean '\($0)'?" } ?? "; there are \(names.prefix(12).joined(separator: ", "))."
    return error(.unknownCase, "The enum \(name) has no such case\(hint)", at: start, suggestion: closest)
  }
}
