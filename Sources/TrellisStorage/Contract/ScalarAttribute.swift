public import Foundation
public import TrellisModel

/// A type of the app that attributes can use in place of the type in which their values are stored.
///
/// The model lists it in `scalars` with its stored form, `"scalars": { "ISBN": "string" }`. The type has the same access
/// level as the classes that use it, and belongs to the same module. A type with a raw value of the stored form needs
/// only the placeholder:
/// ```swift
/// public struct DiaryID: ScalarAttribute, RawRepresentable {
///   public let rawValue: UUID
///   public static let placeholder = DiaryID(rawValue: UUID())
///
///   public init(rawValue: UUID) { self.rawValue = rawValue }
/// }
/// ```
/// A type that does not accept every stored value returns nil in ``init(stored:)``. Such a value stays in the store, and
/// the object that has it is reported as damaged.
public protocol ScalarAttribute: StoredAttributeForm, SortableAttributeValue, Codable where ComparedForm == StoredForm {
  /// The type of the stored values, as the model names it.
  associatedtype StoredForm: SortableAttributeValue & Codable
  /// The value that an attribute of this type reads as while the object's row is not loaded.
  static var placeholder: Self { get }
  /// The value with a stored form; nil if the type has no such value.
  init?(stored: StoredForm)
  /// The value in its stored form. ``init(stored:)`` accepts it.
  var stored: StoredForm { get }
}

/// A type of values that have a stored form of another type: a ``ScalarAttribute``, optional or not.
public protocol StoredAttributeForm: AttributeValue {
  /// The type of the stored values, optional or not.
  associatedtype ComparedForm: AttributeValue
}

extension Optional: StoredAttributeForm where Wrapped: ScalarAttribute {
  public typealias ComparedForm = Wrapped.StoredForm?
}

extension ScalarAttribute where Self: RawRepresentable, RawValue: SortableAttributeValue & Codable {
  /// The value with a raw value; nil if the type has no such value.
  public init?(stored: RawValue) { self.init(rawValue: stored) }
  /// The raw value.
  public var stored: RawValue { rawValue }
}

// These are no SPI, because a conforming type of the app, whose file does not import the SPI, gets them as its own.
extension ScalarAttribute {
  /// The kind of the stored form.
  public static var valueKind: ValueKind { StoredForm.valueKind }

  /// Reads a column. If the type has no such value, reports that to the row and returns the placeholder.
  public static func read(_ row: RowReader, _ column: Int) -> Self {
    if let value = Self(stored: StoredForm.read(row, column)) { return value }
    if row.problem == nil {
      row.report(
        column, "the stored value is no \(Self.self)", remedy: "Let init(stored:) accept it, or repair the row.")
    }
    return placeholder
  }

  /// Writes the stored form.
  public func write(to row: RowWriter) { stored.write(to: row) }
  /// The value in its stored form.
  public var storedValue: StoredValue { stored.storedValue }
  /// Whether both values have the same stored form.
  public func isSameStored(as other: Self) -> Bool { stored.isSameStored(as: other.stored) }
  /// The stored form as an argument of a format string.
  public var formatArgument: FormatArgument { stored.formatArgument }

  /// Decodes the stored form.
  ///
  /// - Throws: `DecodingError` if it is no value of the type.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }

  fileprivate static func decoded(_ decoder: any Decoder) throws -> Self {
    let form = try StoredForm(from: decoder)
    guard let value = Self(stored: form) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(form) is no \(Self.self)"))
    }
    return value
  }

  /// Encodes the stored form.
  ///
  /// - Throws: The first error of the encoder.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }

  /// The value with a stored form that the model has as a default; the placeholder if the type has no such value.
  @_spi(Generated) public static func _made(_ stored: StoredForm) -> Self { Self(stored: stored) ?? placeholder }
}

extension ScalarAttribute where StoredForm == Date {
  /// The value as it is after a round trip through a store.
  @_spi(Generated) public var _rounded: Self { Self(stored: stored.roundedToMicroseconds) ?? self }
}

// The standard library codes types with these raw values, and neither way would be preferred.

extension ScalarAttribute where Self: RawRepresentable, RawValue == String, StoredForm == String {
  /// Decodes the stored form.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }
  /// Encodes the stored form.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}

extension ScalarAttribute where Self: RawRepresentable, RawValue == Bool, StoredForm == Bool {
  /// Decodes the stored form.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }
  /// Encodes the stored form.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}

extension ScalarAttribute where Self: RawRepresentable, RawValue == Int16, StoredForm == Int16 {
  /// Decodes the stored form.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }
  /// Encodes the stored form.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}

extension ScalarAttribute where Self: RawRepresentable, RawValue == Int32, StoredForm == Int32 {
  /// Decodes the stored form.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }
  /// Encodes the stored form.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}

extension ScalarAttribute where Self: RawRepresentable, RawValue == Int64, StoredForm == Int64 {
  /// Decodes the stored form.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }
  /// Encodes the stored form.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}

extension ScalarAttribute where Self: RawRepresentable, RawValue == Float, StoredForm == Float {
  /// Decodes the stored form.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }
  /// Encodes the stored form.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}

extension ScalarAttribute where Self: RawRepresentable, RawValue == Double, StoredForm == Double {
  /// Decodes the stored form.
  public init(from decoder: any Decoder) throws { self = try Self.decoded(decoder) }
  /// Encodes the stored form.
  public func encode(to encoder: any Encoder) throws { try stored.encode(to: encoder) }
}
