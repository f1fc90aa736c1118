/// Loads the objects that a change of links needs before anything changes. If this fails, the failure is reported and
/// the change is not made, instead of being half done.
extension ManagedObjectContext {
  /// Loads the other objects that linking two objects changes.
  func isReady(
    toConnect object: ManagedObject, _ relationship: RelationshipInfo, _ partner: ManagedObject
  ) -> Bool {
    let failures = failedLoads
    let inverse = runtime.inverse(of: relationship)
    if !relationship.isToMany {
      let old = partnerKey(of: object, relationship)
      if old > 0 && old != partner._key {
        prepareOtherEnd([old], relationship)
        prepareRecording(object, relationship, old)
      }
    }
    if let inverse, !inverse.isToMany {
      let old = partnerKey(of: partner, inverse)
      if old > 0 && old != object._key {
        prepareOtherEnd([old], inverse)
        prepareRecording(partner, inverse, old)
      }
    }
    prepareRecording(object, relationship, partner._key)
    // A pair that the other end contains already is only moved, which needs the order.
    if relationship.isJoined && relationship.isOrdered, let inverse, isKnownMember(object._key, of: partner, inverse) {
      _ = loadedList(of: object, relationship)
    }
    return failures == failedLoads
  }

  /// Loads what unlinking partners changes at their end.
  func isReady(
    toDisconnect object: ManagedObject, _ relationship: RelationshipInfo, _ partners: [Int64]
  ) -> Bool {
    let failures = failedLoads
    prepareOtherEnd(partners, relationship)
    if recorder != nil { for partner in partners { prepareRecording(object, relationship, partner) } }
    return failures == failedLoads
  }

  func isReady(toDisconnect object: ManagedObject, _ relationship: RelationshipInfo, _ partner: Int64) -> Bool {
    isReady(toDisconnect: object, relationship, [partner])
  }

  private func prepareOtherEnd(_ partners: [Int64], _ relationship: RelationshipInfo) {
    guard let inverse = runtime.inverse(of: relationship), inverse.isColumn || inverse.isCounted else { return }
    do {
      try loadForChange(partners, of: relationship)
    } catch {
      report(
        ContextError(
          .loadFailed, "\(relationship.entityName).\(relationship.name) could not be loaded.", cause: error))
    }
  }

  /// Loads the rows of partners, in a few statements.
  func loadForChange(_ partners: some Sequence<Int64>, of relationship: RelationshipInfo) throws {
    try loadForChange(partners, entity: relationship.destination)
  }

  /// Loads the rows of objects of an entity and its subentities.
  func loadForChange(_ keys: some Sequence<Int64>, entity: Int) throws {
    var missing: [Int64] = []
    var faults: [ManagedObject] = []
    for key in keys {
      guard let partner = map[key] else {
        missing.append(key)
        continue
      }
      if partner.accessFlags.contains(.fault) { faults.append(partner) }
    }
    if !missing.isEmpty { try loadObjects(missing, entity: entity) }
    try refreshRows(faults)
  }
}
