extension ManagedObjectContext {
  /// Loads the links that a saved delete would lose: the partners of the victims, and the objects that refer to them by
  /// one-way relationships.
  ///
  /// - Returns: the objects with one-way references to the victims in the store.
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
    for victim in victims { prepareToLoosen(victim) }
    try throwPendingFailure()
    let keys = victims.filter { $0.phase == .persistent }.map(\._key)
    return try oneWayReferences(to: victims).flatMap { reference in
      let holders = try stored(reference.holders(of: keys))
      if reference.isToMany { for holder in holders { _ = loadedList(of: holder, reference) } }
      try throwPendingFailure()
      return holders
    }
  }

  /// Loads the ends of relationships from which a victim will be unlinked, because only they know its position.
  private func prepareToLoosen(_ victim: ManagedObject) {
    for relationship in info(of: victim).allRelationships where runtime.inverse(of: relationship) != nil {
      for key in presentPartners(of: victim, relationship) { prepareRecording(victim, relationship, key) }
    }
  }
}
