import TrellisModel
import TrellisStorage

/// The present row of an object in the store.
struct StoredVersion {
  let row: RowCopyBase
  let version: Int64
  /// The places among the members of ordered to-many relationships, by the to-one relationship to the owner.
  let places: [(property: Int, place: Int64?)]

  /// Copies the values into an object that is in no identity map, because a reader is valid only during one call.
  init(_ reader: RowReader, _ graph: ObjectGraph) throws {
    reader.problem = nil
    let carrier = graph.runtime.types[reader.entity].init(reader, in: graph.link)
    if reader.problem != nil { throw graph.unreadable(reader) }
    row = carrier._copyRow()
    version = reader.version
    places = carrier.placesOfReferences(graph)
    carrier.state.detach()
  }
}

extension ObjectGraph {
  /// The present rows of objects in the store. Deleted rows are left out.
  func storedVersions(of objects: [ManagedObject]) throws -> [Int64: StoredVersion] {
    var found: [Int64: StoredVersion] = [:]
    for (root, group) in Dictionary(grouping: objects, by: { info(of: $0).root }).sortedByKey {
      try connection().rows(of: root, keys: group.map(\._key)) { row in
        guard let object = map[row.key], type(of: object)._entity == row.entity else { throw unreadable(row) }
        found[row.key] = try StoredVersion(row, self)
      }
    }
    return found
  }
}

extension ManagedObject {
  final func placesOfReferences(_ graph: ObjectGraph) -> [(property: Int, place: Int64?)] {
    graph.info(of: self).allRelationships.compactMap { relationship in
      guard case .column(_, order: .some) = relationship.home else { return nil }
      return (relationship.property, _place(relationship.property))
    }
  }
}
