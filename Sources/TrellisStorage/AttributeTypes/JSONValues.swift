import Foundation
public import TrellisQuery
public import TrellisSchema

/// A `Codable` struct of yours that attributes may have as their type. It is kept as one JSON text.
///
/// ```swift
/// struct Address: CodableAttribute {
///   var street = ""
///   static let placeholder = Address()
/// }
/// ```
public protocol CodableAttribute: AttributeValue, Codable {}

extension CodableAttribute {
  public static var valueKind: ValueKind { .text }

  public static func read(_ row: RowReader, _ column: Int) -> Self {
    JSONText.decode(row, column) ?? placeholder
  }

  public func write(to row: RowWriter) { row.text(JSONText.encode(self)) }
  public var storedValue: StoredValue { .text(JSONText.encode(self)) }
}

extension Array: AttributeValue where Element: AttributeValue & Codable {
  public static var placeholder: [Element] { [] }
  public static var valueKind: ValueKind { .text }

  public static func read(_ row: RowReader, _ column: Int) -> [Element] {
    JSONText.decode(row, column) ?? []
  }

  public func write(to row: RowWriter) { row.text(JSONText.encode(self)) }
  public var storedValue: StoredValue { .text(JSONText.encode(self)) }

  public func isSameStored(as other: [Element]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.isSameStored(as: $1) }
  }
}

/// The JSON text of lists and structs.
enum JSONText {
  static func decode<Value: Decodable>(_ row: RowReader, _ column: Int) -> Value? {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(row.bytes(column)))
    } catch {
      row.report(column, "the stored JSON is no \(Value.self)")
      return nil
    }
  }

  static func encode(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return "null" }
    return String(decoding: data, as: UTF8.self)
  }
}
