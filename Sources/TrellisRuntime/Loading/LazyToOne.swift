import TrellisStorage

extension ManagedObjectContext {
  /// Loads the partner of a to-one, together with the partners of the object's siblings in the same statements.
  func loadPartner(_ key: Int64, of object: ManagedObject, _ relationship: RelationshipInfo) -> ManagedObject? {
    do {
      let wanted = partnersWanted(key, object, relationship)
      try loadObjects(wanted, entity: relationship.destination, cameBy: (object, relationship))
    } catch {
      report(
        ContextError(
          .loadFailed, "\(relationship.entityName).\(relationship.name) could not be loaded.", cause: error))
    }
    return map[key].flatMap { $0.phase == .deleted ? nil : $0 }
  }

  private func partnersWanted(_ key: Int64, _ object: ManagedObject, _ relationship: RelationshipInfo) -> [Int64] {
    guard let batch = batches[object.batch] else { return [key] }
    var wanted: [Int64] = [key]
    var last = key
    for sibling in batch.siblings(from: object._key, property: relationship.property) {
      guard let sibling = map[sibling], !sibling.accessFlags.contains(.fault) else { continue }
      let reference = sibling._reference(relationship.property)
      // Adjacent siblings often share a partner: skipping repeats here keeps the sort below small.
      if reference > 0 && reference != last && map[reference] == nil { wanted.append(reference) }
      last = reference
    }
    return wanted.sortedWithoutRepeats
  }

  /// Loads the partner's key of a to-one whose reference is stored in the partner's row, together with those of the
  /// siblings.
  ///
  /// - Returns: the partner's key; 0 for nil.
  func loadPartnerKeys(like object: ManagedObject, _ relationship: RelationshipInfo) -> Int64 {
    var owners: [Int64] = []
    for owner in siblings(of: object, relationship) where owner.extras?.partner(relationship.property) == nil {
      owners.append(owner._key)
    }
    let number = RelationshipNumber(entity: relationship.entity, property: relationship.property)
    let inverse = runtime.inverse(of: relationship)
    do {
      var found: [Int64: Int64] = [:]
      try connection(reading: relationship.destination).members(of: number, owners: owners) { owner, row in
        let partner = try self.object(of: row, batch: 0)
        // A partner that was linked to another object meanwhile does not count.
        if let inverse, partner._reference(inverse.property) == owner {
          found[owner] = row.key
        } else if let owner = map[owner] {
          // A rollback has to restore it.
          noteListChanged(owner)
        }
      }
      for owner in owners where found[owner] == nil {
        found[owner] = membersUnknownToStore(of: owner, relationship).first
      }
      for owner in owners { map[owner]?.needExtras().setPartner(relationship.property, found[owner] ?? 0) }
    } catch {
      report(
        ContextError(
          .loadFailed, "\(relationship.entityName).\(relationship.name) could not be loaded.", cause: error))
      return 0
    }
    return object.extras?.partner(relationship.property) ?? 0
  }

  /// The object and the siblings of its batch that one load includes.
  func siblings(
    of object: ManagedObject, _ relationship: RelationshipInfo, loading what: SiblingLoad = .members
  ) -> [ManagedObject] {
    guard let batch = batches[object.batch] else { return [object] }
    var found = [object]
    let load = what == .members ? relationship.property : ~relationship.property
    for key in batch.siblings(from: object._key, property: load) where key != object._key {
      guard let sibling = map[key], sibling.phase == .persistent,
        info(of: sibling).relationships.indices.contains(relationship.property)
      else { continue }
      found.append(sibling)
    }
    return found
  }
}

/// The kind of a load for an object and its siblings. Each kind has its own window sizes.
enum SiblingLoad {
  /// The members of a relationship, by key or with their rows.
  case members
  /// The rows of members that are known by key.
  case rows
}
