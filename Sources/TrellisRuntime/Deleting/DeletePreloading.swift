import TrellisModel
import TrellisStorage

/// The state of a victim's partners that a delete needs in memory.
enum PartnerNeed {
  case nothing, keys, objects
}

extension ObjectGraph {
  /// Whether any of the owners has members, in the store or in memory.
  func hasMembers(_ owners: [ManagedObject], _ relationship: Relationship) throws -> Bool {
    if owners.contains(where: { !presentPartners(of: $0, relationship).isEmpty }) { return true }
    struct Found: Error {}
    do {
      try connection().memberKeys(of: relationship.number, owners: owners.map(\._key)) { _, _, _ in
        throw Found()
      }
    } catch is Found { return true }
    return false
  }

  func needOfDelete(_ relationship: Relationship) -> PartnerNeed {
    if relationship.deleteAction == .deletePartners { return .objects }
    // A one-way relationship is deleted with the row or the pairs that hold it.
    guard let inverse = runtime.inverse(of: relationship) else { return .nothing }
    // The number of the partner's members is checked at save.
    if inverse.isToMany && inverse.isCounted { return .objects }
    // Pairs are deleted with the row, but lists in memory that show the victim have to be found.
    if relationship.isJoined { return listed.contains(inverse.number) ? .keys : .nothing }
    return switch relationship.deleteAction {
    case .deletePartners, .clearReferences: .objects
    case .refuse, .leaveReferences: .nothing
    case .nothing: .keys
    }
  }

  func loadMembersIfNeeded(
    of objects: [ManagedObject], _ relationship: Relationship, _ need: PartnerNeed
  ) throws {
    let unloaded = objects.filter { !list(of: $0, relationship).isLoaded }
    guard need == .objects else {
      try loadKeys(of: unloaded, relationship)
      return
    }
    if !unloaded.isEmpty { try loadMembers(of: unloaded, relationship, goingOn: true) }
    var members: [Int64] = []
    for object in objects { members += list(of: object, relationship).keys }
    try loadForChange(members.sortedWithoutRepeats, of: relationship)
  }

  func loadPartnersIfNeeded(
    of objects: [ManagedObject], _ relationship: Relationship, needsObjects: Bool
  ) throws {
    var partners: [Int64] = []
    for object in objects {
      let key = try partnerKey(of: object, relationship)
      if needsObjects && key > 0 { partners.append(key) }
    }
    if needsObjects { try loadForChange(partners.sortedWithoutRepeats, of: relationship) }
  }
}

extension Deletion {
  /// Loads the partners that a delete rule affects.
  ///
  /// - Returns: whether the rule affects any partners.
  func loadIfNeeded(
    _ relationship: Relationship, of objects: [ManagedObject], in graph: ObjectGraph
  ) throws -> Bool {
    for object in objects where object.accessFlags.contains(.fault) { try graph.refreshRows([object]) }
    let need = graph.needOfDelete(relationship)
    guard need != .nothing else { return relationship.deleteAction == .deletePartners }
    if relationship.isToMany {
      try graph.loadMembersIfNeeded(of: objects, relationship, need)
    } else {
      try graph.loadPartnersIfNeeded(of: objects, relationship, needsObjects: need == .objects)
    }
    return true
  }
}

// MARK: - Restorable deletes

extension ObjectGraph {
  /// Loads the links that a saved delete would lose: the partners of the victims, and the objects that refer to them by
  /// one-way relationships.
  ///
  /// - Returns: the objects with one-way references to the victims in the store.
  func loadToRestore(_ victims: [ManagedObject]) throws -> [ManagedObject] {
    for victim in victims where victim.phase == .persistent {
      try fulfilIfFault(victim)
      for relationship in info(of: victim).allRelationships where !relationship.isTransient {
        if relationship.isToMany {
          try loadedList(of: victim, relationship)
        } else {
          _ = try partnerKey(of: victim, relationship)
        }
      }
    }
    for victim in victims { try prepareToUnlink(victim) }
    let keys = victims.filter { $0.phase == .persistent }.map(\._key)
    return try oneWayReferences(to: victims).flatMap { reference in
      let holders = try stored(reference.holders(of: keys))
      if reference.isToMany { for holder in holders { try loadedList(of: holder, reference) } }
      return holders
    }
  }

  /// Loads the ends of relationships from which a victim will be unlinked, because only they know its position.
  private func prepareToUnlink(_ victim: ManagedObject) throws {
    for relationship in info(of: victim).allRelationships where runtime.inverse(of: relationship) != nil {
      for key in presentPartners(of: victim, relationship) { try prepareRecording(victim, relationship, key) }
    }
  }
}
