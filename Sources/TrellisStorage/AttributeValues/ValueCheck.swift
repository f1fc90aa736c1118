import Foundation
package import TrellisModel

/// The reason why a value or a text is none of an attribute's type: what is expected, as the end of a sentence.
package struct ValueMisfit: Error, Hashable {
  package let expected: String

  package init(expected: String) { self.expected = expected }
}

extension Attribute {
  /// A value in the one form in which the attribute is stored, as generated classes would store it.
  ///
  /// The rules of the model, such as bounds and patterns, are not checked; a save does that.
  ///
  /// - Throws: ``ValueMisfit`` if the value is none of the type, or null and the attribute is not optional.
  package func checked(_ value: StoredValue) throws(ValueMisfit) -> StoredValue {
    if value.isNull {
      guard isOptional else { throw ValueMisfit(expected: "\(expectation), and not nil") }
      return .null
    }
    guard let found = canonical(value) else { throw ValueMisfit(expected: expectation) }
    return found
  }

  private func canonical(_ value: StoredValue) -> StoredValue? {
    switch (type, value) {
    case (.bool, .integer(0)), (.bool, .integer(1)): value
    case (.integer(let type), .integer(let number)): type.range.contains(number) ? value : nil
    case (.date, .integer(let microseconds)): DateText.isKept(microseconds) ? value : nil
    case (.double, .real(let number)): number.isNaN ? nil : value
    case (.float, .real(let number)): Self.float(number).map(StoredValue.real)
    case (.string, .text): value
    case (.decimal, .text(let text)): DecimalText.canonical(text).map(StoredValue.text)
    case (.url, .text(let text)): URL(string: text).map { .text($0.absoluteString) }
    case (.data, .blob): value
    case (.data, .file): description.isExternal ? value : nil
    case (.uuid, .blob(let bytes)): bytes.count == 16 ? value : nil
    case (.enumeration, _): enumeration?.allows(value) == true ? value : nil
    case (.array, .text(let text)): list(text)
    case (.codable, .text(let text)): JSONValue.isValid(text) ? value : nil
    default: nil
    }
  }

  private static func float(_ number: Double) -> Double? {
    let float = Float(number)
    return number.isNaN || float.isInfinite && number.isFinite ? nil : Double(float)
  }

  /// What a value of the attribute is, as the end of a sentence.
  package var expectation: String {
    switch type {
    case .bool: "true or false"
    case .integer(let type): "a whole number from \(type.range.lowerBound) to \(type.range.upperBound)"
    case .float, .double: "a number within the range of its type"
    case .decimal: "a number of at most \(DecimalText.maximumDigits) digits, such as 9.95"
    case .string: "a text"
    case .date: "an ISO 8601 date, such as 2026-01-31 or 2026-01-31T09:30:00Z"
    case .data: "Base64 text with padding, such as SGk="
    case .uuid: "a UUID, such as E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    case .url: "a URL, such as https://example.org/a.png"
    case .enumeration: "a case of \(type.spelling)\(caseNames)"
    case .array(let element): "a JSON list of \(element.spelling)\(caseNames)"
    case .codable(let name): "the JSON text of a \(name)"
    }
  }

  /// The first cases of the enum, as the end of a sentence.
  private var caseNames: String {
    guard let enumeration, !enumeration.cases.isEmpty else { return "" }
    let names = enumeration.cases.prefix(12).map(\.name).joined(separator: ", ")
    return ": " + names + (enumeration.cases.count > 12 ? ", …" : "")
  }
}
