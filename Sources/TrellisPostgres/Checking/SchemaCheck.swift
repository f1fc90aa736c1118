import TrellisModel
package import TrellisStorage

extension PostgresConnection {
  /// Checks that the tables are the model's, and rows as far as no request returns them.
  ///
  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: linear in the number of rows.
  package func check(_ body: (StoreFinding) throws -> Void) throws {
    let findings = try SchemaCheck(self).findings()
    for finding in findings { try body(finding) }
  }
}

/// Compares the schema in a database with the one that a model needs.
private struct SchemaCheck {
  private let connection: PostgresConnection
  private let setup: PostgresSetup

  init(_ connection: PostgresConnection) {
    self.connection = connection
    setup = connection.setup
  }

  private var model: Model { setup.model }
  private var names: SQLNames { setup.layout.names }

  func findings() throws -> [StoreFinding] {
    try connection.atOneMoment {
      let columns = try presentColumns()
      let isExpanded = try isExpanded()
      return try tables(columns, mayHaveMore: isExpanded) + indexes(areDeclared: !isExpanded) + foreignKeys()
        + rows(of: Set(columns.keys)) + connection.checkDerivedValues()
    }
  }

  private func read(_ text: String, _ body: (ServerResult, Int) -> Void) throws {
    var parameters = ServerParameters()
    parameters.add(setup.options.schema)
    try connection.readAll(ServerStatement(text, parameters), doing: "check the store") { body($0, $1) }
  }

  /// Whether the store has another model, which only adds to this one.
  private func isExpanded() throws -> Bool {
    var models = ""
    var checksum = ""
    try connection.readAll(
      ServerStatement("SELECT \(names.metadata(.migrations)), \(names.metadata(.checksum))"), doing: "check the store"
    ) { (models, checksum) = ($0.text($1, 0) ?? "", $0.text($1, 1) ?? "") }
    return !TextBytes.areEqual(checksum, model.checksum)
      && OpenModels(models)?.entries[setup.storageChecksum] != nil
  }

  // MARK: Tables

  /// The columns of each table that there is: the name with the type and whether it is required.
  private func presentColumns() throws -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    try read(
      "SELECT c.relname::text, a.attname::text || ' ' || format_type(a.atttypid, a.atttypmod) || "
        + "CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END || CASE WHEN l.collname = 'C' THEN ' C' ELSE '' END "
        + "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace JOIN pg_attribute AS a ON "
        + "a.attrelid = c.oid LEFT JOIN pg_collation AS l ON l.oid = a.attcollation "
        + "WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped"
    ) { result, row in
      if let table = result.text(row, 0), let column = result.text(row, 1) { found[table, default: []].insert(column) }
    }
    return found
  }

  private func tables(_ found: [String: Set<String>], mayHaveMore: Bool) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    for (table, columns) in expectedTables where found[table] != columns {
      if mayHaveMore, found[table]?.isSuperset(of: columns) == true { continue }
      let what = found[table] == nil ? "is missing" : "has other columns than those of the model"
      findings.append(
        StoreFinding(
          .tableDiffers, "The table \(table) \(what).",
          repair: "Restore the database from a backup, or copy its objects into a new store."))
    }
    return findings
  }

  private var expectedTables: [(String, Set<String>)] {
    func described(_ name: String, _ type: ServerType, isRequired: Bool) -> String {
      let ending = type == .timestamp ? "timestamp with time zone" : type.name
      return "\(name) \(ending)\(isRequired ? " NOT NULL" : "")\(type == .text ? " C" : "")"
    }
    return setup.schema.tables.map { table in
      let columns = table.columns.map { described(names.plain($0.name), $0.type, isRequired: $0.isRequired) }
      return (names.fitted(table.name), Set(columns))
    }
  }

  // MARK: Indexes and foreign keys

  /// - Parameter areDeclared: whether the store has the indexes that this model declares, and not those of another one.
  private func indexes(areDeclared: Bool) throws -> [StoreFinding] {
    var valid: Set<String> = []
    try read(
      "SELECT c.relname::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n "
        + "ON n.oid = c.relnamespace WHERE n.nspname = $1 AND i.indisvalid"
    ) { result, row in if let name = result.text(row, 0) { valid.insert(name) } }
    let parts = IndexPlan(model).all.map(setup.schema.index) + model.joinTables.map(setup.schema.reversedIndex)
    return parts.filter { part in
      !valid.contains(part.name) && (areDeclared || !part.name.hasPrefix(IndexPlan.declaredPrefix))
    }.map { part in
      StoreFinding(
        .indexDiffers, "The index \(part.name) is missing or not valid.",
        repair: part.kind == .index
          ? "Open the store as the owner of its tables, which makes it." : "Make it: \(part.statement)")
    }
  }

  private func foreignKeys() throws -> [StoreFinding] {
    var valid: Set<String> = []
    try read(
      "SELECT k.conname::text FROM pg_constraint AS k JOIN pg_namespace AS n ON n.oid = k.connamespace "
        + "WHERE n.nspname = $1 AND k.contype = 'f' AND k.convalidated"
    ) { result, row in if let name = result.text(row, 0) { valid.insert(name) } }
    let parts = setup.schema.tables.flatMap(setup.schema.foreignKeys)
    return parts.filter { !valid.contains($0.name) }.map { part in
      StoreFinding(
        .indexDiffers, "The foreign key \(part.name) is missing or not valid.", repair: "Make it: \(part.statement)")
    }
  }

  // MARK: Rows

  private func rows(of tables: Set<String>) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    let isInReplicaSet = try [StoreNote.ofReplica, StoreNote.ofServer].contains { prefix in
      try !connection.notes(beginningWith: prefix).isEmpty
    }
    for root in model.entities where root.parent == nil && tables.contains(names.fitted(root.name)) {
      let table = setup.layout.tables[root.index].name
      if root.isInHierarchy {
        let known = root.subtree.map { SQLName.literal(model.entities[$0].name) }.joined(separator: ", ")
        let text = "SELECT \(SQLName.id) FROM \(table) WHERE \(SQLName.entity) NOT IN (\(known))"
        try connection.readAll(ServerStatement(text), doing: "check the store") { result, row in
          findings.append(
            StoreFinding(
              .unknownEntity, "The row belongs to no entity of the model.",
              repair: "Repair the column _entity with another tool, or delete the row.", entity: root.name,
              key: result.integer(row, 0)))
        }
      }
      let text =
        "SELECT \(SQLName.id) FROM \(table) WHERE \(SQLName.id) < 1 OR (SELECT \(SQLName.id) >= \"next\" "
        + (isInReplicaSet
          ? "AND \(SQLName.id) / \(KeyReservation.replicaSpace) = \"next\" / \(KeyReservation.replicaSpace) " : "")
        + "FROM \(names.keys))"
      try connection.readAll(ServerStatement(text), doing: "check the store") { result, row in
        findings.append(
          StoreFinding(
            .unreservedKey, "The key was never given out, so that a new object might get it too.",
            repair: "Raise next in the table _keys above all keys.", entity: root.name, key: result.integer(row, 0)))
      }
    }
    return findings
  }
}
