import Foundation
import Testing
import TrellisModel
import TrellisStoreTesting
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// Stores behind PgBouncer in its mode `transaction`, where each transaction may run on another connection of the server.
@Suite("Behind a pool for transactions", .enabled(if: PgBouncer.isAvailable, "\(PgBouncer.requirement)"))
struct TransactionPoolTests {
  private static let cluster = Result { try PostgresCluster.start() }
  /// Fewer connections than the stores have together.
  private static let pool = Result { try PgBouncer(before: cluster.get(), size: 3) }

  private func makeDatabase() throws -> (database: String, behind: String, direct: String) {
    let cluster = try Self.cluster.get()
    let database = try cluster.makeDatabase()
    return (database, try Self.pool.get().url(database: database), cluster.url(database: database))
  }

  @Test("every rule is kept", arguments: StoreConformance.cases)
  func rules(_ rule: ConformanceCase) throws {
    let url = try Self.pool.get().url(database: "postgres")
    let conformance = StoreConformance(limits: ConformanceTests.limits) { model in
      try StoreConfiguration.postgres(
        url, schema: TestServer.newSchema(), connections: 2, timeout: 60, throughTransactionPool: true
      ).open(model)
    }
    #expect(conformance.run(rule) == [])
  }

  @Test("many savers of two stores lose nothing, and leave nothing in the sessions of the pool")
  func manySavers() throws {
    let (database, behind, direct) = try makeDatabase()
    let stores = try (0..<2).map { _ in
      try Shelf(behind, schema: "shelf", connections: 4, timeout: 60, throughTransactionPool: true)
    }
    let failures = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { worker in
      let shelf = stores[worker % 2]
      for number in 0..<20 {
        do {
          try shelf.insert("item \(worker).\(number)")
          if try shelf.names().isEmpty { failures.withLock { $0.append("nothing is there") } }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(try Shelf(direct, schema: "shelf").names().count == 160)
    let (cluster, port) = (try Self.cluster.get(), try Self.pool.get().port)
    let traces = """
      SELECT (SELECT count(*) FROM pg_prepared_statements) + (SELECT count(*) FROM pg_listening_channels())
        + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory') + (SELECT count(*) FROM pg_class WHERE relpersistence = 't')
        + (current_setting('trellis.cascaded0', true) <> '')::int
      """
    for _ in 0..<6 {
      let found = try cluster.psql(traces, database: database, port: port)
      #expect(found == "0" || found == "")
    }
  }

  @Test("sessions that end while they save lose no save and write none twice")
  func endedSessions() throws {
    let (database, behind, direct) = try makeDatabase()
    let shelf = try Shelf(behind, schema: "shelf", connections: 2, timeout: 60, throughTransactionPool: true)
    let cluster = try Self.cluster.get()
    let saved = Locked<[String]>([])
    let isDone = Locked(false)
    let thread = Thread {
      for number in 0..<60 {
        let name = "item \(number)"
        if (try? shelf.insert(name)) != nil { saved.withLock { $0.append(name) } }
      }
      isDone.withLock { $0 = true }
    }
    thread.start()
    while !isDone.withLock({ $0 }) {
      _ = try cluster.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)' AND pid <> pg_backend_pid()"
      )
      Thread.sleep(forTimeInterval: 0.03)
    }
    #expect(try Shelf(direct, schema: "shelf").names() == saved.withLock { $0 }.sorted())
  }

  @Test("an index of a large table is made outside of a transaction")
  func index() throws {
    let (database, behind, _) = try makeDatabase()
    func model(_ indexes: [IndexDescription]) throws -> Model {
      let item = EntityDescription("Item", attributes: [AttributeDescription("name", .string)], indexes: indexes)
      return try Model(ModelDescription(name: "Shelf", entities: [item]))
    }
    var options = PostgresOptions(connectionString: behind, schema: "shelf", connections: 2)
    (options.usesTransactionPool, options.largeTable) = (true, 0)
    try PostgresOpening(model([]), options).open(nil).close()
    try PostgresOpening(model([.init([.init("name")])]), options).open(nil).close()
    let valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('shelf.\"_index.Item.name\"')"
    #expect(try Self.cluster.get().psql(valid, database: database) == "t")
  }

  @Test("what others save is noticed by asking")
  func news() throws {
    let (_, behind, direct) = try makeDatabase()
    let shelf = try Shelf(behind, schema: "shelf", throughTransactionPool: true)
    let connection = try shelf.store.connect()
    connection.beginToHear()
    try Shelf(direct, schema: "shelf").insert("by another")
    #expect(connection.hearsOfOthers())
    #expect(try shelf.names() == ["by another"])
  }

  @Test("a store that was not told of the pool never runs another one's statement, and says what to do")
  func untold() throws {
    let (_, behind, direct) = try makeDatabase()
    let (untold, told) = (
      try Shelf(behind, schema: "shelf"), try Shelf(behind, schema: "shelf", throughTransactionPool: true)
    )
    try told.insert("first")
    #expect(try untold.names() == ["first"])
    // The pool's connection that has the statement is the one that it lends next, and keeps while the other one reads.
    let pinned = try told.store.connect()
    try pinned.pin()
    defer { pinned.unpin() }
    let error = #expect(throws: StoreError.self) { try untold.names() }
    #expect(error?.code == .cannotOpen && error?.remedy.contains("throughTransactionPool") == true)
    #expect(try Shelf(direct, schema: "shelf").names() == ["first"])
  }

  @Test("a caller that the pool keeps waiting for too long is told that it is busy")
  func waiting() throws {
    let cluster = try Self.cluster.get()
    let database = try cluster.makeDatabase()
    let pool = try PgBouncer(before: cluster, size: 1, patience: 1)
    let shelf = try Shelf(pool.url(database: database), schema: "shelf", throughTransactionPool: true)
    try shelf.insert("first")
    let request = try shelf.inserting(["second"])
    let holder = try Shelf(pool.url(database: database), schema: "shelf", throughTransactionPool: true).store.connect()
    try holder.pin()
    #expect(code { _ = try shelf.names() } == .busy)
    #expect(code { try shelf.store.connect().save(request) } == .busy)
    holder.unpin()
    try shelf.store.connect().save(request)
    #expect(try shelf.names() == ["first", "second"])
  }

  @Test("a store is migrated through the pool, and one that has it open notices")
  func migration() throws {
    let (_, behind, direct) = try makeDatabase()
    let shelf = try Shelf(behind, schema: "shelf", throughTransactionPool: true)
    try shelf.insert("first", "second")
    let changed = try Shelf.model(
      AttributeDescription("name", .string),
      AttributeDescription("kind", .string, optional: true, renamedFrom: ["list"]),
      AttributeDescription("size", .int64, default: .value(.integer(3))))
    let configuration = StoreConfiguration.postgres(behind, schema: "shelf", throughTransactionPool: true)
    let migrated = try configuration.open(changed)
    #expect(code { _ = try shelf.names() } == .migratedByOthers)
    var sizes: [Int64] = []
    try migrated.connect().fetch(StoreRequest(entity: 0)) { sizes.append($0.integer(2)) }
    #expect(sizes == [3, 3])
    #expect(try StoreConfiguration.postgres(direct, schema: "shelf").open(changed).connect().count(shelf.all) == 2)
  }

  @Test("a role with another isolation level is refused, because nothing can be set for its transactions")
  func isolation() throws {
    let (database, behind, _) = try makeDatabase()
    _ = try Self.cluster.get().psql(
      "ALTER DATABASE \(database) SET default_transaction_isolation = 'serializable'")
    let error = #expect(throws: StoreError.self) {
      try Shelf(behind, schema: "shelf", throughTransactionPool: true)
    }
    #expect(
      error?.code == .cannotOpen && error?.message.contains("serializable") == true, "\(String(describing: error))")
  }
}
