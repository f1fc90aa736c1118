public import TrellisQuery
public import TrellisSchema

/// An enum that the model declares. The generated code conforms to it.
public protocol ModelEnum: SortableAttributeValue, Codable {
  associatedtype RawValue: AttributeValue & Codable
  /// The value as it is stored.
  var rawValue: RawValue { get }
  /// The case of a stored raw value; what an unknown one becomes is the model's `unknown` policy, nil under `reject`.
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

/// The raw value of a case that the model does not know: only the runtime makes one, from what a store holds.
public struct UnknownRawValue<RawValue: AttributeValue>: Hashable, Sendable {
  public let rawValue: RawValue

  @_spi(Generated) @inlinable public init(_ rawValue: RawValue) { self.rawValue = rawValue }
}
