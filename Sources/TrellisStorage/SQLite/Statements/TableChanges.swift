import TrellisModel

/// The way from stored tables to the table of a current root entity.
enum TableChange {
  /// The stored table is changed in place.
  case kept(KeptTable)
  /// The table is created, and filled from the tables of these stored root entities.
  case rebuilt([Int])

  /// The stored root entity whose table is kept.
  var keptRoot: Int? {
    if case .kept(let table) = self { table.origin } else { nil }
  }
}

/// A stored table that stays, with new names and new columns.
struct KeptTable {
  /// The stored root entity.
  let origin: Int
  /// The current root entity.
  let entity: Entity
  let renames: [(from: String, to: String)]
  let additions: [Addition]
  /// The new names of entities, by the stored name.
  let entityNames: [(from: String, to: String)]
  /// The names of stored entities whose rows are deleted.
  let removed: [String]
  /// Whether rows get a column with the name of their entity.
  let becomesHierarchy: Bool
  let corrections: [Correction]

  /// The replacement of values that have no counterpart, and stay as they are otherwise.
  struct Correction {
    /// The column's new name.
    let column: String
    /// The current entity's name; nil if the table has rows of one entity only.
    let entity: String?
    let conversion: Int
    let filling: Filling
  }

  struct Addition {
    let column: TableColumn
    /// A literal that all rows get; nil if there is none.
    var literal: String?
    /// The values of rows by the current entity's name; nil for all entities.
    var fillings: [(entity: String?, filling: Filling)] = []
  }

  /// Whether a row changes, apart from values that only the schema holds.
  var writesRows: Bool {
    !entityNames.isEmpty || !removed.isEmpty || !corrections.isEmpty || additions.contains { !$0.fillings.isEmpty }
  }

  /// Whether an index is the same: of the table and the columns that had the same names before. Names can be swapped.
  ///
  /// - Parameter stored: the model of the file.
  func keeps(_ index: PlannedIndex, of stored: Model) -> Bool {
    stored.entities[origin].name == entity.name
      && index.columns.allSatisfy { column in !renames.contains { $0.from == column.name || $0.to == column.name } }
  }

  /// Whether the table is as it was.
  var isUnchanged: Bool { renames.isEmpty && additions.isEmpty && !becomesHierarchy && !writesRows }

  func statements(_ schema: SchemaStatements, now: Int64) -> [MigrationStatement] {
    let table = SQLName.quoted(entity.name)
    var statements: [MigrationStatement] = []
    if !removed.isEmpty {
      let names = removed.map(SQLName.literal).joined(separator: ", ")
      statements.append(MigrationStatement("DELETE FROM \(table) WHERE \(SQLName.entity) IN (\(names))"))
    }
    // By way of a third name, because names may be swapped, or differ in case only.
    for (number, rename) in renames.enumerated() {
      statements.append(renameColumn(table, rename.from, "_name.\(number)"))
    }
    for (number, rename) in renames.enumerated() {
      statements.append(renameColumn(table, "_name.\(number)", rename.to))
    }
    if becomesHierarchy {
      let name = SQLName.literal(entityNames.first?.to ?? entity.name)
      statements.append(
        MigrationStatement("ALTER TABLE \(table) ADD COLUMN \(SQLName.entity) TEXT NOT NULL DEFAULT \(name)"))
    } else if !entityNames.isEmpty {
      let cases = entityNames.map { "WHEN \(SQLName.literal($0.from)) THEN \(SQLName.literal($0.to))" }
      let names = entityNames.map { SQLName.literal($0.from) }.joined(separator: ", ")
      statements.append(
        MigrationStatement(
          "UPDATE \(table) SET \(SQLName.entity) = CASE \(SQLName.entity) \(cases.joined(separator: " ")) END "
            + "WHERE \(SQLName.entity) IN (\(names))"))
    }
    for addition in additions { statements += add(addition, table, schema, now) }
    for correction in corrections { statements.append(correct(correction, table, now)) }
    return statements
  }

  private func correct(_ correction: Correction, _ table: String, _ now: Int64) -> MigrationStatement {
    var values = BoundValues(now: now)
    let column = SQLName.quoted(correction.column)
    let rows = correction.entity.map { " AND \(SQLName.entity) = \(SQLName.literal($0))" } ?? ""
    return MigrationStatement(
      "UPDATE \(table) AS o SET \(column) = \(values.expression(correction.filling)) WHERE \(column) IS NOT NULL"
        + "\(rows) AND trellis_convert(\(correction.conversion), \(column)) IS NULL", values.all)
  }

  private func renameColumn(_ table: String, _ old: String, _ new: String) -> MigrationStatement {
    MigrationStatement("ALTER TABLE \(table) RENAME COLUMN \(SQLName.quoted(old)) TO \(SQLName.quoted(new))")
  }

  private func add(
    _ addition: Addition, _ table: String, _ schema: SchemaStatements, _ now: Int64
  ) -> [MigrationStatement] {
    let value = addition.literal.map { " DEFAULT \($0)" } ?? ""
    var statements = [
      MigrationStatement("ALTER TABLE \(table) ADD COLUMN \(schema.definition(of: addition.column))\(value)")
    ]
    for (entity, filling) in addition.fillings {
      var values = BoundValues(now: now)
      let expression = values.expression(filling)
      let rows = entity.map { " WHERE \(SQLName.entity) = \(SQLName.literal($0))" } ?? ""
      statements.append(
        MigrationStatement(
          "UPDATE \(table) AS o SET \(SQLName.quoted(addition.column.name)) = \(expression)\(rows)", values.all))
    }
    return statements
  }
}

/// Decides for each table whether it can be changed in place.
struct TableChanges {
  let all: [Int: TableChange]

  init(
    _ migration: Migration, _ oldSchema: SchemaStatements, _ newSchema: SchemaStatements
  ) {
    var all: [Int: TableChange] = [:]
    let moves = migration.rows.compactMap(\.self)
    for root in migration.current.entities where root.parent == nil {
      let mine = moves.filter { migration.current.entities[$0.entity].root == root.index }
      let sources = Set(mine.map { migration.stored.entities[$0.origin].root }).sorted()
      let keeping = KeptRows(of: root, in: migration).map {
        KeptTableCheck(migration: migration, oldSchema: oldSchema, newSchema: newSchema, root: root, rows: $0)
      }
      if let kept = keeping?.keptTable() {
        all[root.index] = .kept(kept)
      } else {
        all[root.index] = .rebuilt(sources)
      }
    }
    self.all = all
  }
}

/// Finds out whether a stored table can become the table of a current root entity without being written again.
private struct KeptTableCheck {
  let migration: Migration
  let oldSchema: SchemaStatements
  let newSchema: SchemaStatements
  let root: Entity
  let rows: KeptRows

  private var stored: Model { migration.stored }
  private var current: Model { migration.current }
  private var moves: [RowMove] { rows.moves }

  func keptTable() -> KeptTable? {
    guard let changes = columns(rows.origin) else { return nil }
    return KeptTable(
      origin: rows.origin.index, entity: root, renames: changes.renames, additions: changes.additions,
      entityNames: root.isInHierarchy ? rows.names.filter { rows.becomesHierarchy || $0.from != $0.to } : [],
      removed: rows.removed, becomesHierarchy: rows.becomesHierarchy, corrections: changes.corrections)
  }

  private struct ColumnChanges {
    var renames: [(from: String, to: String)] = []
    var additions: [KeptTable.Addition] = []
    var corrections: [KeptTable.Correction] = []
  }

  /// The changes of columns; nil if a column changes in another way, or goes.
  private func columns(_ origin: Entity) -> ColumnChanges? {
    var left = Dictionary(oldSchema.columns(of: origin).map { ($0.name, $0) }) { first, _ in first }
    var changes = ColumnChanges()
    for column in newSchema.columns(of: root) {
      guard let sources = sources(of: column) else { return nil }
      let names = Set(sources.compactMap(\.name))
      if names.count > 1 { return nil }
      guard let name = names.first ?? unusedColumn(column, in: left, sources) else {
        guard let addition = addition(column, sources) else { return nil }
        changes.additions.append(addition)
        continue
      }
      guard let old = left.removeValue(forKey: name), isSame(old, column),
        sources.allSatisfy({ $0.name != nil || $0.filling == .null })
      else { return nil }
      if name != column.name { changes.renames.append((name, column.name)) }
      for source in sources {
        guard let conversion = source.conversion else { continue }
        changes.corrections.append(
          KeptTable.Correction(
            column: column.name, entity: root.isInHierarchy ? current.entities[source.entity].name : nil,
            conversion: conversion, filling: source.filling))
      }
    }
    return left.isEmpty ? changes : nil
  }

  private struct Source {
    let entity: Int
    /// The stored column's name; nil if the value is new.
    var name: String?
    /// The conversion that some values have no counterpart for; nil if all values stay.
    var conversion: Int?
    /// The value of a new attribute, or of values without a counterpart.
    var filling = Filling.null
  }

  /// The sources of a column for each entity that has it; nil if values are converted or collected.
  private func sources(of column: TableColumn) -> [Source]? {
    var sources: [Source] = []
    for move in moves {
      guard let number = current.entities[move.entity].columns.firstIndex(where: { $0.name == column.name }) else {
        continue
      }
      switch move.columns[number] {
      case .stored(let stored):
        guard stored.isPlain || keepsValues(stored) else { return nil }
        let name = self.stored.entities[move.origin].columns[stored.column].name
        sources.append(
          Source(entity: move.entity, name: name, conversion: stored.conversion, filling: stored.misfit))
      case .new(let filling): sources.append(Source(entity: move.entity, filling: filling))
      case .partner, .place: return nil
      }
    }
    return sources
  }

  private func keepsValues(_ stored: StoredColumn) -> Bool {
    guard let conversion = stored.conversion, !stored.isInlined, stored.missing == .null else { return false }
    return migration.conversions[conversion].keepsValues
  }

  /// A column of entities without stored rows keeps its name, so that it is no new one.
  private func unusedColumn(
    _ column: TableColumn, in left: [String: TableColumn], _ sources: [Source]
  ) -> String? {
    sources.isEmpty && left[column.name] != nil ? column.name : nil
  }

  private func isSame(_ old: TableColumn, _ new: TableColumn) -> Bool {
    guard old.type == new.type, old.isRequired == new.isRequired, (old.target == nil) == (new.target == nil) else {
      return false
    }
    return old.target.map { migration.match.successors[$0] == new.target } ?? true
  }

  private func addition(_ column: TableColumn, _ sources: [Source]) -> KeptTable.Addition? {
    var addition = KeptTable.Addition(column: column)
    let fillings = Set(sources.map(\.filling))
    // Every row of the table gets the same value.
    let isForAll = sources.count == moves.count
    if isForAll, fillings.count == 1, case .value(let value)? = fillings.first, let literal = SQLName.literal(value) {
      addition.literal = literal
      return addition
    }
    // A required column needs a value from the start.
    if column.isRequired { return nil }
    addition.fillings =
      isForAll && fillings.count == 1
      ? sources.prefix(1).filter { $0.filling != .null }.map { (nil, $0.filling) }
      : sources.filter { $0.filling != .null }.map { (current.entities[$0.entity].name, $0.filling) }
    return addition
  }
}

extension SQLName {
  /// A value as a literal that every version of SQLite reads as this value; nil if there is none.
  static func literal(_ value: StoredValue) -> String? {
    switch value {
    // The least number would be read as a negated real.
    case .integer(let number) where number > .min: String(number)
    case .text(let text) where !text.utf8.contains(0): literal(text)
    case .blob(let bytes):
      "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    // Numbers with fractions are not read exactly by every version.
    case .real(let number) where number.magnitude < 1_000_000_000 && number == number.rounded(): "\(number)"
    case .null, .integer, .text, .real, .file: nil
    }
  }
}
