import Foundation
package import TrellisModel

/// The stored text of lists, as `Codable` writes it.
package enum ListText {
  /// - Returns: the text; nil if a value does not have the form of the element's type.
  package static func text(_ values: [StoredValue], of element: AttributeType) -> String? {
    var elements: [any Encodable] = []
    for value in values {
      guard let element = Self.element(value, element) else { return nil }
      elements.append(element)
    }
    let text = JSONText.encode(elements.map(AnyElement.init))
    return text.isEmpty ? nil : text
  }

  /// The values of a stored list.
  ///
  /// - Returns: the values; nil if the text is no list of such elements.
  static func values(_ list: StoredValue, of element: AttributeForm.ListElement) -> [StoredValue]? {
    guard case .text(let text) = list else { return nil }
    switch element.form {
    case .integer: return decode(text, Int64.self) { .integer($0) }
    case .bool: return decode(text, Bool.self) { .integer($0 ? 1 : 0) }
    case .float: return decode(text, Float.self) { .real(Double($0)) }
    case .double: return decode(text, Double.self) { .real($0) }
    case .decimal: return decode(text, Decimal.self) { $0.storedValue }
    case .date: return decode(text, Date.self) { .integer($0.storedMicroseconds) }
    case .text, .url: return decode(text, String.self) { .text($0) }
    case .uuid: return decode(text, UUID.self) { .blob(withUnsafeBytes(of: $0.uuid) { [UInt8]($0) }) }
    case .blob: return decode(text, Data.self) { .blob([UInt8]($0)) }
    case .enumeration(let description):
      return description.rawType == .string
        ? decode(text, String.self) { .text($0) } : decode(text, Int64.self) { .integer($0) }
    case .list, .json: return nil
    }
  }

  /// The values of a stored list.
  ///
  /// - Parameter enumeration: The enum of the elements, if they are of one.
  /// - Returns: the values; nil if the text is no list of such elements.
  package static func values(
    _ text: String, of element: AttributeType, _ enumeration: EnumDescription?
  ) -> [StoredValue]? {
    values(.text(text), of: .init(element, AttributeForm(element) { _ in enumeration }))
  }

  private static func decode<Element: Decodable>(
    _ text: String, _: Element.Type, _ value: (Element) -> StoredValue
  ) -> [StoredValue]? {
    (try? JSONDecoder().decode([Element].self, from: Data(text.utf8)))?.map(value)
  }

  private struct AnyElement: Encodable {
    let value: any Encodable

    /// The encoder has forms of its own for decimals, data and URLs, which `value.encode(to:)` would bypass.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  private static func element(_ value: StoredValue, _ type: AttributeType) -> (any Encodable)? {
    switch (type, value) {
    case (.bool, .integer(let number)): number != 0
    case (.date, .integer(let microseconds)): Date(storedMicroseconds: microseconds)
    case (_, .integer(let number)): number
    case (.float, .real(let number)): Float(number)
    case (_, .real(let number)): number
    case (.decimal, .text(let text)): Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    case (.url, .text(let text)): URL(string: text)
    case (_, .text(let text)): text
    case (.uuid, .blob(let bytes)): UUID(uuidString: UUIDText.text(bytes))
    case (_, .blob(let bytes)): Data(bytes)
    case (_, .null), (_, .file): nil
    }
  }
}
