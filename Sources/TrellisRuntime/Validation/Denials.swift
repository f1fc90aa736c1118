import TrellisQuery
import TrellisSchema
import TrellisStorage

/// Finds the deletes that the model denies.
struct Denials {
  let context: ManagedObjectContext
  private(set) var failures: [ValidationFailure] = []

  init(_ context: ManagedObjectContext) { self.context = context }

  mutating func check(_ deleted: [ManagedObject]) throws {
    for object in deleted { try checkPartners(of: object) }
    try checkRequiredReferences(to: deleted)
  }

  /// A deleted object must have no partner left where its model denies the delete.
  private mutating func checkPartners(of object: ManagedObject) throws {
    for relationship in context.info(of: object).allRelationships where relationship.deleteRule == .deny {
      let count = try blocking(object, relationship)
      try context.throwPendingFailure()
      guard count > 0 else { continue }
      fail(object, relationship.name, "it cannot be deleted while it has \(count) of these")
    }
  }

  /// How many living objects a deleted one still has as partners.
  private func blocking(_ object: ManagedObject, _ relationship: RelationshipInfo) throws -> Int {
    let keys = try context.partners(of: object, relationship)
    let unknown = keys.filter { context.map[$0] == nil }
    if !unknown.isEmpty { try context.loadObjects(unknown, entity: relationship.destination) }
    let inverse = context.runtime.inverse(of: relationship)
    return keys.count { key in
      guard let partner = context.map[key], partner.phase != .deleted else { return false }
      // A partner that was given another partner meanwhile does not block.
      guard let inverse, !inverse.isToMany else { return true }
      return context.partnerKey(of: partner, inverse) == object._key
    }
  }

  /// A required one-way reference denies the delete of the object that it leads to.
  private mutating func checkRequiredReferences(to deleted: [ManagedObject]) throws {
    var targets: [RelationshipNumber: (relationship: RelationshipInfo, objects: [Int64: ManagedObject])] = [:]
    for object in deleted {
      for reference in context.info(of: object).oneWayReferences where reference.relationship.isRequired {
        let number = context.number(of: reference.relationship)
        targets[number, default: (reference.relationship, [:])].objects[object._key] = object
      }
    }
    for (_, (relationship, objects)) in targets.sorted(by: {
      ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property)
    }) {
      try checkHolders(of: relationship, objects)
    }
  }

  private mutating func checkHolders(of relationship: RelationshipInfo, _ targets: [Int64: ManagedObject]) throws {
    let values = targets.keys.sorted().map { StoredValue.integer($0) }
    let request = StoreRequest(
      entity: relationship.entity,
      predicate: .isIn(.path(PropertyPath(variable: 0).appending(relationship.property)), values, .integer))
    var holders: [Int64: ManagedObject] = [:]
    for holder in try context.stored(request) + context.inserted + context.changed where holder.phase != .deleted {
      guard holder.phase != .detached,
        context.relationship(relationship.property, of: holder)?.isSame(as: relationship) == true
      else { continue }
      holders[holder._key] = holder
    }
    var counts: [Int64: Int] = [:]
    for holder in holders.values { counts[context.knownReference(of: holder, relationship), default: 0] += 1 }
    for (key, target) in targets.sorted(by: { $0.key < $1.key }) {
      guard let count = counts[key] else { continue }
      fail(
        target, "\(relationship.entityName).\(relationship.name)",
        "it cannot be deleted while \(count) of these lead to it")
    }
  }

  private mutating func fail(_ object: ManagedObject, _ property: String, _ message: String) {
    failures.append(
      ValidationFailure(
        entity: context.info(of: object).name, key: object._key, property: property, rule: .deniedDelete,
        message: message))
  }
}

extension ManagedObjectContext {
  /// The keys of an object's partners, loaded if need be.
  fileprivate func partners(of object: ManagedObject, _ relationship: RelationshipInfo) throws -> [Int64] {
    if relationship.isToMany {
      let keys = loadedList(of: object, relationship).keys
      try throwPendingFailure()
      return Array(keys)
    }
    let key = partnerKey(of: object, relationship)
    try throwPendingFailure()
    return key > 0 ? [key] : []
  }
}
