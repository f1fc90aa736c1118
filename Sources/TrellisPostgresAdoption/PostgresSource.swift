import TrellisForeignFiles
import TrellisAdoption
import TrellisPostgres
import TrellisStorage

/// The tables of a schema on a PostgreSQL server, read at one moment.
final class PostgresSource: AdoptionSource {
  let place: String
  let schemaName: String
  let database: ForeignDatabase
  /// The tables that were read, by name.
  var tables: [String: SourceTable] = [:]
  /// The tables whose rows are those of their parts.
  var partitioned: Set<String> = []

  /// - Throws: ``AdoptionError``; ``StoreError``.
  init(_ connectionString: String, schema: String) throws {
    switch try PostgresStore.state(connectionString, schema: schema) {
    case .none:
      throw AdoptionError(
        .unreadable, "The database has no schema \(schema).", remedy: "Name another one, as ?schema=NAME.")
    case .withStore:
      throw AdoptionError(
        .otherCommand, "The schema \(schema) is a store of Trellis already.",
        remedy: "Its model is printed by trellis describe.")
    case .withoutStore: break
    }
    database = try ForeignDatabase(connectionString, schema: schema)
    place = database.name
    schemaName = schema
  }

  // MARK: Rows

  /// What identifies the rows of a table.
  private struct Identity {
    /// The expressions over a row of a name, as texts.
    var columns: [(_ row: String) -> String]
    var isNumber = false
    /// What rows are ordered by.
    var order: [String]
  }

  private static let wholeTypes: Set<String> = ["smallint", "integer", "bigint"]

  private func identity(of name: String) -> Identity {
    guard let table = tables[name], !table.primaryKey.isEmpty else {
      return Identity(
        columns: ["tableoid", "ctid"].map { column in { "\($0).\(column)::text" } },
        order: ["main.tableoid", "main.ctid"])
    }
    let types = table.primaryKey.compactMap { key in table.columns.first { $0.name == key }?.declaredType }
    return Identity(
      columns: table.primaryKey.map { column in { "\($0).\(SQLName.quoted(column))::text" } },
      isNumber: types.count == 1 && Self.wholeTypes.contains(types[0]),
      order: table.primaryKey.map { "main.\(SQLName.quoted($0))" })
  }

  /// A table without the rows of those that inherit from it.
  private func qualified(_ table: String) -> String {
    (partitioned.contains(table) ? "" : "ONLY ") + "\(SQLName.quoted(schemaName)).\(SQLName.quoted(table))"
  }

  func rows(_ query: RowQuery, _ body: (SourceRow) throws -> Void) throws {
    let own = identity(of: query.table)
    var selected = own.columns.map { $0("main") }
    let columns = query.columns.compactMap { name in tables[query.table]?.columns.first { $0.name == name } }
    selected += columns.map(Self.expression)
    var goals: [Identity] = []
    for reference in query.references {
      let goal = identity(of: reference.target)
      goals.append(goal)
      let condition = zip(reference.targetColumns, reference.columns).map {
        "goal.\(SQLName.quoted($0)) = main.\(SQLName.quoted($1))"
      }
      for column in goal.columns {
        selected.append(
          "(SELECT \(column("goal")) FROM \(qualified(reference.target)) AS goal "
            + "WHERE \(condition.joined(separator: " AND ")) LIMIT 1)")
      }
    }
    let sql =
      "SELECT \(selected.joined(separator: ", ")) FROM \(qualified(query.table)) AS main "
      + "ORDER BY \(own.order.joined(separator: ", "))"
    try database.rows(sql) { texts in
      var rest = texts[...]
      func take(_ identity: Identity) -> RowIdentity? {
        let parts = rest.prefix(identity.columns.count)
        rest = rest.dropFirst(parts.count)
        let known = parts.compactMap { $0 }
        guard known.count == parts.count else { return nil }
        if identity.isNumber, let number = known.first.flatMap({ Int64($0) }) { return .number(number) }
        return .values(known.map { .text($0) })
      }
      guard let identity = take(own) else { return }
      let values = zip(columns, rest).map { Self.value($1, $0.declaredType) }
      rest = rest.dropFirst(columns.count)
      try body(SourceRow(identity, values: values, targets: goals.map(take)))
    }
  }

  /// A column as a text.
  private static func expression(_ column: SourceColumn) -> String {
    let name = "main.\(SQLName.quoted(column.name))"
    if column.isList { return "to_json(\(name))::text" }
    return column.declaredType == "money" ? "\(name)::numeric::text" : "\(name)::text"
  }

  private static func value(_ text: String?, _ type: String) -> ForeignValue {
    guard let text else { return .null }
    switch type {
    case "smallint", "integer", "bigint": return Int64(text).map { .integer($0) } ?? .text(text)
    case "real", "double precision": return Double(text).map { .real($0) } ?? .text(text)
    case "bytea": return bytes(text).map { .blob($0) } ?? .text(text)
    default: return .text(text)
    }
  }

  /// The bytes of `\x00ff`.
  private static func bytes(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8.dropFirst(2))
    guard text.hasPrefix("\\x"), digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[place...(place + 1)], as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(byte)
    }
    return bytes
  }
}
