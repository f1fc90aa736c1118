import TrellisStorage

extension SQLNames {
  /// The names in a schema of a database.
  ///
  /// The server cuts a longer name silently, so that two could become one. Its own columns are in every table.
  ///
  /// Source: PostgreSQL's manual, "Lexical Structure", `NAMEDATALEN`; "System Columns".
  static func postgres(schema: String) -> SQLNames {
    SQLNames(
      qualifier: SQLName.quoted(schema) + ".", limit: 63,
      reserved: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"])
  }

  /// The table with the metadata of the store.
  var metadata: String { table("_trellis") }
  /// The table with the models that the store has had.
  var models: String { table("_models") }
  /// The table with the next key.
  var keys: String { table("_keys") }
  /// The table with the last save of each connection.
  var saves: String { table("_saves") }

  /// The name of a column as the server keeps it, not quoted.
  func plain(_ column: String) -> String {
    let quoted = self.column(column)
    return String(quoted.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }
}

extension SQLDialect {
  /// Lists of keys are arrays. Statements name no index, so they say in which order they want their rows.
  static let postgres = SQLDialect(
    list: { "unnest(\($0)::bigint[]) WITH ORDINALITY AS k(value, rowid)" }, onlyMarker: "$1", marker: "$", join: "JOIN",
    integer: "::bigint", replacingNull: "coalesce", nullsFirst: " NULLS FIRST", namesIndexes: false, limitsInside: false
  )
}
