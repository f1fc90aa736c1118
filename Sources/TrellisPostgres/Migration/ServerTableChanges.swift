import TrellisModel
import TrellisStorage

/// A stored table of a root entity that stays, with new names and other columns. Its rows are not written again, unless
/// they get a value that is not the same for all of them.
struct KeptServerTable {
  /// The stored root entity.
  let origin: Entity
  /// The current root entity.
  let root: Entity
  /// The names of stored entities whose rows are deleted.
  var removed: [String] = []
  /// The new names of columns, by the stored name.
  var renames: [(from: String, to: String)] = []
  var dropped: [TableColumn] = []
  var added: [Addition] = []
  /// Stored columns whose values the rows of these stored entities lose.
  var clearings: [(column: String, entities: [String])] = []
  /// The values of rows that have none, by the current column.
  var fillings: [(column: String, literal: String)] = []
  /// Current columns that become required, or optional.
  var required: [String] = []
  var optional: [String] = []
  /// Current columns that get a larger integer type.
  var widened: [TableColumn] = []
  /// The new names of entities, by the stored name.
  var entityNames: [(from: String, to: String)] = []
  /// The name of the entity that all rows get, if the table becomes one of a hierarchy.
  var onlyEntity: String?

  struct Addition {
    let column: TableColumn
    /// An expression for the value of all rows; nil for null.
    var value: String?
    /// Whether the value is the time of the migration.
    var isNow = false
    /// Expressions for the values of some rows, by the current entity.
    var values: [(entity: String, value: String)] = []
  }

  /// The current name of a stored column; nil if it is dropped.
  func name(of column: String) -> String? {
    if dropped.contains(where: { $0.name == column }) { return nil }
    return renames.first { $0.from == column }?.to ?? column
  }
}

/// A stored join table that stays, with new names.
struct KeptServerPairs {
  let origin: JoinTable
  let table: JoinTable
  let renames: [(from: String, to: String)]
  let dropped: [String]

  func name(of column: String) -> String? {
    dropped.contains(column) ? nil : renames.first { $0.from == column }?.to ?? column
  }

}

// MARK: - Table changes

/// Decides for each table whether it can stay. All others are read, migrated as a document is, and written again.
struct ServerTableChanges {
  let migration: Migration
  let hasSteps: Bool
  /// The tables that stay, by the current root entity.
  private(set) var kept: [Int: KeptServerTable] = [:]
  /// The join tables that stay, by the number of the current one.
  private(set) var keptPairs: [Int: KeptServerPairs] = [:]

  init(
    _ migration: Migration, _ stored: PostgresSchema, _ current: PostgresSchema, now: Int64,
    written: PostgresOptions.Written = .needed, hasSteps: Bool = false
  ) {
    self.migration = migration
    self.hasSteps = hasSteps
    if written == .all { return }
    for root in migration.current.entities where written == .needed && root.parent == nil {
      let check = ServerTableCheck(migration: migration, oldSchema: stored, newSchema: current, root: root, now: now)
      if let table = check.keptTable() { kept[root.index] = table }
    }
    var taken: Set<Int> = []
    for move in migration.links {
      guard let table = move.link.joinTable, move.way == .copied, let source = move.sources.first,
        let origin = migration.storedLinks.all[source.link].joinTable, taken.insert(origin).inserted
      else { continue }
      keptPairs[table] = Self.pairs(migration, origin, table, isReversed: source.isReversed)
    }
  }

  /// - Parameter isReversed: whether the first end of the stored table is the second one of the current table.
  private static func pairs(_ migration: Migration, _ origin: Int, _ table: Int, isReversed: Bool) -> KeptServerPairs {
    let (old, new) = (migration.stored.joinTables[origin], migration.current.joinTables[table])
    var renames: [(from: String, to: String)] = []
    var dropped: [String] = []
    let before = [old.first.column, old.partnerColumn, old.first.orderColumn, old.second?.orderColumn]
    let after = [new.first.column, new.partnerColumn, new.first.orderColumn, new.second?.orderColumn]
    let places = isReversed ? [1, 0, 3, 2] : [0, 1, 2, 3]
    for case (let from?, let to) in zip(before, places.map { after[$0] }) {
      guard let to else {
        dropped.append(from)
        continue
      }
      if from != to { renames.append((from, to)) }
    }
    return KeptServerPairs(origin: old, table: new, renames: renames, dropped: dropped)
  }

  /// Whether nothing has to be read into memory.
  var isAllKept: Bool {
    migration.current.entities.allSatisfy { $0.parent != nil || kept[$0.index] != nil }
      && migration.current.joinTables.allSatisfy { keptPairs[$0.index] != nil }
  }

  /// The current root entities whose tables are written. A new one has no rows, unless steps make some.
  var writtenRoots: [Entity] {
    migration.current.entities.filter { $0.parent == nil && kept[$0.index] == nil }
  }

  var writtenPairs: [JoinTable] { migration.current.joinTables.filter { keptPairs[$0.index] == nil } }

  /// The stored root entities and join tables that do not stay.
  var droppedRoots: [Entity] {
    let origins = Set(kept.values.map(\.origin.index))
    return migration.stored.entities.filter { $0.parent == nil && !origins.contains($0.index) }
  }

  var droppedPairs: [JoinTable] {
    let origins = Set(keptPairs.values.map(\.origin.index))
    return migration.stored.joinTables.filter { !origins.contains($0.index) }
  }

  /// Has a table written that could stay, because steps have changed its rows.
  mutating func write(root: Int) { kept[root] = nil }
  mutating func write(pairs table: Int) { keptPairs[table] = nil }
}

/// Finds out whether a stored table can become the table of a current root entity.
private struct ServerTableCheck {
  let migration: Migration
  let oldSchema: PostgresSchema
  let newSchema: PostgresSchema
  let root: Entity
  let now: Int64

  private var stored: Model { migration.stored }
  private var current: Model { migration.current }

  func keptTable() -> KeptServerTable? {
    guard let rows = KeptRows(of: root, in: migration) else { return nil }
    var table = KeptServerTable(origin: rows.origin, root: root)
    table.removed = rows.removed
    if rows.becomesHierarchy {
      guard rows.names.count == 1 else { return nil }
      table.onlyEntity = rows.names.first?.to
    } else if root.isInHierarchy {
      table.entityNames = rows.names.filter { $0.from != $0.to }
    }
    return addColumns(rows.moves, to: &table) ? table : nil
  }

  // MARK: Columns

  /// - Returns: whether the columns can be changed in place.
  private func addColumns(_ moves: [RowMove], to table: inout KeptServerTable) -> Bool {
    var left = Dictionary(oldSchema.columns(of: table.origin).map { ($0.name, $0) }) { first, _ in first }
    let sources = Set(moves.flatMap(storedNames))
    for column in newSchema.columns(of: root) {
      let uses = moves.compactMap { move -> (move: RowMove, source: ColumnSource)? in
        let entity = current.entities[move.entity]
        return entity.columns.firstIndex { $0.name == column.name }.map { (move, move.columns[$0]) }
      }
      var names: Set<String> = []
      for use in uses {
        switch use.source {
        case .stored(let source): names.insert(stored.entities[use.move.origin].columns[source.column].name)
        case .new: break
        case .partner, .place: return false
        }
      }
      if let name = names.first {
        guard names.count == 1, let old = left.removeValue(forKey: name),
          keep(old, as: column, uses, moves, in: &table)
        else { return false }
      } else if uses.isEmpty, !sources.contains(column.name), let old = left[column.name], old.type == column.type {
        // No entity with rows has the column: it stays with its parts, for models that differ in their texts only.
        left[column.name] = nil
        guard keep(old, as: column, [], moves, in: &table) else { return false }
      } else {
        guard let addition = addition(column, uses, moves) else { return false }
        table.added.append(addition)
        // In an empty table no row lacks a value; the plan asks about others.
        if column.isRequired && addition.value == nil { table.required.append(column.name) }
      }
    }
    table.dropped = left.values.sorted { $0.name < $1.name }
    return true
  }

  /// The names of the stored columns that the rows of an entity are made of.
  private func storedNames(_ move: RowMove) -> [String] {
    move.columns.compactMap {
      if case .stored(let source) = $0 { stored.entities[move.origin].columns[source.column].name } else { nil }
    }
  }

  /// Keeps a stored column under the name of a current one.
  private func keep(
    _ old: TableColumn, as column: TableColumn, _ uses: [(move: RowMove, source: ColumnSource)], _ moves: [RowMove],
    in table: inout KeptServerTable
  ) -> Bool {
    var users: Set<Int> = []
    for use in uses {
      switch use.source {
      case .stored(let source):
        // Data is always in the row, so it need not come there.
        guard source.conversion == nil else { return false }
        users.insert(use.move.origin)
        guard source.missing != .null, source.missing != .unanswered else { continue }
        guard let literal = literal(source.missing, column.type), !root.isInHierarchy || uses.count == moves.count
        else {
          return false
        }
        if !table.fillings.contains(where: { $0.column == column.name && $0.literal == literal }) {
          if table.fillings.contains(where: { $0.column == column.name }) { return false }
          table.fillings.append((column.name, literal))
        }
      case .new(let filling): if filling != .null { return false }
      case .partner, .place: return false
      }
    }
    // Other rows of the table may have values that have no place any more.
    let losers = moves.filter { move in
      !users.contains(move.origin) && stored.entities[move.origin].columns.contains { $0.name == old.name }
    }
    if !losers.isEmpty { table.clearings.append((old.name, losers.map { stored.entities[$0.origin].name })) }
    if old.type != column.type {
      guard Self.widens(old.type, to: column.type) else { return false }
      table.widened.append(column)
    }
    if old.name != column.name { table.renames.append((old.name, column.name)) }
    if old.isRequired && !column.isRequired { table.optional.append(column.name) }
    if !old.isRequired && column.isRequired { table.required.append(column.name) }
    return true
  }

  private static func widens(_ old: ServerType, to new: ServerType) -> Bool {
    switch (old, new) {
    case (.smallint, .integer), (.smallint, .bigint), (.integer, .bigint): true
    default: false
    }
  }

  private func addition(
    _ column: TableColumn, _ uses: [(move: RowMove, source: ColumnSource)], _ moves: [RowMove]
  ) -> KeptServerTable.Addition? {
    var addition = KeptServerTable.Addition(column: column)
    var values: [(entity: String, value: String)] = []
    for use in uses {
      guard case .new(let filling) = use.source else { return nil }
      if filling == .null || filling == .unanswered { continue }
      guard let literal = literal(filling, column.type) else { return nil }
      values.append((current.entities[use.move.entity].name, literal))
    }
    if values.count == moves.count, Set(values.map(\.value)).count == 1 {
      addition.value = values.first?.value
      addition.isNow = uses.contains { if case .new(.now) = $0.source { true } else { false } }
    } else if root.isInHierarchy
      && migration.match.origins[root.index].map({ stored.entities[$0].isInHierarchy }) == true
    {
      addition.values = values
    } else if !values.isEmpty {
      return nil
    }
    return addition
  }

  private func literal(_ filling: Filling, _ type: ServerType) -> String? {
    ServerLiteral.text(filling, type, now: now)
  }
}
