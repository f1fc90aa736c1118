import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Rows that are migrated in pages on PostgreSQL", .enabled(if: TestServer.isThere, "needs a server"))
struct PageTests {
  private func options(_ store: FormerSchema, rows: Int = 3) -> PostgresOptions {
    var options = store.options()
    options.pageRows = rows
    return options
  }

  /// A model whose entries have an integer instead of a title.
  private static func numbers() throws -> Model {
    try FormerSchema.model([AttributeDescription("title", .int64), FormerSchema.mood])
  }

  @Test("no more rows than those of a page are held, whatever the size of the table", arguments: [10, 100])
  func rowsOfPage(rows: Int) throws {
    let store = try FormerSchema(rows: rows)
    let current = try FormerSchema.writtenModel()
    let (former, setup) = (
      PostgresSetup(try ServerAddress(TestServer.url), options(store), store.former),
      PostgresSetup(try ServerAddress(TestServer.url), options(store), current)
    )
    let changes = ServerTableChanges(Migration(from: store.former, to: current), former.schema, setup.schema, now: 0)
    let pages = try #require(RowPages(changes, store.connection, former, now: 0) {})
    #expect(pages.roots.map(\.name) == ["Entry"])
    #expect(try pages.count() == rows)
    var counts: [Int] = []
    try store.connection.transaction { _ in
      try pages.read(pages.roots[0]) { page, count in
        let state = try page.migrated(Layout(current), of: "the store")
        #expect(state.tables.reduce(0) { $0 + $1.count } == count)
        counts.append(count)
      }
    }
    #expect(counts.allSatisfy { $0 <= 3 } && counts.reduce(0, +) == rows)
    // The rows are counted and then migrated in this way only.
    let statements = Locked<[String]>([])
    var watched = options(store)
    watched.willPrepare = { _, statement in statements.withLock { $0.append(statement) } }
    try PostgresOpening(current, watched).open(nil).close()
    let run = statements.withLock { $0 }
    #expect(run.count { $0.hasPrefix("FETCH 3 ") } == 2 * ((rows + 2) / 3 + 1))
    #expect(!run.contains { $0.hasPrefix("SELECT \"_id\"") || $0.hasPrefix("SELECT t.") }, "\(run)")
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"Entry\" WHERE \"summary\" = 'About ' || \"title\"") == rows)
  }

  @Test("a page has few rows if they are large")
  func largeRows() throws {
    let store = try FormerSchema(rows: 8)
    // Texts that are not compressed.
    try store.sql("ALTER TABLE SCHEMA.\"Entry\" ALTER COLUMN \"title\" SET STORAGE EXTERNAL")
    try store.sql("UPDATE SCHEMA.\"Entry\" SET \"title\" = repeat('a', 4000000)")
    let statements = Locked<[String]>([])
    var watched = options(store, rows: 1_000)
    watched.willPrepare = { _, statement in statements.withLock { $0.append(statement) } }
    try PostgresOpening(FormerSchema.writtenModel(), watched).open(nil).close()
    #expect(statements.withLock { $0.count { $0.hasPrefix("FETCH 3 ") } } > 6)
    #expect(try store.number("SELECT min(length(\"summary\")) FROM SCHEMA.\"Entry\"") == 4_000_006)
  }

  @Test("what a page is refused for leaves all as it was, with the numbers of all pages")
  func refused() throws {
    let store = try FormerSchema(rows: 20)
    let current = try Self.numbers()
    // Others write what does not fit after the counts, before the first statement with locks.
    let other = try ServerConnection(ServerAddress(TestServer.url).keywords(timeout: 10), preparesStatements: false)
    struct Unchecked: @unchecked Sendable { let connection: ServerConnection }
    let (writer, schema) = (Unchecked(connection: other), store.schema)
    let isDone = Locked(false)
    let changes = Locked(0)
    var watched = options(store)
    watched.willPrepare = { _, statement in
      guard statement.hasPrefix("LOCK TABLE"), statement.contains("IN ACCESS EXCLUSIVE MODE"),
        !isDone.withLock({ isDone in
          defer { isDone = true }
          return isDone
        })
      else { return }
      let change = "UPDATE \"\(schema)\".\"Entry\" SET \"title\" = 'x' || \"title\" WHERE \"_id\" IN (7, 15)"
      _ = try? writer.connection.run(ServerStatement(change))
      changes.withLock { $0 += 1 }
    }
    let error = try #require(throws: StoreError.self) { try PostgresOpening(current, watched).open(nil) }
    #expect(changes.withLock { $0 } == 1)
    #expect(error.code == .dataLoss && error.message.contains("2 values"), "\(error)")
    #expect(error.message.contains("Entry/7, Entry/15"), "\(error)")
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"Entry\" WHERE \"title\" LIKE 'x%'") == 2)
    let before = try store.image()
    // The counts find them now, before a lock.
    let again = try #require(throws: StoreError.self) { try PostgresOpening(current, options(store)).open(nil) }
    #expect(again.message == error.message)
    #expect(try store.image() == before)
    let plan = try #require(try PostgresOpening(current, options(store)).plan())
    #expect(plan.questions.count == 1 && plan.description.contains("2 values"), "\(plan)")
    try store.sql("UPDATE SCHEMA.\"Entry\" SET \"title\" = \"_id\"::text")
    try PostgresOpening(current, options(store)).open(nil).close()
    #expect(try store.number("SELECT sum(\"title\") FROM SCHEMA.\"Entry\"") == 210)
  }

  @Test("a connection that ends between two pages leaves all as it was")
  func killed() throws {
    let store = try FormerSchema(rows: 20)
    let before = try store.image()
    let url = TestServer.url
    let fetches = Locked(0)
    var watched = options(store)
    watched.willPrepare = { process, statement in
      guard statement.hasPrefix("FETCH"),
        fetches.withLock({ count in
          count += 1
          return count == 4
        })
      else { return }
      _ = try? ServerConnection(ServerAddress(url).keywords(timeout: 10), preparesStatements: false).run(
        ServerStatement("SELECT pg_terminate_backend(\(process), 5000)"))
    }
    #expect(throws: StoreError.self) { try PostgresOpening(FormerSchema.writtenModel(), watched).open(nil) }
    #expect(fetches.withLock { $0 } == 4)
    #expect(try store.image() == before)
  }

  @Test("a migration that is cancelled between two pages leaves all as it was")
  func cancelled() throws {
    let store = try FormerSchema(rows: 20)
    let before = try store.image()
    let observer = MigrationObserver()
    let renames = Locked(false)
    let pages = Locked(0)
    var watched = options(store)
    watched.willPrepare = { _, statement in
      if statement.hasPrefix("SAVEPOINT") { renames.withLock { $0 = true } }
      guard statement.hasPrefix("FETCH"), renames.withLock({ $0 }) else { return }
      let count = pages.withLock { count in
        count += 1
        return count
      }
      if count == 3 { observer.cancel() }
    }
    let error = #expect(throws: StoreError.self) {
      try PostgresOpening(FormerSchema.writtenModel(), watched).open(observer)
    }
    #expect(error?.code == .cancelled && pages.withLock { $0 } == 3, "\(error as Any)")
    #expect(try store.image() == before)
  }

  @Test("tables exchange their names, and one of them is read in pages, with its keys and references")
  func exchangedNames() throws {
    func model(_ entities: [EntityDescription]) throws -> Model {
      try Model(ModelDescription(name: "Diary", entities: entities))
    }
    func node(
      _ name: String, _ other: String, from: [String] = [], _ more: [AttributeDescription] = []
    ) -> EntityDescription {
      var entity = EntityDescription(
        name, attributes: [AttributeDescription("name", .string)] + more,
        relationships: [RelationshipDescription("next", to: other, optional: true)],
        indexes: [IndexDescription([.init("name", descending: true)])])
      entity.uniqueKeys = [["name"]]
      entity.renamedFrom = from
      return entity
    }
    let summary = AttributeDescription("summary", .string, backfill: .expression("'About ' + name"))
    let former = try model([node("First", "Second"), node("Second", "First")])
    let current = try model([
      node("Second", "First", from: ["First"]),
      node("First", "Second", from: ["Second"], [summary]),
    ])
    let store = try FormerSchema()
    try store.sql("DROP schema \"\(store.schema)\" CASCADE")
    try store.open(former).close()
    for (table, start) in [("First", 0), ("Second", 100)] {
      try store.sql(
        "INSERT INTO SCHEMA.\"\(table)\" (\"_id\", \"_version\", \"name\") SELECT n, 1, 'n' || n FROM "
          + "generate_series(\(start) + 1, \(start) + 10) AS n")
    }
    try store.sql("UPDATE SCHEMA.\"First\" SET \"next\" = \"_id\" + 100")
    try store.sql("UPDATE SCHEMA.\"Second\" SET \"next\" = \"_id\" - 99 WHERE \"_id\" < 110")
    try PostgresOpening(current, options(store)).open(nil).close()
    let computed = "\"_id\" > 100 AND \"summary\" = 'About ' || \"name\""
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"First\" WHERE \(computed)") == 10)
    #expect(try store.number("SELECT sum(\"next\" - \"_id\") FROM SCHEMA.\"Second\"") == 1_000)
    #expect(try store.number("SELECT sum(\"next\" - \"_id\") FROM SCHEMA.\"First\"") == -99 * 9)
    #expect(try PostgresOpening(current, options(store)).plan() == nil)
  }
}
