import TrellisModel
import TrellisStorage

/// Carries former rows along with a migration, within its transaction.
///
/// They stay with a table whose rows all stay as they are, up to the names of columns and values that are the same for all.
/// Otherwise the former rows of the table end: those before the migration cannot be shown any more.
struct FormerMigration {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let stored: PostgresSchema
  private let changes: ServerTableChanges
  private let found: PresentFormerTables
  /// The tables with other columns, whose former rows get them as well, and those whose former rows end, by their names
  /// in the current and the stored model.
  private var carried: [String] = []
  private var ended: [String] = []
  /// Whether moments before the migration cannot be shown any more.
  private var endsMoments = false
  private var statements: [String] = []

  /// Drops the triggers of all tables that change, so that they do not note the changes as those of a program.
  init(
    _ connection: ServerConnection, _ setup: PostgresSetup, _ stored: PostgresSchema, _ changes: ServerTableChanges
  ) throws {
    self.connection = connection
    self.setup = setup
    self.stored = stored
    self.changes = changes
    found = try PresentFormerTables(connection, setup)
    if found.isEmpty { return }
    decide()
    let rows = FormerRows(setup)
    let names = rows.names
    let kept = changes.kept.sorted { $0.key < $1.key }.map(\.value).filter { carried.contains($0.root.name) }
    let pairs = changes.keptPairs.sorted { $0.key < $1.key }.map(\.value).filter { carried.contains($0.table.name) }
    let changed = ended + kept.map(\.origin.name) + pairs.map(\.origin.name)
    try connection.runAll(
      changed.sorted().map { rows.drop(function: names.fitted(FormerTables.functionPrefix + $0)) }
        + ended.filter { found.has(names.fitted(FormerTables.prefix + $0)) }.sorted().map {
          "DROP TABLE \(names.table(FormerTables.prefix + $0))"
        })
    statements = SchemaChange(formerRowsOf: kept, pairs, names).tables
  }

  private mutating func decide() {
    let (before, after) = (FormerTables(stored), FormerTables(setup.schema))
    func isSame(_ origin: String, _ name: String) -> Bool {
      TextBytes.areEqual(origin, name)
        && before.table(of: origin)?.definitions == after.table(of: name)?.definitions
    }
    func keep(_ origin: String, as name: String, rowsStay: Bool, isUnchanged: Bool) {
      if isUnchanged && isSame(origin, name) { return }
      if rowsStay, before.table(of: origin) != nil, after.table(of: name) != nil { return carried.append(name) }
      end(origin, leavesGap: true)
    }
    func end(_ origin: String, leavesGap: Bool) {
      ended.append(origin)
      if leavesGap && before.table(of: origin) != nil { endsMoments = true }
    }
    for table in changes.kept.values {
      let rowsStay = table.keepsAllRows
      keep(
        table.origin.name, as: table.root.name, rowsStay: rowsStay, isUnchanged: rowsStay && table.entityNames.isEmpty)
    }
    for pairs in changes.keptPairs.values {
      keep(pairs.origin.name, as: pairs.table.name, rowsStay: true, isUnchanged: true)
    }
    // What the model has no more is left out of earlier moments. What is written to another table is missing there.
    let moved = Set(changes.migration.rows.compactMap { $0.map { stored.model.entities[$0.origin].root } })
    for root in changes.droppedRoots { end(root.name, leavesGap: moved.contains(root.index)) }
    for pairs in changes.droppedPairs { end(pairs.name, leavesGap: !changes.writtenPairs.isEmpty) }
  }

  /// Gives the former rows their columns, and the tables their triggers, after the tables and the history have changed.
  func finish() throws {
    if found.isEmpty { return }
    try connection.runAll(statements)
    let made = changes.writtenRoots.map(\.name) + changes.writtenPairs.map(\.name)
    // A table that was made without rows has none that its triggers do not tell of.
    let fresh = try endsMoments ? [] : made.filter { try !isFilled($0) }
    try FormerTablesOpening(connection, setup).make(
      PresentFormerTables(connection, setup), carried: Set(carried), fresh: Set(fresh))
  }

  private func isFilled(_ name: String) throws -> Bool {
    let rows = "SELECT EXISTS (SELECT 1 FROM \(setup.schema.names.table(name)))"
    return try connection.run(ServerStatement(rows)).integer(0, 0) != 0
  }
}

extension KeptServerTable {
  /// Whether each row stays, and gets no value that is not the same for all.
  fileprivate var keepsAllRows: Bool {
    removed.isEmpty && clearings.isEmpty && fillings.isEmpty && onlyEntity == nil && added.allSatisfy(\.values.isEmpty)
  }
}
