import TrellisSchema
import TrellisStorage

/// No two rows may have the same unique key when the save is done; in between, keys may swap.
enum UniqueCheck {
  private struct Seen: Hashable {
    let index: Int
    let hash: Int64
  }

  /// - Complexity: linear in the changed rows and their keys.
  static func run(_ plan: SavePlan, _ state: MemoryState, _ layout: Layout) throws {
    var seen: [Seen: [MemoryRow]] = [:]
    for place in plan.order {
      guard let row = plan.changes[place]?.new else { continue }
      for index in layout.valueIndexesOf[row.entity] where index.isUnique {
        guard let hash = index.hash(row) else { continue }
        let others = seen[Seen(index: index.index, hash: hash), default: []] + stored(index, hash, plan, state, place)
        if others.contains(where: { index.areSame($0, row) }) { throw notUnique(index, row, layout) }
        seen[Seen(index: index.index, hash: hash), default: []].append(row)
      }
    }
  }

  /// Rows of this hash that the save does not touch.
  private static func stored(
    _ index: Layout.ValueIndex, _ hash: Int64, _ plan: SavePlan, _ state: MemoryState, _ place: SavePlan.Place
  ) -> [MemoryRow] {
    state.values[index.index].targets(hash).compactMap { link in
      let other = SavePlan.Place(root: place.root, key: link.key)
      return plan.changes[other] == nil ? state.row(place.root, link.key) : nil
    }
  }

  private static func notUnique(_ index: Layout.ValueIndex, _ row: MemoryRow, _ layout: Layout) -> StoreError {
    let entity = layout.model.entities[row.entity]
    let names = index.columns.map { entity.properties[entity.columns[$0].property].name }
    return StoreError(
      .notUnique, "Two objects of \(entity.name) would have the same \(names.joined(separator: ", ")).",
      remedy: "Change one of them, or update the object that is there.", entity: entity.name, properties: names)
  }
}
