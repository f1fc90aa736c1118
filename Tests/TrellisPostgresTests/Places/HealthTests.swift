import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisRuntime
@testable import TrellisStorage

@Suite(
  "Health, figures and deadlines of a service", .enabled(if: PostgresCluster.canStart, "needs initdb"), .serialized)
struct HealthTests {
  private static let cluster = Result { try PostgresCluster.start() }

  private struct Place {
    let cluster: PostgresCluster
    let database: String
    let shop: PersistentContainer

    init(connections: Int = 2, timeout: Double = 10) throws {
      cluster = try HealthTests.cluster.get()
      database = try cluster.makeDatabase()
      shop = try PersistentContainer(
        model: .shop,
        store: .postgres(
          cluster.url(database: database), schema: "shop", connections: connections, timeout: timeout,
          statementTimeout: 60))
    }

    /// Runs a closure while another session holds the products for itself.
    func whileLocked<Result>(_ body: () async throws -> Result) async throws -> Result {
      let holder = try StoreConfiguration.postgres(cluster.url(database: database), schema: "shop", connections: 1)
        .open(
          shop.model)
      let store = try #require(holder as? PostgresStore)
      let connection = try store.pool.take()
      try connection.runAll(["BEGIN", "LOCK TABLE \"shop\".\"Product\" IN ACCESS EXCLUSIVE MODE"])
      defer {
        connection.rollBack()
        store.pool.giveBack(connection)
        store.close()
      }
      return try await body()
    }

    func countProducts(deadline: Duration? = nil) async throws -> Int {
      try await shop.perform(deadline: deadline) { try $0.count(Product.all) }
    }
  }

  private func code<Result>(_ body: () async throws -> Result) async -> StoreError.Code? {
    do { _ = try await body() } catch { return (error as? StoreError)?.code }
    return nil
  }

  // MARK: Deadlines

  @Test("a block whose statement waits at its deadline ends with timed-out, and the connection is used again")
  func deadline() async throws {
    let place = try Place(connections: 1, timeout: 300)
    let error = try await place.whileLocked { () -> (any Error)? in
      do { _ = try await place.countProducts(deadline: .milliseconds(300)) } catch { return error }
      return nil
    }
    let told = try #require(error as? StoreError)
    #expect(told.code == .timedOut && told.message.contains("0.3 seconds"), "\(told)")
    #expect(try await place.countProducts(deadline: .seconds(30)) == 0)
    #expect(place.shop.figures.connections?.made == 1)
  }

  @Test("a deadline counts the wait for a worker, which then is not given to the block")
  func deadlineInLine() async throws {
    let place = try Place(connections: 1)
    let gate = DispatchSemaphore(value: 0)
    let blocker = Task { try await place.shop.perform { _ in gate.wait() } }
    while place.shop.figures.workers.inUse == 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(await code { try await place.countProducts(deadline: .milliseconds(100)) } == .timedOut)
    #expect(
      await code { try await place.shop.perform(timeout: .milliseconds(50), deadline: .seconds(9)) { _ in } } == .busy)
    gate.signal()
    try await blocker.value
    #expect(try await place.countProducts() == 0)
  }

  @Test("what a block has saved before its deadline stays, and what it saves afterwards does not come")
  func savesAroundDeadline() async throws {
    let place = try Place()
    let outcome = await code {
      try await place.shop.perform(deadline: .milliseconds(400)) { context in
        _ = Product(in: context, name: "before", price: 1)
        try context.save()
        Thread.sleep(forTimeInterval: 0.8)
        _ = Product(in: context, name: "after", price: 1)
        try context.save()
      }
    }
    #expect(outcome == .timedOut)
    let names = try await place.shop.perform { try $0.fetch(Product.all).map(\.name) }
    #expect(names == ["before"])
  }

  @Test("a block that is done before its deadline has its result, and a cancelled one its cancellation")
  func deadlineIsNotReached() async throws {
    let place = try Place()
    #expect(try await place.countProducts(deadline: .seconds(60)) == 0)
    try await place.whileLocked {
      let task = Task { try await place.countProducts(deadline: .seconds(60)) }
      try await Task.sleep(for: .milliseconds(100))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  // MARK: Figures

  @Test("the figures count what works, what waits, and the waits that have ended")
  func figures() async throws {
    let place = try Place(connections: 2)
    let before = place.shop.figures
    #expect(before.workers.limit == 2 && before.workers.uses == 0 && before.connections?.limit == 2)
    let gate = DispatchSemaphore(value: 0)
    let blocks = (0..<5).map { _ in Task { try await place.shop.perform { _ in gate.wait() } } }
    while place.shop.figures.workers.waiting < 3 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(place.shop.figures.workers.inUse == 2)
    #expect(
      await code { try await place.shop.perform(timeout: .milliseconds(20)) { _ in } } == .busy)
    for _ in blocks { gate.signal() }
    for block in blocks { try await block.value }
    _ = try await place.countProducts()
    let after = place.shop.figures
    #expect(after.workers.waiting == 0 && after.workers.uses == 6)
    #expect(after.workers.waits == 4 && after.workers.refusals == 1)
    #expect(after.workers.longestWait >= .milliseconds(20) && after.workers.waitTime >= after.workers.longestWait)
    let connections = try #require(after.connections)
    #expect(connections.inUse == 0 && connections.made >= 1 && connections.uses > (before.connections?.uses ?? 0))
  }

  @Test("callers that wait for connections are counted, with and without success")
  func waitsForConnections() async throws {
    let place = try Place(connections: 1, timeout: 0.2)
    let store = try #require(place.shop.core.store as? PostgresStore)
    let connection = try store.pool.take()
    // Another thread, because this one would get a second connection.
    let first = await code { try await place.countProducts() }
    #expect(first == .busy)
    store.pool.giveBack(connection)
    let figures = try #require(place.shop.figures.connections)
    #expect(figures.waits == 1 && figures.refusals == 1 && figures.waitTime >= .milliseconds(150))
  }

  @Test("a store without a server has no connections, and is checked by a read")
  func withoutServer() async throws {
    let container = try PersistentContainer(model: .shop, store: .memory)
    #expect(container.figures.connections == nil && container.figures.workers.limit == 1)
    #expect(try await container.checkHealth().acceptsWrites)
    container.close()
    #expect(await code { try await container.checkHealth() } == .closed)
  }

  // MARK: Health

  @Test("a check needs a connection, and says which part fails")
  func health() async throws {
    let place = try Place(connections: 1)
    let health = try await place.shop.checkHealth()
    #expect(health.acceptsWrites && health.duration > .zero)
    // No worker is needed, but a connection.
    let gate = DispatchSemaphore(value: 0)
    let blocker = Task { try await place.shop.perform { _ in gate.wait() } }
    while place.shop.figures.workers.inUse == 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try await place.shop.checkHealth().acceptsWrites)
    gate.signal()
    try await blocker.value
    let store = try #require(place.shop.core.store as? PostgresStore)
    let connection = try store.pool.take()
    #expect(await code { try await place.shop.checkHealth(timeout: .milliseconds(200)) } == .busy)
    store.pool.giveBack(connection)
  }

  @Test("a server that is frozen, away or back again is told within the timeout") func outages() async throws {
    let cluster = try PostgresCluster.start()
    let shop = try PersistentContainer(
      model: .shop, store: .postgres(cluster.url(database: "postgres"), schema: "shop", connections: 1, timeout: 300))
    let session = try #require(
      Int32(try cluster.psql("SELECT pid FROM pg_stat_activity WHERE application_name = 'trellis' LIMIT 1")))
    kill(session, SIGSTOP)
    #expect(await code { try await shop.checkHealth(timeout: .milliseconds(300)) } == .timedOut)
    kill(session, SIGCONT)
    #expect(try await shop.checkHealth().acceptsWrites)
    try cluster.stop(mode: .immediate)
    let away = await code { try await shop.checkHealth(timeout: .milliseconds(300)) }
    #expect(away == .cannotOpen || away == .inputOutput, "\(String(describing: away))")
    try cluster.start()
    #expect(try await shop.checkHealth().acceptsWrites)
    // A statement of the whole server, as an administrator gives it before a failover.
    _ = try cluster.psql("ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()")
    var acceptsWrites = true
    for _ in 0..<100 where acceptsWrites {
      try await Task.sleep(for: .milliseconds(50))
      acceptsWrites = try await shop.checkHealth().acceptsWrites
    }
    #expect(!acceptsWrites)
  }
}
