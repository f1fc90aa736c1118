internal import CSQLite
import TrellisModel

extension SQLiteConnection {
  /// Checks the file's pages, its schema, and its rows as far as no request returns them.
  ///
  /// - Throws: ``StoreError``, or the error that `body` throws.
  /// - Complexity: linear in the size of the file.
  package func check(_ body: (StoreFinding) throws -> Void) throws {
    try withoutActuallyEscaping(body) { try FileCheck(database: database, setup: setup, note: $0).run() }
  }
}

// MARK: - File check

/// Checks a file on the SQLite level. The values of rows and the references are checked elsewhere, by the model's
/// rules.
struct FileCheck {
  /// The maximum number of problems in pages and indexes that SQLite reports.
  private static let mostFaults = 1_000

  let database: Database
  let setup: StoreSetup
  let note: (StoreFinding) throws -> Void

  private var model: Model { setup.layout.model }

  func run() throws {
    try tolerantly("The structure of the file") { try checkStructure() }
    try tolerantly("The schema") { try checkSchema() }
    let statements = CheckStatements(model)
    for root in model.entities where root.parent == nil {
      try tolerantly("The table of \(root.name)") {
        try checkRows(of: root, statements)
        try checkTexts(of: root, statements)
      }
    }
    try tolerantly("The search index") { try checkSearch() }
    try tolerantly("The derived values") { try checkDerivedValues() }
    for table in model.joinTables {
      try tolerantly("The table \(table.name)") { try checkPairs(of: table, statements) }
    }
  }

  /// Continues after something unreadable, because there may be more problems.
  private func tolerantly(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StoreError where error.code == .damaged || error.code == .internalError {
      // Modules of SQLite, such as full-text search, have no error code of their own for damaged data.
      try note(
        StoreFinding(
          .damaged, "\(what) cannot be read: \(error.message)",
          repair: "Restore the file from a backup, or copy its objects into a new store."))
    }
  }

  // MARK: Pages and indexes

  /// SQLite's messages contain names of tables and indexes and row numbers, but no values.
  private func checkStructure() throws {
    try rows("PRAGMA integrity_check(\(Self.mostFaults))") { statement in
      guard let message = database.text(of: statement), message != "ok" else { return }
      try note(
        StoreFinding(
          .damaged, "SQLite finds a fault in the file: \(message).",
          repair: "Restore the file from a backup, or copy its objects into a new store."))
    }
  }

  // MARK: Schema

  private func checkSchema() throws {
    var present: [String: String] = [:]
    try rows("SELECT name || char(10) || ifnull(sql, '') FROM sqlite_schema") { statement in
      let parts = database.text(of: statement)?.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      if let parts, parts.count == 2 { present[String(parts[0])] = String(parts[1]) }
    }
    let features: [(parts: [CheckStatements.Part], name: String, repair: String)] = [
      (setup.layout.search.parts, "search index", "Open the store for writing, which makes the index anew."),
      (
        setup.layout.derived.parts, "derived values",
        "Open the store for writing, which makes it anew and computes the values."
      ),
      (
        setup.history?.plan.parts ?? [], "history",
        "Open the store for writing, which makes it anew. Former values that are gone do not come back."
      ),
    ]
    for feature in features {
      for part in feature.parts where present[part.name] != part.statement {
        let what = "\(part.name), a part of the \(feature.name), is missing or was made in another way."
        try note(StoreFinding(.indexDiffers, what, repair: feature.repair))
      }
    }
    // Another model with the same storage layout has different declared indexes.
    let isBehind = try Metadata.head(of: database).checksum != .text(model.checksum)
    var parts = CheckStatements(model).parts
    if try Metadata.head(of: database).hasModels { parts.append(CheckStatements.models) }
    let expected = try SchemaStructure(madeBy: parts.map(\.statement), setup.options).facts
    let found = try SchemaStructure(of: database).facts
    for part in parts where found[part.name] != expected[part.name] && !(part.isDeclared && isBehind) {
      try noteDifference(of: part, isMissing: found[part.name] == nil)
    }
  }

  private func noteDifference(of part: CheckStatements.Part, isMissing: Bool) throws {
    let what = isMissing ? "is missing" : "was made in another way"
    let finding =
      part.isIndex
      ? StoreFinding(
        .indexDiffers, "The index \(part.name) \(what).", repair: "Make it: \(part.statement)")
      : StoreFinding(
        .tableDiffers, "The table \(part.name) \(what).",
        repair: "Restore the file from a backup, or copy its objects into a new store.")
    try note(finding)
  }

  // MARK: Rows and pairs

  private func checkRows(of root: Entity, _ statements: CheckStatements) throws {
    if let question = statements.unknownEntities(of: root) {
      try rows(question) { statement in
        try note(
          StoreFinding(
            .unknownEntity, "The row belongs to no entity of the model.",
            repair: "Repair the column _entity with another tool, or delete the row.", entity: root.name,
            key: trellis_sqlite3_column_int64(statement, 0)))
      }
    }
    let question = statements.unreservedKeys(of: root, isInReplicaSet: try Metadata.isInReplicaSet(database))
    try rows(question, try Metadata.nextKey(in: database)) { statement in
      try note(
        StoreFinding(
          .unreservedKey, "The key was never given out, so that a new object might get it too.",
          repair: "Raise nextKey in the table _trellis above all keys.", entity: root.name,
          key: trellis_sqlite3_column_int64(statement, 0)))
    }
  }

  /// Texts that are not UTF-8 would be read with replacement characters.
  private func checkTexts(of root: Entity, _ statements: CheckStatements) throws {
    guard let texts = statements.texts(of: root) else { return }
    try rows(texts.question) { statement in
      for (place, property) in texts.properties.enumerated() {
        let column = Int32(truncatingIfNeeded: place + 1)
        guard trellis_sqlite3_column_type(statement, column) == TRELLIS_SQLITE_TEXT,
          let start = trellis_sqlite3_column_text(statement, column)
        else { continue }
        let count = Int(trellis_sqlite3_column_bytes(statement, column))
        if String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) != nil { continue }
        try note(
          StoreFinding(
            .unreadableValue, "The text is no UTF-8, so it is read with other characters in places.",
            repair: "Set the attribute to another text.", entity: root.name,
            key: trellis_sqlite3_column_int64(statement, 0), properties: [property]))
      }
    }
  }

  private func checkPairs(of table: JoinTable, _ statements: CheckStatements) throws {
    guard let question = statements.lostOwners(of: table) else { return }
    let owner = model.entities[table.first.entity]
    try rows(question) { statement in
      let member = "\(model.entities[table.partnerEntity].name)/\(trellis_sqlite3_column_int64(statement, 1))"
      try note(
        StoreFinding(
          .danglingReference, "\(member) is a member of an object that is not there.", repair: "Delete the pair.",
          entity: owner.name, key: trellis_sqlite3_column_int64(statement, 0),
          properties: [owner.properties[table.first.property].name]))
    }
  }

  private func checkSearch() throws {
    for (entity, question) in setup.layout.search.findDifferences {
      try rows(question) { statement in
        try note(
          StoreFinding(
            .indexDiffers, "The search index holds other words than the text.",
            repair: "Drop the table _searchMarks with another tool; opening the store then makes the index anew.",
            entity: entity, key: trellis_sqlite3_column_int64(statement, 0)))
      }
    }
  }

  private func rows(_ sql: String, _ parameter: Int64? = nil, _ body: (OpaquePointer) throws -> Void) throws {
    let statement = try database.prepare(sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    if let parameter { _ = trellis_sqlite3_bind_int64(statement.pointer, 1, parameter) }
    while try database.step(statement.pointer, doing: "check the file") { try body(statement.pointer) }
  }
}

// MARK: - Schema structure

/// The structure of tables and indexes, independent of the statements that created them: a table that got a column
/// later is the same as one that had it from the start.
struct SchemaStructure {
  /// The facts about each table and index, by its name, in no order.
  private(set) var facts: [String: Set<String>] = [:]

  /// The structure that a list of statements creates.
  ///
  /// - Throws: ``StoreError``.
  init(madeBy statements: [String], _ options: OpenOptions) throws(StoreError) {
    var options = options
    options.isReadOnly = false
    options.key = nil
    let database = try Database(path: ":memory:", options: options)
    for statement in statements { try database.execute(statement, doing: "compare the schema") }
    try self.init(of: database)
  }

  /// The structure of a file. Virtual tables have no structure of their own.
  ///
  /// - Throws: ``StoreError``.
  /// - Complexity: linear in the number of columns of all tables and indexes.
  init(of database: Database) throws(StoreError) {
    for question in Self.questions { try add(question, database) }
  }

  /// The names of all tables, indexes, views and triggers of a file.
  ///
  /// - Throws: ``StoreError``.
  static func names(in database: Database) throws(StoreError) -> [String] {
    var names: [String] = []
    let statement = try database.prepare("SELECT name FROM sqlite_schema")
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    while try database.step(statement.pointer, doing: "read the schema") {
      if let name = database.text(of: statement.pointer) { names.append(name) }
    }
    return names
  }

  private mutating func add(_ question: String, _ database: Database) throws(StoreError) {
    let statement = try database.prepare(question)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    while try database.step(statement.pointer, doing: "read the schema") {
      guard let name = database.text(of: statement.pointer), let fact = database.text(of: statement.pointer, 1) else {
        continue
      }
      facts[name, default: []].insert(fact)
    }
  }

  /// Queries that return a name and a fact per row. The order of a table's columns does not count, and neither do
  /// default values, because every statement of Trellis sets all columns.
  private static let questions = [
    "SELECT s.name, 'column ' || c.name || ' ' || upper(c.type) || ' ' || c.\"notnull\" || ' ' || c.pk || ' ' || c.hidden "
      + of("pragma_table_xinfo(s.name) AS c"),
    "SELECT s.name, 'reference ' || k.\"from\" || ' ' || k.\"table\" || ' ' || ifnull(k.\"to\", '') || ' ' || k.on_update "
      + "|| ' ' || k.on_delete " + of("pragma_foreign_key_list(s.name) AS k"),
    "SELECT s.name, 'kind ' || t.wr || ' ' || t.strict " + of("pragma_table_list(s.name) AS t")
      + " AND t.schema = 'main'",
    "SELECT i.name, 'index of ' || s.name || ' ' || i.\"unique\" || ' ' || i.partial "
      + of("pragma_index_list(s.name) AS i"),
    "SELECT s.name, 'key ' || x.seqno || ' ' || ifnull(x.name, '') || ' ' || x.desc || ' ' || x.coll "
      + "FROM sqlite_schema AS s CROSS JOIN pragma_index_xinfo(s.name) AS x WHERE s.type = 'index' AND x.key",
    // Only the statement tells which rows a partial index contains.
    "SELECT name, 'rows' || substr(sql, instr(sql, ') WHERE ') + 1) FROM sqlite_schema "
      + "WHERE type = 'index' AND instr(sql, ') WHERE ') > 0",
  ]

  private static func of(_ source: String) -> String {
    "FROM sqlite_schema AS s CROSS JOIN \(source) WHERE s.type = 'table' AND s.sql NOT LIKE 'CREATE VIRTUAL %'"
  }
}
