/// The identity of an object whose class is not known beforehand, as messages and lists of objects of several entities need it.
///
/// ```swift
/// for failure in error.failures { show(failure.message, beside: try context.object(with: failure.object)) }
/// ```
/// It knows the model that its entity is of, so two entities of one name are told apart. As an ``ObjectID``, it does not know
/// its store.
public struct AnyObjectID: Hashable, Sendable, CustomStringConvertible {
  /// The name of the object's entity, as the model declares it.
  public let entity: String
  /// The number under which stores keep the object.
  public let key: Int64
  /// The entity's class, which no other entity of any model has.
  let type: ManagedObject.Type

  init(_ object: ManagedObject, _ info: EntityInfo) { self.init(object._key, info) }

  init(_ key: Int64, _ info: EntityInfo) {
    entity = info.name
    type = info.type
    self.key = key
  }

  /// What a test says of an object that there is not.
  package init(entity: String, key: Int64, type: ManagedObject.Type) {
    self.entity = entity
    self.type = type
    self.key = key
  }

  /// The identity of an object, whatever its class.
  public init(_ object: ManagedObject) {
    type = Swift.type(of: object)
    let entities = type._model?.description.entities ?? []
    entity = entities.indices.contains(type._entity) ? entities[type._entity].name : "\(type)"
    key = object._key
  }

  /// The entity and the number: `Team#7`.
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
  /// The object of an identity, from memory or from the store; nil when there is none, or it is deleted.
  ///
  /// - Throws: ``StoreError`` when the store fails; ``ContextError`` with the code `foreign-model` when the identity is of
  ///   another model.
  public func object(with id: AnyObjectID) throws -> ManagedObject? {
    try runtime.check(id.type)
    if let known = map[id.key] { return known.phase == .deleted ? nil : known }
    return try loadObjects([id.key], entity: id.type._entity).first { $0.phase != .deleted }
  }
}
