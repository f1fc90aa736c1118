public import TrellisQuery
public import TrellisSchema

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
