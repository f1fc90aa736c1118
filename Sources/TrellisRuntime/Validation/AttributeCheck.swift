import Foundation
import TrellisQuery
import TrellisSchema

/// An attribute whose values have something to obey.
struct CheckedAttribute: Sendable {
  let index: Int
  let name: String
  private let type: AttributeType
  private let rules: AttributeRules
  private let pattern: Pattern?

  /// Nil when every value is fine.
  init?(_ attribute: Attribute) {
    rules = attribute.description.rules
    guard !rules.isEmpty || attribute.storageClass == .real || attribute.type == .decimal else { return nil }
    index = attribute.index
    name = attribute.name
    type = attribute.type
    // The model tool has refused a pattern that is none.
    pattern = rules.pattern.flatMap { try? Pattern($0) }
  }

  typealias Failure = (rule: ValidationFailure.Rule, message: String)

  /// The first rule that a value breaks, in words; nil when it keeps them all. Nil values keep every rule.
  func failure(of value: StoredValue) -> Failure? {
    if case .real(let number) = value, number.isNaN { return (.notANumber, "it is not a number") }
    if type == .decimal, case .text("NaN") = value { return (.notANumber, "it is not a number") }
    if value.isNull || rules.isEmpty { return nil }
    return bounds(value) ?? length(value) ?? patternFailure(value)
  }

  private func bounds(_ value: StoredValue) -> Failure? {
    let kind: ValueKind = type == .decimal ? .decimal : .text
    if let minimum = rules.minimum, ValueOrder.compare(value, minimum, kind: kind) < 0 {
      return (.minimum, "it is too small")
    }
    if let maximum = rules.maximum, ValueOrder.compare(value, maximum, kind: kind) > 0 {
      return (.maximum, "it is too large")
    }
    return nil
  }

  private func length(_ value: StoredValue) -> Failure? {
    guard rules.minimumLength != nil || rules.maximumLength != nil, let length = length(of: value) else { return nil }
    if let minimum = rules.minimumLength, length < minimum {
      return (.minimumLength, "it is shorter than \(minimum)")
    }
    if let maximum = rules.maximumLength, length > maximum {
      return (.maximumLength, "it is longer than \(maximum)")
    }
    return nil
  }

  /// Unicode scalars of a text, bytes of data, elements of a list.
  private func length(of value: StoredValue) -> Int? {
    switch value {
    case .text(let text):
      guard case .array = type else { return text.unicodeScalars.count }
      return (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [Any])?.count
    case .blob(let bytes): return bytes.count
    default: return nil
    }
  }

  private func patternFailure(_ value: StoredValue) -> Failure? {
    guard let pattern, case .text(let text) = value else { return nil }
    return switch pattern.match(text) {
    case .matches: nil
    case .differs: (.pattern, "it does not match its pattern")
    case .tooCostly: (.pattern, "it is too long to be matched against its pattern")
    }
  }
}
