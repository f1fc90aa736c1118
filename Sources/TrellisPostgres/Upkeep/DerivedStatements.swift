import TrellisModel
import TrellisStorage

/// The statements that make the tables of derived values, and the triggers and functions that keep them.
///
/// A trigger on each table that an expression reads notes the changed rows in `_derivedMarks`, under the number of the
/// transaction. The first mark of a transaction has a trigger at its end, which computes. Which objects read a changed row
/// is found then and not before: the lock on the table of values makes transactions compute one after the other, so the
/// last one sees all links and values that others have committed.
struct DerivedStatements {
  let names: SQLNames
  let schema: String

  init(_ setup: PostgresSetup) {
    names = setup.layout.names
    schema = setup.options.schema
  }

  // MARK: Marks

  private static let transaction = "pg_current_xact_id()"

  /// The name of the function and of the trigger that compute at the end of a transaction.
  static let compute = "_derive"

  /// The table of marks and what computes at the end of a transaction. A store has them once.
  var marks: [String] {
    let body = """
      DECLARE
        digest text;
      BEGIN
        IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
          RAISE EXCEPTION 'a transaction that changes what stored derived attributes of Trellis read must be READ COMMITTED'
            USING ERRCODE = 'feature_not_supported';
        END IF;
        FOR digest IN SELECT DISTINCT m."table" FROM \(names.derivedMarks) AS m
          WHERE m."transaction" = \(Self.transaction) AND m."table" <> '' ORDER BY 1
        LOOP
          EXECUTE format('SELECT %I.%I()', \(SQLName.literal(schema)), \(SQLName.literal(DerivedTables.functionPrefix)) || digest);
        END LOOP;
        DELETE FROM \(names.derivedMarks) AS m WHERE m."transaction" = \(Self.transaction);
        RETURN NULL;
      END
      """
    let name = names.table(Self.compute)
    return [
      // No row outlives its transaction, so nothing is lost with an unlogged table. Statistics would be those of one moment.
      "CREATE UNLOGGED TABLE IF NOT EXISTS \(names.derivedMarks) (\"transaction\" xid8, \"table\" text COLLATE \"C\", "
        + "\"place\" integer, \"key\" bigint, PRIMARY KEY (\"transaction\", \"table\", \"place\", \"key\")) "
        + "WITH (autovacuum_analyze_threshold = 2147483647)",
      function(name, returning: "trigger", body),
      "DROP TRIGGER IF EXISTS \(names.identifier(Self.compute)) ON \(names.derivedMarks)",
      "CREATE CONSTRAINT TRIGGER \(names.identifier(Self.compute)) AFTER INSERT ON \(names.derivedMarks) DEFERRABLE "
        + "INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.\"table\" = '') EXECUTE FUNCTION \(name)()",
    ]
  }

  /// A function with the rights of the owner of the store, whose texts mean the same in each session.
  private func function(_ name: String, returning type: String, _ body: String) -> String {
    "CREATE OR REPLACE FUNCTION \(name)() RETURNS \(type) LANGUAGE plpgsql SECURITY DEFINER "
      + "SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET datestyle = 'ISO, YMD' "
      + "SET timezone = 'UTC' AS \(SQLName.literal(body))"
  }

  // MARK: Tables

  /// The name of the function that computes the values of the objects that read the marked rows.
  private func computing(_ table: DerivedTables.Table) -> String {
    names.table(DerivedTables.functionPrefix + table.digest)
  }

  /// The tables that the expressions read, in the order of their names.
  func watched(_ table: DerivedTables.Table) -> [(name: String, watches: [DerivedReads.Watch])] {
    Dictionary(grouping: table.reads.watches, by: \.table).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The number of triggers that mark what a table of values follows from.
  func triggerCount(_ table: DerivedTables.Table) -> Int { watched(table).count * Self.events.count }

  private static let events: [(name: String, event: String, rows: String)] = [
    ("insert", "INSERT", " REFERENCING NEW TABLE AS changed_rows"),
    ("update", "UPDATE", " REFERENCING OLD TABLE AS changed_rows NEW TABLE AS new_rows"),
    ("delete", "DELETE", " REFERENCING OLD TABLE AS changed_rows"),
    ("truncate", "TRUNCATE", ""),
  ]

  /// The statements that make a table with its values.
  ///
  /// - Parameter literals: the values of the expressions as SQL.
  func creation(_ table: DerivedTables.Table, literals: [String]) -> [String] {
    let columns = table.columns.map { "\($0.name) \(PostgresSchema.typeName($0.type))" }
    let values = table.columns.map { inlined($0.expression, literals) }.joined(separator: ", ")
    let source = inlined(table.source, literals)
    let key = "\(table.root).\(SQLName.id)"
    var statements = [
      "DROP TABLE IF EXISTS \(table.name)",
      "CREATE TABLE \(table.name) (\(SQLName.id) bigint PRIMARY KEY, \(columns.joined(separator: ", ")))",
      "INSERT INTO \(table.name) SELECT \(key), \(values) FROM \(source) WHERE TRUE\(table.condition)",
    ]
    for index in table.indexes {
      let list = index.map { table.columns[$0.column].name + ($0.isDescending ? " DESC NULLS LAST" : " NULLS FIRST") }
      let ending = index.last?.isDescending == true ? " DESC" : ""
      statements.append(
        "CREATE INDEX ON \(table.name) (\(list.joined(separator: ", ")), \(SQLName.id)\(ending))")
    }
    statements.append(function(computing(table), returning: "void", body(table, values, source)))
    for (number, (name, watches)) in watched(table).enumerated() {
      let marking = names.table("\(DerivedTables.markPrefix)\(table.digest).\(number)")
      statements.append(function(marking, returning: "trigger", mark(table, watches)))
      for (word, event, rows) in Self.events {
        let trigger = names.identifier("\(DerivedTables.prefix)\(table.digest).\(word)")
        statements += [
          "DROP TRIGGER IF EXISTS \(trigger) ON \(names.table(name))",
          "CREATE TRIGGER \(trigger) AFTER \(event) ON \(names.table(name))\(rows) FOR EACH STATEMENT "
            + "EXECUTE FUNCTION \(marking)()",
        ]
      }
    }
    // The functions name the schema, which may get another name.
    statements.append("COMMENT ON TABLE \(table.name) IS \(SQLName.literal("\(table.digest) \(schema)"))")
    return statements
  }

  /// Notes the changed rows of a table.
  private func mark(_ table: DerivedTables.Table, _ watches: [DerivedReads.Watch]) -> String {
    let columns = Set(watches.flatMap { $0.keys + $0.columns }).sorted().map { "r.\($0)" }.joined(separator: ", ")
    var keys: [String] = []
    for watch in watches {
      let key = "SELECT \(watch.place), r.\(watch.column) FROM rows_to_mark AS r"
      if !keys.contains(key) { keys.append(key) }
    }
    let digest = SQLName.literal(table.digest)
    func insertion(_ rows: String, _ keys: [String]) -> String {
      "WITH rows_to_mark AS (\(rows)) INSERT INTO \(names.derivedMarks) SELECT \(Self.transaction), \(digest), m.place, m.key "
        + "FROM (\(keys.joined(separator: " UNION "))) AS m (place, key) WHERE m.key IS NOT NULL ON CONFLICT DO NOTHING"
    }
    func rows(_ name: String) -> String { "SELECT \(columns) FROM \(name) AS r" }
    let changed =
      "(\(rows("changed_rows")) EXCEPT \(rows("new_rows"))) UNION ALL (\(rows("new_rows")) EXCEPT \(rows("changed_rows")))"
    return """
      BEGIN
        IF TG_OP = 'UPDATE' THEN
          \(insertion(changed, keys));
        ELSIF TG_OP = 'TRUNCATE' THEN
          \(insertion("SELECT r.\(SQLName.id) FROM \(table.name) AS r", ["SELECT 0, r.\(SQLName.id) FROM rows_to_mark AS r"]));
        ELSE
          \(insertion(rows("changed_rows"), keys));
        END IF;
        IF FOUND THEN
          INSERT INTO \(names.derivedMarks) VALUES (\(Self.transaction), '', 0, 0) ON CONFLICT DO NOTHING;
        END IF;
        RETURN NULL;
      END
      """
  }

  /// Computes the values of the objects that read marked rows.
  private func body(_ table: DerivedTables.Table, _ values: String, _ source: String) -> String {
    let places = Set(table.reads.watches.map(\.place)).union([0]).sorted()
    let digest = SQLName.literal(table.digest)
    // The planner takes lists of keys for short ones, and searches indexes for them.
    let lists = places.map { place in
      "marked_\(place) := ARRAY(SELECT m.\"key\" FROM \(names.derivedMarks) AS m WHERE m.\"transaction\" = \(Self.transaction) "
        + "AND m.\"table\" = \(digest) AND m.\"place\" = \(place));"
    }
    let readers = places.map { place in
      "IF cardinality(marked_\(place)) > 0 THEN derived_keys := derived_keys || "
        + "ARRAY(\(table.reads.readers(of: place, keys: "SELECT unnest(marked_\(place))"))); END IF;"
    }
    let key = "\(table.root).\(SQLName.id)"
    let columns = table.columns.map(\.name)
    func list(_ row: String) -> String { "(\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))" }
    let changes = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
    return """
      DECLARE
        \(places.map { "marked_\($0) bigint[];" }.joined(separator: "\n  "))
        derived_keys bigint[] := '{}';
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtext(\(SQLName.literal("trellis.derived.\(schema)"))), hashtext(\(digest)));
        \(lists.joined(separator: "\n  "))
        \(readers.joined(separator: "\n  "))
        derived_keys := ARRAY(SELECT DISTINCT unnest(derived_keys));
        DELETE FROM \(table.name) AS x WHERE x.\(SQLName.id) = ANY(derived_keys)
          AND NOT EXISTS (SELECT 1 FROM \(source) WHERE \(key) = x.\(SQLName.id)\(table.condition));
        INSERT INTO \(table.name) AS x SELECT \(key), \(values) FROM \(source)
          WHERE \(key) = ANY(derived_keys)\(table.condition)
          ON CONFLICT (\(SQLName.id)) DO UPDATE SET \(changes) WHERE \(list("x")) IS DISTINCT FROM \(list("excluded"));
      END
      """
  }

  // MARK: Values

  /// Asks the server for the values of parameters as texts that it reads as the same values.
  func literals(_ parameters: ServerParameters) -> ServerStatement? {
    if parameters.count == 0 { return nil }
    let list = (1...parameters.count).map { number in
      "coalesce(quote_literal($\(number)::text), 'NULL') || '::' || pg_typeof($\(number))::text"
    }
    return ServerStatement("SELECT \(list.joined(separator: ", "))", parameters)
  }

  /// A text with values in the place of its parameters.
  private func inlined(_ text: String, _ literals: [String]) -> String {
    var result = ""
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "$" {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        if let number = Int(digits), literals.indices.contains(number - 1) {
          rest = rest.dropFirst(digits.count)
          result += "(\(literals[number - 1]))"
          continue
        }
      }
      result.append(character)
    }
    return result
  }
}
