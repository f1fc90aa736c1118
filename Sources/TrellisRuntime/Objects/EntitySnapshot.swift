public import TrellisStorage

/// The stored values of an object as a value, which can be sent to other tasks, compared, encoded and kept.
///
/// The encoded form is a keyed container with a key for each stored property and `objectID`. Nil values are omitted.
public protocol EntitySnapshot: Codable, Hashable, Sendable {
  /// The class of the object.
  associatedtype Object: ManagedObject
  /// The identifier of the object.
  var objectID: ObjectID<Object> { get }
  @_spi(Generated) init(_ row: borrowing RowReader)
}

extension EntitySnapshot {
  /// Hashes only the identifier: equal snapshots have the same one, and a set seldom contains many snapshots of one
  /// object.
  public func hash(into hasher: inout Hasher) { hasher.combine(objectID) }
}

/// Encodes the values of a snapshot by name. The first error is kept and thrown at the end.
@_spi(Generated) public final class SnapshotEncoder {
  private var values: KeyedEncodingContainer<PropertyKey>
  private var failure: (any Error)?

  /// Creates an encoder for one snapshot.
  public init(_ encoder: any Encoder) { values = encoder.container(keyedBy: PropertyKey.self) }

  /// Encodes a value.
  public func put<Value: Encodable>(_ value: Value, _ name: String) {
    keepFailure { try values.encode(value, forKey: PropertyKey(name)) }
  }

  /// Encodes a value, or nothing if it is nil.
  public func putIfPresent<Value: Encodable>(_ value: Value?, _ name: String) {
    keepFailure { try values.encodeIfPresent(value, forKey: PropertyKey(name)) }
  }

  /// Throws the first error, if there was one.
  public func finish() throws {
    if let failure { throw failure }
  }

  private func keepFailure(_ body: () throws -> Void) {
    do { try body() } catch { failure = failure ?? error }
  }
}

/// Decodes the values of a snapshot by name. A value that cannot be decoded becomes a placeholder; the first error is
/// kept and thrown at the end.
@_spi(Generated) public final class SnapshotDecoder {
  private let values: KeyedDecodingContainer<PropertyKey>
  private var failure: (any Error)?

  /// Creates a decoder for one snapshot.
  public init(_ decoder: any Decoder) throws { values = try decoder.container(keyedBy: PropertyKey.self) }

  /// Decodes a value.
  public func value<Value: AttributeValue & Decodable>(_ name: String) -> Value {
    keepFailure { try values.decode(Value.self, forKey: PropertyKey(name)) } ?? .placeholder
  }

  /// Decodes a value, or nil if it is missing.
  public func valueIfPresent<Value: Decodable>(_ name: String) -> Value? {
    keepFailure { try values.decodeIfPresent(Value.self, forKey: PropertyKey(name)) } ?? nil
  }

  /// Throws the first error, if there was one.
  public func finish() throws {
    if let failure { throw failure }
  }

  private func keepFailure<Value>(_ body: () throws -> Value) -> Value? {
    do { return try body() } catch {
      failure = failure ?? error
      return nil
    }
  }
}

private struct PropertyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { return nil }
}
