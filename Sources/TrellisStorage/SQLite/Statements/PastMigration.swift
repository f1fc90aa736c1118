import TrellisModel

/// The migration of the tables of former rows.
///
/// Former rows are carried along where the present ones stay in their table: they get new names and columns, too. If a
/// table is made anew, or values are computed or corrected, former rows would need the same from rows that were never
/// together. Then all former values end with the migration.
struct PastMigration {
  private let statements: MigrationStatements
  private let old: HistoryPlan
  private let new: HistoryPlan

  private var migration: Migration { statements.migration }

  init(_ statements: MigrationStatements) {
    self.statements = statements
    old = HistoryPlan(statements.migration.stored)
    new = HistoryPlan(statements.migration.current)
  }

  /// Sets the tables of former rows aside, and drops the triggers.
  var setAside: [String] {
    old.triggerNames.map { "DROP TRIGGER IF EXISTS \(SQLName.quoted($0))" }
      + old.pastTables.flatMap { table in
        [
          "DROP INDEX IF EXISTS \(SQLName.quoted(table.pastKeyName))",
          "ALTER TABLE \(table.past) RENAME TO \(Self.aside(table))",
        ]
      }
  }

  /// Drops the tables that are set aside.
  var dropFormer: [String] { old.pastTables.map { "DROP TABLE \(Self.aside($0))" } }

  /// Fills the current tables of former rows from those set aside; nil if they cannot be.
  ///
  /// - Parameter runsSteps: whether steps change rows, of which no former values are kept.
  func copies(runsSteps: Bool) -> [String]? {
    if runsSteps { return nil }
    var copies: [String] = []
    for root in migration.current.entities where root.parent == nil {
      guard let table = new.entities[root.index], table.hasValues else { continue }
      guard case .kept(let kept)? = statements.tables[root.index], let former = old.entities[kept.origin],
        former.hasValues, let values = values(kept, table)
      else { return nil }
      copies.append(copy(former, table, values))
    }
    for join in migration.current.joinTables {
      guard let table = new.joins[join.index], table.hasValues else { continue }
      guard let origin = statements.copiedOrigin(of: join), let former = old.joins[origin.table], former.hasValues
      else {
        return nil
      }
      copies.append(copy(former, table, pairValues(join, origin)))
    }
    return copies
  }

  private func copy(_ former: HistoryPlan.Table, _ table: HistoryPlan.Table, _ values: [String]) -> String {
    let mine = ["\"_until\"", "\"_since\""] + (table.isJoin ? ["\"_existed\""] : [])
    let names = (mine + table.columns).joined(separator: ", ")
    return "INSERT INTO \(table.past) (\(names)) SELECT \((mine + values).joined(separator: ", ")) "
      + "FROM \(Self.aside(former)) ORDER BY \"_number\""
  }

  private static func aside(_ table: HistoryPlan.Table) -> String { SQLName.quoted("_formerPast.\(table.plainName)") }

  // MARK: Rows

  /// The expressions for the columns of a table; nil if they cannot be said of the row alone.
  private func values(_ kept: KeptTable, _ table: HistoryPlan.Table) -> [String]? {
    guard kept.removed.isEmpty, kept.corrections.isEmpty, kept.additions.allSatisfy({ $0.fillings.isEmpty }) else {
      return nil
    }
    let renames = Dictionary(kept.renames.map { (SQLName.quoted($0.to), SQLName.quoted($0.from)) }) { first, _ in first
    }
    let additions = Dictionary(
      kept.additions.map { (SQLName.quoted($0.column.name), $0.literal ?? "NULL") }
    ) { first, _ in first }
    return table.columns.map { column in
      if column == SQLName.entity { return entity(kept) }
      if let literal = additions[column] { return literal }
      return renames[column] ?? column
    }
  }

  private func entity(_ kept: KeptTable) -> String {
    if kept.becomesHierarchy { return SQLName.literal(kept.entityNames.first?.to ?? kept.entity.name) }
    if kept.entityNames.isEmpty { return SQLName.entity }
    let cases = kept.entityNames.map { "WHEN \(SQLName.literal($0.from)) THEN \(SQLName.literal($0.to))" }
    return "CASE \(SQLName.entity) \(cases.joined(separator: " ")) ELSE \(SQLName.entity) END"
  }

  // MARK: Pairs

  private func pairValues(_ join: JoinTable, _ origin: (table: Int, isReversed: Bool)) -> [String] {
    let former = migration.stored.joinTables[origin.table]
    var keys = [former.first.column, former.partnerColumn].map(SQLName.quoted)
    var places = [former.first.orderColumn, former.second?.orderColumn].map { $0.map(SQLName.quoted) ?? "NULL" }
    if origin.isReversed {
      keys.reverse()
      places.reverse()
    }
    if join.first.orderColumn == nil { places[0] = "" }
    if join.second?.orderColumn == nil { places[1] = "" }
    return keys + places.filter { !$0.isEmpty }
  }
}
