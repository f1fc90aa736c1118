import TrellisModel
import TrellisStorage

/// What a schema has, as comparable texts: a line for each column, key, index, foreign key and check.
struct SchemaFacts {
  /// The lines of each table, by its name on the server.
  private(set) var tables: [String: Set<String>] = [:]
  /// The lines of keys, indexes, foreign keys and checks, by their names on the server, with the table that they belong to.
  private(set) var parts: [String: (table: String, kind: String, fact: String)] = [:]

  private static let separator = "\u{1F}"

  // MARK: Of a model

  /// The facts of a new store.
  init(_ schema: PostgresSchema) {
    let names = schema.names
    for table in schema.tables {
      let columns = table.columns.map {
        Self.column(names.plain($0.name), $0.type.catalogName, isRequired: $0.isRequired)
      }
      tables[names.fitted(table.name)] = Set(columns)
    }
    for part in schema.parts { add(part, names) }
  }

  private mutating func add(_ part: PostgresSchema.Part, _ names: SQLNames) {
    parts[part.name] = (names.fitted(part.table), part.kind.rawValue, Self.fact(part, names))
  }

  private static func column(_ name: String, _ type: String, isRequired: Bool) -> String {
    "column \(name) \(type)\(isRequired ? " required" : "")"
  }

  /// The line of a key, an index, a foreign key or a check. The name of a check tells what it asks for.
  static func fact(_ part: PostgresSchema.Part, _ names: SQLNames) -> String {
    let columns = part.columns.map { names.plain($0) }
    if part.kind == .check { return check(columns) }
    return fact(
      part.kind.rawValue, columns, part.orders.map(String.init), target: part.target.map(names.fitted),
      isPartial: part.condition != nil, deferral: part.kind.deferral)
  }

  private static func check(_ columns: [String]) -> String { "check (\(columns.sorted().joined(separator: ", ")))" }

  private static func fact(
    _ kind: String, _ columns: [String], _ orders: [String], target: String?, isPartial: Bool, deferral: String
  ) -> String {
    "\(kind) (\(columns.joined(separator: ", ")))"
      + (orders.isEmpty ? "" : " orders \(orders.joined(separator: " "))") + (target.map { " to \($0)" } ?? "")
      + (isPartial ? " of some rows" : "") + deferral
  }

  // MARK: Of a server

  /// The facts of a schema on a server.
  init(_ connection: ServerConnection, schema: String) throws(ServerError) {
    var parameters = ServerParameters()
    parameters.add(schema)
    let ofSchema = "c.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = $1)"
    let columns = try connection.run(
      ServerStatement(
        "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL), a.attnotnull "
          + "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
          + "WHERE \(ofSchema) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped",
        parameters))
    for row in 0..<columns.count {
      let table = columns.text(row, 0) ?? ""
      tables[table, default: []].insert(
        Self.column(columns.text(row, 1) ?? "", columns.text(row, 2) ?? "", isRequired: columns.integer(row, 3) == 1))
    }
    func list(_ numbers: String) -> String {
      "(SELECT string_agg(a.attname, '\(Self.separator)' ORDER BY u.place) FROM unnest(\(numbers)) WITH ORDINALITY "
        + "AS u(number, place) JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.number)"
    }
    let constraints = try connection.run(
      ServerStatement(
        "SELECT c.relname::text, k.conname::text, k.contype::text, \(list("k.conkey")), f.relname::text, "
          + "k.condeferrable, k.condeferred, i.indpred IS NOT NULL FROM pg_constraint k "
          + "JOIN pg_class c ON c.oid = k.conrelid LEFT JOIN pg_class f ON f.oid = k.confrelid "
          + "LEFT JOIN pg_index i ON i.indexrelid = k.conindid AND k.contype = 'x' "
          + "WHERE \(ofSchema) AND k.contype IN ('p', 'u', 'x', 'f', 'c')", parameters))
    for row in 0..<constraints.count {
      let kind: PostgresSchema.Part.Kind =
        switch constraints.text(row, 2) {
        case "p": .primaryKey
        case "f": .foreignKey
        case "c": .check
        default: .unique
        }
      let columns = Self.split(constraints.text(row, 3))
      let isDeferrable = constraints.integer(row, 5) == 1
      let deferral =
        isDeferrable ? constraints.integer(row, 6) == 1 ? " deferred" : " deferrable" : ""
      let fact =
        kind == .check
        ? Self.check(columns)
        : Self.fact(
          kind.rawValue, columns, [], target: kind == .foreignKey ? constraints.text(row, 4) : nil,
          isPartial: constraints.integer(row, 7) == 1, deferral: deferral)
      parts[constraints.text(row, 1) ?? ""] = (constraints.text(row, 0) ?? "", kind.rawValue, fact)
    }
    let indexes = try connection.run(
      ServerStatement(
        "SELECT c.relname::text, x.relname::text, \(list("i.indkey::int2[]")), i.indoption::text, "
          + "i.indpred IS NOT NULL, i.indisunique FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
          + "JOIN pg_class x ON x.oid = i.indexrelid WHERE \(ofSchema) "
          + "AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = x.oid AND k.contype IN ('p', 'u', 'x'))",
        parameters))
    for row in 0..<indexes.count {
      let kind = indexes.integer(row, 5) == 1 ? "uniqueIndex" : PostgresSchema.Part.Kind.index.rawValue
      parts[indexes.text(row, 1) ?? ""] = (
        indexes.text(row, 0) ?? "", kind,
        Self.fact(
          kind, Self.split(indexes.text(row, 2)), (indexes.text(row, 3) ?? "").split(separator: " ").map(String.init),
          target: nil, isPartial: indexes.integer(row, 4) == 1, deferral: "")
      )
    }
  }

  private static func split(_ text: String?) -> [String] {
    (text ?? "").split(separator: separator, omittingEmptySubsequences: false).map(String.init)
  }

  // MARK: Comparing

  /// The first table that is not as another one has it.
  func differingTable(from expected: SchemaFacts) -> String? {
    expected.tables.keys.sorted().first { tables[$0] != expected.tables[$0] }
  }

  /// The first key, index, foreign key or check that is not as another one has it. An index may be missing.
  func differingPart(from expected: SchemaFacts) -> String? {
    expected.parts.keys.sorted().first { name in
      guard let part = expected.parts[name] else { return true }
      guard let found = parts[name] else { return part.kind != PostgresSchema.Part.Kind.index.rawValue }
      return found.table != part.table || found.fact != part.fact
    }
  }
}

extension PostgresSchema.Part.Kind {
  fileprivate var deferral: String {
    switch self {
    case .primaryKey, .index, .check: ""
    case .unique: " deferred"
    case .foreignKey: " deferrable"
    }
  }
}

extension ServerType {
  /// The name in the server's catalog.
  fileprivate var catalogName: String { self == .timestamp ? "timestamp with time zone" : name }
}
