import TrellisModel
@_spi(Generated) import TrellisRuntime
import TrellisStorage

/// The objects that an import has removed from the objects that own them, by key.
///
/// Another record may give such an object to another owner, before or after. So whether the object is deleted is known at
/// the end of the import only. Until then the object stays in the store.
final class LostObjects {
  private struct Loss {
    /// The relationship to the owner that was lost.
    let relationship: Relationship
    /// The owner that the object stays with until the end, because it requires one; 0 for none.
    var keeper: Int64 = 0
  }

  private let map: JSONMap
  /// At most one for each relationship.
  private var losses: [Int64: [Loss]] = [:]

  init(_ map: JSONMap) { self.map = map }

  var isEmpty: Bool { losses.isEmpty }

  /// Notes that an object was removed from a relationship that owns it.
  func note(_ object: ManagedObject, from relationship: Relationship) {
    forget(object._key, in: relationship)
    losses[object._key, default: []].append(Loss(relationship: relationship))
  }

  /// Notes that a lost object stays with an owner until the end.
  func keep(_ object: ManagedObject, in relationship: Relationship, with owner: ManagedObject) {
    guard let place = losses[object._key]?.firstIndex(where: { $0.relationship === relationship }) else { return }
    losses[object._key]?[place].keeper = owner._key
  }

  /// Whether a lost object stays with an owner until the end.
  func isKept(_ key: Int64) -> Bool { losses[key]?.contains { $0.keeper != 0 } ?? false }

  /// Forgets that an object was removed from a relationship, which has it again.
  func forget(_ key: Int64, in relationship: Relationship) {
    guard var left = losses[key] else { return }
    left.removeAll { $0.relationship === relationship }
    losses[key] = left.isEmpty ? nil : left
  }

  /// Deletes some of the objects that nothing owns, and forgets these and all others that were looked at.
  ///
  /// - Parameter count: So many objects are looked at.
  /// - Returns: the deleted objects.
  func delete(_ count: Int, in context: ManagedObjectContext) throws -> [ManagedObject] {
    let keys = losses.count <= count ? losses.keys.sorted() : Array(losses.keys.prefix(count))
    let groups = Dictionary(grouping: keys) { losses[$0]?.first?.relationship.destination ?? 0 }
    var deleted: [ManagedObject] = []
    for (entity, keys) in groups.sortedByKey {
      let objects = try context.objects(keys, entity: entity)
      for key in keys {
        guard let object = objects[key], !object.isDeleted,
          try (losses[key] ?? []).contains(where: {
            try object.isOrphan(of: $0.relationship, keptBy: $0.keeper, in: context, map)
          })
        else { continue }
        try context.delete(object)
        deleted.append(object)
      }
    }
    for key in keys { losses[key] = nil }
    return deleted
  }
}

extension ManagedObject {
  /// Whether an object that was removed from a relationship has no owner: neither in this relationship nor in another one
  /// whose partner takes the object along when it is deleted, or is required. An object that lacks an owner that it
  /// requires has none, and a partner in the key of the mapping identifies the object and does not own it.
  ///
  /// - Parameter keeper: The key of an owner that counts as none; 0 for none.
  final func isOrphan(
    of relationship: Relationship, keptBy keeper: Int64 = 0, in context: ManagedObjectContext, _ map: JSONMap
  ) throws -> Bool {
    let model = context.model
    let inverse = model.inverse(of: relationship)
    if let inverse, inverse.isRequired {
      let owner = try inverse.isColumn ? presentKey(inverse.index) : partner(of: inverse.index)?._key ?? 0
      if owner == keeper || owner == 0 { return true }
    }
    let entity = type(of: self)._entity
    let key = map.entities[entity]?.key?.properties ?? []
    for case let other? in model.entities[entity].properties.map(\.relationship) {
      let leadsToOwner = other.isRequired || model.inverse(of: other)?.deleteRule == .cascade
      let isOwner = other === inverse || leadsToOwner && !other.isTransient && !key.contains(other.index)
      if try isOwner && !isEmpty(other) { return false }
    }
    return try !map.oneWayOwners.contains { other in
      try model.isEntity(entity, within: other.destination) && context.count(of: other.owners(of: _key)) > 0
    }
  }

  /// Whether a relationship has no partner.
  final func isEmpty(_ relationship: Relationship) throws -> Bool {
    if relationship.isToMany { return try keysOfMembers(of: relationship.index).isEmpty }
    if relationship.isColumn { return presentKey(relationship.index) == 0 }
    return try partner(of: relationship.index) == nil
  }

  /// The key of the partner in the object's own row.
  final func presentKey(_ property: Int) -> Int64 {
    _willRead(property)
    return _reference(property)
  }
}

extension Relationship {
  /// A request for the objects that have an object in this relationship, which has no inverse.
  fileprivate func owners(of key: Int64) -> StoreRequest {
    let path = PropertyPath(variable: 0).appending(index)
    let isWanted = { QueryPredicate.isIn(.path($0), [.integer(key)], .integer) }
    return StoreRequest(
      entity: entity,
      predicate: isToMany
        ? .quantified(.any, path, variable: 1, isWanted(PropertyPath(variable: 1))) : isWanted(path))
  }
}
