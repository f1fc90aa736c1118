/// The identity of an object whose class is not known beforehand, as messages and lists of objects of several entities need it.
///
/// ```swift
/// for failure in error.failures { show(failure.message, beside: try context.object(with: failure.object)) }
/// ```
public struct AnyObjectID: Hashable, Sendable, CustomStringConvertible {
  /// The name of the object's entity, as the model declares it.
  public let entity: String
  /// The number under which stores keep the object.
  public let key: Int64

  init(_ object: ManagedObject, _ info: EntityInfo) {
    entity = info.name
    key = object._key
  }

  init(entity: String, key: Int64) {
    self.entity = entity
    self.key = key
  }

  /// The entity and the number: `Team#7`.
  public var description: String { "\(entity)#\(key)" }
}

extension ManagedObjectContext {
  /// The object of an identity, from memory or from the store; nil when there is none, or it is deleted.
  ///
  /// - Throws: ``StoreError`` when the store fails.
  public func object(with id: AnyObjectID) throws -> ManagedObject? {
    if let known = map[id.key] { return known.phase == .deleted ? nil : known }
    guard let info = runtime.entities.first(where: { $0.name == id.entity }) else { return nil }
    return try loadObjects([id.key], entity: info.number).first { $0.phase != .deleted }
  }
}
