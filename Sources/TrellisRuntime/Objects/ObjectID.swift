public import TrellisQuery
public import TrellisSchema
public import TrellisStorage

/// The identity of one object: permanent from birth, never changed, never used again.
///
/// It is a small value that may go anywhere: to another context, another task, another run of the program. It belongs to one
/// store, of which it holds no sign: in another store the same number is another object, or none. So a program with several
/// stores has to keep with an identity which of them it is for. A copy of a store, such as a backup, has the same identities.
///
/// ```swift
/// let id = diary.objectID
/// let names = try await container.perform { context in
///   try context.object(with: id)?.tags.map(\.name)
/// }
/// ```
public struct ObjectID<Object: ManagedObject>: Hashable, Sendable {
  /// The number under which stores keep the object.
  public let key: Int64

  @_spi(Generated) @inlinable public init(_ key: Int64) { self.key = key }

  /// Nil for 0, which no object has.
  @_spi(Generated) @inlinable public init?(optional key: Int64) {
    if key == 0 { return nil }
    self.key = key
  }

  /// What a snapshot holds before its object has an identity.
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
