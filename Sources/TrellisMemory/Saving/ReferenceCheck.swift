import TrellisSchema
import TrellisStorage

/// Checks that no reference is dangling after the save, unless its delete rule is `noAction`.
enum ReferenceCheck {
  static func run(_ plan: SavePlan, _ state: MemoryState, _ layout: Layout) throws {
    let checked = layout.references.filter(\.isChecked)
    for change in plan.changes {
      if let row = change.new {
        try checkTargets(of: row, change.old, plan, state, layout)
      } else {
        for reference in checked where reference.targetRoot == change.place.root {
          try checkHolders(of: change.place.key, reference, plan, state, layout)
        }
      }
    }
    for group in plan.pairs { try checkEnds(of: group, plan, state, layout) }
  }

  private static func checkTargets(
    of row: MemoryRow, _ old: MemoryRow?, _ plan: SavePlan, _ state: MemoryState, _ layout: Layout
  ) throws {
    for reference in layout.referencesOf[row.entity] where reference.isChecked {
      guard let target = row.reference(reference.column), target != old?.reference(reference.column) else { continue }
      if plan.row(reference.targetRoot, target, state) == nil { throw dangling(reference, layout) }
    }
  }

  /// Checks that no remaining row refers to a deleted row.
  private static func checkHolders(
    of target: Int64, _ reference: Layout.Reference, _ plan: SavePlan, _ state: MemoryState, _ layout: Layout
  ) throws {
    let root = layout.model.entities[reference.entity].root
    for holder in state.references[reference.index].targets(target)
    where plan.row(root, holder.key, state)?.reference(reference.column) == target {
      throw dangling(reference, layout)
    }
  }

  private static func checkEnds(
    of group: SaveRequest.Pairs, _ plan: SavePlan, _ state: MemoryState, _ layout: Layout
  ) throws {
    let table = layout.model.joinTables[group.table]
    let entity = layout.model.entities[table.first.entity]
    let partnerRoot = layout.model.entities[table.partnerEntity].root
    for pair in group.added
    where plan.row(entity.root, pair.first, state) == nil || plan.row(partnerRoot, pair.partner, state) == nil {
      throw dangling(entity, table.first.property)
    }
  }

  private static func dangling(_ reference: Layout.Reference, _ layout: Layout) -> StoreError {
    dangling(layout.model.entities[reference.entity], reference.property)
  }

  private static func dangling(_ entity: Entity, _ property: Int) -> StoreError {
    let name = entity.properties[property].name
    return StoreError(
      .danglingReference, "\(entity.name).\(name) would lead to an object that is not there.",
      remedy: "Let go of the object before it is deleted, or save it first.", entity: entity.name, properties: [name])
  }
}
