import TrellisAdoption
import TrellisModelFile

extension PostgresSource {
  func schema(sample: Int) throws -> SourceSchema {
    var schema = SourceSchema(name: schemaName == "public" ? try databaseName() : schemaName)
    var names: [String: String] = [:]
    var order: [String] = []
    try readTables(&schema, &names, &order)
    try readColumns(names, &schema)
    try readConstraints(names, &schema)
    try readIndexes(names, &schema)
    try readKeyDetails(names, &schema)
    try readTriggers(names, &schema)
    try readRest(names, &schema)
    schema.tables = order.compactMap { tables[$0] }
    return schema
  }

  private func databaseName() throws -> String {
    var name = ""
    try database.rows("SELECT current_database()::text") { name = $0.first.flatMap { $0 } ?? "" }
    return name
  }

  /// - Parameters:
  ///   - names: Receives the names of the tables by their numbers in the catalog.
  ///   - order: Receives the names in the order of their making.
  private func readTables(_ schema: inout SourceSchema, _ names: inout [String: String], _ order: inout [String]) throws
  {
    try database.rows(
      """
      SELECT c.oid::text, c.relname::text, c.relkind::text, c.relispartition::text, obj_description(c.oid, 'pg_class')
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') ORDER BY c.oid
      """, [schemaName]
    ) { row in
      guard let number = row[0], let name = row[1], let kind = row[2] else { return }
      switch kind {
      case "v", "m": schema.notes.append(AdoptionNote(.leftOut, name, "is a view, and has no rows of its own"))
      case "f": schema.notes.append(AdoptionNote(.leftOut, name, "is a table of another server"))
      default:
        // The rows of a part are those of the whole.
        if row[3] == "true" { return }
        if BookkeepingTables.names.contains(name.lowercased()) {
          schema.notes.append(AdoptionNote(.leftOut, name, "is bookkeeping of another library"))
          return
        }
        names[number] = name
        if kind == "p" { partitioned.insert(name) }
        order.append(name)
        tables[name] = SourceTable(name, doc: row[4])
      }
    }
  }

  // MARK: Columns

  private func readColumns(_ names: [String: String], _ schema: inout SourceSchema) throws {
    var enums: [String: (name: String, values: [String])] = [:]
    try database.rows(
      "SELECT t.oid::text, t.typname::text, e.enumlabel::text FROM pg_enum AS e JOIN pg_type AS t ON t.oid = e.enumtypid "
        + "ORDER BY t.oid, e.enumsortorder"
    ) { row in
      guard let number = row[0], let name = row[1], let value = row[2] else { return }
      enums[number, default: (name, [])].values.append(value)
    }
    var domains: [String: [String]] = [:]
    try database.rows(
      "SELECT contypid::text, pg_get_constraintdef(oid)::text FROM pg_constraint WHERE contypid <> 0 AND contype = 'c' "
        + "ORDER BY oid"
    ) { row in
      if let number = row[0], let text = row[1] { domains[number, default: []].append(text) }
    }
    try database.rows(
      """
      SELECT a.attrelid::text, a.attname::text, format_type(coalesce(nullif(t.typbasetype, 0), t.oid),
        CASE WHEN t.typbasetype <> 0 THEN t.typtypmod ELSE a.atttypmod END), (a.attnotnull OR t.typnotnull)::text,
        pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text, col_description(a.attrelid, a.attnum::int), t.oid::text,
        coalesce(nullif(t.typbasetype, 0), nullif(t.typelem, 0), t.oid)::text, a.attidentity::text
      FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE n.nspname = $1 AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
      """, [schemaName]
    ) { row in
      guard let table = row[0].flatMap({ names[$0] }), let name = row[1], let type = row[2] else { return }
      var column = SourceColumn(name, type, isRequired: row[3] == "true")
      if row[5] == "s" { column.generation = row[4] ?? "" } else { column.defaultValue = row[4] }
      column.doc = row[6]
      if type.split(separator: ".").last == "citext" { column.folding = .ofAllLetters }
      if let kind = row[9], !kind.isEmpty {
        schema.notes.append(
          AdoptionNote(
            .ignored, "\(table).\(name)",
            "is counted by the database (GENERATED \(kind == "a" ? "ALWAYS" : "BY DEFAULT") AS IDENTITY); a program gives new "
              + "objects its values"))
      }
      column.allowed = row[8].flatMap { enums[$0] }
      for check in row[7].flatMap({ domains[$0] }) ?? [] { tables[table]?.addCheck(ofDomain: check, of: name) }
      tables[table]?.columns.append(column)
    }
  }

  // MARK: Keys

  private static let actions = ["a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"]

  private func readConstraints(_ names: [String: String], _ schema: inout SourceSchema) throws {
    func columns(_ numbers: String, _ table: String) -> String {
      "(SELECT json_agg(k.attname ORDER BY o.place) FROM unnest(\(numbers)) WITH ORDINALITY AS o(number, place) "
        + "JOIN pg_attribute AS k ON k.attrelid = \(table) AND k.attnum = o.number)::text"
    }
    try database.rows(
      """
      SELECT r.conrelid::text, r.contype::text, r.conname::text, pg_get_constraintdef(r.oid), r.confrelid::text,
        r.confrelid::regclass::text, r.confdeltype::text, r.confupdtype::text, \(columns("r.conkey", "r.conrelid")),
        \(columns("r.confkey", "r.confrelid"))
      FROM pg_constraint AS r JOIN pg_namespace AS n ON n.oid = r.connamespace WHERE n.nspname = $1 ORDER BY r.oid
      """, [schemaName]
    ) { row in
      guard let table = row[0].flatMap({ names[$0] }), let kind = row[1] else { return }
      let own = Self.list(row[8])
      switch kind {
      case "p": tables[table]?.primaryKey = own
      case "u": tables[table]?.uniqueKeys.append(own)
      case "c": if let text = row[3] { tables[table]?.addCheck(text) }
      case "f":
        let target = row[4].flatMap { names[$0] } ?? row[5] ?? ""
        tables[table]?.foreignKeys.append(
          SourceForeignKey(
            own, to: target, Self.list(row[9]), onDelete: row[6].flatMap { Self.actions[$0] } ?? "",
            onUpdate: row[7].flatMap { Self.actions[$0] } ?? ""))
      case "x": schema.notes.append(AdoptionNote(.leftOut, table, "has the constraint \(row[2] ?? ""), an exclusion"))
      default: break
      }
    }
  }

  private func readIndexes(_ names: [String: String], _ schema: inout SourceSchema) throws {
    try database.rows(
      """
      SELECT i.indrelid::text, c.relname::text, i.indisunique::text, (i.indpred IS NOT NULL)::text,
        (i.indexprs IS NOT NULL)::text, m.amname::text,
        (SELECT json_agg(a.attname || CASE WHEN i.indoption[o.place - 1] & 1 = 1 THEN '-' ELSE '+' END ORDER BY o.place)
          FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS o(number, place)
          JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = o.number WHERE o.place <= i.indnkeyatts)::text
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_am AS m ON m.oid = c.relam
      WHERE n.nspname = $1 AND NOT EXISTS (SELECT 1 FROM pg_constraint AS r WHERE r.conindid = i.indexrelid AND r.contype <> 'f')
      ORDER BY i.indexrelid
      """, [schemaName]
    ) { row in
      guard let table = row[0].flatMap({ names[$0] }), let name = row[1] else { return }
      let isUnique = row[2] == "true"
      let kind = isUnique ? "unique index" : "index"
      if row[3] == "true" {
        schema.notes.append(AdoptionNote(.leftOut, table, "has the \(kind) \(name) over a part of its rows"))
      } else if row[4] == "true" {
        schema.notes.append(AdoptionNote(.leftOut, table, "has the \(kind) \(name) over an expression"))
      } else if row[5] != "btree" {
        schema.notes.append(AdoptionNote(.leftOut, table, "has the index \(name) of the kind \(row[5] ?? "")"))
      } else {
        let columns = Self.list(row[6]).map { (name: String($0.dropLast()), isDescending: $0.hasSuffix("-")) }
        if isUnique {
          tables[table]?.uniqueKeys.append(columns.map(\.name))
        } else {
          tables[table]?.indexes.append(SourceIndex(name, columns))
        }
      }
    }
  }

  /// Notes what keys and indexes have besides their columns.
  private func readKeyDetails(_ names: [String: String], _ schema: inout SourceSchema) throws {
    // Servers before 15 have no column for nulls.
    try database.rows(
      """
      SELECT i.indrelid::text, c.relname::text, coalesce((to_jsonb(i)->>'indnullsnotdistinct')::boolean, false)::text,
        (SELECT string_agg(a.attname::text, ', ' ORDER BY o.place) FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS o(number, place)
          JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = o.number WHERE o.place > i.indnkeyatts)
      FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 ORDER BY i.indexrelid
      """, [schemaName]
    ) { row in
      guard let table = row[0].flatMap({ names[$0] }), let name = row[1] else { return }
      if row[2] == "true" {
        schema.notes.append(
          AdoptionNote(
            .changed, table,
            "has the unique index \(name) with NULLS NOT DISTINCT; here any number of objects may have nil in a unique value"
          ))
      }
      if let columns = row[3] {
        schema.notes.append(
          AdoptionNote(
            .ignored, table, "has the index \(name), which INCLUDEs \(columns); here an index has its key alone"))
      }
    }
  }

  private func readTriggers(_ names: [String: String], _ schema: inout SourceSchema) throws {
    try database.rows(
      "SELECT t.tgrelid::text, t.tgname::text FROM pg_trigger AS t WHERE NOT t.tgisinternal ORDER BY t.oid"
    ) { row in
      guard let table = row[0].flatMap({ names[$0] }), let name = row[1] else { return }
      schema.notes.append(
        AdoptionNote(.leftOut, table, "has the trigger \(name); write what it does as a hook of the entity"))
    }
  }

  /// Notes what the database has besides tables, and what tables have besides columns and keys.
  private func readRest(_ names: [String: String], _ schema: inout SourceSchema) throws {
    try database.rows(
      """
      SELECT c.oid::text, (SELECT count(*) FROM pg_policy AS p WHERE p.polrelid = c.oid)::text
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relrowsecurity ORDER BY c.oid
      """, [schemaName]
    ) { row in
      guard let table = row[0].flatMap({ names[$0] }) else { return }
      schema.notes.append(
        AdoptionNote(
          .leftOut, table,
          "has row security with \(row[1] == "1" ? "1 policy" : "\(row[1] ?? "0") policies"); a program decides here which objects a user sees"
        ))
    }
    try database.rows(
      """
      SELECT h.inhrelid::text, p.relname::text FROM pg_inherits AS h JOIN pg_class AS c ON c.oid = h.inhrelid
      JOIN pg_class AS p ON p.oid = h.inhparent WHERE NOT c.relispartition ORDER BY h.inhrelid, h.inhseqno
      """
    ) { row in
      guard let table = row[0].flatMap({ names[$0] }), let parent = row[1] else { return }
      schema.notes.append(
        AdoptionNote(
          .changed, table,
          "inherits from \(parent); here it is an entity of its own, and requests for \(parent) do not find its objects; write "
            + "\"parent\" instead"))
    }
    // A sequence that belongs to a column has the note of the column.
    try database.rows(
      """
      SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relkind = 'S' AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass
        AND d.objid = c.oid AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0 AND d.deptype IN ('a', 'i'))
      ORDER BY c.oid
      """, [schemaName]
    ) { row in
      if let name = row[0] { schema.notes.append(AdoptionNote(.leftOut, name, "is a sequence, and has no rows")) }
    }
  }

  /// The texts of a list in JSON.
  private static func list(_ text: String?) -> [String] {
    guard let text, let elements = ModelFile.readJSON(Array(text.utf8), path: "").root?.array else { return [] }
    return elements.compactMap(\.string)
  }
}
