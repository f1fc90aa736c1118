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

  /// A key, an index, a foreign key or a check of a table.
  struct Part {
    enum Kind: String {
      case primaryKey, unique, index, foreignKey, check

      /// Whether it is a constraint of its table, and not only an index.
      var isConstraint: Bool { self != .index }
    }

    let kind: Kind
    /// The name within the server's limit, not quoted.
    let name: String
    /// The table and its columns, in the model's terms.
    let table: String
    let columns: [String]
    /// The order of each column of an index, in the bits of the server's catalog: 1 is descending, 2 is null first.
    var orders: [Int] = []
    /// The table that a foreign key refers to.
    var target: String?
    /// The condition of a unique key of a child entity, or of a check, whose columns are numbers in it.
    var condition: String?
    let statement: String
  }

  /// Every statement, in the order in which they can run: the tables, then keys and indexes, then foreign keys and checks.
  ///
  /// - Complexity: linear in the size of the model.
  var all: [String] {
    let roots = model.entities.filter { $0.parent == nil }
    return roots.map(table) + model.joinTables.map(joinTable)
      + parts.filter { $0.kind != .primaryKey }.map(\.statement)
  }

  /// The keys, indexes, foreign keys and checks of all tables, in the order in which they can be made.
  var parts: [Part] {
    let roots = model.entities.filter { $0.parent == nil }
    return roots.map { primaryKey($0.name, ["_id"]) }
      + model.joinTables.map { primaryKey($0.name, [$0.first.column, $0.partnerColumn]) }
      + IndexPlan(model).all.map(index) + model.joinTables.map(reversedIndex) + roots.flatMap(foreignKeys)
      + model.joinTables.flatMap(foreignKeys) + checks
  }

  // MARK: Primary keys

  /// Named by the model's table, so that the name can follow the table's.
  private func primaryKey(_ table: String, _ columns: [String]) -> Part {
    let name = "_key.\(table)"
    let list = columns.map(names.column).joined(separator: ", ")
    return Part(
      kind: .primaryKey, name: names.fitted(name), table: table, columns: columns,
      statement: "ALTER TABLE \(names.table(table)) ADD CONSTRAINT \(names.identifier(name)) PRIMARY KEY (\(list))")
  }

  // MARK: Tables

  func table(_ root: Entity) -> String {
    let key = names.identifier("_key.\(root.name)")
    var lines = ["\(SQLName.id) bigint CONSTRAINT \(key) PRIMARY KEY", "\(SQLName.version) bigint NOT NULL"]
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
    lines.append("CONSTRAINT \(names.identifier("_key.\(table.name)")) PRIMARY KEY (\(first), \(partner))")
    return "CREATE TABLE \(names.table(table.name)) (\n  \(lines.joined(separator: ",\n  "))\n)"
  }

  /// The query for all pairs of a join table: both keys, and the position in each ordered end or null.
  func pairs(of table: JoinTable) -> String {
    let places = [table.first.orderColumn, table.second?.orderColumn].map { $0.map(names.column) ?? "NULL::bigint" }
    let columns = [table.first.column, table.partnerColumn].map(names.column) + places
    return "SELECT \(columns.joined(separator: ", ")) FROM \(names.table(table.name))"
  }

  // MARK: Foreign keys

  /// A foreign key is checked at the end of each statement, unless a save defers it.
  private func foreignKey(_ name: String, _ table: String, _ column: String, to entity: Int) -> Part {
    let target = model.entities[model.entities[entity].root].name
    return Part(
      kind: .foreignKey, name: names.fitted(name), table: table, columns: [column], target: target,
      statement: "ALTER TABLE \(names.table(table)) ADD CONSTRAINT \(names.identifier(name)) FOREIGN KEY "
        + "(\(names.column(column))) REFERENCES \(names.table(target)) (\(SQLName.id)) DEFERRABLE")
  }

  func foreignKeys(_ root: Entity) -> [Part] {
    columns(of: root).compactMap { column in
      guard let target = column.target else { return nil }
      return foreignKey(Self.foreignKeyName(root, column), root.name, column.name, to: target)
    }
  }

  static func foreignKeyName(_ root: Entity, _ column: TableColumn) -> String {
    "\(foreignKeyPrefix)\(root.name).\(column.name)"
  }

  static let foreignKeyPrefix = "_target."

  func foreignKeys(_ table: JoinTable) -> [Part] {
    // Under every delete rule, a pair is deleted with either of its rows.
    [(table.first.column, table.first.entity), (table.partnerColumn, table.partnerEntity)].map { column, entity in
      foreignKey("\(Self.foreignKeyPrefix)\(table.name).\(column)", table.name, column, to: entity)
    }
  }

  // MARK: Checks

  /// The conditions that keep other programs from writing a row that cannot be read.
  ///
  /// Each follows from what every model with the same storage has, so that it changes in migrations only. Cases of enums,
  /// bounds and numbers of members are not among them: models that differ in them share a store, and no program would wait
  /// for a lock to add a case. Neither are required to-ones: a save may clear a reference of a row that it deletes, and a
  /// migration leaves rows without one. Whether a text is JSON costs too much, since all checks of a row are evaluated at
  /// each change of it.
  private var checks: [Part] { model.entities.filter { $0.parent == nil }.flatMap(checks) }

  private func checks(_ root: Entity) -> [Part] {
    var checks: [Part] = []
    if root.isInHierarchy {
      let list = entityNames(root.subtree)
      checks.append(check("_entity.\(root.name)", root, [Self.entityColumn]) { "\($0[0]) IN (\(list))" })
    }
    for column in columns(of: root) {
      guard let attribute = model.entities[column.entity].properties[column.property].attribute,
        let condition = Self.condition(attribute.type)
      else { continue }
      checks.append(check("_value.\(root.name).\(column.name)", root, [column.name]) { condition($0[0]) })
    }
    for number in root.subtree where number != root.index {
      let entity = model.entities[number]
      let required = entity.columns[entity.firstOwnColumn...].filter { !$0.isOptional }.map(\.name)
      if required.isEmpty { continue }
      let list = entityNames(entity.subtree)
      checks.append(
        check("_required.\(entity.name)", root, [Self.entityColumn] + required) { columns in
          let values = columns.dropFirst().map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
          return "\(columns[0]) NOT IN (\(list)) OR \(values)"
        })
    }
    return checks
  }

  private static let entityColumn = "_entity"

  private func entityNames(_ entities: [Int]) -> String {
    entities.map { SQLName.literal(model.entities[$0].name) }.joined(separator: ", ")
  }

  /// What a value of the server's type must be to be one of an attribute's. Nil if all are.
  private static func condition(_ type: AttributeType) -> ((_ column: String) -> String)? {
    switch type {
    // Only a finite number has a difference to itself, in each version of the server.
    case .decimal: { "\($0) - \($0) = 0" }
    case .float, .double: { "\($0) <> 'NaN'" }
    case .date: { "isfinite(\($0))" }
    // A text in the server's form of arrays, which is the usual mistake. JSON may begin with white space.
    case .array: { "left(\($0), 1) IN ('[', ' ', E'\\n', E'\\r', E'\\t')" }
    case .string, .bool, .int16, .int32, .int64, .data, .uuid, .url, .enumeration, .codable: nil
    }
  }

  private func check(
    _ name: String, _ root: Entity, _ columns: [String], _ condition: (_ columns: [String]) -> String
  ) -> Part {
    Part(
      kind: .check, name: names.fitted(name), table: root.name, columns: columns,
      condition: condition(columns.indices.map { "$\($0)" }),
      statement: "ALTER TABLE \(names.table(root.name)) ADD CONSTRAINT \(names.identifier(name)) "
        + "CHECK (\(condition(columns.map(names.column))))")
  }

  // MARK: Indexes

  /// An index, or the constraint of a unique key. The server checks unique keys at the end of a save, so that objects
  /// can exchange their values.
  func index(_ index: PlannedIndex) -> Part {
    let root = model.entities[index.root]
    let table = names.table(root.name)
    let name = names.identifier(index.name)
    if index.isUnique {
      let columns = index.columns.map { names.column($0.name) }
      let ending = "DEFERRABLE INITIALLY DEFERRED"
      let rule =
        index.condition.map { condition in
          "EXCLUDE USING btree (\(columns.map { "\($0) WITH =" }.joined(separator: ", "))) WHERE (\(condition))"
        } ?? "UNIQUE (\(columns.joined(separator: ", ")))"
      return Part(
        kind: .unique, name: names.fitted(index.name), table: root.name, columns: index.columns.map(\.name),
        condition: index.condition, statement: "ALTER TABLE \(table) ADD CONSTRAINT \(name) \(rule) \(ending)")
    }
    let required = Set(columns(of: root).filter(\.isRequired).map(\.name))
    let list = index.columns.map { column in
      // Null comes first, as in every sort.
      let nulls = required.contains(column.name) ? "" : column.isDescending ? " NULLS LAST" : " NULLS FIRST"
      return names.column(column.name) + (column.isDescending ? " DESC" : "") + nulls
    }
    let orders = index.columns.map { column in
      // The server's own order has null last, and first if it is descending.
      let isNullFirst = required.contains(column.name) == column.isDescending
      return (column.isDescending ? 1 : 0) + (isNullFirst ? 2 : 0)
    }
    return Part(
      kind: .index, name: names.fitted(index.name), table: root.name, columns: index.columns.map(\.name),
      orders: orders, statement: "CREATE INDEX \(name) ON \(table) (\(list.joined(separator: ", ")))")
  }

  /// The index that finds pairs from the second end.
  func reversedIndex(_ table: JoinTable) -> Part {
    let name = JoinNames.reversedIndex(table)
    let columns = [table.partnerColumn, table.first.column]
    let list = columns.map(names.column).joined(separator: ", ")
    return Part(
      kind: .index, name: names.fitted(name), table: table.name, columns: columns, orders: [0, 0],
      statement: "CREATE INDEX \(names.identifier(name)) ON \(names.table(table.name)) (\(list))")
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
