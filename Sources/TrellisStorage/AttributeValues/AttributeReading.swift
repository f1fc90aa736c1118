import Foundation
package import TrellisModel

/// The values of attributes as rows have them, read by the same rules as generated classes read them.
extension Attribute {
  /// Reads a column. If the value is invalid, reports it to the row.
  package func read(_ row: RowReader, _ column: Int) -> StoredValue {
    if description.isOptional && row.isNull(column) { return .null }
    switch type {
    case .date:
      // Reports a date beyond the range. A `Date` has fewer digits than the stored number.
      _ = Date.read(row, column)
      return .integer(row.integer(column))
    case .url:
      _ = URL.read(row, column)
      return .text(row.text(column))
    case .data where description.isExternal:
      return row.file(column).map(StoredValue.file) ?? .blob([UInt8](row.bytes(column)))
    case .enumeration: return readRawValue(row, column)
    case .codable(let name):
      let text = row.text(column)
      if !JSONValue.isValid(text) { row.report(column, "the stored JSON is no \(name)") }
      return .text(text)
    case .array(let element):
      return readList(row, column, of: scalarType(of: element))
    default: return scalarType(of: type).read(row, column).storedValue
    }
  }

  private func readRawValue(_ row: RowReader, _ column: Int) -> StoredValue {
    let value = scalarType(of: type).read(row, column).storedValue
    if row.problem != nil { return value }
    if let known = enumeration?.readValue(value) { return known }
    row.report(
      column, "the stored raw value is no case of \(enumeration?.name ?? type.spelling)",
      remedy: "Add the case to the model, or let the enum have \"unknown\": \"preserve\" or a default there.")
    return value
  }

  private func readList<Element: AttributeValue & Codable>(
    _ row: RowReader, _ column: Int, of element: Element.Type
  ) -> StoredValue {
    let list = [Element].read(row, column)
    guard let enumeration, case .array(let type) = type, row.problem == nil else { return list.storedValue }
    let known = list.compactMap { enumeration.readValue($0.storedValue) }
    if known.count == list.count, let text = ListText.text(known, of: type) { return .text(text) }
    row.report(column, "the stored JSON is no list of \(enumeration.name)")
    return list.storedValue
  }

  /// The list that a JSON text contains, in the form in which generated classes write it; nil if it is none.
  func list(_ text: String) -> StoredValue? {
    guard case .array(let element) = type else { return nil }
    return decodeList(text, of: scalarType(of: element))
  }

  private func decodeList<Element: AttributeValue & Codable>(_ text: String, of element: Element.Type) -> StoredValue? {
    guard let list = try? JSONDecoder().decode([Element].self, from: Data(text.utf8)) else { return nil }
    if let enumeration, !list.allSatisfy({ enumeration.allows($0.storedValue) }) { return nil }
    return list.storedValue
  }

  /// The Swift type of a scalar, or the raw type of an enum.
  private func scalarType(of type: AttributeType) -> any (AttributeValue & Codable).Type {
    switch type {
    case .string, .array, .codable: String.self
    case .bool: Bool.self
    case .integer(.int16): Int16.self
    case .integer(.int32): Int32.self
    case .integer(.int64): Int64.self
    case .float: Float.self
    case .double: Double.self
    case .decimal: Decimal.self
    case .date: Date.self
    case .data: Data.self
    case .uuid: UUID.self
    case .url: URL.self
    case .enumeration: enumeration?.rawType == .integer ? Int64.self : String.self
    }
  }
}

extension EnumDescription {
  /// What a stored raw value is read as; nil if it cannot be read.
  package func readValue(_ value: StoredValue) -> StoredValue? {
    if cases.contains(where: { $0.rawValue == value }) { return value }
    switch unknown {
    case .preserve: return value
    case .useDefault(let name): return cases.first { $0.name == name }?.rawValue
    case .reject: return nil
    }
  }

  /// Whether an attribute can be set to a raw value.
  package func allows(_ value: StoredValue) -> Bool {
    if cases.contains(where: { $0.rawValue == value }) { return true }
    guard unknown == .preserve else { return false }
    switch (rawType, value) {
    case (.string, .text), (.integer, .integer): return true
    default: return false
    }
  }
}

/// JSON texts of lists and structs.
enum JSONValue {
  static func isValid(_ text: String) -> Bool {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
  }
}
