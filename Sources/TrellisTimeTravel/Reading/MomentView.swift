package import TrellisModel
@_spi(Generated) package import TrellisRuntime
import TrellisStorage

/// Objects of any entity as one context shows them: the store as it was, or the present with unsaved changes.
package final class MomentView {
  package let context: ManagedObjectContext
  /// A context keeps no object without a reference to it.
  private var kept: [Int64: ManagedObject] = [:]
  private var missing: Set<Int64> = []

  package init(_ context: ManagedObjectContext) { self.context = context }

  private var model: Model { context.model }

  /// Loads objects, so that later calls find them in memory.
  ///
  /// - Parameter entities: The entity of each key, or an ancestor.
  package func load(_ entities: [Int64: Int]) throws {
    let unknown = entities.filter { kept[$0.key] == nil && !missing.contains($0.key) }
    for (root, group) in Dictionary(grouping: unknown, by: { model.entities[$0.value].root }).sorted(by: {
      $0.key < $1.key
    }) {
      let found = try context.objects(group.map(\.key).sorted(), entity: root)
      kept.merge(found) { _, new in new }
      missing.formUnion(group.map(\.key).filter { found[$0] == nil })
    }
  }

  /// The object with a key; nil if there is none, or its delete is not saved yet.
  package func object(_ key: Int64, of entity: Int) throws -> ManagedObject? {
    if key <= 0 || missing.contains(key) { return nil }
    if kept[key] == nil { try load([key: entity]) }
    return kept[key].flatMap { $0.isDeleted || $0.managedObjectContext == nil ? nil : $0 }
  }

  /// Adds an object that has come back.
  package func add(_ object: ManagedObject) {
    kept[object._key] = object
    missing.remove(object._key)
  }

  /// Forgets which objects there are, after objects came or went.
  package func forget() { (kept, missing) = ([:], []) }

  // MARK: Properties

  package func entity(of object: ManagedObject) -> Entity { model.entities[type(of: object)._entity] }

  /// The value of a stored attribute.
  package func value(of attribute: Attribute, _ object: ManagedObject) throws -> StoredValue {
    object._willRead(attribute.index)
    try context.throwPendingFailure()
    return object._value(attribute.index)
  }

  /// The keys of the partners in a relationship, in their order. A reference to an object that is gone counts.
  package func partners(of object: ManagedObject, _ relationship: Relationship) throws -> [Int64] {
    if relationship.isToMany { return try object.keysOfMembers(of: relationship.index) }
    guard relationship.home.isColumn else { return try object.partner(of: relationship.index).map { [$0._key] } ?? [] }
    object._willRead(relationship.index)
    try context.throwPendingFailure()
    let key = object._reference(relationship.index)
    return key > 0 ? [key] : []
  }

  /// The keys of the objects that lead to an object by a relationship without an inverse.
  package func holders(of key: Int64, _ reference: Model.OneWayReference) throws -> Set<Int64> {
    let path = PropertyPath(variable: 0).appending(reference.property)
    let keys: [StoredValue] = [.integer(key)]
    let isToMany = model.entities[reference.entity].properties[reference.property].relationship?.isToMany == true
    let predicate: QueryPredicate =
      isToMany
      ? .quantified(.any, path, variable: 1, .isIn(.path(PropertyPath(variable: 1)), keys, .integer))
      : .isIn(.path(path), keys, .integer)
    let request = StoreRequest(
      entity: reference.entity, includesSubentities: true, predicate: predicate, sort: [], limit: nil, offset: 0)
    return Set(try context.keys(of: request))
  }
}

extension Model {
  /// The relationships without an inverse that may lead to objects of an entity.
  package func referencesWithoutInverse(to entity: Int) -> [OneWayReference] {
    oneWayReferences.filter { isEntity(entity, within: $0.destination) }
  }
}

extension Relationship {
  /// The number of the join table; nil if the relationship has none.
  package var joinTable: Int? { if case .joinTable(let number, _) = home { number } else { nil } }

  /// Whether a store keeps the relationship.
  package var isStored: Bool { home != .transient }
}

extension Attribute {
  /// Whether the value is one of the object's row that can be set.
  package var isStored: Bool { column != nil && description.derivation == nil }
}
