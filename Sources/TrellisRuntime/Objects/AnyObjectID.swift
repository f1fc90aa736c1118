/// The identifier of an object with a class that is not known at compile time, for messages and for lists of objects of
/// several entities.
///
/// ```swift
/// for failure in error.failures { show(failure.message, beside: try context.object(with: failure.object)) }
/// ```
/// It includes the model of its entity, so entities with the same name in different models are distinguished. Like
/// ``ObjectID``, it does not include its store.
public struct AnyObjectID: Hashable, Sendable, CustomStringConvertible {
  /// The name of the object's entity in the model.
  public let entity: String
  /// The object's key, which is the primary key of its row.
  public let key: Int64
  /// The entity's class, which is unique among all entities of all models.
  let type: ManagedObject.Type

  init(_ object: ManagedObject, _ info: EntityInfo) { self.init(object._key, info) }

  init(_ key: Int64, _ info: EntityInfo) {
    entity = info.name
    type = info.type
    self.key = key
  }

  /// Creates an identifier for an object that need not exist, for tests.
  package init(entity: String, key: Int64, type: ManagedObject.Type) {
    self.entity = entity
    self.type = type
    self.key = key
  }

  /// The identifier of an object of any class.
  public init(_ object: ManagedObject) {
    type = Swift.type(of: object)
    let entities = type._model?.description.entities ?? []
    entity = entities.indices.contains(type._entity) ? entities[type._entity].name : "\(type)"
    key = object._key
  }

  /// The entity and the key: `Team#7`.
  public var description: String { "\(entity)#\(key)" }

  public static func == (left: AnyObjectID, right: AnyObjectID) -> Bool {
    left.key == right.key && left.type == right.type
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(ObjectIdentifier(type))
  }
}

extension ManagedObjectContext {
  /// The object with an identifier, from memory or from the store; nil if there is none, or it is deleted.
  ///
  /// - Throws: ``StoreError`` if the store fails; ``ContextError`` with the code `foreign-model` if the identifier
  ///   belongs to another model.
  public func object(with id: AnyObjectID) throws -> ManagedObject? {
    try runtime.check(id.type)
    if let known = map[id.key] { return known.phase == .deleted ? nil : known }
    return try loadObjects([id.key], entity: id.type._entity).first { $0.phase != .deleted }
  }
}
