package import TrellisSchema

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
