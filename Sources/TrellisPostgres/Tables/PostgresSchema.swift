import TrellisModel
import TrellisStorage

/// A column of a root entity's table.
struct TableColumn: Hashable {
  /// The name in the model's terms, not quoted.
  let name: String
  let type: ServerType
  let isRequired: Bool
  /// The root entity of the referenced rows; nil if there is no foreign key.
  let target: Int?
  /// The entity and the property, for the names of the foreign key.
  let entity: Int
  let property: Int
}

/// The tables of a model on a server, and the statements that create them.
struct PostgresSchema {
  let model: Model
  let names: SQLNames

  /// A statement with the names that it creates.
  struct Part {
    let name: String
    let statement: String
  }

  /// Every statement, in the order in which they can run: the tables, then keys and indexes, then foreign keys.
  ///
  /// - Complexity: linear in the size of the model.
  var all: [String] {
    let roots = model.entities.filter { $0.parent == nil }
    return roots.map(table) + model.joinTables.map(joinTable) + IndexPlan(model).all.map { index($0).statement }
      + model.joinTables.map { reversedIndex($0).statement } + roots.flatMap(foreignKeys).map(\.statement)
      + model.joinTables.flatMap(foreignKeys).map(\.statement)
  }

  // MARK: Tables

  func table(_ root: Entity) -> String {
    var lines = ["\(SQLName.id) bigint PRIMARY KEY", "\(SQLName.version) bigint NOT NULL"]
    if root.isInHierarchy { lines.append("\(SQLName.entity) text COLLATE \"C\" NOT NULL") }
    lines += columns(of: root).map(definition)
    return "CREATE TABLE \(names.table(root.name)) (\n  \(lines.joined(separator: ",\n  "))\n)"
  }

  /// The columns of a root entity's table, those of its descendants included.
  func columns(of root: Entity) -> [TableColumn] {
    var known: Set<String> = []
    var columns: [TableColumn] = []
    for number in root.subtree {
      let entity = model.entities[number]
      for column in entity.columns where known.insert(column.name).inserted {
        var target: Int?
        if case .reference(let property, let destination) = column.content,
          let relationship = entity.properties[property].relationship, !relationship.isLeftAlone
        {
          target = model.entities[destination].root
        }
        columns.append(
          TableColumn(
            name: column.name, type: ServerType(of: column, in: entity),
            // A row of another entity in the hierarchy has no value for a child's column.
            isRequired: number == root.index && !column.isOptional, target: target, entity: number,
            property: column.property))
      }
    }
    return columns
  }

  func definition(_ column: TableColumn) -> String {
    "\(names.column(column.name)) \(Self.typeName(column.type))\(column.isRequired ? " NOT NULL" : "")"
  }

  /// Texts compare by their bytes.
  static func typeName(_ type: ServerType) -> String { type == .text ? "text COLLATE \"C\"" : type.name }

  func joinTable(_ table: JoinTable) -> String {
    let first = names.column(table.first.column)
    let partner = names.column(table.partnerColumn)
    var lines = ["\(first) bigint NOT NULL", "\(partner) bigint NOT NULL"]
    for column in [table.first.orderColumn, table.second?.orderColumn] {
      if let column { lines.append("\(names.column(column)) bigint") }
    }
    lines.append("PRIMARY KEY (\(first), \(partner))")
    return "CREATE TABLE \(names.table(table.name)) (\n  \(lines.joined(separator: ",\n  "))\n)"
  }

  // MARK: Foreign keys

  /// A foreign key is checked at the end of each statement, unless a save defers it.
  private func foreignKey(_ name: String, _ table: String, _ column: String, to entity: Int) -> Part {
    let target = names.table(model.entities[model.entities[entity].root].name)
    return Part(
      name: names.fitted(name),
      statement: "ALTER TABLE \(table) ADD CONSTRAINT \(names.identifier(name)) FOREIGN KEY (\(column)) "
        + "REFERENCES \(target) (\(SQLName.id)) DEFERRABLE")
  }

  func foreignKeys(_ root: Entity) -> [Part] {
    columns(of: root).compactMap { column in
      guard let target = column.target else { return nil }
      return foreignKey(
        Self.foreignKeyName(root, column), names.table(root.name), names.column(column.name), to: target)
    }
  }

  static func foreignKeyName(_ root: Entity, _ column: TableColumn) -> String { "_target.\(root.name).\(column.name)" }

  func foreignKeys(_ table: JoinTable) -> [Part] {
    // Under every delete rule, a pair is deleted with either of its rows.
    [
      foreignKey(
        "_target.\(table.name).\(table.first.column)", names.table(table.name), names.column(table.first.column),
        to: table.first.entity),
      foreignKey(
        "_target.\(table.name).\(table.partnerColumn)", names.table(table.name), names.column(table.partnerColumn),
        to: table.partnerEntity),
    ]
  }

  // MARK: Indexes

  /// An index, or the constraint of a unique key. The server checks unique keys at the end of a save, so that objects
  /// can exchange their values.
  func index(_ index: PlannedIndex) -> Part {
    let root = model.entities[index.root]
    let table = names.table(root.name)
    let name = names.identifier(index.name)
    let statement: String
    if index.isUnique {
      let columns = index.columns.map { names.column($0.name) }
      let ending = "DEFERRABLE INITIALLY DEFERRED"
      if let condition = index.condition {
        let list = columns.map { "\($0) WITH =" }.joined(separator: ", ")
        statement =
          "ALTER TABLE \(table) ADD CONSTRAINT \(name) EXCLUDE USING btree (\(list)) WHERE (\(condition)) \(ending)"
      } else {
        statement = "ALTER TABLE \(table) ADD CONSTRAINT \(name) UNIQUE (\(columns.joined(separator: ", "))) \(ending)"
      }
    } else {
      let required = Set(columns(of: root).filter(\.isRequired).map(\.name))
      let list = index.columns.map { column in
        // Null comes first, as in every sort.
        let nulls = required.contains(column.name) ? "" : column.isDescending ? " NULLS LAST" : " NULLS FIRST"
        return names.column(column.name) + (column.isDescending ? " DESC" : "") + nulls
      }
      statement = "CREATE INDEX \(name) ON \(table) (\(list.joined(separator: ", ")))"
    }
    return Part(name: names.fitted(index.name), statement: statement)
  }

  /// The index that finds pairs from the second end.
  func reversedIndex(_ table: JoinTable) -> Part {
    let name = JoinNames.reversedIndex(table)
    let columns = "\(names.column(table.partnerColumn)), \(names.column(table.first.column))"
    return Part(
      name: names.fitted(name),
      statement: "CREATE INDEX \(names.identifier(name)) ON \(names.table(table.name)) (\(columns))")
  }

  // MARK: Limits

  /// The maximum number of columns of a table.
  ///
  /// Source: PostgreSQL's manual, "PostgreSQL Limits".
  private static let mostColumns = 1_600

  /// The reason why a server cannot have the model's tables, as a sentence. Nil if it can.
  var obstacle: String? {
    for root in model.entities where root.parent == nil {
      for number in root.subtree {
        let entity = model.entities[number]
        if entity.name.utf8.first == UInt8(ascii: "_") {
          return "\(entity.name) begins as the names of the store's own tables"
        }
        for name in [entity.name] + entity.properties.map(\.name) where name.utf8.contains(0) {
          return "a name of \(entity.name) contains NUL"
        }
      }
      let count = columns(of: root).count + 3
      if count > Self.mostColumns {
        return "\(root.name) has \(count) columns, and a table has at most \(Self.mostColumns)"
      }
    }
    return nil
  }
}
