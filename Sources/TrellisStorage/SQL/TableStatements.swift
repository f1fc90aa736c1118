package import TrellisModel

/// The statements that create a file's tables, formatted to be read in `sqlite3`'s `.schema`.
package struct SchemaStatements {
  let model: Model

  package init(_ model: Model) { self.model = model }

  /// Every statement, in the order of the model file: each root entity's table with its indexes, then the join tables.
  ///
  /// - Complexity: linear in the size of the model.
  package var all: [String] {
    var statements: [String] = []
    let indexes = IndexPlan(model)
    for entity in model.entities where entity.parent == nil {
      statements.append(table(entity))
      statements += indexes.all.filter { $0.root == entity.index }.map(\.statement)
    }
    for table in model.joinTables {
      statements.append(joinTable(table))
      statements += reversedIndex(table)
    }
    return statements
  }

  /// The table with the metadata of the file.
  package static let metadata =
    "CREATE TABLE \(SQLName.metadata) (\n  \"key\" TEXT PRIMARY KEY NOT NULL,\n  \"value\" ANY NOT NULL\n) STRICT, WITHOUT ROWID"

  /// The table with the models that the file has had.
  package static let models = """
    CREATE TABLE \(SQLName.models) (
      "number" INTEGER PRIMARY KEY,
      "checksum" TEXT NOT NULL UNIQUE,
      "version" TEXT,
      "since" INTEGER,
      "json" TEXT NOT NULL
    ) STRICT
    """

  func table(_ root: Entity) -> String {
    var lines = ["\(SQLName.id) INTEGER PRIMARY KEY", "\(SQLName.version) INTEGER NOT NULL"]
    if root.isInHierarchy { lines.append("\(SQLName.entity) TEXT NOT NULL") }
    lines += columns(of: root).map(definition)
    return "CREATE TABLE \(SQLName.quoted(root.name)) (\n  \(lines.joined(separator: ",\n  "))\n) STRICT"
  }

  /// A column of a root entity's table.
  struct TableColumn {
    let name: String
    let type: String
    let isRequired: Bool
    /// The root entity of the referenced rows; nil if there is no foreign key.
    let target: Int?
    /// Whether the column has the values of a stored derived attribute, which no row has.
    var isDerived = false
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
            name: column.name,
            // If the data is in a file, the row contains a text.
            type: entity.isExternal(column) ? "ANY" : Self.typeName(column.storageClass),
            // A row of another entity in the hierarchy has no value for a child's column.
            isRequired: number == root.index && !column.isOptional, target: target))
      }
      guard model.hasStoredDerivations else { continue }
      for attribute in entity.storedDerivations {
        columns.append(
          TableColumn(
            name: model.derivedColumn(of: attribute), type: Self.typeName(attribute.storageClass), isRequired: false,
            target: nil, isDerived: true))
      }
    }
    return columns
  }

  func definition(of column: TableColumn) -> String {
    "\(SQLName.quoted(column.name)) \(column.type)\(column.isRequired ? " NOT NULL" : "")"
      + (column.target.map(foreignKey) ?? "")
  }

  private func foreignKey(to entity: Int) -> String {
    let root = model.entities[model.entities[entity].root]
    return " REFERENCES \(SQLName.quoted(root.name))(\(SQLName.id)) DEFERRABLE INITIALLY DEFERRED"
  }

  static func typeName(_ storageClass: StorageClass) -> String {
    switch storageClass {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    }
  }

  // MARK: Join tables

  func joinTable(_ table: JoinTable) -> String {
    let first = SQLName.quoted(table.first.column)
    let partner = SQLName.quoted(table.partnerColumn)
    var lines = [
      // Under every delete rule, a join table row is deleted with either of its rows.
      "\(first) INTEGER NOT NULL" + foreignKey(to: table.first.entity),
      "\(partner) INTEGER NOT NULL" + foreignKey(to: table.partnerEntity),
    ]
    for column in [table.first.orderColumn, table.second?.orderColumn] {
      if let column { lines.append("\(SQLName.quoted(column)) INTEGER") }
    }
    lines.append("PRIMARY KEY (\(first), \(partner))")
    return
      "CREATE TABLE \(SQLName.quoted(table.name)) (\n  \(lines.joined(separator: ",\n  "))\n) STRICT, WITHOUT ROWID"
  }

  func reversedIndex(_ table: JoinTable) -> [String] {
    let name = SQLName.quoted(JoinNames.reversedIndex(table))
    let columns = "\(SQLName.quoted(table.partnerColumn)), \(SQLName.quoted(table.first.column))"
    return ["CREATE INDEX \(name) ON \(SQLName.quoted(table.name)) (\(columns))"]
  }
}

/// The names of a join table's parts.
package enum JoinNames {
  /// The index that finds pairs from the second end.
  package static func reversedIndex(_ table: JoinTable) -> String { "_reverse.\(table.name.dropFirst())" }
}

// MARK: - Check statements

/// The schema that a file must have, and the queries that find rows which no request returns.
package struct CheckStatements {
  /// A table, index or trigger that a file must have.
  package struct Part: Sendable {
    package let name: String
    package let statement: String
    package let isIndex: Bool
    /// Whether the model declares the part, so that it may differ until the first save with a changed model.
    package let isDeclared: Bool
  }

  private let model: Model
  private let schema: SchemaStatements

  package init(_ model: Model) {
    self.model = model
    schema = SchemaStatements(model)
  }

  /// The tables and indexes of the model.
  ///
  /// - Complexity: linear in the size of the model.
  package var parts: [Part] {
    var parts = [Part(table: "_trellis", SchemaStatements.metadata)]
    for root in model.entities where root.parent == nil { parts.append(Part(table: root.name, schema.table(root))) }
    for index in IndexPlan(model).all {
      let isDeclared = index.name.hasPrefix(IndexPlan.declaredPrefix)
      parts.append(Part(name: index.name, statement: index.statement, isIndex: true, isDeclared: isDeclared))
    }
    for table in model.joinTables {
      parts.append(Part(table: table.name, schema.joinTable(table)))
      for statement in schema.reversedIndex(table) {
        let name = JoinNames.reversedIndex(table)
        parts.append(Part(name: name, statement: statement, isIndex: true, isDeclared: false))
      }
    }
    return parts
  }

  /// The table that keeps the models which the file has had.
  package static let models = Part(table: "_models", SchemaStatements.models)

  /// A query for the rows of a hierarchy with an entity name that the model does not have. Nil if the table has no
  /// entity column.
  package func unknownEntities(of root: Entity) -> String? {
    guard root.isInHierarchy else { return nil }
    let names = root.subtree.map { SQLName.literal(model.entities[$0].name) }.joined(separator: ", ")
    return "SELECT \(SQLName.id) FROM \(SQLName.quoted(root.name)) WHERE \(SQLName.entity) NOT IN (\(names))"
  }

  /// A query for the rows with a key below 1, or not below the parameter.
  package func unreservedKeys(of root: Entity) -> String {
    "SELECT \(SQLName.id) FROM \(SQLName.quoted(root.name)) WHERE \(SQLName.id) < 1 OR \(SQLName.id) >= ?1"
  }

  /// A query for every text of a hierarchy's rows: the key, then the texts of these properties. Nil if there are no
  /// texts.
  package func texts(of root: Entity) -> (question: String, properties: [String])? {
    var names: [String] = []
    var properties: [String] = []
    for entity in root.subtree.map({ model.entities[$0] }) {
      for column in entity.columns where column.storageClass == .text && !names.contains(SQLName.quoted(column.name)) {
        names.append(SQLName.quoted(column.name))
        properties.append(entity.properties[column.property].name)
      }
    }
    guard !names.isEmpty else { return nil }
    let columns = ([SQLName.id] + names).joined(separator: ", ")
    return ("SELECT \(columns) FROM \(SQLName.quoted(root.name))", properties)
  }

  /// A query for the join table rows without an owner row: owner, member. Only one-way relationships need the query,
  /// because the others are checked from both ends.
  package func lostOwners(of table: JoinTable) -> String? {
    guard table.second == nil else { return nil }
    let owner = SQLName.quoted(table.first.column)
    let root = model.entities[model.entities[table.first.entity].root]
    return "SELECT j.\(owner), j.\(SQLName.quoted(table.partnerColumn)) FROM \(SQLName.quoted(table.name)) AS j "
      + "WHERE NOT EXISTS (SELECT 1 FROM \(SQLName.quoted(root.name)) AS t WHERE t.\(SQLName.id) = j.\(owner))"
  }
}

extension CheckStatements.Part {
  fileprivate init(table: String, _ statement: String) {
    self.init(name: table, statement: statement, isIndex: false, isDeclared: false)
  }
}

// MARK: - Index plan

/// The indexes of all tables: for references, unique keys and the model's index declarations.
package struct IndexPlan: Sendable {
  package private(set) var all: [PlannedIndex] = []
  /// The prefix of the names of declared indexes.
  package static let declaredPrefix = "_index."

  /// - Complexity: linear in the size of the model.
  package init(_ model: Model) {
    for entity in model.entities {
      addReferences(entity, model)
      for key in entity.uniqueKeys where key.entity == entity.index { addUniqueKey(key, entity, model) }
    }
    // Declared indexes come last, so that an index which another one covers is left out.
    for entity in model.entities {
      for index in entity.indexes where !index.isDerived(in: entity) { add(index, entity, model) }
    }
  }

  private mutating func addReferences(_ entity: Entity, _ model: Model) {
    for column in entity.columns[entity.firstOwnColumn...] {
      guard case .reference(let property, _) = column.content,
        let relationship = entity.properties[property].relationship
      else { continue }
      var names = [column.name]
      if case .column(_, .some(let order)) = relationship.home { names.append(entity.columns[order].name) }
      let inverse = model.inverse(of: relationship)
      all.append(
        PlannedIndex(
          name: Self.referenceName(entity, property), entity: entity, properties: [property],
          columns: names.map { .init(name: $0, isDescending: false) },
          isUnique: inverse?.isToMany == false, model: model))
    }
  }

  private mutating func addUniqueKey(_ key: UniqueKey, _ entity: Entity, _ model: Model) {
    all.append(
      PlannedIndex(
        name: "_unique.\(entity.name).\(key.properties.map { entity.properties[$0].name }.joined(separator: "."))",
        entity: entity, properties: key.properties,
        columns: key.properties.compactMap { model.columnName($0, of: entity) }.map {
          .init(name: $0, isDescending: false)
        }, isUnique: true, model: model))
  }

  private mutating func add(_ index: Index, _ entity: Entity, _ model: Model) {
    let planned = PlannedIndex(declared: index, prefix: Self.declaredPrefix, entity, model)
    // A partial index does not contain every row, so it covers no other index.
    let isCovered = all.contains {
      $0.root == planned.root && $0.condition == nil && $0.columns.starts(with: planned.columns)
    }
    if !isCovered { all.append(planned) }
  }

  /// The name of a reference's index, as statements use it.
  static func referenceName(_ entity: Entity, _ property: Int) -> String {
    "_reference.\(entity.name).\(entity.properties[property].name)"
  }
}

/// One index of a table.
package struct PlannedIndex: Sendable {
  package struct IndexedColumn: Hashable, Sendable {
    package let name: String
    package let isDescending: Bool
  }

  package let name: String
  /// The entity that declares the reference, unique key or index.
  package let entity: Int
  package let properties: [Int]
  package let columns: [IndexedColumn]
  package let isUnique: Bool
  package let root: Int
  /// The condition on the rows that a child entity's unique key applies to. Nil if it applies to the whole table.
  package let condition: String?
  private let tableName: String

  init(
    name: String, entity: Entity, properties: [Int], columns: [IndexedColumn], isUnique: Bool, model: Model
  ) {
    self.name = name
    self.entity = entity.index
    self.properties = properties
    self.columns = columns
    self.isUnique = isUnique
    root = entity.root
    tableName = model.entities[entity.root].name
    // A reference column of a child entity is null in all other rows, so its index needs no condition.
    let isPartial = isUnique && entity.parent != nil && !name.hasPrefix("_reference.")
    let names = entity.subtree.map { SQLName.literal(model.entities[$0].name) }.joined(separator: ", ")
    condition = isPartial ? "\(SQLName.entity) IN (\(names))" : nil
  }

  /// An index that the model declares.
  init(declared index: Index, prefix: String, _ entity: Entity, _ model: Model) {
    let parts = index.elements.map { entity.properties[$0.property].name + ($0.isDescending ? "-" : "") }
    self.init(
      name: "\(prefix)\(entity.name).\(parts.joined(separator: "."))", entity: entity,
      properties: index.elements.map(\.property),
      columns: index.elements.compactMap { element in
        model.columnName(element.property, of: entity).map { .init(name: $0, isDescending: element.isDescending) }
      }, isUnique: false, model: model)
  }

  package var statement: String { statement(isUnique: isUnique) }

  /// The statement of an index with the same name and rows that may hold a value more than once.
  var statementOfStandIn: String { statement(isUnique: false) }

  private func statement(isUnique: Bool) -> String {
    let list = columns.map { SQLName.quoted($0.name) + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
    let kind = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
    let rows = condition.map { " WHERE \($0)" } ?? ""
    return "\(kind) \(SQLName.quoted(name)) ON \(SQLName.quoted(tableName)) (\(list))\(rows)"
  }

  /// The columns as SQLite lists them in the error message of a violated unique key.
  package var violation: String { columns.map { "\(tableName).\($0.name)" }.joined(separator: ", ") }
}
