import TrellisModel
@_spi(Generated) public import TrellisStorage

/// The stored values of an object as a value, which can be sent to other tasks, compared, encoded and kept.
///
/// The encoded form is a keyed container with a key for each stored property and `objectID`. Nil values are omitted.
public protocol EntitySnapshot: Codable, Hashable, Sendable {
  /// The class of the object.
  associatedtype Object: ManagedObject
  /// The identifier of the object.
  var objectID: ObjectID<Object> { get }
  @_spi(Generated) init(_ row: borrowing RowReader)
  /// Passes each stored value to a visitor, together with the one of another snapshot.
  @_spi(Generated) mutating func _visit(with other: Self, _ visitor: SnapshotVisitor)
}

// These are the same for every entity. Generated code has one function for all of them, because the compiler needs several
// times as long for the functions that it would derive.

extension EntitySnapshot {
  /// Whether both would be stored alike: texts are compared by their bytes.
  public static func == (left: Self, right: Self) -> Bool {
    guard left.objectID == right.objectID else { return false }
    let comparison = SnapshotComparison()
    var left = left
    left._visit(with: right, comparison)
    return comparison.isSame
  }

  /// Hashes only the identifier: equal snapshots have the same one, and a set seldom contains many snapshots of one
  /// object.
  public func hash(into hasher: inout Hasher) { hasher.combine(objectID) }

  /// Encodes the identifier and the values that are not nil.
  ///
  /// - Throws: The first error of the encoder.
  public func encode(to encoder: any Encoder) throws {
    let encoding = SnapshotEncoding(encoder)
    var values = self
    values._visit(with: self, encoding)
    try encoding.finish()
  }

  /// Decodes a snapshot.
  ///
  /// - Throws: The first error of the decoder: a value is missing, or has another type.
  public init(from decoder: any Decoder) throws {
    let decoding = try SnapshotDecoding(decoder)
    // A row without values has a placeholder for each.
    self.init(RowReader())
    let placeholders = self
    _visit(with: placeholders, decoding)
    try decoding.finish()
  }
}

/// Receives the stored values of two snapshots of the same type, by name, with the identifier first.
@_spi(Generated) public class SnapshotVisitor {
  /// Receives a value, which it may replace.
  public func visit<Value: AttributeValue & Codable>(_ value: inout Value, _ other: Value, _ name: String) {}

  /// Receives a value that may be nil, which it may replace.
  public func visitOptional<Value: AttributeValue & Codable>(_ value: inout Value?, _ other: Value?, _ name: String) {}
}

/// Compares two snapshots by the stored form of their values.
private final class SnapshotComparison: SnapshotVisitor {
  private(set) var isSame = true

  override func visit<Value: AttributeValue & Codable>(_ value: inout Value, _ other: Value, _ name: String) {
    if isSame { isSame = value.isSameStored(as: other) }
  }

  override func visitOptional<Value: AttributeValue & Codable>(_ value: inout Value?, _ other: Value?, _ name: String) {
    if isSame { isSame = value.isSameStored(as: other) }
  }
}

/// Encodes the values of a snapshot by name. The first error is kept and thrown at the end.
private final class SnapshotEncoding: SnapshotVisitor {
  private var values: KeyedEncodingContainer<PropertyKey>
  private var failure: (any Error)?

  init(_ encoder: any Encoder) { values = encoder.container(keyedBy: PropertyKey.self) }

  override func visit<Value: AttributeValue & Codable>(_ value: inout Value, _ other: Value, _ name: String) {
    do { try values.encode(value, forKey: PropertyKey(name)) } catch { failure = failure ?? error }
  }

  override func visitOptional<Value: AttributeValue & Codable>(_ value: inout Value?, _ other: Value?, _ name: String) {
    do { try values.encodeIfPresent(value, forKey: PropertyKey(name)) } catch { failure = failure ?? error }
  }

  func finish() throws {
    if let failure { throw failure }
  }
}

/// Decodes the values of a snapshot by name. The first error is kept and thrown at the end.
private final class SnapshotDecoding: SnapshotVisitor {
  private let values: KeyedDecodingContainer<PropertyKey>
  private var failure: (any Error)?

  init(_ decoder: any Decoder) throws { values = try decoder.container(keyedBy: PropertyKey.self) }

  override func visit<Value: AttributeValue & Codable>(_ value: inout Value, _ other: Value, _ name: String) {
    do { value = try values.decode(Value.self, forKey: PropertyKey(name)) } catch { failure = failure ?? error }
  }

  override func visitOptional<Value: AttributeValue & Codable>(_ value: inout Value?, _ other: Value?, _ name: String) {
    do {
      value = try values.decodeIfPresent(Value.self, forKey: PropertyKey(name))
    } catch {
      failure = failure ?? error
    }
  }

  func finish() throws {
    if let failure { throw failure }
  }
}

private struct PropertyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { return nil }
}
