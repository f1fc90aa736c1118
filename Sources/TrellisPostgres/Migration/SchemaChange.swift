import TrellisModel
import TrellisStorage

/// The statements that turn the stored tables into the current ones, in the order in which they run. Rows that were read
/// are written between ``tables`` and ``pagedTables``.
struct SchemaChange {
  /// Drops, changes and creates tables.
  private(set) var tables: [String] = []
  /// Drops the tables whose rows were read page by page, under the names of ``paged(_:_:)``.
  private(set) var pagedTables: [String] = []
  /// Makes keys, indexes, foreign keys and checks.
  private(set) var parts: [String] = []

  private let names: SQLNames
  /// What precedes the names of tables.
  private var prefix = ""
  /// Whether rows that programs with the stored model insert get the value of new columns.
  private let keepsDefaults: Bool

  init(_ changes: ServerTableChanges, _ parts: PartChanges, _ current: PostgresSchema, keepsDefaults: Bool = false) {
    self.keepsDefaults = keepsDefaults
    names = current.names
    let kept = changes.kept.sorted { $0.key < $1.key }.map(\.value)
    let keptPairs = changes.keptPairs.sorted { $0.key < $1.key }.map(\.value)
    tables += parts.dropForeignKeys + parts.dropOthers
    tables += changes.droppedPairs.map { "DROP TABLE \(names.table($0.name))" }
    let paged = changes.pagedRoots
    for (number, root) in paged.enumerated() {
      tables.append("ALTER TABLE \(names.table(root.name)) RENAME TO \(Self.pagedName(number, names))")
      pagedTables.append("DROP TABLE \(Self.paged(number, names))")
    }
    let dropped = changes.droppedRoots.filter { root in !paged.contains { $0.index == root.index } }
    tables += dropped.map { "DROP TABLE \(names.table($0.name))" }
    for table in kept { removeRows(table) }
    renameTables(kept.map { ($0.origin.name, $0.root.name) } + keptPairs.map { ($0.origin.name, $0.table.name) })
    for table in kept { change(table) }
    for pairs in keptPairs { change(pairs) }
    tables += parts.rename(names)
    tables += changes.writtenRoots.map(current.table) + changes.writtenPairs.map(current.joinTable)
    // Rows that break a check stay, and a large table is not read while it is locked.
    self.parts = parts.made.map { $0.kind == .check ? $0.statement + " NOT VALID" : $0.statement }
  }

  /// The statements for the former rows of tables that stay. They may lack any value.
  init(formerRowsOf kept: [KeptServerTable], _ pairs: [KeptServerPairs], _ names: SQLNames) {
    self.names = names
    keepsDefaults = false
    prefix = FormerTables.prefix
    renameTables(kept.map { ($0.origin.name, $0.root.name) } + pairs.map { ($0.origin.name, $0.table.name) })
    for table in kept {
      var table = table
      (table.optional, table.required) = ([], [])
      change(table)
    }
    for pairs in pairs { change(pairs) }
  }

  /// The quoted name of a table while its rows are read page by page.
  static func paged(_ number: Int, _ names: SQLNames) -> String { names.qualifier + pagedName(number, names) }

  private static func pagedName(_ number: Int, _ names: SQLNames) -> String { names.identifier("_paged.\(number)") }

  private func literals(_ entities: [String]) -> String { entities.map(SQLName.literal).joined(separator: ", ") }

  /// Removes the rows that have no place any more, while tables have their stored names.
  private mutating func removeRows(_ table: KeptServerTable) {
    if table.removed.isEmpty { return }
    tables.append(
      "DELETE FROM \(names.table(table.origin.name)) WHERE \(SQLName.entity) IN (\(literals(table.removed)))")
  }

  /// By way of third names, because names may be swapped.
  private mutating func renameTables(_ all: [(from: String, to: String)]) {
    let renames = all.filter { $0.from != $0.to }
    for (number, rename) in renames.enumerated() {
      tables.append(
        "ALTER TABLE \(names.table(prefix + rename.from)) RENAME TO \(names.identifier("_name.\(number)"))")
    }
    for (number, rename) in renames.enumerated() {
      tables.append(
        "ALTER TABLE \(names.table("_name.\(number)")) RENAME TO \(names.identifier(prefix + rename.to))")
    }
  }

  private mutating func renameColumns(_ table: String, _ renames: [(from: String, to: String)]) {
    for (number, rename) in renames.enumerated() {
      tables.append(
        "ALTER TABLE \(names.table(prefix + table)) RENAME COLUMN \(names.column(rename.from)) TO \"_name.\(number)\"")
    }
    for (number, rename) in renames.enumerated() {
      tables.append(
        "ALTER TABLE \(names.table(prefix + table)) RENAME COLUMN \"_name.\(number)\" TO \(names.column(rename.to))")
    }
  }

  /// The statements that give the added columns of a table their values in rows of programs that do not know them.
  static func defaults(_ table: KeptServerTable, _ names: SQLNames) -> [String] {
    table.added.compactMap { addition in
      lastingDefault(addition, names.column(addition.column.name)).map {
        "ALTER TABLE \(names.table(table.root.name)) \($0)"
      }
    }
  }

  private static func lastingDefault(_ addition: KeptServerTable.Addition, _ column: String) -> String? {
    addition.value.map { "ALTER COLUMN \(column) SET DEFAULT \(addition.isNow ? "now()" : $0)" }
  }

  private mutating func change(_ pairs: KeptServerPairs) {
    let name = names.table(prefix + pairs.table.name)
    tables += pairs.dropped.map { "ALTER TABLE \(name) DROP COLUMN \(names.column($0))" }
    renameColumns(pairs.table.name, pairs.renames)
  }

  private mutating func change(_ table: KeptServerTable) {
    let name = names.table(prefix + table.root.name)
    func alter(_ change: String) { tables.append("ALTER TABLE \(name) \(change)") }
    for column in table.dropped { alter("DROP COLUMN \(names.column(column.name))") }
    renameColumns(table.root.name, table.renames)
    for column in table.optional { alter("ALTER COLUMN \(names.column(column)) DROP NOT NULL") }
    for clearing in table.clearings {
      guard let column = table.name(of: clearing.column) else { continue }
      let rows = table.origin.isInHierarchy ? " WHERE \(SQLName.entity) IN (\(literals(clearing.entities)))" : ""
      tables.append("UPDATE \(name) SET \(names.column(column)) = NULL\(rows)")
    }
    for column in table.widened {
      alter("ALTER COLUMN \(names.column(column.name)) TYPE \(PostgresSchema.typeName(column.type))")
    }
    if let entity = table.onlyEntity {
      // A constant is kept in the catalog, so that no row is written.
      alter("ADD COLUMN \(SQLName.entity) text COLLATE \"C\" NOT NULL DEFAULT \(SQLName.literal(entity))")
      alter("ALTER COLUMN \(SQLName.entity) DROP DEFAULT")
    }
    if !table.entityNames.isEmpty {
      let cases = table.entityNames.map { "WHEN \(SQLName.literal($0.from)) THEN \(SQLName.literal($0.to))" }
      tables.append(
        "UPDATE \(name) SET \(SQLName.entity) = CASE \(SQLName.entity) \(cases.joined(separator: " ")) END "
          + "WHERE \(SQLName.entity) IN (\(literals(table.entityNames.map(\.from))))")
    }
    for addition in table.added {
      let column = names.column(addition.column.name)
      let type = PostgresSchema.typeName(addition.column.type)
      if let value = addition.value {
        let required = addition.column.isRequired && prefix.isEmpty ? " NOT NULL" : ""
        alter("ADD COLUMN \(column) \(type)\(required) DEFAULT \(value)")
        if !keepsDefaults {
          alter("ALTER COLUMN \(column) DROP DEFAULT")
        } else if addition.isNow, let lasting = Self.lastingDefault(addition, column) {
          alter(lasting)
        }
      } else {
        alter("ADD COLUMN \(column) \(type)")
      }
      for (entity, value) in addition.values {
        tables.append(
          "UPDATE \(name) SET \(column) = \(value) WHERE \(SQLName.entity) = \(SQLName.literal(entity))")
      }
    }
    for (column, literal) in table.fillings {
      let column = names.column(column)
      tables.append("UPDATE \(name) SET \(column) = \(literal) WHERE \(column) IS NULL")
    }
    for column in table.required { alter("ALTER COLUMN \(names.column(column)) SET NOT NULL") }
  }
}
