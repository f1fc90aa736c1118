import TrellisModel
import TrellisStorage

/// The stored tables that have to be read: those whose rows become rows of tables that are written, and those that tell
/// what becomes of these rows. A table that stays is not read, unless another one needs it.
struct NeededTables {
  /// The stored root entities, and the stored join tables.
  private(set) var roots: Set<Int> = []
  private(set) var pairs: Set<Int> = []

  /// - Parameter needsAll: whether something needs all rows: steps in Swift, or counts of all rules.
  init(_ changes: ServerTableChanges, needsAll: Bool) {
    let migration = changes.migration
    let (stored, current) = (migration.stored, migration.current)
    let needsOthers = migration.expressions.contains { expression in
      !PredicateNode.operand(expression.operand).isOfRow(stored.entities[expression.entity])
    }
    if needsAll || needsOthers && !changes.isAllKept {
      roots = Set(stored.entities.filter { $0.parent == nil }.map(\.index))
      pairs = Set(stored.joinTables.map(\.index))
      return
    }
    let written = Set(changes.writtenRoots.map(\.index))
    for move in migration.rows.compactMap(\.self) where written.contains(current.entities[move.entity].root) {
      roots.insert(stored.entities[move.origin].root)
    }
    let writtenPairs = Set(changes.writtenPairs.map(\.index))
    for move in migration.links where move.way != .new {
      let isCollected = move.way == .collected
      guard isCollected || move.link.joinTable.map(writtenPairs.contains) == true else { continue }
      for source in move.sources {
        let link = migration.storedLinks.all[source.link]
        if let table = link.joinTable { pairs.insert(table) }
        // Both ends decide whether a pair stays.
        if isCollected || link.isColumn {
          roots.insert(stored.entities[link.first.entity].root)
          roots.insert(stored.entities[link.first.destination].root)
        }
      }
    }
  }

  var isEmpty: Bool { roots.isEmpty && pairs.isEmpty }
}
