package import TrellisSchema

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
    var known: Set<String> = []
    for number in root.subtree {
      for column in model.entities[number].columns where known.insert(column.name).inserted {
        // A row of another entity in the hierarchy has no value for a child's column.
        lines.append(definition(of: column, in: model.entities[number], isRequired: number == root.index))
      }
    }
    return "CREATE TABLE \(SQLName.quoted(root.name)) (\n  \(lines.joined(separator: ",\n  "))\n) STRICT"
  }

  private func definition(of column: Column, in entity: Entity, isRequired: Bool) -> String {
    // If the data is in a file, the row contains a text.
    let type = entity.isExternal(column) ? "ANY" : Self.typeName(column.storageClass)
    var text = "\(SQLName.quoted(column.name)) \(type)"
    if isRequired && !column.isOptional { text += " NOT NULL" }
    if case .reference(let property, let destination) = column.content,
      let relationship = entity.properties[property].relationship, !relationship.isLeftAlone
    {
      text += foreignKey(to: destination)
    }
    return text
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
