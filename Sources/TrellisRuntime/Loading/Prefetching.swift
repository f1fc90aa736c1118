import TrellisQuery
import TrellisStorage

extension ManagedObjectContext {
  /// Loads what relationships lead to, for all objects at once.
  ///
  /// - Throws: ``StoreError`` when the store fails; the objects themselves are there then.
  func prefetch(_ paths: [PropertyPath], for objects: [ManagedObject]) throws {
    for path in paths {
      var objects = objects
      for property in path.steps {
        guard let entity = objects.first.map(info), entity.relationships.indices.contains(property),
          let relationship = entity.relationships[property]
        else { break }
        objects = try prefetch(relationship, for: objects)
      }
    }
    try throwPendingFailure()
  }

  private func prefetch(_ relationship: RelationshipInfo, for objects: [ManagedObject]) throws -> [ManagedObject] {
    let keys =
      relationship.isToMany
      ? try prefetchedMembers(relationship, of: objects)
      : objects.map { partnerKey(of: $0, relationship) }.filter { $0 > 0 }
    var seen: Set<Int64> = []
    let missing = keys.filter { map[$0] == nil && seen.insert($0).inserted }.sorted()
    if !missing.isEmpty { try loadObjects(missing, entity: relationship.destination) }
    return keys.compactMap { map[$0] }
  }

  private func prefetchedMembers(_ relationship: RelationshipInfo, of owners: [ManagedObject]) throws -> [Int64] {
    let unloaded = owners.filter { $0.phase == .persistent && !list(of: $0, relationship).isLoaded }
    if !unloaded.isEmpty { try loadMembers(of: unloaded, relationship) }
    return owners.flatMap { list(of: $0, relationship).keys }
  }
}
