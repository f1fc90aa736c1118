import Foundation
package import TrellisModel

/// The values of attributes that were not given.
extension Attribute {
  /// The value of a new object: the default of the model, or nil for an optional attribute. The result is nil if the
  /// attribute needs a value.
  package var initialValue: StoredValue? {
    switch description.defaultValue {
    case .now: Date().storedValue
    case .new: UUID().storedValue
    case .value(let value): value
    case .list(let values): listText(values).map(StoredValue.text)
    case nil: description.isOptional ? .null : nil
    }
  }

  private func listText(_ values: [StoredValue]) -> String? {
    guard case .array(let element) = type else { return nil }
    return ListText.text(values, of: element)
  }

  /// Some value of the attribute's type: that of a transient attribute without a default after a fetch. Null if only the
  /// program has values of the type.
  package var placeholder: StoredValue {
    switch type {
    case .bool, .integer, .date: .integer(0)
    case .float, .double: .real(0)
    case .string: .text("")
    case .decimal: .text("0")
    case .data: .blob([])
    case .uuid: .blob([UInt8](repeating: 0, count: 16))
    case .url: .text(URL.placeholder.absoluteString)
    case .enumeration: enumeration?.cases.first?.rawValue ?? .null
    case .array: .text("[]")
    case .codable: .null
    }
  }
}
