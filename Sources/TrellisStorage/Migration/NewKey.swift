import TrellisModel

/// A unique key of the current model that stored rows may violate.
package struct NewKey: Hashable, Sendable {
  /// The current entity that declares the key.
  package let entity: Int
  /// The numbers of the properties, and of their columns in the entity.
  let properties: [Int]
  package let columns: [Int]

  /// The stored values that a key would hold for several rows.
  package struct Duplicates: Hashable, Sendable {
    /// The number of such values.
    package var count = 0
    /// The keys of the rows with the first of these values, at most ``shownValues`` times ``shownRows``.
    package var rows: [[Int64]] = []

    package static let shownValues = 5
    package static let shownRows = 4

    package init(count: Int = 0, rows: [[Int64]] = []) {
      self.count = count
      self.rows = rows
    }
  }

  /// The unique keys that are not known to hold for the stored rows.
  static func all(_ match: ModelMatch, _ rows: [RowMove?]) -> [NewKey] {
    var keys: [NewKey] = []
    for entity in match.current.entities {
      let moves = rows.compactMap(\.self).filter { match.current.isEntity($0.entity, within: entity.index) }
      guard !moves.isEmpty else { continue }
      for key in entity.uniqueKeys where key.entity == entity.index {
        let columns = key.properties.compactMap { entity.properties[$0].column }
        guard !isKept(key, columns, entity, match, moves) else { continue }
        keys.append(NewKey(entity: entity.index, properties: key.properties, columns: columns))
      }
    }
    return keys
  }

  /// Whether the stored rows had the key already, with the same values.
  private static func isKept(
    _ key: UniqueKey, _ columns: [Int], _ entity: Entity, _ match: ModelMatch, _ moves: [RowMove]
  ) -> Bool {
    guard let origin = match.origins[entity.index] else { return false }
    let former = key.properties.map { match.properties[origin][$0] }
    return match.stored.entities[origin].uniqueKeys.contains { stored in
      Set(former) == Set(stored.properties.map(Optional.some))
        && moves.allSatisfy { move in
          match.stored.isEntity(move.origin, within: stored.entity)
            && columns.allSatisfy { column in
              if case .stored(let source) = move.columns[column] { source.isPlain } else { false }
            }
        }
    }
  }
}
