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

  func table(_ root: Entity) -> String { creation(model.table(of: root, hasDerived: true)) }

  func joinTable(_ table: JoinTable) -> String { creation(model.table(of: table)) }

  private func creation(_ table: StoredTable) -> String {
    var lines = table.columns.map(definition)
    if table.isJoin {
      lines.append("PRIMARY KEY (\(table.key.map(SQLName.quoted).joined(separator: ", ")))")
    } else {
      lines[0] = "\(SQLName.id) INTEGER PRIMARY KEY"
    }
    let ending = table.isJoin ? "STRICT, WITHOUT ROWID" : "STRICT"
    return "CREATE TABLE \(SQLName.quoted(table.name)) (\n  \(lines.joined(separator: ",\n  "))\n) \(ending)"
  }

  func columns(of root: Entity) -> [TableColumn] { model.tableColumns(of: root, hasDerived: true) }

  func definition(of column: TableColumn) -> String {
    "\(SQLName.quoted(column.name)) \(column.type)\(column.isRequired ? " NOT NULL" : "")"
      + (column.target.map(foreignKey) ?? "")
  }

  private func foreignKey(to entity: Int) -> String {
    let root = model.entities[model.entities[entity].root]
    return " REFERENCES \(SQLName.quoted(root.name))(\(SQLName.id)) DEFERRABLE INITIALLY DEFERRED"
  }

  func reversedIndex(_ table: JoinTable) -> [String] {
    let name = SQLName.quoted(JoinNames.reversedIndex(table))
    let columns = "\(SQLName.quoted(table.partnerColumn)), \(SQLName.quoted(table.first.column))"
    return ["CREATE INDEX \(name) ON \(SQLName.quoted(table.name)) (\(columns))"]
  }
}

extension TableColumn {
  /// The name of the type.
  var type: String {
    switch content {
    case .integer: return "INTEGER"
    case .entityName: return "TEXT"
    // If the data is in a file, the row contains a text.
    case .attribute(let attribute) where attribute.description.isExternal: return "ANY"
    case .attribute(let attribute):
      return switch attribute.storageClass {
      case .integer: "INTEGER"
      case .real: "REAL"
      case .text: "TEXT"
      case .blob: "BLOB"
      }
    }
  }
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
  ///
  /// - Parameter isInReplicaSet: Whether the store has objects with the keys of other stores as well.
  package func unreservedKeys(of root: Entity, isInReplicaSet: Bool) -> String {
    "SELECT \(SQLName.id) FROM \(SQLName.quoted(root.name)) WHERE \(SQLName.id) < 1 OR \(SQLName.id) >= ?1"
      + (isInReplicaSet
        ? " AND \(SQLName.id) / \(KeyReservation.replicaSpace) = ?1 / \(KeyReservation.replicaSpace)" : "")
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

// MARK: - Name clashes

extension SchemaStatements {
  /// The reason why the model's names cannot be table and column names, as a sentence. Nil if they can.
  ///
  /// SQLite ignores case in ASCII names, and reserves names that begin with `sqlite_`.
  ///
  /// - Complexity: linear in the number of columns.
  package var nameClash: String? {
    var tables: [String: String] = [:]
    for entity in model.entities where entity.parent == nil {
      if entity.name.asciiLowercased.hasPrefix("sqlite_") {
        return "\(entity.name) is a name that SQLite keeps for itself"
      }
      if let unfit = model.unfitName(of: entity) { return unfit }
      if let other = tables.updateValue(entity.name, forKey: entity.name.asciiLowercased) {
        return "the entities \(other) and \(entity.name) differ in case only"
      }
      if let clash = columnClash(entity) { return clash }
    }
    return nil
  }

  private func columnClash(_ root: Entity) -> String? {
    var columns: [String: String] = ["_id": "_id", "_version": "_version", "_entity": "_entity"]
    var known: Set<String> = []
    for number in root.subtree {
      for column in model.entities[number].columns where known.insert(column.name).inserted {
        if let other = columns.updateValue(column.name, forKey: column.name.asciiLowercased) {
          return "the properties \(other) and \(column.name) of \(root.name) differ in case only"
        }
      }
    }
    return nil
  }
}

extension String {
  fileprivate var asciiLowercased: String {
    String(decoding: utf8.map { $0 >= 0x41 && $0 <= 0x5A ? $0 + 0x20 : $0 }, as: UTF8.self)
  }
}
