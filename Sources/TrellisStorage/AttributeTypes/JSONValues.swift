import Foundation
public import TrellisQuery
public import TrellisSchema

/// A `Codable` struct of the app that attributes can use as their type. It is stored as one JSON text.
///
/// The model lists it in `codableTypes`. It has the same access level as the classes that use it, belongs to the same
/// module, and defines the placeholder that an attribute reads as while the object's row is not loaded:
/// ```swift
/// public struct Address: CodableAttribute {
///   public var street = ""
///   public var city = ""
///   public static let placeholder = Address(street: "", city: "")
///
///   public init(street: String, city: String) {
///     self.street = street
///     self.city = city
///   }
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
    // A value that cannot be encoded, such as NaN, becomes an empty text, which is no valid JSON and is refused on
    // save.
    guard let data = try? encoder.encode(value) else { return "" }
    return String(decoding: data, as: UTF8.self)
  }
}
