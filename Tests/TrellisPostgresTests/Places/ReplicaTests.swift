import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A server that follows another one and is only read.
@Suite("Replicas", .enabled(if: PostgresCluster.canStart, "needs initdb"), .serialized)
struct ReplicaTests {
  @Test("a replica is read as its primary is, hears of saves, and says of a save that it only reads")
  func reading() throws {
    let pair = try ReplicaPair()
    #expect(code { _ = try Shelf(pair.replicaURL, schema: "shelf") } == .readOnly)
    let written = try Shelf(pair.primaryURL, schema: "shelf")
    try written.insert("first")
    try pair.waitUntilEqual()
    let read = try Shelf(pair.replicaURL, schema: "shelf")
    let connection = try read.store.connect()
    #expect(try read.names() == ["first"] && connection.count(read.all) == 1)
    try connection.pin()
    #expect(try connection.count(read.all) == 1)
    connection.unpin()
    connection.beginToHear()
    #expect(code { try read.insert("by the replica") } == .readOnly)
    try written.insert("second")
    #expect(connection.hearsOfOthers())
    try pair.waitUntilEqual()
    #expect(try read.names() == ["first", "second"])
    #expect(try written.names() == ["first", "second"])
  }

  @Test("a store that needs a migration is not migrated at a replica, and says so")
  func migration() throws {
    let pair = try ReplicaPair()
    _ = try Shelf(pair.primaryURL, schema: "shelf")
    try pair.waitUntilEqual()
    let changed = try Shelf.model(
      AttributeDescription("name", .string), AttributeDescription("list", .string, optional: true),
      AttributeDescription("size", .int64, optional: true))
    #expect(code { _ = try StoreConfiguration.postgres(pair.replicaURL, schema: "shelf").open(changed) } == .readOnly)
    #expect(try Shelf(pair.replicaURL, schema: "shelf").names() == [])
  }

  @Test("a store that is migrated while a replica of it is open is refused there, and opens with the new model")
  func migratedByOthers() throws {
    let pair = try ReplicaPair()
    try Shelf(pair.primaryURL, schema: "shelf").insert("first")
    try pair.waitUntilEqual()
    let shelf = try Shelf(pair.replicaURL, schema: "shelf")
    let connection = try shelf.store.connect()
    #expect(try connection.count(shelf.all) == 1)
    let changed = try Shelf.model(
      AttributeDescription("name", .string),
      AttributeDescription("kind", .string, optional: true, renamedFrom: ["list"]))
    let plan = try PostgresOpening(
      changed, PostgresOptions(connectionString: pair.replicaURL, schema: "shelf")
    ).plan()
    #expect(plan != nil)
    _ = try StoreConfiguration.postgres(pair.primaryURL, schema: "shelf").open(changed)
    try pair.waitUntilEqual()
    #expect(code { _ = try connection.count(shelf.all) } == .migratedByOthers)
    let opened = try StoreConfiguration.postgres(pair.replicaURL, schema: "shelf").open(changed)
    #expect(try opened.connect().count(StoreRequest(entity: 0)) == 1)
  }

  @Test("relationships, plans and the history are read at a replica")
  func graph() async throws {
    let pair = try ReplicaPair()
    let shop = try PersistentContainer(model: .shop, store: .postgres(pair.primaryURL, schema: "shop"))
    try await shop.perform { context in
      context.author = "primary"
      let tea = Product(in: context, name: "Tea", price: 4)
      let order = Order(in: context, customer: "Ada")
      for quantity in [3, 1, 2] as [Int64] {
        let line = OrderLine(in: context, quantity: quantity)
        (line.product, line.order) = (tea, order)
      }
      try context.save()
    }
    try pair.waitUntilEqual()
    let replica = try PersistentContainer(model: .shop, store: .postgres(pair.replicaURL, schema: "shop"))
    try await replica.perform { context in
      let order = try #require(try context.first(Order.all))
      #expect(order.lines.map(\.quantity) == [3, 1, 2])
      #expect(order.lines.first?.product?.lines.count == 3)
      #expect(try !context.explain(Order.all).steps.isEmpty)
      let cold = Product(in: context, name: "Coffee", price: 5)
      #expect(throws: StoreError.self) { try context.save() }
      #expect(cold.name == "Coffee")
      context.rollback()
      #expect(try context.count(Product.all) == 1)
    }
    #expect(try replica.history().map(\.author) == ["primary"])
    try pair.primary.stop()
    try pair.promote()
    // A store that has refused is asked for keys again after a second.
    try await Task.sleep(for: .seconds(1.1))
    try await replica.perform { context in
      _ = Product(in: context, name: "Coffee", price: 5)
      try context.save()
    }
    #expect(try await replica.perform { try $0.count(Product.all) } == 2)
  }

  @Test("a read that is ended because a replica has to go on is made again")
  func readAgain() throws {
    let shelf = try Shelf()
    var attempts = 0
    let count = try shelf.store.pool.reading(doing: "read") { connection in
      attempts += 1
      if attempts < 3 {
        throw ServerError(state: "40001", message: "canceling statement due to conflict with recovery")
      }
      return try connection.run(ServerStatement("SELECT 1::bigint")).count
    }
    #expect(count == 1 && attempts == 3)
    #expect(
      code {
        try shelf.store.pool.reading(doing: "read") { _ in throw ServerError(state: "40001", message: "conflict") }
      } == .busy)
  }

  @Test("a moment that keeps a replica from going on ends, and the next one is shown")
  func recoveryConflict() throws {
    let pair = try ReplicaPair()
    _ = try pair.replica.psql("ALTER SYSTEM SET max_standby_streaming_delay = 0")
    _ = try pair.replica.psql("SELECT pg_reload_conf()")
    let written = try Shelf(pair.primaryURL, schema: "shelf")
    try written.insert("first", "second")
    try pair.waitUntilEqual()
    let shelf = try Shelf(pair.replicaURL, schema: "shelf")
    let pinned = try shelf.store.connect()
    try pinned.pin()
    #expect(try pinned.count(shelf.all) == 2)
    _ = try pair.primary.psql(
      "DELETE FROM shelf.\"Item\"; VACUUM (FREEZE) shelf.\"Item\"", database: pair.database)
    try pair.waitUntilEqual()
    // The server has ended the session of a transaction that keeps it waiting.
    let error = #expect(throws: StoreError.self) { try pinned.count(shelf.all) }
    #expect(error?.code == .busy || error?.code == .inputOutput, "\(String(describing: error))")
    pinned.unpin()
    #expect(try pinned.count(shelf.all) == 0)
  }

  @Test("the name of a store has its hosts with their ports, and no password")
  func names() throws {
    #expect(
      try ServerAddress("postgresql://a:secret@one:5001,two:5002/base").name == "postgresql://one:5001,two:5002/base")
    #expect(
      try ServerAddress("host=one,two port=6000 dbname=base password=secret").name
        == "postgresql://one:6000,two:6000/base")
    #expect(try ServerAddress("postgresql://a@one/base").name == "postgresql://one/base")
  }
}
