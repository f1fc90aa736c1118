import TrellisModel
import TrellisStorage

/// The keys, indexes, foreign keys and checks that a migration drops, renames and makes. One whose table and columns stay
/// up to their names is not made again, whatever the size of the table.
struct PartChanges {
  struct Kept {
    let part: PostgresSchema.Part
    let formerName: String
    /// The name of its table on the server after the migration.
    let table: String
  }

  /// Statements that drop foreign keys, which come before those that drop what these refer to.
  private(set) var dropForeignKeys: [String] = []
  private(set) var dropOthers: [String] = []
  /// The parts that get another name.
  private(set) var renamed: [Kept] = []
  /// The parts to make, in this order.
  private(set) var made: [PostgresSchema.Part] = []
  /// The indexes of tables that stay, which ``IndexOpening`` makes after the migration.
  private(set) var later: [PostgresSchema.Part] = []

  /// The tables, by their names on the server, that others cannot use meanwhile.
  private(set) var changedTables: Set<String> = []

  /// The beginnings of the names of the store's own parts. Others belong to other programs.
  private static let prefixes = [
    "_key.", "_unique.", "_reference.", "_index.", "_reverse.", "_target.", "_entity.", "_value.", "_required.",
  ]

  /// What makes a part the same, in the terms of the current model.
  private struct Shape: Hashable {
    let kind: PostgresSchema.Part.Kind
    let table: String
    let columns: [String]
    let orders: [Int]
    let target: String?
    let condition: String?
  }

  /// - Parameters:
  ///   - found: what the schema has before the migration.
  ///   - changesChecks: whether checks are made and dropped, for which a table has to be taken from all others.
  init(
    _ changes: ServerTableChanges, _ stored: PostgresSchema, _ current: PostgresSchema, _ found: SchemaFacts,
    changesChecks: Bool = true
  ) {
    let names = current.names
    let tables = KeptNames(changes)
    var available: [Shape: [PostgresSchema.Part]] = [:]
    for part in stored.parts {
      // What another program has changed is made again.
      guard let present = found.parts[part.name], present.table == names.fitted(part.table),
        present.fact == SchemaFacts.fact(part, names), let shape = Self.shape(part, tables)
      else { continue }
      available[shape, default: []].append(part)
    }
    var keptNames: Set<String> = []
    for part in current.parts where changesChecks || part.kind != .check {
      let shape = Shape(
        kind: part.kind, table: part.table, columns: part.columns, orders: part.orders, target: part.target,
        condition: part.condition)
      // One with the same name is the best choice among equal ones.
      var candidates = available[shape] ?? []
      let place = candidates.firstIndex { $0.name == part.name } ?? (candidates.isEmpty ? nil : 0)
      guard let place else {
        // The primary key of a table that is written is made with it.
        guard part.kind != .primaryKey || tables.isCurrent(part.table) else { continue }
        if part.kind == .index, tables.isCurrent(part.table) {
          later.append(part)
          continue
        }
        made.append(part)
        changedTables.formUnion([part.table, part.target].compactMap { $0.map(names.fitted) })
        continue
      }
      let former = candidates.remove(at: place)
      available[shape] = candidates
      keptNames.insert(former.name)
      if former.name != part.name {
        changedTables.insert(names.fitted(part.table))
        renamed.append(Kept(part: part, formerName: former.name, table: names.fitted(part.table)))
      }
    }
    let paged = Set(changes.pagedRoots.map { names.fitted($0.name) })
    let storedTables = Set(
      (stored.model.entities.filter { $0.parent == nil }.map(\.name) + stored.model.joinTables.map(\.name))
        .map(names.fitted))
    for (name, part) in found.parts.sorted(by: { $0.key < $1.key }) where !keptNames.contains(name) {
      guard storedTables.contains(part.table), Self.prefixes.contains(where: name.hasPrefix) else { continue }
      if part.kind == PostgresSchema.Part.Kind.check.rawValue && !changesChecks { continue }
      changedTables.insert(part.table)
      if part.kind == PostgresSchema.Part.Kind.foreignKey.rawValue {
        dropForeignKeys.append(Self.drop(name, of: part.table, isConstraint: true, names))
      } else if tables.isKept(part.table, names) || paged.contains(part.table) {
        // A table that is read page by page stays for a while, and a part of another one may get the name.
        let isConstraint = PostgresSchema.Part.Kind(rawValue: part.kind)?.isConstraint ?? false
        dropOthers.append(Self.drop(name, of: part.table, isConstraint: isConstraint, names))
      }
    }
  }

  private static func drop(_ name: String, of table: String, isConstraint: Bool, _ names: SQLNames) -> String {
    isConstraint
      ? "ALTER TABLE \(names.table(table)) DROP CONSTRAINT \(SQLName.quoted(name))"
      : "DROP INDEX \(names.qualifier)\(SQLName.quoted(name))"
  }

  private static func shape(_ part: PostgresSchema.Part, _ tables: KeptNames) -> Shape? {
    guard let table = tables.current[part.table] else { return nil }
    var columns: [String] = []
    for column in part.columns {
      guard let name = tables.column(column, of: part.table) else { return nil }
      columns.append(name)
    }
    var target: String?
    if let former = part.target {
      guard let name = tables.current[former] else { return nil }
      target = name
    }
    return Shape(
      kind: part.kind, table: table, columns: columns, orders: part.orders, target: target, condition: part.condition)
  }

  /// The statements that give parts their new names, by way of third names, because names may be swapped. Their tables
  /// have their new names already.
  func rename(_ names: SQLNames) -> [String] {
    func rename(_ kept: Kept, _ from: String, _ to: String) -> String {
      kept.part.kind.isConstraint
        ? "ALTER TABLE \(names.table(kept.table)) RENAME CONSTRAINT \(SQLName.quoted(from)) TO \(SQLName.quoted(to))"
        : "ALTER INDEX \(names.qualifier)\(SQLName.quoted(from)) RENAME TO \(SQLName.quoted(to))"
    }
    return renamed.enumerated().map { rename($1, $1.formerName, "_part.\($0)") }
      + renamed.enumerated().map { rename($1, "_part.\($0)", $1.part.name) }
  }
}

/// The current names of the tables and columns that stay.
private struct KeptNames {
  /// The current name of each stored table.
  private(set) var current: [String: String] = [:]
  private var columns: [String: (String) -> String?] = [:]

  init(_ changes: ServerTableChanges) {
    for table in changes.kept.values {
      current[table.origin.name] = table.root.name
      columns[table.origin.name] = table.name
    }
    for pairs in changes.keptPairs.values {
      current[pairs.origin.name] = pairs.table.name
      columns[pairs.origin.name] = pairs.name
    }
  }

  func column(_ name: String, of table: String) -> String? { columns[table]?(name) }

  /// Whether a current table is one that stays.
  func isCurrent(_ table: String) -> Bool { current.values.contains(table) }

  /// Whether a stored table stays, by its name on the server.
  func isKept(_ table: String, _ names: SQLNames) -> Bool { current.keys.contains { names.fitted($0) == table } }
}
