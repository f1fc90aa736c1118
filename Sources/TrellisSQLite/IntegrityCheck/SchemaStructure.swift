internal import CSQLite
import TrellisSQL
import TrellisStorage

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
