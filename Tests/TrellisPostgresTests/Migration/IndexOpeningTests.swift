import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Indexes of large tables on PostgreSQL", .enabled(if: TestServer.isThere, "needs a server"))
struct IndexOpeningTests {
  private let store: FormerSchema
  private let index = "_index.Entry.title"

  init() throws { store = try FormerSchema(rows: 20) }

  /// The former model with an index, and another attribute if it is an additive migration.
  private func indexed(isMigration: Bool = false, isSearchable: Bool = false) throws -> Model {
    let more = isMigration ? [AttributeDescription("place", .string, optional: true)] : []
    let title = AttributeDescription("title", .string, searchable: isSearchable)
    return try FormerSchema.model([title, FormerSchema.mood] + more, indexes: [.init([.init("title")])], version: "2")
  }

  /// All tables are large.
  private func options(patience: TimeInterval = 60) -> PostgresOptions {
    var options = store.options()
    (options.largeTable, options.indexPatience) = (0, patience)
    return options
  }

  /// Whether the indexes are valid, by their names.
  private func found() throws -> [String: Bool] {
    let rows = try store.sql(
      "SELECT c.relname::text, i.indisvalid::text FROM pg_class AS c JOIN pg_index AS i ON i.indexrelid = c.oid "
        + "WHERE c.relnamespace = '\"\(store.schema)\"'::regnamespace AND (starts_with(c.relname, '_index.') OR "
        + "starts_with(c.relname, '_search.'))")
    return Dictionary(rows.map { ($0[0] ?? "", $0[1] == "true") }) { first, _ in first }
  }

  private func wait(until isTrue: () throws -> Bool) throws {
    for _ in 0..<1_000 {
      if try isTrue() { return }
      Thread.sleep(forTimeInterval: 0.01)
    }
    Issue.record("it took too long")
  }

  /// A transaction of another program whose snapshot the server waits for.
  private func snapshot() throws -> ServerConnection {
    let other = try ServerConnection(ServerAddress(TestServer.url).keywords(timeout: 10), preparesStatements: false)
    try other.run(ServerStatement("BEGIN ISOLATION LEVEL REPEATABLE READ"))
    try other.run(ServerStatement("SELECT count(*) FROM \"\(store.schema)\".\"Tag\""))
    return other
  }

  @Test(
    "programs read and write while an index is made, by an additive migration and by a new text of the model",
    arguments: [true, false])
  func others(isMigration: Bool) throws {
    let open = try store.open(store.former)
    defer { open.close() }
    let connection = try open.connect()
    let other = try snapshot()
    let (model, options) = (try indexed(isMigration: isMigration), options())
    let opening = started { try PostgresOpening(model, options).open(nil) }
    try wait { try found() == [index: false] }
    var longest = Duration.zero
    for number in 0..<50 {
      let start = ContinuousClock.now
      let request = SaveRequest()
      let entry = PlainRecord(store.former.entities[0], key: Int64(100 + number), ["title": .text("new")])
      request.inserts = [.init(entity: 0, records: [entry])]
      try connection.save(request)
      #expect(try connection.count(StoreRequest(entity: 0)) == 21 + number)
      longest = max(longest, ContinuousClock.now - start)
    }
    print("the longest of 50 saves with reads beside an index in making took \(longest)")
    #expect(longest < .milliseconds(100 * TestSettings.number("TRELLIS_SLOWNESS", or: 3)))
    #expect(!opening.isDone)
    // Programs with the model can use the store meanwhile.
    var refused = options
    refused.migration = .refused
    refused.isReadOnly = true
    let reading = try PostgresOpening(model, refused).open(nil)
    var findings: [StoreFinding] = []
    try reading.connect().check { findings.append($0) }
    #expect(findings.contains { $0.code == .indexDiffers && $0.message.contains(index) }, "\(findings)")
    reading.close()
    try other.run(ServerStatement("COMMIT"))
    let opened = try opening.value()
    defer { opened.close() }
    #expect(try found() == [index: true])
    findings = []
    try opened.connect().check { findings.append($0) }
    #expect(!findings.contains { $0.code == .indexDiffers }, "\(findings)")
  }

  @Test("a transaction that does not end holds up an opening for a while, and the next opening makes the index")
  func oldTransaction() throws {
    let other = try snapshot()
    let (model, options) = (try indexed(), options(patience: 0.3))
    let opened = try PostgresOpening(model, options).open(nil)
    #expect(try opened.connect().count(StoreRequest(entity: 0)) == 20)
    opened.close()
    #expect(try found().isEmpty)
    #expect(try store.configuration().plan(model) == nil)
    try other.run(ServerStatement("COMMIT"))
    // The server waits for transactions of other tests as well.
    try PostgresOpening(model, self.options()).open(nil).close()
    #expect(try found() == [index: true])
  }

  @Test(
    "an index that is not valid is dropped and made again, in a large table and in a small one",
    arguments: [0, 1_000_000] as [Int64])
  func broken(largeTable: Int64) throws {
    var options = options()
    options.largeTable = largeTable
    let model = try indexed(isSearchable: true)
    try PostgresOpening(model, options).open(nil).close()
    let search = "_search.Entry.title"
    #expect(try found() == [index: true, search: true])
    try store.sql(
      "UPDATE pg_catalog.pg_index SET indisvalid = false WHERE indexrelid IN ('SCHEMA.\"\(index)\"'::regclass, "
        + "'SCHEMA.\"\(search)\"'::regclass)")
    #expect(try found() == [index: false, search: false])
    try PostgresOpening(model, options).open(nil).close()
    #expect(try found() == [index: true, search: true])
  }

  @Test("an opening whose connection for an index ends goes on without it, and the next one makes it")
  func ended() throws {
    let process = Locked<Int32>(0)
    let other = try snapshot()
    var options = options()
    options.willPrepare = { number, statement in
      if statement.hasPrefix("CREATE INDEX CONCURRENTLY") { process.withLock { $0 = number } }
    }
    let (model, observed) = (try indexed(), options)
    let opening = started { try PostgresOpening(model, observed).open(nil) }
    try wait { try found() == [index: false] }
    try store.sql("SELECT pg_terminate_backend(\(process.withLock { $0 }), 5000)")
    let opened = try opening.value()
    #expect(try opened.connect().count(StoreRequest(entity: 0)) == 20)
    opened.close()
    #expect(try found() == [index: false])
    try other.run(ServerStatement("COMMIT"))
    try PostgresOpening(model, options).open(nil).close()
    #expect(try found() == [index: true])
  }

  @Test(
    "of two programs one makes an index, and the other goes on, or waits if it is a full-text index",
    arguments: [true, false])
  func two(isSearchable: Bool) throws {
    let other = try snapshot()
    let statements = Locked(0)
    var options = options()
    options.willPrepare = { _, statement in
      if statement.hasPrefix("CREATE INDEX") { statements.withLock { $0 += 1 } }
    }
    let (model, observed) = (try indexed(isSearchable: isSearchable), options)
    let first = started { try PostgresOpening(model, observed).open(nil) }
    try wait { try found().values.contains(false) }
    let second = started { try PostgresOpening(model, observed).open(nil) }
    if isSearchable {
      Thread.sleep(forTimeInterval: 0.5)
      #expect(!second.isDone)
    } else {
      let opened = try second.value()
      #expect(try opened.connect().count(StoreRequest(entity: 0)) == 20)
    }
    #expect(!first.isDone)
    try other.run(ServerStatement("COMMIT"))
    for opening in [first, second] { try opening.value().close() }
    #expect(try found().values.allSatisfy { $0 })
    #expect(try statements.withLock { $0 } == found().count)
  }

  @Test("a cancelled opening leaves the index to the next one") func cancelled() throws {
    let other = try snapshot()
    let seen = Locked<[Double]>([])
    let observer = MigrationObserver { fraction in seen.withLock { $0.append(fraction) } }
    let (model, options) = (try indexed(isMigration: true), options())
    let opening = started { try PostgresOpening(model, options).open(observer) }
    try wait { try found() == [index: false] }
    // The wait is visible.
    #expect(seen.withLock { !$0.isEmpty && $0.allSatisfy { $0 < 1 } })
    observer.cancel()
    let error = #expect(throws: StoreError.self) { try opening.value() }
    #expect(error?.code == .cancelled && error?.message.contains(index) == true)
    #expect(try found().isEmpty)
    try other.run(ServerStatement("COMMIT"))
    let last = MigrationObserver { fraction in seen.withLock { $0 = [fraction] } }
    try PostgresOpening(model, options).open(last).close()
    #expect(try found() == [index: true])
    #expect(seen.withLock { $0 } == [1])
  }

  @Test("an index that the server does not take does not keep a program from its store") func refused() throws {
    try store.sql(
      "UPDATE SCHEMA.\"Entry\" SET \"title\" = (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 500) AS n) "
        + "WHERE _id = 1")
    for largeTable in [0, 1_000_000] as [Int64] {
      var options = options()
      options.largeTable = largeTable
      let opened = try PostgresOpening(indexed(), options).open(nil)
      #expect(try opened.connect().count(StoreRequest(entity: 0)) == 20)
      opened.close()
      #expect(try found().isEmpty)
    }
  }
}
