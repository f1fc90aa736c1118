public import TrellisQuery
public import TrellisSchema
public import TrellisStorage

/// The identifier of an object: permanent from its creation, never changed, never reused.
///
/// It is a small value that can be passed to other contexts and tasks, and kept for later runs of the program. It
/// belongs to one store but does not include it: in another store, the same key identifies another object or none. A
/// program with several stores therefore has to keep the store together with the identifier. A copy of a store, such as
/// a backup, has the same identifiers.
///
/// ```swift
/// let id = diary.objectID
/// let names = try await container.perform { context in
///   try context.object(with: id)?.tags.map(\.name)
/// }
/// ```
public struct ObjectID<Object: ManagedObject>: Hashable, Sendable {
  /// The object's key, which is the primary key of its row.
  public let key: Int64

  @_spi(Generated) @inlinable public init(_ key: Int64) { self.key = key }

  /// Returns nil for 0, which is not a valid key.
  @_spi(Generated) @inlinable public init?(optional key: Int64) {
    if key == 0 { return nil }
    self.key = key
  }

  /// The identifier of a snapshot before its object has one.
  @_spi(Generated) @inlinable public static var unassigned: ObjectID { ObjectID(0) }
}

extension ObjectID: Codable {
  public init(from decoder: any Decoder) throws {
    key = try decoder.singleValueContainer().decode(Int64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(key)
  }
}

extension ObjectID: AttributeValue {
  @inlinable public static var valueKind: ValueKind { .integer }
  public static var placeholder: ObjectID { ObjectID(0) }
  public static func read(_ row: RowReader, _ column: Int) -> ObjectID { ObjectID(row.integer(column)) }
  @inlinable public func write(to row: RowWriter) { row.integer(key) }
  @inlinable public var storedValue: StoredValue { .integer(key) }
}

extension ObjectID: CustomStringConvertible {
  public var description: String { "\(Object.self)#\(key)" }
}
