public import Foundation
public import TrellisModel

/// A Swift type that an attribute can have. It defines how a value is read from a row, written to a row, and compared.
///
/// The model's own types conform already. A `Codable` struct of the app conforms to ``CodableAttribute`` instead.
public protocol AttributeValue: Hashable, Sendable, PredicateArgument {
  /// The value that an attribute of this type reads as while the object's row is not loaded.
  static var placeholder: Self { get }
  /// Reads a column. If the value is invalid, reports it to the row and returns the placeholder.
  static func read(_ row: RowReader, _ column: Int) -> Self
  /// Writes the value as the row's next column.
  func write(to row: RowWriter)
  /// The value in its stored form.
  var storedValue: StoredValue { get }
  /// The order and equality of values of this type in predicates and sorts.
  static var valueKind: ValueKind { get }
  /// Whether both values have the same stored form. Unlike `==`, this compares texts by their bytes.
  func isSameStored(as other: Self) -> Bool
}

extension AttributeValue {
  @inlinable public func isSameStored(as other: Self) -> Bool { self == other }
}

/// A type that a fetch can sort by: every attribute type except lists, data and `Codable` structs.
public protocol SortableAttributeValue: AttributeValue {}

extension Bool: SortableAttributeValue {}
extension Int16: SortableAttributeValue {}
extension Int32: SortableAttributeValue {}
extension Int64: SortableAttributeValue {}
extension Float: SortableAttributeValue {}
extension Double: SortableAttributeValue {}
extension String: SortableAttributeValue {}
extension Optional: SortableAttributeValue where Wrapped: SortableAttributeValue {}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  @inlinable public static var placeholder: Wrapped? { nil }
  @inlinable public static var valueKind: ValueKind { Wrapped.valueKind }

  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Wrapped? {
    row.isNull(column) ? nil : Wrapped.read(row, column)
  }

  @inlinable public func write(to row: RowWriter) {
    if let self { self.write(to: row) } else { row.null() }
  }

  @inlinable public var storedValue: StoredValue { self?.storedValue ?? .null }

  @inlinable public func isSameStored(as other: Wrapped?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let a?, let b?): a.isSameStored(as: b)
    default: false
    }
  }
}

// MARK: - Model enum

/// An enum declared in the model. The generated enums conform to it.
public protocol ModelEnum: SortableAttributeValue, Codable {
  associatedtype RawValue: AttributeValue & Codable
  /// The raw value, as it is stored.
  var rawValue: RawValue { get }
  /// The case for a stored raw value. The model's `unknown` policy decides about an unknown value; under `reject` it is
  /// nil.
  init?(stored rawValue: RawValue)
}

extension ModelEnum {
  @inlinable public static var valueKind: ValueKind { RawValue.valueKind }

  @inlinable public static func read(_ row: RowReader, _ column: Int) -> Self {
    if let value = Self(stored: RawValue.read(row, column)) { return value }
    row.report(
      column, "the stored raw value is no case of \(Self.self)",
      remedy: "Add the case to the model, or let the enum have \"unknown\": \"preserve\" or a default there.")
    return placeholder
  }

  @inlinable public func write(to row: RowWriter) { rawValue.write(to: row) }
  @inlinable public var storedValue: StoredValue { rawValue.storedValue }

  public init(from decoder: any Decoder) throws {
    let rawValue = try decoder.singleValueContainer().decode(RawValue.self)
    guard let value = Self(stored: rawValue) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(rawValue) is no case of \(Self.self)"))
    }
    self = value
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}

/// The raw value of an unknown case. Only the runtime creates it, from a stored value.
public struct UnknownRawValue<RawValue: AttributeValue>: Hashable, Sendable {
  public let rawValue: RawValue

  @_spi(Generated) @inlinable public init(_ rawValue: RawValue) { self.rawValue = rawValue }
}

// MARK: - Predicate argument

/// A value that can be bound to a placeholder in a predicate format: numbers, texts, dates, enums, objects and their
/// ids, nil, and lists and ranges of those.
///
/// A bound value is never parsed as part of the format.
public protocol PredicateArgument {
  /// The value in the form that the format checker uses.
  var formatArgument: FormatArgument { get }
}

extension AttributeValue {
  public var formatArgument: FormatArgument { .value(storedValue, FormatType(Self.valueKind)) }
}

extension Bool { public var formatArgument: FormatArgument { .value(storedValue, .bool) } }
extension Date { public var formatArgument: FormatArgument { .value(storedValue, .date) } }
extension UUID { public var formatArgument: FormatArgument { .value(storedValue, .uuid) } }
extension URL { public var formatArgument: FormatArgument { .value(storedValue, .url) } }
extension ModelEnum { public var formatArgument: FormatArgument { .value(storedValue, .enumeration(nil)) } }
extension CodableAttribute { public var formatArgument: FormatArgument { .value(storedValue, .json("\(Self.self)")) } }

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  public var formatArgument: FormatArgument { self?.formatArgument ?? .null }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  public var formatArgument: FormatArgument { .list(map(\.formatArgument)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  public var formatArgument: FormatArgument { .list(map(\.formatArgument)) }
}

extension Substring: PredicateArgument {
  public var formatArgument: FormatArgument { String(self).formatArgument }
}

extension PredicateArgument where Self: BinaryInteger {
  /// An integer beyond 64 bits becomes a decimal.
  public var formatArgument: FormatArgument {
    Int64(exactly: self).map { .value(.integer($0), .integer) } ?? .value(.text("\(self)"), .decimal)
  }
}

extension Int: PredicateArgument {}
extension Int8: PredicateArgument {}
extension UInt: PredicateArgument {}
extension UInt8: PredicateArgument {}
extension UInt16: PredicateArgument {}
extension UInt32: PredicateArgument {}
extension UInt64: PredicateArgument {}

extension ClosedRange: PredicateArgument where Bound: PredicateArgument {
  public var formatArgument: FormatArgument {
    .range(lowerBound.formatArgument, upperBound.formatArgument, isClosed: true)
  }
}

extension Range: PredicateArgument where Bound: PredicateArgument {
  public var formatArgument: FormatArgument {
    .range(lowerBound.formatArgument, upperBound.formatArgument, isClosed: false)
  }
}

extension FormatArgument {
  /// A range of values. A range of anything else has no value.
  fileprivate static func range(_ low: FormatArgument, _ high: FormatArgument, isClosed: Bool) -> FormatArgument {
    guard case .value(let lower, let type) = low, case .value(let upper, _) = high else { return .null }
    return .range(lower, upper, type, isClosed: isClosed)
  }
}

// MARK: - JSON values

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
