import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// One-way relationships let go of victims. The store clears the references in its rows; what is changed or new here, and
  /// would be written over that, lets go at once.
  ///
  /// - Parameter holders: The objects that may have such references.
  func loosenOneWay(
    from victims: [ManagedObject], _ holders: some Sequence<ManagedObject>, noting closure: inout DeletedClosure
  ) {
    let references = oneWayReferences(to: victims)
    if references.isEmpty { return }
    for object in holders where object.isAlive && !closure.keys.contains(object._key) {
      for reference in references where info(of: object).relationships.contains(reference) {
        for key in presentPartners(of: object, reference) where closure.keys.contains(key) {
          closure.note(object, reference, key)
          letGo(object, reference, key)
        }
      }
    }
  }

  func oneWayReferences(to victims: [ManagedObject]) -> [RelationshipInfo] {
    var found: [RelationshipInfo] = []
    for entity in Set(victims.map { type(of: $0)._entity }).sorted() {
      for reference in runtime.entities[entity].oneWayReferences
      where !found.contains(where: reference.relationship.isSame) {
        found.append(reference.relationship)
      }
    }
    return found
  }
}

extension [RelationshipInfo?] {
  /// Whether an entity has a relationship, declared by itself or inherited.
  func contains(_ relationship: RelationshipInfo) -> Bool {
    indices.contains(relationship.property) && self[relationship.property]?.isSame(as: relationship) == true
  }
}

extension RelationshipInfo {
  /// A request for the objects that have one of these for a partner.
  func holders(of keys: [Int64]) -> StoreRequest {
    let values = keys.map { StoredValue.integer($0) }
    let path = PropertyPath(variable: 0).appending(property)
    guard isToMany else { return StoreRequest(entity: entity, predicate: .isIn(.path(path), values, .integer)) }
    let isVictim = QueryPredicate.isIn(.path(PropertyPath(variable: 1)), values, .integer)
    return StoreRequest(entity: entity, predicate: .quantified(.any, path, variable: 1, isVictim))
  }
}
