import TrellisModel
import TrellisStorage

extension ServerTableChanges {
  /// The stored root entities whose rows are migrated in pages. Empty if a row needs others, or if none is written again.
  var pagedRoots: [Entity] {
    if hasSteps { return [] }
    let (written, writtenPairs) = (Set(writtenRoots.map(\.index)), Set(writtenPairs.map(\.index)))
    let needsOthers =
      migration.expressions.contains { expression in
        !PredicateNode.operand(expression.operand).isOfRow(migration.stored.entities[expression.entity])
      }
      || migration.links.contains { move in
        move.way == .collected || move.way == .copied && move.link.joinTable.map(writtenPairs.contains) == true
      }
      // Which values come twice is not known page by page.
      || migration.newKeys.contains { written.contains(migration.current.entities[$0.entity].root) }
    if needsOthers { return [] }
    return NeededTables(self, needsAll: false).roots.sorted().map { migration.stored.entities[$0] }
  }
}

/// Migrates rows that need no others in pages, so that the memory of the program does not limit the size of their tables.
struct RowPages {
  private let connection: ServerConnection
  private let setup: PostgresSetup
  private let migration: Migration
  private let now: Int64
  private let check: () throws(StoreError) -> Void
  /// The stored root entities.
  let roots: [Entity]

  /// About the number of bytes that a page has on the server.
  private static let bytes = 16_000_000

  /// - Parameters:
  ///   - setup: the tables of the model that the store has.
  ///   - check: called again and again, to end the reading.
  /// - Returns: nil if there are no such rows.
  init?(
    _ changes: ServerTableChanges, _ connection: ServerConnection, _ setup: PostgresSetup, now: Int64,
    check: @escaping () throws(StoreError) -> Void
  ) {
    roots = changes.pagedRoots
    if roots.isEmpty { return nil }
    self.connection = connection
    self.setup = setup
    self.now = now
    self.check = check
    migration = changes.migration
  }

  /// The number of rows of all tables.
  func count() throws -> Int {
    try roots.reduce(0) { count, root in
      let question = ServerStatement("SELECT count(*) FROM \(setup.layout.tables[root.index].name)")
      return count + Int(try connection.run(question).integer(0, 0))
    }
  }

  /// Reads a table within a transaction.
  ///
  /// - Parameters:
  ///   - name: the quoted name that the table has meanwhile. Nil for its own.
  ///   - body: called with each page and the number of its rows.
  func read(_ root: Entity, named name: String? = nil, _ body: (StateMigration, Int) throws -> Void) throws {
    let table = setup.layout.tables[root.index]
    let name = name ?? table.name
    let size = "greatest(1, pg_table_size(\(SQLName.literal(name))::regclass))"
    let question = ServerStatement("SELECT \(Self.bytes) * count(*) / \(size) FROM \(name)")
    let fitting = Int(try connection.run(question).integer(0, 0))
    let rows = max(1, min(setup.options.pageRows, fitting))
    try connection.run(
      ServerStatement("DECLARE \"_rows\" NO SCROLL CURSOR FOR SELECT \(table.selection("t")) FROM \(name) AS t"))
    var reader: ServerRowReader?
    while true {
      let result = try connection.run(ServerStatement("FETCH \(rows) FROM \"_rows\""))
      if result.count == 0 { break }
      var reading = StateReading(connection, setup, check: check)
      try reading.add(result, of: table, &reader)
      try body(StateMigration(migration, of: reading.snapshot, now: now), result.count)
    }
    try connection.run(ServerStatement("CLOSE \"_rows\""))
  }
}

/// Counts of rows that are migrated in pages.
struct PageCounts: MigrationCounts {
  let pages: RowPages

  private func each(_ body: (any MigrationCounts) throws -> Void) throws {
    for root in pages.roots { try pages.read(root) { page, _ in try body(page.counts(countsBreaches: false)) } }
  }

  private func sum(_ count: (any MigrationCounts) throws -> Int) throws -> Int {
    var sum = 0
    try each { sum += try count($0) }
    return sum
  }

  func misfits(_ source: StoredColumn, in entity: Int) throws -> Misfits {
    var all = Misfits()
    try each { page in
      let found = try page.misfits(source, in: entity)
      for (value, count) in found.cases { all.add(count, of: value) }
      if found.cases.isEmpty { all.add(found.count, first: found.rows) }
    }
    return all
  }

  func blanks(column: Int, of move: RowMove) throws -> Int { try sum { try $0.blanks(column: column, of: move) } }
  func rows(of entity: Int) throws -> Int { try sum { try $0.rows(of: entity) } }
  func missing(column: Int, in entity: Int) throws -> Int { try sum { try $0.missing(column: column, in: entity) } }
  func lost(_ loss: Loss) throws -> Int { try sum { try $0.lost(loss) } }

  // Rows with these need others.
  func lostPairs(of link: Int) -> Int { 0 }
  func duplicates(of key: NewKey) -> NewKey.Duplicates { NewKey.Duplicates() }
  func breaches(of bound: Int) -> Int? { nil }
}
