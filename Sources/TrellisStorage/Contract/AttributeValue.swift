public import Foundation
public import TrellisModel

/// A Swift type that an attribute can have. It defines how a value is read from a row, written to a row, and compared.
///
/// The model's own types conform already. A `Codable` struct of the app conforms to ``CodableAttribute`` instead.
public protocol AttributeValue: Hashable, Sendable, PredicateArgument {
  /// The value that an attribute of this type reads as while the object's row is not loaded.
  @_spi(Generated) static var placeholder: Self { get }
  /// Reads a column. If the value is invalid, reports it to the row and returns the placeholder.
  @_spi(Generated) static func read(_ row: RowReader, _ column: Int) -> Self
  /// Writes the value as the row's next column.
  @_spi(Generated) func write(to row: RowWriter)
  /// The value in its stored form.
  @_spi(Generated) var storedValue: StoredValue { get }
  /// The order and equality of values of this type in predicates and sorts.
  @_spi(Generated) static var valueKind: ValueKind { get }
  /// Whether both values have the same stored form. Unlike `==`, this compares texts by their bytes.
  @_spi(Generated) func isSameStored(as other: Self) -> Bool
}

extension AttributeValue {
  @_spi(Generated) @inlinable public func isSameStored(as other: Self) -> Bool { self == other }
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
  @_spi(Generated) @inlinable public static var placeholder: Wrapped? { nil }
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { Wrapped.valueKind }

  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Wrapped? {
    row.isNull(column) ? nil : Wrapped.read(row, column)
  }

  @_spi(Generated) @inlinable public func write(to row: RowWriter) {
    if let self { self.write(to: row) } else { row.null() }
  }

  @_spi(Generated) @inlinable public var storedValue: StoredValue { self?.storedValue ?? .null }

  @_spi(Generated) @inlinable public func isSameStored(as other: Wrapped?) -> Bool {
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
  /// The type of the stored values: `String` or `Int`.
  associatedtype RawValue: AttributeValue & Codable
  /// The raw value, as it is stored.
  var rawValue: RawValue { get }
  /// The case for a stored raw value. The model's `unknown` policy decides about an unknown value; under `reject` it is
  /// nil.
  init?(stored rawValue: RawValue)
  /// The cases with their texts; empty for an enum of numbers, and for one with very many cases.
  @_spi(Generated) static var _cases: [(text: StaticString, value: Self)] { get }
}

extension ModelEnum {
  @_spi(Generated) @inlinable public static var _cases: [(text: StaticString, value: Self)] { [] }

  @_spi(Generated) @inlinable public static var valueKind: ValueKind { RawValue.valueKind }

  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Self {
    // Comparing the bytes costs less than making a text of them.
    if let bytes = row.textAtHand(column) {
      for entry in _cases where bytes.isEqual(to: entry.text) { return entry.value }
    }
    if let value = Self(stored: RawValue.read(row, column)) { return value }
    row.report(
      column, "the stored raw value is no case of \(Self.self)",
      remedy: "Add the case to the model, or let the enum have \"unknown\": \"preserve\" or a default there.")
    return placeholder
  }

  @_spi(Generated) @inlinable public func write(to row: RowWriter) { rawValue.write(to: row) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { rawValue.storedValue }

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
  /// The value is in an object of its own, so that an enum takes one word in each row instead of two: unknown values
  /// are rare, and enums are common.
  @usableFromInline final class Box: Sendable {
    @usableFromInline let rawValue: RawValue

    @usableFromInline init(_ rawValue: RawValue) { self.rawValue = rawValue }
  }

  @usableFromInline let box: Box

  @_spi(Generated) @inlinable public init(_ rawValue: RawValue) { box = Box(rawValue) }

  /// The stored value.
  @inlinable public var rawValue: RawValue { box.rawValue }

  /// Whether the stored values are equal.
  public static func == (left: Self, right: Self) -> Bool { left.rawValue == right.rawValue }

  /// Hashes the stored value.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

// MARK: - Predicate argument

/// A value that can be bound to a placeholder in a predicate format: numbers, texts, dates, enums, objects and their
/// ids, nil, and lists and ranges of those.
///
/// A bound value is never parsed as part of the format.
public protocol PredicateArgument {
  /// The value in the form that the format checker uses.
  @_spi(Generated) var formatArgument: FormatArgument { get }
}

extension AttributeValue {
  /// The value as an argument of a format string.
  @_spi(Generated) public var formatArgument: FormatArgument { .value(storedValue, FormatType(Self.valueKind)) }
}

extension Bool { @_spi(Generated) public var formatArgument: FormatArgument { .value(storedValue, .bool) } }
extension Date { @_spi(Generated) public var formatArgument: FormatArgument { .value(storedValue, .date) } }
extension UUID { @_spi(Generated) public var formatArgument: FormatArgument { .value(storedValue, .uuid) } }
extension URL { @_spi(Generated) public var formatArgument: FormatArgument { .value(storedValue, .url) } }
extension ModelEnum {
  /// The raw value as an argument of a format string.
  @_spi(Generated) public var formatArgument: FormatArgument { .value(storedValue, .enumeration(nil)) }
}
extension CodableAttribute {
  /// The value as an argument of a format string.
  public var formatArgument: FormatArgument { .value(storedValue, .json("\(Self.self)")) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  @_spi(Generated) public var formatArgument: FormatArgument { self?.formatArgument ?? .null }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  @_spi(Generated) public var formatArgument: FormatArgument { .list(map(\.formatArgument)) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  @_spi(Generated) public var formatArgument: FormatArgument { .list(map(\.formatArgument)) }
}

extension Substring: PredicateArgument {
  @_spi(Generated) public var formatArgument: FormatArgument { String(self).formatArgument }
}

extension PredicateArgument where Self: BinaryInteger {
  /// An integer beyond 64 bits becomes a decimal.
  @_spi(Generated) public var formatArgument: FormatArgument {
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
  @_spi(Generated) public var formatArgument: FormatArgument {
    .range(lowerBound.formatArgument, upperBound.formatArgument, isClosed: true)
  }
}

extension Range: PredicateArgument where Bound: PredicateArgument {
  @_spi(Generated) public var formatArgument: FormatArgument {
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
public protocol CodableAttribute: AttributeValue, Codable {
  /// The value that an attribute of this type reads as while the object's row is not loaded.
  static var placeholder: Self { get }
}

// These are no SPI, because a conforming type of the app, whose file does not import the SPI, gets them as its own.
extension CodableAttribute {
  /// The kind of the stored form.
  public static var valueKind: ValueKind { .text }

  /// Reads a column of JSON text.
  public static func read(_ row: RowReader, _ column: Int) -> Self {
    JSONText.decode(
      row, column,
      remedy:
        "Let \(Self.self) read what it wrote before: make a new property optional, or give it a value in init(from:)."
    ) ?? placeholder
  }

  /// Writes the value as JSON text.
  public func write(to row: RowWriter) { row.text(JSONText.encode(self)) }
  /// The value as JSON text.
  public var storedValue: StoredValue { .text(JSONText.encode(self)) }
  /// Whether both values are equal.
  public func isSameStored(as other: Self) -> Bool { self == other }
}

extension Array: AttributeValue where Element: AttributeValue & Codable {
  @_spi(Generated) public static var placeholder: [Element] { [] }
  @_spi(Generated) public static var valueKind: ValueKind { .text }

  @_spi(Generated) public static func read(_ row: RowReader, _ column: Int) -> [Element] {
    JSONText.decode(row, column) ?? []
  }

  @_spi(Generated) public func write(to row: RowWriter) { row.text(JSONText.encode(self)) }
  @_spi(Generated) public var storedValue: StoredValue { .text(JSONText.encode(self)) }

  @_spi(Generated) public func isSameStored(as other: [Element]) -> Bool {
    count == other.count && zip(self, other).allSatisfy { $0.isSameStored(as: $1) }
  }
}

/// The JSON text of lists and structs.
enum JSONText {
  /// - Parameter remedy: the way out of JSON that is no value; nil if the row needs a repair.
  static func decode<Value: Decodable>(_ row: RowReader, _ column: Int, remedy: String? = nil) -> Value? {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(row.bytes(column)))
    } catch {
      let reason = (error as? DecodingError)?.reason
      row.report(
        column, "the stored JSON is no \(Value.self)\(reason.map { ", because \($0)" } ?? "")",
        remedy: reason == nil ? nil : remedy)
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

extension DecodingError {
  /// What of the declared properties JSON does not have; nil for what is no JSON. It contains no user data.
  fileprivate var reason: String? {
    switch self {
    case .keyNotFound(let key, let context): "it lacks \(Self.text(context.codingPath + [key]))"
    case .valueNotFound(_, let context): "\(Self.text(context.codingPath)) is null"
    case .typeMismatch(let type, let context): "\(Self.text(context.codingPath)) is no \(type)"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      "\(Self.text(context.codingPath)) has a value that is none of its type"
    default: nil
    }
  }

  /// A path as `route.stops[2].name`. The keys of a dictionary are values of the user.
  private static func text(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path {
      if let place = key.intValue {
        text += "[\(place)]"
      } else if "\(type(of: key))".contains("Dictionary") {
        text += "[…]"
      } else {
        text += (text.isEmpty ? "" : ".") + key.stringValue
      }
    }
    return text.isEmpty ? "the whole" : text
  }
}

// MARK: - Attribute types

extension Bool: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .integer }
  @_spi(Generated) @inlinable public static var placeholder: Bool { false }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Bool {
    row.integer(column) != 0
  }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.integer(self ? 1 : 0) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .integer(self ? 1 : 0) }
}

extension Int64: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .integer }
  @_spi(Generated) @inlinable public static var placeholder: Int64 { 0 }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Int64 { row.integer(column) }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.integer(self) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .integer(self) }
}

extension Int32: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .integer }
  @_spi(Generated) @inlinable public static var placeholder: Int32 { 0 }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Int32 {
    narrowed(row, column)
  }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.integer(Int64(self)) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .integer(Int64(self)) }
}

extension Int16: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .integer }
  @_spi(Generated) @inlinable public static var placeholder: Int16 { 0 }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Int16 {
    narrowed(row, column)
  }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.integer(Int64(self)) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .integer(Int64(self)) }
}

extension Double: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .real }
  @_spi(Generated) @inlinable public static var placeholder: Double { 0 }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Double { row.real(column) }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.real(self) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .real(self) }
}

extension Float: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .real }
  @_spi(Generated) @inlinable public static var placeholder: Float { 0 }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Float {
    let value = row.real(column)
    let narrow = Float(value)
    if narrow.isInfinite && value.isFinite { row.report(column, "the stored number does not fit Float") }
    return narrow
  }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.real(Double(self)) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .real(Double(self)) }
}

/// Reads an integer of a type narrower than the stored one.
@inlinable func narrowed<Value: FixedWidthInteger>(_ row: RowReader, _ column: Int) -> Value {
  let value = row.integer(column)
  if let narrow = Value(exactly: value) { return narrow }
  row.report(column, "the stored number does not fit \(Value.self)")
  return 0
}

// MARK: - Texts

extension String: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .text }
  @_spi(Generated) @inlinable public static var placeholder: String { "" }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> String { row.text(column) }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.text(self) }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .text(self) }
  @_spi(Generated) @inlinable public func isSameStored(as other: String) -> Bool { TextBytes.areEqual(self, other) }
}

// MARK: - Foundation types

extension Date: SortableAttributeValue {}
extension Decimal: SortableAttributeValue {}
extension URL: SortableAttributeValue {}
extension UUID: SortableAttributeValue {}

extension UUID: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .blob }
  @_spi(Generated) @inlinable public static var placeholder: UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  }

  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> UUID {
    let bytes = row.bytes(column)
    guard bytes.count == 16 else {
      row.report(column, "a UUID has 16 bytes")
      return placeholder
    }
    // A UUID is its 16 bytes in order and nothing else, so they are copied at once instead of one by one.
    return bytes.loadUnaligned(as: UUID.self)
  }

  @_spi(Generated) @inlinable public func write(to row: RowWriter) { withUnsafeBytes(of: self) { row.blob($0) } }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { withUnsafeBytes(of: uuid) { .blob([UInt8]($0)) } }
}

extension Data: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .blob }
  @_spi(Generated) @inlinable public static var placeholder: Data { Data() }
  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Data {
    Data(row.bytes(column))
  }
  @_spi(Generated) @inlinable public func write(to row: RowWriter) { withUnsafeBytes { row.blob($0) } }
  @_spi(Generated) @inlinable public var storedValue: StoredValue { .blob([UInt8](self)) }
}

extension URL: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .text }
  /// `about:blank`.
  @_spi(Generated) public static let placeholder = URL(string: "about:blank") ?? URL(fileURLWithPath: "/")

  @_spi(Generated) public static func read(_ row: RowReader, _ column: Int) -> URL {
    if let url = URL(string: row.text(column)) { return url }
    row.report(column, "the stored text is no URL")
    return placeholder
  }

  @_spi(Generated) public func write(to row: RowWriter) { row.text(absoluteString) }
  @_spi(Generated) public var storedValue: StoredValue { .text(absoluteString) }
  @_spi(Generated) public func isSameStored(as other: URL) -> Bool {
    absoluteString.isSameStored(as: other.absoluteString)
  }
}

extension Date: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .integer }
  /// The start of 1970 in UTC.
  @_spi(Generated) @inlinable public static var placeholder: Date { Date(timeIntervalSinceReferenceDate: -978_307_200) }

  @_spi(Generated) @inlinable public static func read(_ row: RowReader, _ column: Int) -> Date {
    let micros = row.integer(column)
    if micros.magnitude > mostMicroseconds { row.report(column, "the date lies beyond what can be kept") }
    return Date(storedMicroseconds: micros)
  }

  @_spi(Generated) @inlinable public func write(to row: RowWriter) { row.integer(storedMicroseconds) }
  /// The stored form; NaN for a date that cannot be stored.
  @_spi(Generated) @inlinable public var storedValue: StoredValue {
    let micros = storedMicroseconds
    return micros == .min ? .real(.nan) : .integer(micros)
  }
  @_spi(Generated) @inlinable public func isSameStored(as other: Date) -> Bool {
    storedMicroseconds == other.storedMicroseconds
  }

  /// The greatest distance of a date from 1970 that can be stored: some 292,000 years.
  @usableFromInline static var mostMicroseconds: UInt64 { 9_222_000_000_000_000_000 }

  /// Microseconds since 1970-01-01T00:00:00Z, rounded. `Int64.min` stands for a date that cannot be stored and that a
  /// save refuses: NaN, infinity, or a date more than 292,000 years from 1970.
  @_spi(Generated) @inlinable public var storedMicroseconds: Int64 {
    let micros = (timeIntervalSinceReferenceDate * 1_000_000).rounded()
    // This is also false for NaN.
    guard micros.magnitude < 9.2229e18 else { return .min }
    let sinceBeginning = Int64(micros) + 978_307_200_000_000
    return sinceBeginning.magnitude > Self.mostMicroseconds ? .min : sinceBeginning
  }

  /// Creates a date from its stored number of microseconds.
  @_spi(Generated) @inlinable public init(storedMicroseconds micros: Int64) {
    let sinceReference = micros.subtractingReportingOverflow(978_307_200_000_000)
    let bounded = sinceReference.overflow ? Int64.min : sinceReference.partialValue
    self.init(timeIntervalSinceReferenceDate: Double(bounded) / 1_000_000)
  }

  /// The date as a store returns it: rounded to whole microseconds.
  @_spi(Generated) @inlinable public var roundedToMicroseconds: Date {
    let micros = storedMicroseconds
    // A date that cannot be stored stays unchanged, so that the save can refuse it.
    return micros == .min ? self : Date(storedMicroseconds: micros)
  }
}

// MARK: - Decimal value

extension Decimal: AttributeValue {
  @_spi(Generated) @inlinable public static var valueKind: ValueKind { .decimal }
  @_spi(Generated) @inlinable public static var placeholder: Decimal { 0 }

  @_spi(Generated) public static func read(_ row: RowReader, _ column: Int) -> Decimal {
    let text = row.text(column)
    // Foundation stops at the first unknown character, and rounds a number with too many digits.
    if isPlain(text), let value = Decimal(string: text, locale: nil),
      text.utf8.count <= 38 || value.canonicalText == text
    {
      return value
    }
    row.report(column, "the stored text is no decimal number")
    return 0
  }

  /// Whether a text consists of digits, with at most a leading sign and a point between digits.
  private static func isPlain(_ text: String) -> Bool {
    var digits = 0
    var hasPoint = false
    for (index, byte) in text.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
      case UInt8(ascii: "-") where index == 0: break
      case UInt8(ascii: ".") where !hasPoint && digits > 0: hasPoint = true
      default: return false
      }
    }
    return digits > 0
  }

  @_spi(Generated) public func write(to row: RowWriter) { row.text(canonicalText) }
  @_spi(Generated) public var storedValue: StoredValue { .text(canonicalText) }

  /// The number in plain digits, with a point if needed: no exponent, no redundant zeros, `0` without a sign.
  ///
  /// Equal numbers have equal texts, so a store needs no arithmetic for uniqueness and equality.
  @_spi(Generated) public var canonicalText: String {
    // Foundation already prints the shortest plain form. NaN stays recognizable and is refused on save.
    isZero ? "0" : description
  }
}
