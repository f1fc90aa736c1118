import TrellisModel
import TrellisStorage

extension SQLiteSource {
  package func schema(sample: Int) throws -> SourceSchema {
    var schema = SourceSchema(name: name)
    var tables: [(name: String, sql: String)] = []
    try query(
      "SELECT list.type, list.name, master.sql FROM pragma_table_list AS list LEFT JOIN sqlite_schema AS master "
        + "ON master.name = list.name AND master.type IN ('table', 'view') "
        + "WHERE list.schema = 'main' AND list.name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY master.rowid"
    ) { row throws(AdoptionError) in
      guard let kind = row.text(0), let name = row.text(1) else { return }
      switch kind {
      case "table":
        try refuseStores(table: name)
        tables.append((name, row.text(2) ?? ""))
      case "view": schema.notes.append(AdoptionNote(.leftOut, name, "is a view, and has no rows of its own"))
      case "virtual":
        let words = SQLScanner.tokens(row.text(2) ?? "").map(\.spelling)
        let module =
          words.firstIndex { $0.uppercased() == "USING" }.flatMap { words.dropFirst($0 + 1).first } ?? "a module"
        let isSearch = module.lowercased().hasPrefix("fts")
        schema.notes.append(
          AdoptionNote(
            .leftOut, name,
            "is a virtual table of \(module)" + (isSearch ? "; let the attributes of the texts be \"searchable\"" : ""))
        )
      default: break
      }
    }
    guard tables.count <= Limits.entities else {
      throw AdoptionError(
        .limit, "\(place) has \(tables.count) tables; a model may have \(Limits.entities) entities.",
        remedy: "Adopt a copy with fewer tables.")
    }
    for (name, sql) in tables {
      if BookkeepingTables.names.contains(name.lowercased()) {
        schema.notes.append(AdoptionNote(.leftOut, name, "is bookkeeping of another library"))
        continue
      }
      var table = SourceTable(name)
      try readColumns(&table, TableText(sql, columns: try columnNames(of: name)), &schema.notes)
      try readIndexes(&table, &schema.notes)
      try readForeignKeys(&table)
      try readSample(&table, sample)
      schema.tables.append(table)
    }
    try query("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid") { row in
      guard let name = row.text(0), let table = row.text(1) else { return }
      schema.notes.append(
        AdoptionNote(.leftOut, table, "has the trigger \(name); write what it does as a hook of the entity"))
    }
    settleImplicitTargets(&schema)
    return schema
  }

  private func refuseStores(table: String) throws(AdoptionError) {
    if table == "_trellis" {
      throw AdoptionError(
        .otherCommand, "\(place) is a store of Trellis already.", remedy: "Its model is printed by trellis describe.")
    }
    if table == "Z_PRIMARYKEY" || table == "Z_METADATA" {
      throw AdoptionError(
        .otherCommand, "\(place) is a store of Core Data or SwiftData.", remedy: "Bring it along with trellis import.")
    }
  }

  private func columnNames(of table: String) throws(AdoptionError) -> [String] {
    var names: [String] = []
    try query("SELECT name FROM pragma_table_xinfo(?1) ORDER BY cid", table) { row in
      if let name = row.text(0) { names.append(name) }
    }
    return names
  }

  private func hasNull(_ column: String, in table: String) throws(AdoptionError) -> Bool {
    var found = false
    try query("SELECT 1 FROM \(SQLName.quoted(table)) WHERE \(SQLName.quoted(column)) IS NULL LIMIT 1") { _ in
      found = true
    }
    return found
  }

  private func readColumns(
    _ table: inout SourceTable, _ text: TableText, _ notes: inout [AdoptionNote]
  ) throws(AdoptionError) {
    table.doc = text.doc
    table.checks = text.checks
    var keys: [(place: Int64, name: String)] = []
    var columns: [SourceColumn] = []
    try query(
      "SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid", table.name
    ) { row in
      guard let name = row.text(0) else { return }
      // What PRAGMA appends for GENERATED ALWAYS is no part of the type.
      let words = (row.text(1) ?? "").split(separator: " ").map(String.init)
      let type = words.prefix { $0.uppercased() != "GENERATED" }.joined(separator: " ")
      var column = SourceColumn(name, type, isRequired: row.integer(2) == 1)
      column.defaultValue = row.text(3)
      column.doc = text.docs[name]
      if let hidden = row.integer(5), hidden == 2 || hidden == 3 { column.generation = text.generations[name] ?? "" }
      if let place = row.integer(4), place > 0 { keys.append((place, name)) }
      columns.append(column)
    }
    table.columns = columns
    table.primaryKey = keys.sorted { $0.place < $1.place }.map(\.name)
    let isNumbered =
      table.primaryKey.count == 1
      && columns.contains {
        $0.name == table.primaryKey[0] && $0.declaredType.uppercased() == "INTEGER"
      }
    let hasNoNumbers = try identity(of: table.name).columns != ["rowid"]
    for index in table.columns.indices where table.primaryKey.contains(table.columns[index].name) {
      // The number of a row is never null. SQLite lets other keys of tables with row numbers be.
      let mayBeNull = !isNumbered && !hasNoNumbers
      let hasNull = try mayBeNull ? self.hasNull(table.columns[index].name, in: table.name) : false
      if !hasNull { table.columns[index].isRequired = true }
    }
    for (column, collation) in text.collations.sorted(by: { $0.key < $1.key }) {
      if let index = table.columns.firstIndex(where: { $0.name == column }) {
        table.columns[index].folding = TextFolding(collation: collation)
      }
      notes.append(
        AdoptionNote(
          .ignored, "\(table.name).\(column)",
          "is compared by \(collation); here texts are compared by their characters, and requests say [c] or [d]"))
    }
  }

  // MARK: Keys

  private func readIndexes(_ table: inout SourceTable, _ notes: inout [AdoptionNote]) throws(AdoptionError) {
    var indexes: [(name: String, isUnique: Bool, isDeclared: Bool, isPartial: Bool)] = []
    try query(
      "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?1) ORDER BY seq DESC", table.name
    ) { row in
      guard let name = row.text(0), row.text(2) != "pk" else { return }
      indexes.append((name, row.integer(1) == 1, row.text(2) == "c", row.integer(3) == 1))
    }
    for index in indexes {
      var columns: [(name: String, isDescending: Bool)] = []
      var hasExpression = false
      var collations: Set<String> = []
      try query(
        "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?1) WHERE key = 1 ORDER BY seqno", index.name
      ) { row in
        if let name = row.text(0) { columns.append((name, row.integer(1) == 1)) } else { hasExpression = true }
        if let collation = row.text(2), collation.uppercased() != "BINARY" { collations.insert(collation.uppercased()) }
      }
      let kind = index.isUnique ? "unique index" : "index"
      if hasExpression || columns.isEmpty {
        notes.append(AdoptionNote(.leftOut, table.name, "has the \(kind) \(index.name) over an expression"))
      } else if index.isPartial {
        notes.append(AdoptionNote(.leftOut, table.name, "has the \(kind) \(index.name) over a part of its rows"))
      } else if index.isUnique {
        table.uniqueKeys.append(columns.map(\.name))
        if let collation = collations.sorted().first {
          notes.append(
            AdoptionNote(
              .changed, table.name,
              "has values of \(columns.map(\.name).joined(separator: ", ")) that are unique by \(collation); here they are unique "
                + "by their characters"))
        }
      } else {
        table.indexes.append(SourceIndex(index.name, columns))
      }
    }
  }

  private func readForeignKeys(_ table: inout SourceTable) throws(AdoptionError) {
    var keys: [Int64: SourceForeignKey] = [:]
    try query(
      "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list(?1) ORDER BY id, seq",
      table.name
    ) { row in
      guard let id = row.integer(0), let target = row.text(1), let column = row.text(2) else { return }
      var key =
        keys[id]
        ?? SourceForeignKey([], to: target, [], onDelete: row.text(4) ?? "", onUpdate: row.text(5) ?? "")
      key.columns.append(column)
      if let goal = row.text(3) { key.targetColumns.append(goal) }
      keys[id] = key
    }
    // The list begins with the last one of the declaration.
    table.foreignKeys = keys.sorted { $0.key > $1.key }.map { $0.value }
  }

  /// Gives references the names that tables and columns have where they are declared, and the primary key where they name
  /// no columns.
  private func settleImplicitTargets(_ schema: inout SourceSchema) {
    var tables: [String: Int] = [:]
    for (number, table) in schema.tables.enumerated() { tables[table.name.lowercased()] = number }
    for number in schema.tables.indices {
      let own = schema.tables[number]
      for place in own.foreignKeys.indices {
        var key = own.foreignKeys[place]
        key.columns = key.columns.map { Self.spelled($0, in: own) }
        if let target = tables[key.target.lowercased()].map({ schema.tables[$0] }) {
          key.target = target.name
          key.targetColumns =
            key.targetColumns.isEmpty ? target.primaryKey : key.targetColumns.map { Self.spelled($0, in: target) }
        }
        schema.tables[number].foreignKeys[place] = key
      }
    }
  }

  private static func spelled(_ column: String, in table: SourceTable) -> String {
    table.columns.first { $0.name == column }?.name
      ?? table.columns.first { $0.name.lowercased() == column.lowercased() }?.name ?? column
  }

  // MARK: Sample

  /// Looks at the first rows of a table, and at the last ones if there are more.
  private func readSample(_ table: inout SourceTable, _ count: Int) throws(AdoptionError) {
    guard count > 0, !table.columns.isEmpty else { return }
    let identity = try identity(of: table.name)
    let columns = table.columns.map { column in
      let name = SQLName.quoted(column.name)
      return
        "CASE typeof(\(name)) WHEN 'text' THEN substr(\(name), 1, \(ObservedValues.mostCharacters)) "
        + "WHEN 'blob' THEN substr(\(name), 1, 17) ELSE \(name) END"
    }
    let text = "SELECT \(columns.joined(separator: ", ")) FROM \(SQLName.quoted(table.name)) ORDER BY "
    var observed = table.columns.map(\.observed)
    var seen = 0
    for direction in ["ASC", "DESC"] {
      let order = identity.columns.map { "\($0) \(direction)" }.joined(separator: ", ")
      try query(text + order + " LIMIT \(count)") { row in
        seen += 1
        for place in observed.indices { observed[place].add(row.value(place)) }
      }
      if seen < count { break }
    }
    for place in observed.indices { table.columns[place].observed = observed[place] }
  }
}
