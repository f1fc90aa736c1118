import Foundation

/// A rule of an attribute that a value breaks.
package enum ValueRule: String, Hashable, Sendable {
  case minimum, maximum, minimumLength, maximumLength, pattern
  /// The value cannot be stored.
  case notANumber
}

/// An attribute with rules for its values. A class, because every save iterates over these attributes for every object.
package final class CheckedAttribute: Sendable {
  package let index: Int
  package let name: String
  private let type: AttributeType
  private let form: NumberForm
  private let rules: AttributeRules
  /// Whether the rules concern nothing but lengths.
  private let isOnlyLength: Bool
  private let pattern: Pattern?

  /// Returns nil if every value is valid.
  package init?(_ attribute: Attribute) {
    rules = attribute.description.rules
    guard attribute.description.derivation == nil else { return nil }
    guard !rules.isEmpty || attribute.type.mayHoldNoNumber else { return nil }
    index = attribute.index
    name = attribute.name
    type = attribute.type
    form = NumberForm(attribute.type)
    isOnlyLength = rules.minimum == nil && rules.maximum == nil && rules.pattern == nil
    // The model tool has already refused invalid patterns.
    pattern = rules.pattern.flatMap { try? Pattern($0) }
  }

  /// Whether values are data, which may be in files.
  package var isData: Bool { type == .data }

  package typealias Failure = (rule: ValueRule, message: String)

  /// The rules that a value breaks, with messages. Nil values satisfy every rule.
  package func failures(of value: StoredValue) -> [Failure] {
    if isNoNumber(value) { return [(.notANumber, numberMessage)] }
    if value.isNull || rules.isEmpty || isOnlyLength && isSurelyWithin(value) { return [] }
    var failures: [Failure] = []
    if let failure = bounds(value) { failures.append(failure) }
    if let failure = length(value) { failures.append(failure) }
    if let failure = patternFailure(value) { failures.append(failure) }
    return failures
  }

  private var numberMessage: String {
    switch type {
    case .date: "must be a date within 292,000 years of 1970"
    case .decimal: "must be a number of at most \(DecimalText.maximumDigits) digits"
    case .array(.decimal): "must hold nothing but numbers of at most \(DecimalText.maximumDigits) digits"
    case .array, .codable: "must hold nothing but what can be kept: no number in it may be infinite or none"
    default: "must be a number"
    }
  }

  private func isNoNumber(_ value: StoredValue) -> Bool {
    switch (form, value) {
    case (_, .real(let number)): number.isNaN
    case (.date, .integer(let number)): number == .min
    case (.decimal, .text(let text)): Self.isNoDecimal(text)
    case (.json, .text(let text)): text.isEmpty
    case (.decimals, .text(let text)): text.isEmpty || Self.areNoDecimals(text)
    default: false
    }
  }

  /// Whether a text is none of a decimal that every store and document can carry. `Decimal` itself has numbers of 39
  /// digits.
  private static func isNoDecimal(_ text: String) -> Bool {
    if text.utf8.count <= DecimalText.maximumDigits { return text == "NaN" }
    return DecimalText.canonical(text) == nil
  }

  /// - Parameter list: a list as JSON.
  private static func areNoDecimals(_ list: String) -> Bool {
    if list.utf8.count <= DecimalText.maximumDigits { return list.contains("NaN") }
    return list.split { $0.isWhitespace || "[],".contains($0) }.contains { isNoDecimal(String($0)) }
  }

  /// The ways in which a stored value can say that it is no number.
  private enum NumberForm {
    case plain, date, decimal, json, decimals

    init(_ type: AttributeType) {
      self =
        switch type {
        case .date: .date
        case .decimal: .decimal
        case .array(.decimal): .decimals
        case .array, .codable: .json
        default: .plain
        }
    }
  }

  private func bounds(_ value: StoredValue) -> Failure? {
    if rules.minimum == nil && rules.maximum == nil { return nil }
    let kind: ValueKind = type == .decimal ? .decimal : .text
    let isDate = type == .date
    if let minimum = rules.minimum, ValueOrder.compare(value, minimum, kind: kind) < 0 {
      return (.minimum, "must \(isDate ? "not be before" : "be at least") \(words(for: minimum))")
    }
    if let maximum = rules.maximum, ValueOrder.compare(value, maximum, kind: kind) > 0 {
      return (.maximum, "must \(isDate ? "not be after" : "be at most") \(words(for: maximum))")
    }
    return nil
  }

  /// A bound in readable form.
  private func words(for bound: StoredValue) -> String {
    switch bound {
    case .integer(let number): type == .date ? DateText.text(number) : "\(number)"
    case .real(let number): type == .float ? "\(Float(number))" : "\(number)"
    case .text(let text): text
    case .blob, .file, .null: "its bound"
    }
  }

  private func length(_ value: StoredValue) -> Failure? {
    guard rules.minimumLength != nil || rules.maximumLength != nil, !isSurelyWithin(value),
      let length = length(of: value)
    else { return nil }
    if let minimum = rules.minimumLength, length < minimum {
      return (.minimumLength, minimum == 1 ? "must not be empty" : "must have at least \(minimum) \(unit(minimum))")
    }
    if let maximum = rules.maximumLength, length > maximum {
      return (.maximumLength, "must have at most \(maximum) \(unit(maximum))")
    }
    return nil
  }

  private func unit(_ count: Int) -> String {
    let word =
      switch type {
      case .array: "element"
      case .data: "byte"
      default: "character"
      }
    return count == 1 ? word : word + "s"
  }

  /// Whether the byte count of a text already shows that its length is valid: a scalar takes one to four bytes.
  private func isSurelyWithin(_ value: StoredValue) -> Bool {
    guard case .text(let text) = value else { return false }
    if case .array = type { return false }
    let bytes = text.utf8.count
    return (bytes + 3) / 4 >= rules.minimumLength ?? 0 && bytes <= rules.maximumLength ?? .max
  }

  /// The number of Unicode scalars of a text, of bytes of data, or of elements of a list.
  private func length(of value: StoredValue) -> Int? {
    switch value {
    case .text(let text):
      guard case .array = type else { return text.unicodeScalars.count }
      return (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any])?.count
    case .blob(let bytes): return bytes.count
    case .file(let file): return file.size
    default: return nil
    }
  }

  private func patternFailure(_ value: StoredValue) -> Failure? {
    guard let pattern, case .text(let text) = value else { return nil }
    return switch pattern.match(text) {
    case .matches: nil
    case .differs: (.pattern, "must have the form that is asked for")
    case .tooCostly: (.pattern, "is too long to be matched against its pattern")
    }
  }
}

extension AttributeType {
  /// Whether the type has values that cannot be stored, such as NaN.
  fileprivate var mayHoldNoNumber: Bool {
    switch self {
    case .float, .double, .decimal, .date, .codable: true
    case .array(let element): element.mayHoldNoNumber
    case .string, .bool, .integer, .data, .uuid, .url, .enumeration: false
    }
  }
}
