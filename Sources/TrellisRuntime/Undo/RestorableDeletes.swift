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

  /// Loads the ends of a victim's relationships that let go of it, whose order only they know.
  private func prepareToLoosen(_ victim: ManagedObject) {
    for relationship in info(of: victim).allRelationships where runtime.inverse(of: relationship) != nil {
      for key in presentPartners(of: victim, relationship) { prepareRecording(victim, relationship, key) }
    }
  }
}
