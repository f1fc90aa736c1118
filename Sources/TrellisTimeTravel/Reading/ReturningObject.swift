package import TrellisModel
@_spi(Generated) package import TrellisRuntime

/// A deleted object that comes back with its key and the values that it had. Its partners are set afterwards.
struct ReturningObject {
  private let key: Int64
  private let entity: Entity
  private let values: [StoredValue]

  /// - Parameter former: The object as a context of the past shows it.
  init(_ former: ManagedObject, _ view: MomentView) throws {
    key = former._key
    entity = view.entity(of: former)
    values = try entity.properties.map { property in
      guard let attribute = property.attribute, attribute.description.derivation == nil else { return .null }
      return attribute.isStored ? try view.value(of: attribute, former) : attribute.initialValue ?? .null
    }
  }

  /// - Parameter deleted: The objects whose delete is not saved yet, by key.
  /// - Throws: ``RefusedValue``; ``StoreError``.
  func insert(
    into context: ManagedObjectContext, _ writer: ObjectWriter, _ deleted: [Int64: ManagedObject]
  ) throws -> ManagedObject {
    guard let object = deleted[key] else {
      let version = try writer.lastVersion(of: entity.index, key: key)
      return try writer.reinsert(entity.index, key: key, values, after: version)
    }
    if object.isDeleted { context.undelete(object) }
    try context.throwPendingFailure()
    let stored = entity.properties.compactMap(\.attribute).filter(\.isStored)
    _ = try writer.set(stored.map { ($0.index, values[$0.index]) }, of: object)
    return object
  }
}

extension ManagedObjectContext {
  /// The objects whose delete is not saved yet, by key.
  var deletedByKey: [Int64: ManagedObject] {
    Dictionary(deletedObjects.map { ($0._key, $0) }) { first, _ in first }
  }
}

extension ManagedObject {
  /// Puts the members of an ordered relationship into an order.
  package func arrange(_ relationship: Relationship, _ keys: [Int64], in view: MomentView) throws {
    guard try view.partners(of: self, relationship) != keys else { return }
    try view.load(Dictionary(keys.map { ($0, relationship.destination) }) { first, _ in first })
    try replaceMembers(
      of: relationship.index, with: keys.compactMap { try view.object($0, of: relationship.destination) })
  }
}
