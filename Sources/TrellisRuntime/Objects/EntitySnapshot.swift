public import TrellisStorage

/// The stored values of one object as a value: it may go to other tasks, be compared, encoded and kept.
///
/// Encoded, it is an object with a key for each stored property, and `objectID`; what is nil is left out.
public protocol EntitySnapshot: Codable, Hashable, Sendable {
  associatedtype Object: ManagedObject
  /// Whose values these are.
  var objectID: ObjectID<Object> { get }
  @_spi(Generated) init(_ row: borrowing RowReader)
}

extension EntitySnapshot {
  /// Hashes the identity alone: equal snapshots have the same, and there are seldom many of one object in a set.
  public func hash(into hasher: inout Hasher) { hasher.combine(objectID) }
}

/// Encodes the values of a snapshot by name. The first failure is kept, and thrown at the end.
@_spi(Generated) public final class SnapshotEncoder {
  private var values: KeyedEncodingContainer<PropertyKey>
  private var failure: (any Error)?

  public init(_ encoder: any Encoder) { values = encoder.container(keyedBy: PropertyKey.self) }

  public func put<Value: Encodable>(_ value: Value, _ name: String) {
    keepFailure { try values.encode(value, forKey: PropertyKey(name)) }
  }

  public func putIfPresent<Value: Encodable>(_ value: Value?, _ name: String) {
    keepFailure { try values.encodeIfPresent(value, forKey: PropertyKey(name)) }
  }

  public func finish() throws {
    if let failure { throw failure }
  }

  private func keepFailure(_ body: () throws -> Void) {
    do { try body() } catch { failure = failure ?? error }
  }
}

/// Decodes the values of a snapshot by name. What fails is a placeholder until the first failure is thrown at the end.
@_spi(Generated) public final class SnapshotDecoder {
  private let values: KeyedDecodingContainer<PropertyKey>
  private var failure: (any Error)?

  public init(_ decoder: any Decoder) throws { values = try decoder.container(keyedBy: PropertyKey.self) }

  public func value<Value: AttributeValue & Decodable>(_ name: String) -> Value {
    keepFailure { try values.decode(Value.self, forKey: PropertyKey(name)) } ?? .placeholder
  }

  public func valueIfPresent<Value: Decodable>(_ name: String) -> Value? {
    keepFailure { try values.decodeIfPresent(Value.self, forKey: PropertyKey(name)) } ?? nil
  }

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
