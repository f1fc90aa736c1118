internal import CSQLite
import TrellisSQL
import TrellisSchema
import TrellisStorage

/// Cascades to rows that are not loaded, level by level: the keys of a level are read, then its rows are deleted.
extension SQLiteConnection {
  /// - Returns: the keys of the deleted rows.
  /// - Complexity: a few statements for each level and relationship, independent of the number of rows.
  func cascade(_ request: SaveRequest) throws -> [Int64] {
    if request.cascades.isEmpty { return [] }
    // These rows are deleted or kept by the save itself.
    let spared = Set(request.keptFromCascades).union(request.deletes.flatMap(\.keys))
    var open = request.cascades
    var victims: [Int64] = []
    while let level = open.popLast() {
      var keys: [Int64] = []
      try memberKeys(of: level.relationship, owners: level.owners) { _, member, _ in
        if !spared.contains(member) { keys.append(member) }
      }
      if keys.isEmpty { continue }
      keys.sort()
      guard let relationship = layout.relationship(level.relationship.entity, level.relationship.property) else {
        continue
      }
      for next in layout.model.furtherCascades(from: relationship.destination) {
        open.append(SaveRequest.Cascades(relationship: next, owners: keys))
      }
      try deleteRows(of: relationship.destination, keys)
      victims += keys
    }
    return victims
  }

  func deleteRows(of entity: Int, _ keys: [Int64]) throws {
    for reference in layout.model.oneWayColumns(to: entity) {
      try write(SaveRequest.ClearedReferences(relationship: reference, targets: keys))
    }
    for number in layout.model.entities[entity].subtree { try deletePairs(of: number, keys) }
    let statement = try statement(.deleteList, entity) { layout.deleteListStatement(entity) }
    try withKeys(keys, statement) {
      _ = try run(statement) { try database.step($0, doing: "delete members") }
    }
  }
}
