import TrellisQuery
import TrellisSchema
import TrellisStorage

extension ManagedObjectContext {
  /// Loads what a saved delete would lose: who the victims' partners are, and who refers to them by one-way relationships.
  ///
  /// - Returns: those who refer to them, as far as the store knows.
  func loadToRestore(_ victims: [ManagedObject]) throws -> [ManagedObject] {
    for victim in victims where victim.phase == .persistent {
      victim._willRead(-1)
      for relationship in info(of: victim).allRelationships where !relationship.isTransient {
        if relationship.isToMany {
          _ = loadedList(of: victim, relationship)
        } else {
          _ = partnerKey(of: victim, relationship)
        }
      }
    }
    try throwPendingFailure()
    let keys = victims.filter { $0.phase == .persistent }.map { StoredValue.integer($0._key) }
    return try oneWayReferences(to: victims).flatMap { reference in
      let holders = try stored(reference.holders(of: keys))
      if reference.isToMany { for holder in holders { _ = loadedList(of: holder, reference) } }
      try throwPendingFailure()
      return holders
    }
  }

}

extension RelationshipInfo {
  /// The objects that have one of these for a partner.
  fileprivate func holders(of keys: [StoredValue]) -> StoreRequest {
    let path = PropertyPath(variable: 0).appending(property)
    guard isToMany else { return StoreRequest(entity: entity, predicate: .isIn(.path(path), keys, .integer)) }
    let isVictim = QueryPredicate.isIn(.path(PropertyPath(variable: 1)), keys, .integer)
    return StoreRequest(entity: entity, predicate: .quantified(.any, path, variable: 1, isVictim))
  }
}
