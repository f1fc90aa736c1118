import TrellisSchema
import TrellisStorage

/// Checks that no two rows have the same unique key after the save. Rows may swap keys within a save.
enum UniqueCheck {
  /// A row and its values in one index.
  private struct Entry: Hashable {
    let index: Layout.ValueIndex
    let hash: Int64
    let row: MemoryRow

    static func == (left: Entry, right: Entry) -> Bool {
      left.hash == right.hash && left.index.index == right.index.index && left.index.areSame(left.row, right.row)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
  }

  /// - Complexity: linear in the changed rows and their keys.
  static func run(_ plan: SavePlan, _ state: MemoryState, _ layout: Layout) throws {
    var seen: Set<Entry> = []
    for change in plan.changes {
      guard let row = change.new else { continue }
      for index in layout.valueIndexesOf[row.entity] {
        guard let hash = index.hash(row) else { continue }
        let isNew = seen.insert(Entry(index: index, hash: hash, row: row)).inserted
        if !isNew || isStored(index, hash, row, change.place.root, plan, state) { throw notUnique(index, row, layout) }
      }
    }
  }

  /// Whether a row that the save does not touch has the same key.
  private static func isStored(
    _ index: Layout.ValueIndex, _ hash: Int64, _ row: MemoryRow, _ root: Int, _ plan: SavePlan, _ state: MemoryState
  ) -> Bool {
    state.values[index.index].targets(hash).contains { link in
      guard !plan.touches(root, link.key), let other = state.row(root, link.key) else { return false }
      return index.areSame(row, other)
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
