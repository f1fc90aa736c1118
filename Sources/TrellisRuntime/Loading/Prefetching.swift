import TrellisQuery
import TrellisStorage

extension ManagedObjectContext {
  /// Loads the objects at the end of relationship paths, for all objects at once.
  ///
  /// - Throws: ``StoreError`` if the store fails; the objects themselves are loaded then.
  func prefetch(_ paths: [PropertyPath], for objects: [ManagedObject]) throws {
    for path in paths {
      var objects = objects
      for (number, property) in path.steps.enumerated() {
        guard let entity = objects.first.map(info), entity.relationships.indices.contains(property),
          let relationship = entity.relationships[property]
        else { break }
        try load(relationship, of: objects)
        if number < path.count - 1 { objects = partners(relationship, of: objects) }
      }
    }
    try throwPendingFailure()
  }

  private func load(_ relationship: RelationshipInfo, of objects: [ManagedObject]) throws {
    if relationship.isToMany {
      let owners = objects.filter { $0.phase == .persistent && !list(of: $0, relationship).isLoaded }
      if !owners.isEmpty { try loadMembers(of: owners, relationship) }
    }
    let missing = partnerKeys(relationship, of: objects) { map[$0] == nil }
    if !missing.isEmpty {
      try loadObjects(missing, entity: relationship.destination, cameBy: objects.first.map { ($0, relationship) })
    }
  }

  /// The partners in ascending order of their keys, each once.
  private func partners(_ relationship: RelationshipInfo, of objects: [ManagedObject]) -> [ManagedObject] {
    partnerKeys(relationship, of: objects) { _ in true }.compactMap { map[$0] }
  }

  private func partnerKeys(
    _ relationship: RelationshipInfo, of objects: [ManagedObject], where isWanted: (Int64) -> Bool
  ) -> [Int64] {
    var keys: [Int64] = []
    var last: Int64 = 0
    for object in objects {
      if relationship.isToMany {
        for key in list(of: object, relationship).keys where isWanted(key) { keys.append(key) }
        continue
      }
      let key = partnerKey(of: object, relationship)
      // Adjacent objects often share a partner.
      if key > 0 && key != last && isWanted(key) { keys.append(key) }
      last = key
    }
    return keys.sortedWithoutRepeats
  }
}
