import Foundation
import TrellisModel
import TrellisStorage

/// Whether a value means the same after a migration, although its attribute may have another type.
struct ValueMeaning {
  let old: Attribute
  let oldModel: Model
  let new: Attribute
  let newModel: Model

  /// - Returns: whether a value that is not null became another one without a loss.
  func isKept(_ value: StoredValue, as other: StoredValue) -> Bool {
    if other.isNull { return false }
    if case .enumeration = old.type, case .enumeration = new.type { return isCaseKept(value, as: other) }
    if value.isSame(as: other) || Self.isSame(value, old.type, other, new.type) { return true }
    // Lists, and what only a table can tell, such as the text of a number.
    guard old.type != new.type else { return false }
    let conversion = ValueConversion(from: old, in: oldModel, to: new, in: newModel)
    return conversion.convert(value).map { $0.isSame(as: other) } ?? false
  }

  /// A case is the same under its name, under a new name that knows the former one, or with the same raw value.
  private func isCaseKept(_ value: StoredValue, as other: StoredValue) -> Bool {
    guard let former = old.enumeration?.cases.first(where: { $0.rawValue == value }) else {
      return value == other
    }
    let cases = new.enumeration?.cases ?? []
    guard let current = cases.first(where: { $0.rawValue == other }) else { return value == other }
    let renamed = cases.filter { $0.renamedFrom.contains(former.name) }
    if !renamed.isEmpty && !former.renamedFrom.contains(where: { name in renamed.contains { $0.name == name } }) {
      return renamed.contains(current) || current.name == former.name
    }
    return current.name == former.name || value == other
  }

  private static func isSame(
    _ left: StoredValue, _ leftType: AttributeType, _ right: StoredValue, _ rightType: AttributeType
  ) -> Bool {
    switch (left, right) {
    case (.integer(let a), .real(let b)), (.real(let b), .integer(let a)): return Int64(exactly: b) == a
    case (.text(let a), .text(let b)):
      guard leftType == .decimal || rightType == .decimal else { return false }
      let numbers = [a, b].map { Decimal(string: $0, locale: Locale(identifier: "en_US_POSIX")) }
      return numbers[0] != nil && numbers[0] == numbers[1]
    case (.text(let text), let other): return isText(text, of: other, rightType)
    case (let other, .text(let text)): return isText(text, of: other, leftType)
    default: return false
    }
  }

  /// Whether a text tells a value of another type.
  private static func isText(_ text: String, of value: StoredValue, _ type: AttributeType) -> Bool {
    switch (value, type) {
    case (.integer(let number), .bool): ["\(number)", number == 1 ? "true" : "false"].contains(text)
    case (.integer(let number), .date): DateText.microseconds(text) == number
    case (.integer(let number), _): Int64(text) == number || Double(text).flatMap { Int64(exactly: $0) } == number
    case (.real(let number), .float): Float(text) == Float(number)
    case (.real(let number), _): Double(text) == number
    case (.blob(let bytes), .uuid):
      UUID(uuidString: text).map { withUnsafeBytes(of: $0.uuid, Array.init) } == bytes
    default: false
    }
  }
}
