import Foundation
import TrellisModel

/// The stored text of lists, as `Codable` writes it.
enum ListText {
  /// - Returns: the text; nil if a value does not have the form of the element's type.
  static func text(_ values: [StoredValue], of element: AttributeType) -> String? {
    var elements: [any Encodable] = []
    for value in values {
      guard let element = Self.element(value, element) else { return nil }
      elements.append(element)
    }
    let text = JSONText.encode(elements.map(AnyElement.init))
    return text.isEmpty ? nil : text
  }

  private struct AnyElement: Encodable {
    let value: any Encodable

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
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
