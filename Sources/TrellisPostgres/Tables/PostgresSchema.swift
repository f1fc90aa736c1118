import TrellisModel
import TrellisStorage

extension TableColumn {
  var type: ServerType {
    switch content {
    case .integer: .bigint
    case .entityName: .text
    case .attribute(let attribute): ServerType(of: attribute)
    }
  }
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
  var all: [String] { tables.map(creation) + parts.filter { $0.kind != .primaryKey }.map(\.statement) }

  /// The tables. Derived values have tables of their own.
  var tables: [StoredTable] { model.tables(hasDerived: false) }

  /// The keys, indexes, foreign keys and checks of all tables, in the order in which they can be made.
  var parts: [Part] {
    tables.map(primaryKey) + IndexPlan(model).all.map(index) + model.joinTables.map(reversedIndex)
      + tables.flatMap(foreignKeys) + checks
  }

  // MARK: Primary keys

  /// Named by the model's table, so that the name can follow the table's.
  private func primaryKey(_ table: StoredTable) -> Part {
    let name = "_key.\(table.name)"
    return Part(
      kind: .primaryKey, name: names.fitted(name), table: table.name, columns: table.key,
      statement: "ALTER TABLE \(names.table(table.name)) ADD CONSTRAINT \(names.identifier(name)) PRIMARY KEY "
        + "(\(list(table.key)))")
  }

  private func list(_ columns: [String]) -> String { columns.map(names.column).joined(separator: ", ") }

  // MARK: Tables

  func table(_ root: Entity) -> String { creation(model.table(of: root, hasDerived: false)) }

  func joinTable(_ table: JoinTable) -> String { creation(model.table(of: table)) }

  private func creation(_ table: StoredTable) -> String {
    let key = "CONSTRAINT \(names.identifier("_key.\(table.name)")) PRIMARY KEY"
    var lines = table.columns.map(definition)
    if table.isJoin { lines.append("\(key) (\(list(table.key)))") } else { lines[0] = "\(SQLName.id) bigint \(key)" }
    return "CREATE TABLE \(names.table(table.name)) (\n  \(lines.joined(separator: ",\n  "))\n)"
  }

  /// The columns that a root entity's table has for properties, those of its descendants included.
  func columns(of root: Entity) -> [TableColumn] { model.tableColumns(of: root, hasDerived: false) }

  func definition(_ column: TableColumn) -> String {
    "\(names.column(column.name)) \(Self.typeName(column.type))\(column.isRequired ? " NOT NULL" : "")"
  }

  /// Texts compare by their bytes.
  static func typeName(_ type: ServerType) -> String { type == .text ? "text COLLATE \"C\"" : type.name }

  /// The query for all pairs of a join table: both keys, and the position in each ordered end or null.
  func pairs(of table: JoinTable) -> String {
    let places = [table.first.orderColumn, table.second?.orderColumn].map { $0.map(names.column) ?? "NULL::bigint" }
    let columns = [table.first.column, table.partnerColumn].map(names.column) + places
    return "SELECT \(columns.joined(separator: ", ")) FROM \(names.table(table.name))"
  }

  // MARK: Foreign keys

  /// A foreign key is checked at the end of each statement, unless a save defers it.
  func foreignKeys(_ table: StoredTable) -> [Part] {
    table.columns.compactMap { column in
      guard let target = column.target.map({ model.entities[$0].name }) else { return nil }
      let name = Self.foreignKeyName(table.name, column)
      return Part(
        kind: .foreignKey, name: names.fitted(name), table: table.name, columns: [column.name], target: target,
        statement: "ALTER TABLE \(names.table(table.name)) ADD CONSTRAINT \(names.identifier(name)) FOREIGN KEY "
          + "(\(names.column(column.name))) REFERENCES \(names.table(target)) (\(SQLName.id)) DEFERRABLE")
    }
  }

  static func foreignKeyName(_ table: String, _ column: TableColumn) -> String {
    "\(foreignKeyPrefix)\(table).\(column.name)"
  }

  static let foreignKeyPrefix = "_target."

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
    case .string, .bool, .integer, .data, .uuid, .url, .enumeration, .codable: nil
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
      if let unfit = model.unfitName(of: root) { return unfit }
      let count = columns(of: root).count + 3
      if count > Self.mostColumns {
        return "\(root.name) has \(count) columns, and a table has at most \(Self.mostColumns)"
      }
    }
    return nil
  }
}
