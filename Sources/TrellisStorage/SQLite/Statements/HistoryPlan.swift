package import TrellisModel

/// The tables and triggers of a file's history.
///
/// `_history` has a row for each transaction. For entities with former values, a table `_past.Entity` has the rows as they
/// were before each change: a row with the number of the transaction that replaced it. A row that was inserted has one
/// without a version, which says that there was none before. So the rows as of a transaction are the former rows of the
/// first change after it, and the present rows that did not change since.
///
/// Other programs than Trellis run the triggers of the file. They mark that something unknown has changed, and keep former
/// rows. Connections of Trellis do not run them.
package struct HistoryPlan: Sendable {
  /// A table with changes to record.
  package struct Table: Sendable {
    /// The quoted name of the table.
    let name: String
    /// The name without quotes.
    let plainName: String
    /// The quoted columns that identify a row.
    let key: [String]
    /// All quoted columns.
    let columns: [String]
    /// The definitions of the columns in the table of former rows.
    fileprivate let definitions: [String]
    /// The condition for a row that existed, in the table of former rows.
    let exists: String
    /// Whether former rows are kept.
    package let hasValues: Bool

    /// The quoted name of the table of former rows.
    var past: String { SQLName.quoted("_past.\(plainName)") }
  }

  /// The tables of root entities, by the number of each entity of the hierarchy; nil for those without a history.
  package let entities: [Table?]
  /// The join tables by number; nil for those without a history.
  package let joins: [Table?]
  /// The attributes of each entity that are kept of deleted rows.
  package let kept: [[Int]]
  package let limit: HistoryLimit?
  private let distinct: [Table]

  /// - Complexity: linear in the size of the model.
  package init(_ model: Model) {
    limit = model.description.keepHistory
    // Most models have no history, and their entities are not resolved for it.
    guard model.hasHistory else {
      entities = Array(repeating: nil, count: model.entities.count)
      joins = Array(repeating: nil, count: model.joinTables.count)
      kept = Array(repeating: [], count: model.entities.count)
      distinct = []
      return
    }
    var entities = [Table?](repeating: nil, count: model.entities.count)
    var distinct: [Table] = []
    for root in model.entities where root.parent == nil && model.history(of: root.index) != .off {
      let table = Table(model.table(of: root, hasDerived: false), hasValues: model.history(of: root.index) == .values)
      distinct.append(table)
      for number in root.subtree { entities[number] = table }
    }
    self.entities = entities
    joins = model.joinTables.map { join in
      let ends = [join.first.entity, join.partnerEntity].map(model.history)
      guard ends.contains(where: { $0 != .off }) else { return nil }
      let table = Table(model.table(of: join), hasValues: ends.allSatisfy { $0 == .values })
      distinct.append(table)
      return table
    }
    kept = model.entities.map { entity in
      entity.properties.compactMap { property in
        guard let attribute = property.attribute, attribute.description.isKeptInHistory, attribute.column != nil,
          !attribute.description.isExternal
        else { return nil }
        return attribute.index
      }
    }
    self.distinct = distinct
  }

  package var isEmpty: Bool { distinct.isEmpty }
  /// Whether former rows of any table are kept.
  package var hasValues: Bool { distinct.contains(where: \.hasValues) }

  /// The tables with former rows.
  var pastTables: [Table] { distinct.filter(\.hasValues) }
  var triggerNames: [String] { distinct.flatMap { table in table.triggers.map(\.name) } }

  static let table = "\"_history\""
  static let triggerPrefix = "_history."

  // MARK: Parts

  /// The tables, indexes and triggers that a file must have, in the order of their creation.
  package var parts: [CheckStatements.Part] {
    guard !isEmpty else { return [] }
    var parts = [CheckStatements.Part(feature: "_history", Self.tableStatement, isIndex: false)]
    for table in distinct where table.hasValues { parts += table.pastParts }
    for table in distinct { parts += table.triggers.map { $0.part } }
    return parts
  }

  private static let tableStatement = """
    CREATE TABLE \(table) (
      "number" INTEGER PRIMARY KEY,
      "time" INTEGER NOT NULL,
      "origin" INTEGER NOT NULL,
      "model" INTEGER,
      "author" TEXT,
      "changes" BLOB
    ) STRICT
    """

  /// Finds the tables, indexes and triggers of histories that a file has: names, each with its SQL.
  package static let present =
    "SELECT type, name, sql FROM sqlite_schema WHERE name = '_history' OR name GLOB '_history.*' "
    + "OR name GLOB '_past.*' OR name GLOB '_pastKey.*'"

  /// The triggers of the file as temporary triggers of a connection whose program does not record the history itself.
  package var triggersOfConnection: [String] {
    distinct.flatMap { table in table.triggers.map { $0.statement(isTemporary: true) } }
  }

  /// The views that show the tables as of a transaction, under the names of the tables. Those of tables without former
  /// rows cannot be used.
  ///
  /// - Parameter first: the number after which the former rows of a table begin that later transactions replaced.
  func views(
    asOf number: Int64, of model: Model, after first: (Table) throws(StoreError) -> Int64
  ) throws(StoreError) -> [String] {
    let roots = model.entities.filter { $0.parent == nil }
    let shown = distinct.filter(\.hasValues)
    let names = Set(shown.map(\.plainName))
    let hidden = (roots.map(\.name) + model.joinTables.map(\.name)).filter { !names.contains($0) }
    var views = hidden.map {
      "CREATE TEMP VIEW \(SQLName.quoted($0)) AS SELECT * FROM \(SQLName.quoted(HistoryError.missingPrefix + $0))"
    }
    for table in shown { views.append(table.view(asOf: number, after: try first(table))) }
    return views
  }

  /// What distinguishes the histories of two models that have the same tables otherwise.
  package var signature: Set<String> {
    var words = Set(parts.map(\.statement))
    for (entity, properties) in kept.enumerated() where !properties.isEmpty && entities[entity] != nil {
      words.insert("kept \(entity): \(properties)")
    }
    return words
  }

  // MARK: Statements

  /// Parameters: the time, the origin, the model, the author and the changes.
  package static let insert =
    "INSERT INTO \(table) (\"time\", \"origin\", \"model\", \"author\", \"changes\") VALUES (?, ?, ?, ?, ?)"

  /// Selects the number of the last transaction and the time and the part by which a position is known.
  package static let last = positions + "ORDER BY \"number\" DESC LIMIT 1"
  /// Parameter: a time in microseconds.
  package static let lastBefore = positions + "WHERE \"time\" <= ? ORDER BY \"number\" DESC LIMIT 1"
  /// Parameter: a number.
  package static let previous = positions + "WHERE \"number\" < ? ORDER BY \"number\" DESC LIMIT 1"
  /// Parameter: a number.
  package static let position = positions + "WHERE \"number\" = ?"
  package static let first = positions + "ORDER BY \"number\" LIMIT 1"

  private static let positions =
    "SELECT \"number\", \"time\", CASE WHEN \"changes\" IS NULL THEN \"origin\" ELSE 0 END FROM \(table) "

  /// Selects the transactions from a number on. Parameters: the number, and the largest count.
  package static let entries =
    "SELECT \"number\", \"time\", \"origin\", \"model\", \"author\", \"changes\" FROM \(table) WHERE \"number\" >= ? "
    + "ORDER BY \"number\" LIMIT ?"

  /// Parameter: the number of the first transaction that stays.
  package static let purge = "DELETE FROM \(table) WHERE \"number\" < ?"
  /// Selects the number and the time of the oldest transactions. Parameter: their largest count.
  package static let oldest = "SELECT \"number\", \"time\" FROM \(table) ORDER BY \"number\" LIMIT ?"

  /// Deletes former rows that no kept transaction shows. Former rows are in the order of their transactions. The last one
  /// stays without its values, so that no number is given out again. Parameters: the number of the first transaction that
  /// stays, and the largest number of rows.
  package var purgePast: [String] {
    distinct.filter(\.hasValues).flatMap { table in
      [
        "DELETE FROM \(table.past) WHERE \"_until\" <= ?1 AND \"_number\" < (SELECT min(\"_number\") + ?2 FROM "
          + "\(table.past)) AND \"_number\" < (SELECT max(\"_number\") FROM \(table.past))",
        "UPDATE \(table.past) SET \(table.blank) WHERE \"_number\" = (SELECT max(\"_number\") FROM \(table.past)) "
          + "AND \"_until\" <= ?1 AND ?2 > 0",
      ]
    }
  }
}

// MARK: - Tables

extension HistoryPlan.Table {
  fileprivate init(_ table: StoredTable, hasValues: Bool) {
    plainName = table.name
    name = SQLName.quoted(table.name)
    key = table.key.map(SQLName.quoted)
    columns = table.columns.map { SQLName.quoted($0.name) }
    definitions =
      (table.isJoin ? ["\"_existed\" INTEGER NOT NULL"] : [])
      + table.columns.enumerated().map { number, column in
        "\(SQLName.quoted(column.name)) \(column.type)\(number < table.keyCount ? " NOT NULL" : "")"
      }
    exists = table.isJoin ? "\"_existed\"" : "\(SQLName.version) IS NOT NULL"
    self.hasValues = hasValues
  }

  var isJoin: Bool { key.count > 1 }
  /// The name of the index that finds the former rows by key.
  var pastKeyName: String { "_pastKey.\(plainName)" }

  fileprivate var pastParts: [CheckStatements.Part] {
    let lines =
      (["\"_number\" INTEGER PRIMARY KEY", "\"_until\" INTEGER NOT NULL", "\"_since\" INTEGER"] + definitions).joined(
        separator: ",\n  ")
    let index = pastKeyName
    return [
      CheckStatements.Part(
        feature: "_past.\(plainName)", "CREATE TABLE \(past) (\n  \(lines)\n) STRICT", isIndex: false),
      CheckStatements.Part(
        feature: index,
        "CREATE UNIQUE INDEX \(SQLName.quoted(index)) ON \(past) (\(key.joined(separator: ", ")), \"_until\")"),
    ]
  }

  private var list: String { columns.joined(separator: ", ") }

  private func isSameRow(_ left: String, _ right: String) -> String {
    key.map { "\(left).\($0) = \(right).\($0)" }.joined(separator: " AND ")
  }

  /// The assignments that take the values from a former row.
  fileprivate var blank: String {
    let others = columns.filter { !key.contains($0) }.map { "\($0) = NULL" }
    return ((isJoin ? ["\"_existed\" = 0"] : []) + others).joined(separator: ", ")
  }

  /// The former row at a number, or the next one before it: its own number, and that of the transaction that replaced it.
  /// Parameter: the number.
  var pastRow: String {
    "SELECT \"_number\", \"_until\" FROM \(past) WHERE \"_number\" <= ? ORDER BY \"_number\" DESC LIMIT 1"
  }

  fileprivate func view(asOf number: Int64, after first: Int64) -> String {
    func selection(_ alias: String) -> String { columns.map { "\(alias).\($0)" }.joined(separator: ", ") }
    return "CREATE TEMP VIEW \(name) AS SELECT \(selection("t")) FROM main.\(name) AS t WHERE NOT EXISTS "
      + "(SELECT 1 FROM main.\(past) AS p WHERE \(isSameRow("p", "t")) AND p.\"_until\" > \(number)) UNION ALL "
      + "SELECT \(selection("p")) FROM main.\(past) AS p WHERE p.\"_number\" > \(first) AND p.\(exists) "
      + "AND ifnull(p.\"_since\", 0) <= \(number)"
  }

  // MARK: Former rows

  /// The transaction that a row is there since: the one that replaced its former row. Null if no former row is kept.
  ///
  /// - Parameter value: the value of a column of the key.
  private func since(_ value: (_ column: String) -> String) -> String {
    let isSame = key.map { "q.\($0) = \(value($0))" }.joined(separator: " AND ")
    return "(SELECT max(q.\"_until\") FROM \(past) AS q WHERE \(isSame))"
  }

  /// Keeps the rows as they are before their change. Parameters: the list of keys, and the number of the transaction. Of
  /// several changes of a row in one transaction, the first counts.
  var keepRows: String {
    "INSERT OR IGNORE INTO \(past) (\"_until\", \"_since\", \(list)) SELECT ?2, \(since { "t.\($0)" }), \(list) "
      + "FROM \(name) AS t WHERE \(SQLName.id) IN \(ListParameter.values("?1"))"
  }

  /// Notes that rows did not exist before. Parameters: the list of keys, and the number of the transaction.
  var noteNewRows: String {
    "INSERT OR IGNORE INTO \(past) (\"_until\", \(SQLName.id)) SELECT ?2, value FROM trellis_values(?1)"
  }

  /// Keeps a pair as it is before its change, or notes that it does not exist. Parameters: both keys, and the number of
  /// the transaction.
  var keepPair: String {
    let orders = columns.dropFirst(2)
    let since = since { $0 == key[0] ? "?1" : "?2" }
    let values = ["?3", since, "j.\(key[0]) IS NOT NULL", "?1", "?2"] + orders.map { "j.\($0)" }
    return
      "INSERT OR IGNORE INTO \(past) (\"_until\", \"_since\", \"_existed\", \(list)) SELECT \(values.joined(separator: ", ")) "
      + "FROM (SELECT 1) LEFT JOIN \(name) AS j ON j.\(key[0]) = ?1 AND j.\(key[1]) = ?2"
  }

  /// Keeps the pairs of deleted objects. Parameters: the list of their keys, and the number of the transaction.
  func keepPairs(ofFirst isFirst: Bool) -> String {
    "INSERT OR IGNORE INTO \(past) (\"_until\", \"_since\", \"_existed\", \(list)) SELECT ?2, \(since { "t.\($0)" }), "
      + "1, \(list) FROM \(name) AS t WHERE \(key[isFirst ? 0 : 1]) IN \(ListParameter.values("?1"))"
  }

  // MARK: Triggers

  fileprivate var triggers: [Trigger] {
    [
      trigger("insert", keeping: ["new": false]),
      // A key that changes is a row that goes and another that comes.
      trigger("update", keeping: ["old": true, "new": false]),
      trigger("delete", keeping: ["old": true]),
    ]
  }

  private func trigger(_ event: String, keeping rows: KeyValuePairs<String, Bool>) -> Trigger {
    var actions = Self.markActions
    if hasValues { actions += rows.map { keep($0, existed: $1) } }
    return Trigger(
      name: "\(HistoryPlan.triggerPrefix)\(plainName).\(event)", event: event.uppercased(), table: name,
      actions: actions)
  }

  /// One transaction stands for all writes of other programs in succession, and counts the changed rows. So a reader can
  /// tell that there were more since it last looked.
  private static let markActions = [
    "UPDATE \(HistoryPlan.table) SET \"origin\" = \"origin\" + 1 WHERE \"number\" = (SELECT max(\"number\") FROM "
      + "\(HistoryPlan.table)) AND \"changes\" IS NULL",
    "INSERT INTO \(HistoryPlan.table) (\"time\", \"origin\") SELECT "
      + "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER) * 1000, 1 WHERE NOT EXISTS "
      + "(SELECT 1 FROM \(HistoryPlan.table) WHERE \"number\" = (SELECT max(\"number\") FROM \(HistoryPlan.table)) "
      + "AND \"changes\" IS NULL)",
  ]

  private func keep(_ row: String, existed: Bool) -> String {
    let number = "(SELECT max(\"number\") FROM \(HistoryPlan.table))"
    guard existed else {
      return isJoin
        ? "INSERT OR IGNORE INTO \(past) (\"_until\", \"_existed\", \(key.joined(separator: ", "))) VALUES "
          + "(\(number), 0, \(key.map { "\(row).\($0)" }.joined(separator: ", ")))"
        : "INSERT OR IGNORE INTO \(past) (\"_until\", \(SQLName.id)) VALUES (\(number), \(row).\(SQLName.id))"
    }
    let values = columns.map { "\(row).\($0)" }.joined(separator: ", ")
    let since = since { "\(row).\($0)" }
    return isJoin
      ? "INSERT OR IGNORE INTO \(past) (\"_until\", \"_since\", \"_existed\", \(list)) VALUES "
        + "(\(number), \(since), 1, \(values))"
      : "INSERT OR IGNORE INTO \(past) (\"_until\", \"_since\", \(list)) VALUES (\(number), \(since), \(values))"
  }
}
