internal import CSQLite
import TrellisModel

/// The counts of a file for the plan of its migration.
struct SQLiteMigrationCounts: LossCounts {
  let database: Database
  let migration: Migration
  let statements: MigrationStatements
  /// The lost pairs of collected links, by the current link's number.
  let lostPairs: [Int: Int]
  /// Whether rows that break new bounds are counted, which only a reader of the plan needs.
  let countsBreaches: Bool

  private var model: Model { migration.stored }

  func rows(of entity: Int) throws -> Int { try count(entity, []) }

  func present(column: Int, in entity: Int) throws -> Int {
    try count(entity, ["\(name(column, entity)) IS NOT NULL"])
  }

  func missing(column: Int, in entity: Int) throws -> Int {
    try count(entity, ["\(name(column, entity)) IS NULL"])
  }

  func misfits(_ source: StoredColumn, in entity: Int) throws -> Misfits {
    var misfits = Misfits()
    guard let conversion = source.conversion else { return misfits }
    let name = name(source.column, entity)
    let value = source.isInlined ? "trellis_inline(\(name))" : name
    let found = self.rows(of: entity, ["\(name) IS NOT NULL", "trellis_convert(\(conversion), \(value)) IS NULL"])
    if migration.conversions[conversion].isOfEnums {
      try read("SELECT \(name), count(*) FROM \(found) GROUP BY 1") { row in
        guard let value = trellis_sqlite3_column_value(row, 0) else { return }
        misfits.add(Int(clamping: trellis_sqlite3_column_int64(row, 1)), of: SQLFunction.value(value))
      }
      return misfits
    }
    let count = try database.number("SELECT count(*) FROM \(found)")
    if count == 0 { return misfits }
    var rows: [Int64] = []
    try read("SELECT \(SQLName.id) FROM \(found) ORDER BY 1 LIMIT \(Misfits.shownRows)") { row in
      rows.append(trellis_sqlite3_column_int64(row, 0))
    }
    misfits.add(Int(clamping: count), first: rows)
    return misfits
  }

  func lostPairs(of link: Int) throws -> Int { lostPairs[link] ?? 0 }

  func duplicates(of key: NewKey) throws -> NewKey.Duplicates {
    let question = statements.duplicates(of: key)
    let statement = try database.prepare(question)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    var duplicates = NewKey.Duplicates()
    while try database.step(statement.pointer, doing: "look for duplicates") {
      duplicates.count += 1
      guard duplicates.rows.count < NewKey.Duplicates.shownValues else { continue }
      let keys = database.text(of: statement.pointer)?.split(separator: " ").compactMap { Int64($0) } ?? []
      duplicates.rows.append(Array(keys.sorted().prefix(NewKey.Duplicates.shownRows)))
    }
    return duplicates
  }

  func blanks(column: Int, of move: RowMove) throws -> Int {
    try number(statements.blanks(column: column, of: move))
  }

  func breaches(of bound: Int) throws -> Int? {
    countsBreaches ? try number(statements.breaches(of: bound)) : nil
  }

  private func number(_ question: MigrationStatement) throws(StoreError) -> Int {
    let statement = try database.prepare(question)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    guard try database.step(statement.pointer, doing: "count rows") else { return 0 }
    return Int(clamping: trellis_sqlite3_column_int64(statement.pointer, 0))
  }

  private func name(_ column: Int, _ entity: Int) -> String {
    SQLName.quoted(model.entities[entity].columns[column].name)
  }

  private func count(_ entity: Int, _ conditions: [String]) throws(StoreError) -> Int {
    try database.number("SELECT count(*) FROM \(rows(of: entity, conditions))")
  }

  /// The table of an entity and the conditions for some of its own rows.
  private func rows(of entity: Int, _ conditions: [String]) -> String {
    let stored = model.entities[entity]
    let own = stored.isInHierarchy ? ["\(SQLName.entity) = \(SQLName.literal(stored.name))"] : []
    let terms = own + conditions
    let condition = terms.isEmpty ? "" : " WHERE \(terms.joined(separator: " AND "))"
    return SQLName.quoted(model.entities[stored.root].name) + condition
  }

  private func read(_ sql: String, _ body: (_ row: OpaquePointer) -> Void) throws(StoreError) {
    let statement = try database.prepare(sql)
    defer { _ = trellis_sqlite3_finalize(statement.pointer) }
    while try database.step(statement.pointer, doing: "count rows") { body(statement.pointer) }
  }

  func pairs(_ number: Int, of entity: Int, with partners: [Int]) throws -> Int {
    guard let relationship = model.entities[entity].properties[number].relationship,
      let (link, isSecond) = migration.storedLinks.link(of: relationship)
    else { return 0 }
    let pairs = StoredPairs.selection(of: migration.storedLinks.all[link], in: model)
    let (own, other) = isSecond ? ("partner", "owner") : ("owner", "partner")
    let others = partners.map { "\(other) IN \(keys(of: $0))" }.joined(separator: " OR ")
    return try database.number(
      "SELECT count(*) FROM (\(pairs)) WHERE \(own) IN \(keys(of: entity)) AND (\(others))")
  }

  private func keys(of entity: Int) -> String {
    let stored = model.entities[entity]
    let own = stored.isInHierarchy ? " WHERE \(SQLName.entity) = \(SQLName.literal(stored.name))" : ""
    return "(SELECT \(SQLName.id) FROM \(SQLName.quoted(model.entities[stored.root].name))\(own))"
  }
}
