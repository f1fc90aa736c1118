import Foundation
package import TrellisModel
import TrellisStorage

/// How one value of an attribute is read from JSON and written to it.
package final class ValueMap {
  package let attribute: Attribute
  /// The type of the value: that of an element, if values of a list are read one by one.
  package let type: AttributeType
  package let take: [PropertyJSON.Take]
  /// Whether an empty text is read as null.
  package let emptyIsNull: Bool
  let date: DateFormat
  /// Whether the value is one element of the attribute's list.
  let isItem: Bool
  let form: ValueForm

  package init(
    _ attribute: Attribute, _ words: PropertyJSON, isItem: Bool, _ name: String
  ) throws(JSONMappingFault) {
    self.attribute = attribute
    self.isItem = isItem
    if isItem {
      guard case .array(let element) = attribute.type else {
        throw JSONMappingFault("'\(name)' is no list, but its path leads to several values.")
      }
      type = element
    } else {
      type = attribute.type
    }
    take = words.take
    emptyIsNull = words.emptyIsNull
    guard let format = DateFormat(words.date ?? "iso8601") else {
      throw JSONMappingFault("'\(words.date ?? "")' of '\(name)' is no format of dates.")
    }
    date = format
    let form = ValueForm(type, attribute)
    // A document of others does not refer to files of the store.
    self.form = form == .external ? .data : form
  }

  /// What is expected, as the end of a sentence.
  package var expectation: String {
    switch type {
    case _ where attribute.role == .presence: "an object"
    case .date: date.expectation
    case .enumeration where attribute.enumeration != nil: "a value of \(type.spelling)\(caseValues)"
    case _ where isItem: "a \(type.spelling)"
    case .bool where take.contains(.bool): "true, false, 1 or 0, or a text with one of them"
    case _ where take.contains(.number): "a text that holds \(attribute.expectation)"
    case .array(.enumeration): "a list of values of \(attribute.enumeration?.name ?? "an enum")\(caseValues)"
    case .array(let element): "a list of \(element.spelling)"
    default: attribute.expectation
    }
  }

  /// The first values that an input can have for an enum, as the end of a sentence, with the names of the cases that differ.
  private var caseValues: String {
    guard let enumeration = attribute.enumeration, !enumeration.cases.isEmpty else { return "" }
    let values = enumeration.cases.prefix(12).map { found in
      switch found.rawValue {
      case .integer(let number): "\(number) (\(found.name))"
      case .text(let text) where text != found.name: "\(text) (\(found.name))"
      default: found.name
      }
    }
    return ": " + values.joined(separator: ", ") + (enumeration.cases.count > 12 ? ", …" : "")
  }

  /// Whether dates are written as numbers, and not as texts.
  package var hasNumericDates: Bool { if case .number = date.unit { true } else { false } }

  /// Whether dates are written as ISO 8601 says.
  package var hasISODates: Bool { date.isISO }

  // MARK: Reading

  /// Reads a value that is not null.
  ///
  /// - Returns: the value; null for an empty text, if that is none; nil if it is none of the type. The scanner may then be
  ///   anywhere inside of the value.
  /// - Throws: ``DocumentFault`` for a text that is no JSON.
  package func read(_ scanner: inout JSONScanner) throws(DocumentFault) -> StoredValue? {
    if attribute.role == .presence {
      guard scanner.next == UInt8(ascii: "{") else { return nil }
      try scanner.skipValue(depth: 0)
      return .integer(1)
    }
    if !take.isEmpty {
      guard let text = try text(&scanner) else { return nil }
      return emptyIsNull && text.isEmpty ? .null : value(text)
    }
    if emptyIsNull, try scanner.takeEmptyText() { return .null }
    if type == .date { return try readDate(&scanner) }
    let start = scanner.offset
    do throws(DocumentFault) {
      let value = try scanner.value(form)
      switch (form, value) {
      case (.json, _): return attribute.type.isList ? list(value, scanner.bytes[start..<scanner.offset]) : value
      case (_, _) where attribute.enumeration != nil: return allows(value) ? value : nil
      default: return value
      }
    } catch  where error.code == .unreadableValue {
      if case .integer = form { return wholeReal(&scanner, from: error.offset) }
      return nil
    }
  }

  /// The list that a text is, without its nulls: a null is no element.
  private func list(_ value: StoredValue, _ text: Slice<UnsafeBufferPointer<UInt8>>) -> StoredValue? {
    if let list = try? attribute.checked(value) { return list }
    guard let elements = try? UnsafeBufferPointer(rebasing: text).withoutNulls(),
      let list = try? elements.withUnsafeBufferPointer({ bytes throws(DocumentFault) in
        var scanner = JSONScanner(bytes)
        return try scanner.value(.json)
      })
    else { return nil }
    return try? attribute.checked(list)
  }

  /// A whole number that is written with a fraction or an exponent, such as `1.0`.
  private func wholeReal(_ scanner: inout JSONScanner, from start: Int) -> StoredValue? {
    scanner.offset = start
    guard case .integer(let range) = form, let span = try? scanner.number(),
      let text = DecimalText.canonical(scanner.text(span)), let number = Int64(text), range.contains(number)
    else { return nil }
    let value = StoredValue.integer(number)
    return attribute.enumeration == nil || allows(value) ? value : nil
  }

  private func allows(_ value: StoredValue) -> Bool { attribute.enumeration?.allows(value) == true }

  private func readDate(_ scanner: inout JSONScanner) throws(DocumentFault) -> StoredValue? {
    switch date.unit {
    case .text:
      guard scanner.next == UInt8(ascii: "\"") else { return nil }
      return date.microseconds(try scanner.string()).map { .integer($0) }
    case .number(let scale):
      guard let first = scanner.next, first.isDigit || first == UInt8(ascii: "-") else { return nil }
      return date.microseconds(number: scanner.text(try scanner.number()), scale).map { .integer($0) }
    }
  }

  /// The text of a string, a number, true or false, changed as the mapping says.
  private func text(_ scanner: inout JSONScanner) throws(DocumentFault) -> String? {
    let isText = scanner.next == UInt8(ascii: "\"")
    guard let text = try scanner.scalarText(), isText || take.contains(where: \.readsAll) else { return nil }
    return taken(text)
  }

  /// A text, changed as the mapping says.
  package func taken(_ text: String) -> String {
    var text = text
    for word in take {
      switch word {
      case .lastPathComponent: text = Self.lastPathComponent(of: text)
      case .lowercase: text = text.lowercased()
      case .uppercase: text = text.uppercased()
      case .trimmed: text = text.trimmingCharacters(in: .whitespacesAndNewlines)
      case .number, .text, .bool: break
      }
    }
    return text
  }

  static func lastPathComponent(of text: String) -> String {
    var path = text.utf8[...]
    if let end = path.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) { path = path[..<end] }
    while path.last == UInt8(ascii: "/") { path.removeLast() }
    let start = path.lastIndex(of: UInt8(ascii: "/")).map { path.index(after: $0) } ?? path.startIndex
    return String(Substring(path[start...]))
  }

  /// The value that a text holds.
  package func value(_ text: String) -> StoredValue? {
    switch type {
    case .string, .url: return .text(text)
    case .bool:
      if text == "true" || text == "false" { return .integer(text == "true" ? 1 : 0) }
      guard take.contains(.bool), let number = DecimalText.canonical(text) else { return nil }
      return number == "1" ? .integer(1) : number == "0" ? .integer(0) : nil
    case .integer:
      guard case .integer(let range) = form, let canonical = DecimalText.canonical(text), let number = Int64(canonical),
        range.contains(number)
      else { return nil }
      return .integer(number)
    case .float: return Float(text).flatMap { $0.isNaN ? nil : .real(Double($0)) }
    case .double: return Double(text).flatMap { $0.isNaN ? nil : .real($0) }
    case .decimal: return DecimalText.canonical(text).map { .text($0) }
    case .date: return date.microseconds(text).map { .integer($0) }
    case .uuid: return UUIDText.bytes(text).map { .blob($0) }
    case .data: return Base64Text.bytes(text).map { .blob($0) }
    case .enumeration:
      let raw = attribute.enumeration?.rawType == .integer ? Int64(text).map(StoredValue.integer) : .text(text)
      return raw.flatMap { allows($0) ? $0 : nil }
    case .array, .codable: return nil
    }
  }
}

extension PropertyJSON.Take {
  /// Whether numbers, true and false are read as well as texts.
  fileprivate var readsAll: Bool { self == .text || self == .number || self == .bool }
}

extension UnsafeBufferPointer<UInt8> {
  /// The text of a list without the elements that are null.
  fileprivate func withoutNulls() throws(DocumentFault) -> [UInt8] {
    var scanner = JSONScanner(self)
    var text: [UInt8] = [UInt8(ascii: "[")]
    guard try scanner.open("[", "]", "a list") else { return text + [UInt8(ascii: "]")] }
    repeat {
      let start = scanner.offset
      let isNull = scanner.isAtNull()
      try scanner.skipValue()
      if isNull { continue }
      if text.count > 1 { text.append(UInt8(ascii: ",")) }
      text += self[start..<scanner.offset]
    } while try scanner.goOn("]")
    return text + [UInt8(ascii: "]")]
  }
}

extension AttributeType {
  fileprivate var isList: Bool {
    if case .array = self { true } else { false }
  }
}

extension JSONScanner {
  /// Reads an empty text, if there is one.
  fileprivate mutating func takeEmptyText() throws(DocumentFault) -> Bool {
    guard next == UInt8(ascii: "\""), offset + 1 < bytes.count, bytes[offset + 1] == UInt8(ascii: "\"") else {
      return false
    }
    _ = try stringSpan()
    return true
  }

  /// The text of a string, or the spelling of a number, true or false; nil for null, a list or an object, which stay.
  package mutating func scalarText() throws(DocumentFault) -> String? {
    switch next {
    case UInt8(ascii: "\""): return try string()
    case UInt8(ascii: "t"), UInt8(ascii: "f"):
      let isTrue = next == UInt8(ascii: "t")
      try word(isTrue ? "true" : "false")
      return isTrue ? "true" : "false"
    case .some(let byte) where byte.isDigit || byte == UInt8(ascii: "-"): return text(try number())
    default: return nil
    }
  }
}
