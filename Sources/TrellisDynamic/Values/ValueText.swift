import Foundation
package import TrellisModel
@_spi(Generated) package import TrellisStorage

/// Values of an attribute as people write them: on a command line, and in forms.
///
/// | type | text |
/// |---|---|
/// | `date` | ISO 8601; also `now` |
/// | `data` | Base64 |
/// | `uuid` | 8-4-4-4-12 hexadecimal digits; also `new` |
/// | an enum | the name of the case; `=` and the raw value, for a value without a case |
/// | `bool` | `true`, `false` |
/// | `float`, `double` | the shortest decimal; also `Infinity` and `-Infinity` |
/// | lists and structs | JSON |
/// | any optional | `nil` |
///
/// The text `nil` of a string, or the same after backslashes, has one more backslash. So each value has a text of its
/// own, and reading the text gives the same value again.
package struct ValueText {
  private let attribute: Attribute

  package init(_ attribute: Attribute) { self.attribute = attribute }

  private static let null = "nil"

  // MARK: Writing

  /// The text of a value. A value in a file is loaded.
  ///
  /// - Throws: ``StoreError`` if a file cannot be read.
  package func text(_ value: StoredValue) throws -> String {
    if value.isNull { return Self.null }
    if case .file(let file) = value { return Base64Text.text([UInt8](try ExternalData(file).load())) }
    return Self.escaped(plainText(value))
  }

  /// The text of a value in one line of bounded length, to be looked at. Data is its number of bytes.
  ///
  /// - Parameter length: The maximum number of scalars, at least 1.
  package func shortText(_ value: StoredValue, length: Int) -> String {
    switch value {
    case .null: return Self.null
    case .file(let file): return "\(Self.bytes(file.size)) in a file"
    case .blob(let bytes) where attribute.type == .data: return Self.bytes(bytes.count)
    default: return Self.shortened(Self.escaped(plainText(value)), length)
    }
  }

  /// A text in one line of bounded length, without control characters.
  package static func shortened(_ text: String, _ length: Int) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if shown.count >= max(1, length) {
        shown.removeLast()
        shown.append("…")
        break
      }
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: shown.append(scalar == "\n" ? "⏎" : "\u{FFFD}")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }

  private static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

  private func plainText(_ value: StoredValue) -> String {
    if attribute.type.isEnumeration, let enumeration = attribute.enumeration {
      if let known = enumeration.cases.first(where: { $0.rawValue == value }) { return known.name }
      return "=" + Self.rawText(value)
    }
    switch (attribute.type, value) {
    case (.bool, .integer(let flag)) where flag == 0 || flag == 1: return flag == 1 ? "true" : "false"
    case (.date, .integer(let microseconds)): return DateText.text(microseconds)
    case (.float, .real(let number)): return Self.text(of: number, isFloat: true)
    case (.uuid, .blob(let bytes)) where bytes.count == 16: return UUIDText.text(bytes)
    default: return Self.rawText(value)
    }
  }

  private static func rawText(_ value: StoredValue) -> String {
    switch value {
    case .null, .file: ""
    case .integer(let number): "\(number)"
    case .real(let number): text(of: number, isFloat: false)
    case .text(let text): text
    case .blob(let bytes): Base64Text.text(bytes)
    }
  }

  private static func text(of number: Double, isFloat: Bool) -> String {
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    return if isFloat, let float = Float(exactly: number) { "\(float)" } else { "\(number)" }
  }

  /// Whether a text is `nil` after any number of backslashes.
  private static func isEscapable(_ text: String) -> Bool {
    text.utf8.drop { $0 == UInt8(ascii: "\\") }.elementsEqual(null.utf8)
  }

  private static func escaped(_ text: String) -> String { isEscapable(text) ? "\\" + text : text }

  // MARK: Reading

  /// The value of a text.
  ///
  /// - Throws: ``ValueMisfit`` if the text is none of the attribute's type, or `nil` and the attribute is not optional.
  package func value(_ text: String) throws(ValueMisfit) -> StoredValue {
    if TextBytes.areEqual(text, Self.null) || text.isEmpty && !hasEmptyText { return try attribute.checked(.null) }
    guard let value = read(Self.isEscapable(text) ? String(text.dropFirst()) : text) else {
      throw ValueMisfit(expected: attribute.expectation)
    }
    return try attribute.checked(value)
  }

  /// Whether an empty text is a value of the type, and not nil.
  private var hasEmptyText: Bool { attribute.type == .string || attribute.type == .data }

  /// The value in any form that ``Attribute/checked(_:)`` accepts; nil if the text is none.
  private func read(_ text: String) -> StoredValue? {
    switch attribute.type {
    case .string, .decimal, .url, .array, .codable: .text(text)
    case .bool: ["true": .integer(1), "false": .integer(0)][text]
    case .integer: Int64(text).map(StoredValue.integer)
    case .float: Self.number(text) { Float($0).map(Double.init) }.map(StoredValue.real)
    case .double: Self.number(text) { Double($0) }.map(StoredValue.real)
    case .date: text == "now" ? Date().storedValue : DateText.keptMicroseconds(text).map(StoredValue.integer)
    case .data: Base64Text.bytes(text).map(StoredValue.blob)
    case .uuid: text == "new" ? UUID().storedValue : UUIDText.bytes(text).map(StoredValue.blob)
    case .enumeration: readCase(text)
    }
  }

  private func readCase(_ text: String) -> StoredValue? {
    guard let enumeration = attribute.enumeration else { return nil }
    if let known = enumeration.cases.first(where: { TextBytes.areEqual($0.name, text) }) { return known.rawValue }
    guard text.hasPrefix("=") else { return nil }
    let raw = String(text.dropFirst())
    return enumeration.rawType == .integer ? Int64(raw).map(StoredValue.integer) : .text(raw)
  }

  /// A number in decimal notation. Swift also reads hexadecimal numbers and other spellings of infinity.
  private static func number(_ text: String, _ read: (String) -> Double?) -> Double? {
    switch text {
    case "Infinity": return .infinity
    case "-Infinity": return -.infinity
    default:
      guard text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }), let number = read(text), number.isFinite
      else { return nil }
      return number
    }
  }
}

extension AttributeType {
  fileprivate var isEnumeration: Bool { if case .enumeration = self { true } else { false } }
}
