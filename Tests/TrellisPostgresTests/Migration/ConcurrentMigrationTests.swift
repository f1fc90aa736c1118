import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Migrations on PostgreSQL beside others, and with failures", .enabled(if: TestServer.isThere, "needs a server"))
struct ConcurrentMigrationTests {
  // MARK: Open programs

  @Test("an open program gets an error at each use after a migration, also where its tables are as before")
  func openProgram() throws {
    let store = try FormerSchema()
    let open = try store.open(store.former)
    defer { open.close() }
    let (reading, pinned) = (try open.connect(), try open.connect())
    #expect(try reading.count(StoreRequest(entity: 0)) == 3)
    // The two names are exchanged, so that each statement of the old program is still one that can run.
    let swapped = try FormerSchema.model([
      AttributeDescription("mood", .string, renamedFrom: ["title"]),
      AttributeDescription("title", .string, optional: true, renamedFrom: ["mood"]),
    ])
    try store.open(swapped).close()
    #expect(code { _ = try reading.count(StoreRequest(entity: 0)) } == .migratedByOthers)
    #expect(code { _ = try reading.count(StoreRequest(entity: 1)) } == .migratedByOthers)
    #expect(
      code { try reading.fetch(StoreRequest(entity: 0)) { _ in Issue.record("a row was read") } } == .migratedByOthers)
    #expect(code { try reading.rows(of: 0, keys: [1]) { _ in Issue.record("a row was read") } } == .migratedByOthers)
    let tags = try #require(store.former.entity(named: "Entry")?.property(named: "tags"))
    let members = RelationshipNumber(entity: 0, property: tags.index)
    #expect(
      code {
        try reading.members(of: members, owners: [1]) { _, _ in Issue.record("a row was read") }
      } == .migratedByOthers)
    let announced = [MemberRequest(of: members, owners: [1]), MemberRequest(of: members, owners: [2])]
    #expect(code { try reading.willReadMembers(announced) } == .migratedByOthers)
    #expect(code { try pinned.pin() } == .migratedByOthers)
    #expect(code { try reading.save(store.request(store.former, 10...11)) } == .migratedByOthers)
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"Entry\"") == 3)
  }

  @Test("a call that waits for a migration sees it, whatever it has read before")
  func waitingCalls() throws {
    let store = try FormerSchema()
    let former = store.former
    for _ in 0..<3 {
      let open = try store.open(former)
      defer { open.close() }
      // The statements are prepared, and their plans need not be made again.
      for _ in 0..<7 {
        let connection = try open.connect()
        try connection.pin()
        connection.unpin()
        #expect(try connection.count(StoreRequest(entity: 1)) == 3)
      }
      try store.sql("BEGIN")
      try store.sql("LOCK TABLE SCHEMA.\"_trellis\" IN ACCESS EXCLUSIVE MODE")
      let request = try store.request(former, 10...11)
      let sent = Unchecked(request)
      let calls: [@Sendable () throws -> Void] = [
        { _ = try open.connect().count(StoreRequest(entity: 1)) },
        { try open.connect().fetch(StoreRequest(entity: 1)) { _ in Issue.record("a row was read") } },
        { try open.connect().pin() },
        { try open.connect().save(sent.value) },
      ]
      let waiting = calls.map { call in started { try call() } }
      Thread.sleep(forTimeInterval: 0.5)
      #expect(waiting.allSatisfy { !$0.isDone })
      try store.sql(
        "UPDATE SCHEMA.\"_trellis\" SET \"value\" = (\"value\"::int + 1)::text WHERE \"key\" = 'migrations'")
      try store.sql("COMMIT")
      for call in waiting { #expect(code { try call.value() } == .migratedByOthers) }
    }
  }

  /// A request that one thread makes and another one uses.
  private struct Unchecked: @unchecked Sendable {
    let value: SaveRequest

    init(_ value: SaveRequest) { self.value = value }
  }

  @Test("a migration waits for a snapshot, which shows the former rows to its end")
  func snapshot() throws {
    let store = try FormerSchema()
    let open = try store.open(store.former)
    defer { open.close() }
    let pinned = try open.connect()
    try pinned.pin()
    let current = try FormerSchema.currentModel()
    let configuration = store.configuration()
    let migration = started { try configuration.open(current) }
    Thread.sleep(forTimeInterval: 0.5)
    #expect(!migration.isDone)
    #expect(try pinned.count(StoreRequest(entity: 0)) == 3)
    pinned.unpin()
    try migration.value().close()
    #expect(code { _ = try pinned.count(StoreRequest(entity: 0)) } == .migratedByOthers)
  }

  @Test("no save is lost to a migration, and none comes after it")
  func writers() throws {
    let store = try FormerSchema()
    let former = store.former
    let open = try store.open(former)
    defer { open.close() }
    let request = { @Sendable (keys: ClosedRange<Int>) throws -> SaveRequest in
      let entry = former.entities[0]
      let request = SaveRequest()
      request.inserts = [
        .init(entity: 0, records: keys.map { PlainRecord(entry, key: Int64($0), ["title": .text("\($0)")]) })
      ]
      return request
    }
    let writers = (1...3).map { writer in
      started { () -> Int in
        let connection = try open.connect()
        var saved = 0
        while true {
          let first = writer * 100_000 + saved * 10
          do {
            try connection.save(request(first...(first + 9)))
          } catch let error as StoreError where error.code == .migratedByOthers {
            return saved
          }
          saved += 1
        }
      }
    }
    Thread.sleep(forTimeInterval: 0.3)
    try store.open(FormerSchema.writtenModel()).close()
    let saved = try writers.map { try $0.value() }.reduce(0, +)
    #expect(saved > 0)
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"Entry\"") == 3 + 10 * saved)
    #expect(
      try store.number("SELECT count(*) FROM SCHEMA.\"Entry\" WHERE \"summary\" = 'About ' || \"title\"") == 3 + 10
        * saved)
  }

  @Test("several programs that migrate at once do it once")
  func several() throws {
    let store = try FormerSchema(rows: 500)
    let current = try FormerSchema.writtenModel()
    let configuration = store.configuration()
    let migrations = (0..<4).map { _ in started { try configuration.open(current) } }
    for migration in migrations {
      let opened = try migration.value()
      #expect(try opened.connect().count(StoreRequest(entity: 0)) == 500)
      opened.close()
    }
    #expect(try store.sql("SELECT \"value\" FROM SCHEMA.\"_trellis\" WHERE \"key\" = 'migrations'") == [["1"]])
  }

  @Test("a transaction of another program is waited for, longer than one wait for a lock, or until it is cancelled")
  func foreignTransaction() throws {
    let store = try FormerSchema()
    let before = try store.image()
    let address = try ServerAddress(TestServer.url)
    let other = try ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
    try other.run(ServerStatement("BEGIN"))
    try other.run(ServerStatement("UPDATE \"\(store.schema)\".\"Entry\" SET \"title\" = 'other' WHERE \"_id\" = 1"))
    let (current, configuration, observer) = (
      try FormerSchema.writtenModel(), store.configuration(), MigrationObserver()
    )
    let cancelled = started { try configuration.openObserved(current, observer) }
    Thread.sleep(forTimeInterval: 0.5)
    #expect(!cancelled.isDone)
    observer.cancel()
    #expect(code { _ = try cancelled.value() } == .cancelled)
    let migration = started { try configuration.open(current) }
    Thread.sleep(forTimeInterval: 6)
    #expect(!migration.isDone)
    #expect(try store.image() == before)
    try other.run(ServerStatement("COMMIT"))
    try migration.value().close()
    #expect(try store.sql("SELECT \"summary\" FROM SCHEMA.\"Entry\" WHERE \"_id\" = 1") == [["About other"]])
  }

  @Test("a program that waits to migrate beside a long transaction does not hold up the calls of others")
  func waitingMigration() throws {
    let store = try FormerSchema()
    let open = try store.open(store.former)
    defer { open.close() }
    let address = try ServerAddress(TestServer.url)
    let other = try ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
    try other.run(ServerStatement("BEGIN"))
    try other.run(ServerStatement("UPDATE \"\(store.schema)\".\"Entry\" SET \"title\" = 'other' WHERE \"_id\" = 1"))
    // A reader holds the table of the generation, which every call needs.
    try other.run(ServerStatement("SELECT * FROM \"\(store.schema)\".\"_trellis\""))
    let (current, configuration) = (try FormerSchema.writtenModel(), store.configuration())
    let migration = started { try configuration.open(current) }
    var longest = Duration.zero
    var calls = 0
    let connection = try open.connect()
    let end = ContinuousClock.now + .seconds(5)
    while ContinuousClock.now < end {
      let start = ContinuousClock.now
      #expect(try connection.count(StoreRequest(entity: 1)) == 3)
      longest = max(longest, ContinuousClock.now - start)
      calls += 1
    }
    print("the longest of \(calls) calls beside a waiting migration took \(longest)")
    #expect(!migration.isDone)
    // The limit is 60 ms; the rest is for the machine of the tests.
    #expect(longest < .milliseconds(100 * TestSettings.number("TRELLIS_SLOWNESS", or: 3)))
    try other.run(ServerStatement("COMMIT"))
    try migration.value().close()
  }

  // MARK: Failures

  @Test("a migration whose connection ends at any of its statements changes nothing, and the next one succeeds")
  func endedConnections() throws {
    let store = try FormerSchema()
    let before = try store.image()
    // One table stays, one is written again, one is new, and one goes.
    let current = try FormerSchema.model(
      [
        AttributeDescription("text", .string, renamedFrom: ["title"]),
        AttributeDescription("summary", .string, backfill: .expression("'About ' + title")),
      ],
      tags: RelationshipDescription(
        "labels", to: "Tag", toMany: true, ordered: true, optional: true, renamedFrom: ["tags"]),
      removed: ["mood"])
    var ended = 0
    while true {
      let seen = Locked(0)
      let limit = ended
      var options = store.options()
      options.willPrepare = { process, _ in
        guard
          seen.withLock({
            $0 += 1; return $0
          }) == limit + 1
        else { return }
        guard let address = try? ServerAddress(TestServer.url),
          let other = try? ServerConnection(address.keywords(timeout: 10), preparesStatements: false)
        else { return }
        _ = try? other.run(ServerStatement("SELECT pg_terminate_backend(\(process), 5000)"))
      }
      do {
        try PostgresOpening(current, options).open(nil).close()
        break
      } catch let error as StoreError {
        #expect(error.code == .inputOutput, "statement \(limit): \(error)")
        #expect(try store.image() == before, "statement \(limit)")
      }
      ended += 1
    }
    print("\(ended) statements of a migration were the last of their connection")
    #expect(ended > 30)
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"Entry\" WHERE \"summary\" = 'About ' || \"text\"") == 3)
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"\(current.joinTables[0].name)\"") == 3)
  }
}
