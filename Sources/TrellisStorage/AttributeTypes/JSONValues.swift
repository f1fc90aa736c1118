import Foundation
public import TrellisQuery
public import TrellisSchema

/// A `Codable` struct of yours that attributes may have as their type. It is kept as one JSON text.
///
/// The model lists it in `codableTypes`. It is as public as the classes that use it, lies in their module, and says what an
/// attribute reads as while its object's row is not there:
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
    // What cannot be encoded, such as a number that is none, is a text that no JSON has; a save refuses it.
    guard let data = try? encoder.encode(value) else { return "" }
    return String(decoding: data, as: UTF8.self)
  }
}
