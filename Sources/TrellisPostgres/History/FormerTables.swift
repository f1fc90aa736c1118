import TrellisModel
import TrellisStorage

/// The tables with the former rows of entities that keep their values, `_past.Entity`, and the triggers that write them.
///
/// Each change of a row inserts its former version, with the number of the transaction that replaced it; an insert, one that
/// did not exist. The triggers run for every program, so a table has all changes.
///
/// Transactions commit in another order than that of their numbers, but a row waits for the transaction that changes it. So
/// the former rows of a key are numbered in the order of their changes. As of a transaction, a key has the row before its
/// first change that no change by this transaction or an earlier one follows.
struct FormerTables: Sendable {
  struct Table: Sendable {
    /// The name in the model's terms.
    let origin: String
    /// The quoted columns that identify a row, and all quoted columns.
    let key: [String]
    let columns: [String]
    /// The columns with their types.
    let definitions: [String]

    /// The name of the table with the former rows, in the model's terms.
    var name: String { FormerTables.prefix + origin }
  }

  private(set) var tables: [Table] = []

  static let prefix = "_past."
  static let functionPrefix = "_keep."

  init() {}

  init(_ schema: PostgresSchema) {
    let (model, names) = (schema.model, schema.names)
    for root in model.entities where root.parent == nil && model.history(of: root.index) == .values {
      tables.append(Table(model.table(of: root, hasDerived: false), names))
    }
    for join in model.joinTables
    where [join.first.entity, join.partnerEntity].allSatisfy({ model.history(of: $0) == .values }) {
      tables.append(Table(model.table(of: join), names))
    }
  }

  var isEmpty: Bool { tables.isEmpty }

  /// The table with the former rows of a table.
  func table(of origin: String) -> Table? { tables.first { $0.origin == origin } }

  func keeping(_ isKept: (Table) -> Bool) -> FormerTables {
    var kept = FormerTables()
    kept.tables = tables.filter(isKept)
    return kept
  }
}

extension FormerTables.Table {
  fileprivate init(_ table: StoredTable, _ names: SQLNames) {
    origin = table.name
    columns = table.columns.map { names.column($0.name) }
    key = Array(columns.prefix(table.keyCount))
    definitions = table.columns.enumerated().map { number, column in
      let type = PostgresSchema.typeName(column.type)
      return "\(names.column(column.name)) \(type)\(number < table.keyCount ? " NOT NULL" : "")"
    }
  }
}

// MARK: - Statements

/// The statements that make and read the tables of former rows.
struct FormerRows {
  let names: SQLNames
  let schema: String

  init(_ setup: PostgresSetup) {
    names = setup.schema.names
    schema = setup.options.schema
  }

  private func list(_ columns: [String], of row: String) -> String {
    columns.map { "\(row).\($0)" }.joined(separator: ", ")
  }

  private func isSameRow(_ table: FormerTables.Table, _ left: String, _ right: String) -> String {
    table.key.map { "\(left).\($0) = \(right).\($0)" }.joined(separator: " AND ")
  }

  // MARK: Making

  static let events: [(name: String, event: String, rows: String)] = [
    ("insert", "AFTER INSERT", " REFERENCING NEW TABLE AS new_rows"),
    ("update", "AFTER UPDATE", " REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows"),
    ("delete", "AFTER DELETE", " REFERENCING OLD TABLE AS old_rows"),
    ("truncate", "BEFORE TRUNCATE", ""),
  ]

  /// The comment of a table: digests of its columns and of its triggers, and the schema that these name, which may get
  /// another name.
  func comment(_ table: FormerTables.Table) -> String {
    "\(digest(table.definitions.joined())) \(digest(body(table))) \(schema)"
  }

  private func digest(_ text: String) -> Substring { ContentDigest(of: Array(text.utf8)).text.prefix(16) }

  /// Creates the table.
  func creation(_ table: FormerTables.Table) -> [String] {
    let name = names.table(table.name)
    let lines =
      [
        "\"_number\" bigint GENERATED ALWAYS AS IDENTITY", "\"_until\" bigint NOT NULL", "\"_since\" bigint",
        "\"_existed\" boolean NOT NULL",
      ] + table.definitions + ["PRIMARY KEY (\(table.key.joined(separator: ", ")), \"_number\")"]
    return [
      "CREATE TABLE \(name) (\n  \(lines.joined(separator: ",\n  "))\n)", "CREATE INDEX ON \(name) (\"_until\")",
    ]
  }

  /// Makes the triggers of a table anew.
  func triggers(_ table: FormerTables.Table) -> [String] {
    let function = names.table(FormerTables.functionPrefix + table.origin)
    var statements = [
      // Has the rights of the owner of the store, and means the same in each session.
      "CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
        + "SET search_path = pg_catalog, pg_temp AS \(SQLName.literal(body(table)))"
    ]
    for (word, event, rows) in Self.events {
      let trigger = names.identifier(FormerTables.prefix + word)
      statements += [
        "DROP TRIGGER IF EXISTS \(trigger) ON \(names.table(table.origin))",
        "CREATE TRIGGER \(trigger) \(event) ON \(names.table(table.origin))\(rows) FOR EACH STATEMENT "
          + "EXECUTE FUNCTION \(function)()",
      ]
    }
    statements.append("COMMENT ON TABLE \(names.table(table.name)) IS \(SQLName.literal(comment(table)))")
    return statements
  }

  /// Drops a function with the triggers that run it.
  ///
  /// - Parameter name: the name on the server.
  func drop(function name: String) -> String {
    "DROP FUNCTION IF EXISTS \(names.qualifier)\(SQLName.quoted(name))() CASCADE"
  }

  /// Of several changes of a row in one transaction, the first counts.
  private func body(_ table: FormerTables.Table) -> String {
    let past = names.table(table.name)
    func insertion(_ rows: String, _ columns: [String], existed: Bool, _ condition: String = "") -> String {
      let names = columns.joined(separator: ", ")
      return """
        INSERT INTO \(past) ("_until", "_since", "_existed", \(names))
            SELECT moment, q."_until", \(existed), \(list(columns, of: "r")) FROM \(rows) AS r LEFT JOIN LATERAL
              (SELECT p."_until" FROM \(past) AS p WHERE \(isSameRow(table, "p", "r")) ORDER BY p."_number" DESC LIMIT 1)
              AS q ON TRUE WHERE q."_until" IS DISTINCT FROM moment\(condition)
        """
    }
    // A key that changes is a row that goes and another one that comes.
    let isNewKey = " AND NOT EXISTS (SELECT 1 FROM old_rows AS o WHERE \(isSameRow(table, "o", "r")))"
    return """
      #variable_conflict use_variable
      DECLARE
        moment bigint;
      BEGIN
        moment := (SELECT m."value"::bigint FROM \(names.metadata) AS m WHERE m."key" = 'historyBase')
          + pg_current_xact_id()::text::bigint;
        IF moment IS NULL THEN
          RETURN NULL;
        ELSIF TG_OP = 'INSERT' THEN
          \(insertion("new_rows", table.key, existed: false));
        ELSIF TG_OP = 'UPDATE' THEN
          \(insertion("old_rows", table.columns, existed: true));
          \(insertion("new_rows", table.key, existed: false, isNewKey));
        ELSIF TG_OP = 'DELETE' THEN
          \(insertion("old_rows", table.columns, existed: true));
        ELSE
          \(insertion(names.table(table.origin), table.columns, existed: true));
        END IF;
        RETURN NULL;
      END
      """
  }

  // MARK: Reading

  /// The rows of a table as of a transaction, in the place of its name.
  func rows(of table: FormerTables.Table, asOf number: Int64) -> String {
    let past = names.table(table.name)
    let isLast =
      "NOT EXISTS (SELECT 1 FROM \(past) AS q WHERE \(isSameRow(table, "q", "p")) AND q.\"_number\" > p.\"_number\" "
      + "AND q.\"_until\" <= \(number))"
    return "(SELECT \(list(table.columns, of: "t")) FROM \(names.table(table.origin)) AS t WHERE NOT EXISTS "
      + "(SELECT 1 FROM \(past) AS p WHERE \(isSameRow(table, "p", "t")) AND p.\"_until\" > \(number) AND \(isLast)) "
      + "UNION ALL SELECT \(list(table.columns, of: "p")) FROM \(past) AS p WHERE p.\"_until\" > \(number) "
      + "AND p.\"_existed\" AND coalesce(p.\"_since\", 0) <= \(number) AND \(isLast))"
  }

  /// Selects the number of the transaction that replaced a row, whether the row existed, whether transactions before this
  /// one have all ended, and the row, from the oldest on. Parameters: the key, and the base of the history.
  func versions(_ table: FormerTables.Table, _ selection: String) -> String {
    "SELECT t.\"_until\", t.\"_existed\", t.\"_until\" < pg_snapshot_xmin(pg_current_snapshot())::text::bigint + $2, "
      + "\(selection) FROM \(names.table(table.name)) AS t "
      + "WHERE t.\(SQLName.id) = $1 ORDER BY t.\"_number\""
  }

  /// Deletes the rows that no kept transaction shows.
  func purge(_ table: FormerTables.Table) -> String {
    "DELETE FROM \(names.table(table.name)) WHERE \"_until\" <= (SELECT min(\"number\") FROM \(names.history)) "
      + "AND (SELECT \"value\"::bigint FROM \(names.metadata) WHERE \"key\" = 'historyDeleted') > 0"
  }
}
