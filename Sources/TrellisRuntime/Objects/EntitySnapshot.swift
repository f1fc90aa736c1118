public import TrellisModel
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

// MARK: - Row copy

/// The values of an object, or the part of them that one class of a hierarchy declares.
public protocol StoredFields {
  /// The value of a property by its number; nil if it belongs to another part.
  @_spi(Generated) func _value(_ property: Int) -> StoredValue?
}

extension StoredFields {
  /// The default implementation, for transient values, which are not part of a row.
  @_spi(Generated) public func _value(_ property: Int) -> StoredValue? { nil }
}

/// A copy of an object's row, kept from the first change until the next save or rollback.
@_spi(Generated) open class RowCopyBase {
  /// The part that the parent entity's class declares.
  public final let parent: RowCopyBase?

  init(parent: RowCopyBase?) { self.parent = parent }

  /// The part that a class of the hierarchy declares, in this copy or a parent.
  public final func part<Row: StoredFields>(_ type: Row.Type) -> Row? {
    var copy: RowCopyBase? = self
    while let current = copy {
      if let found = current as? RowCopy<Row> { return found.row }
      copy = current.parent
    }
    return nil
  }

  /// The value of a stored property by its number.
  func value(_ property: Int) -> StoredValue { .null }
}

/// The part of a copied row that one class declares.
@_spi(Generated) public final class RowCopy<Row: StoredFields>: RowCopyBase {
  /// The copied values.
  public let row: Row

  /// Creates a copy of the values, with the part of the parent entity's class.
  public init(_ row: Row, parent: RowCopyBase? = nil) {
    self.row = row
    super.init(parent: parent)
  }

  override func value(_ property: Int) -> StoredValue {
    row._value(property) ?? parent?.value(property) ?? .null
  }
}
