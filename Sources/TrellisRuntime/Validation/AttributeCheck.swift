import TrellisQuery
import TrellisSchema

/// The rules of one attribute against one value.
enum AttributeCheck {
  /// The first rule that a value breaks, in words; nil when it keeps them all. Nil values keep every rule.
  static func failure(of value: StoredValue, _ attribute: Attribute) -> (ValidationFailure.Rule, String)? {
    if case .real(let number) = value, number.isNaN { return (.notANumber, "it is not a number") }
    if attribute.type == .decimal, case .text("NaN") = value { return (.notANumber, "it is not a number") }
    let rules = attribute.description.rules
    if value.isNull || rules.isEmpty { return nil }
    return bounds(value, rules, attribute) ?? length(value, rules) ?? pattern(value, rules)
  }

  private static func bounds(
    _ value: StoredValue, _ rules: AttributeRules, _ attribute: Attribute
  ) -> (ValidationFailure.Rule, String)? {
    let isDecimal = attribute.type == .decimal
    if let minimum = rules.minimum, isLess(value, minimum, isDecimal) { return (.minimum, "it is too small") }
    if let maximum = rules.maximum, isLess(maximum, value, isDecimal) { return (.maximum, "it is too large") }
    return nil
  }

  private static func isLess(_ left: StoredValue, _ right: StoredValue, _ isDecimal: Bool) -> Bool {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): a < b
    case (.real(let a), .real(let b)): a < b
    case (.text(let a), .text(let b)): isDecimal ? DecimalOrder.compare(a, b) < 0 : a.utf8.lexicographicallyPrecedes(b.utf8)
    default: false
    }
  }

  private static func length(_ value: StoredValue, _ rules: AttributeRules) -> (ValidationFailure.Rule, String)? {
    guard rules.minimumLength != nil || rules.maximumLength != nil else { return nil }
    let length: Int
    switch value {
    case .text(let text): length = text.unicodeScalars.count
    case .blob(let bytes): length = bytes.count
    default: return nil
    }
    if let minimum = rules.minimumLength, length < minimum {
      return (.minimumLength, "it is shorter than \(minimum)")
    }
    if let maximum = rules.maximumLength, length > maximum {
      return (.maximumLength, "it is longer than \(maximum)")
    }
    return nil
  }

  private static func pattern(_ value: StoredValue, _ rules: AttributeRules) -> (ValidationFailure.Rule, String)? {
    guard let pattern = rules.pattern, case .text(let text) = value else { return nil }
    return PatternMatching.matches(text, pattern) ? nil : (.pattern, "it does not match its pattern")
  }
}
