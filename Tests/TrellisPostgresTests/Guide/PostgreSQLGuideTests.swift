import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisModel
import TrellisModelFile
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisRuntime
@testable import TrellisStorage

@Suite("The guide to PostgreSQL", .serialized, .enabled(if: TestServer.isThere, "\(PostgresCluster.requirement)"))
final class PostgreSQLGuideTests {
  private static let guide = GuideText("PostgreSQL.md")
  /// A server of this suite: roles and settings belong to a whole server, and transactions of other tests delay histories.
  private static let ownServer = Result { try PostgresCluster.start() }
  private let database: String
  private var printed: [String] = []

  init() throws { database = try PostgresCluster.running().makeDatabase() }

  deinit { try? PostgresCluster.running().dropDatabase(database) }

  // MARK: The samples

  private func print(_ items: Any...) {
    printed += items.map { "\($0)" }.joined(separator: " ").split(separator: "\n").map(String.init)
  }

  private var url: String { get throws { try PostgresCluster.running().url(database: database) } }

  private func psql(_ sql: String) throws -> String { try PostgresCluster.running().psql(sql, database: database) }

  /// The address of a new database of the suite's own server.
  private func ownAddress() throws -> (url: String, cluster: PostgresCluster, database: String) {
    let cluster = try Self.ownServer.get()
    let database = try cluster.makeDatabase()
    return (cluster.url(database: database), cluster, database)
  }

  func openShop(at url: String) throws -> PersistentContainer {
    try PersistentContainer(model: .shop, store: .postgres(url, schema: "shop", connections: 8))
  }

  @Test("the samples print what the guide says", .enabled(if: PostgresCluster.canStart))
  func samples() async throws {
    let url = try ownAddress().url
    let shop = try openShop(at: url)
    defer { shop.close() }
    try await shop.perform { context in
      _ = Product(in: context, name: "Tea", price: 4)
      try context.save()
    }
    let seen = try shop.historyToken()

    let stock = try await shop.perform(timeout: .seconds(10), deadline: .seconds(30)) { context in
      context.author = "warehouse"
      return try context.saveRetrying {
        guard let tea = try context.first(Product.where { $0.name == "Tea" }) else { return Int64(0) }
        tea.stock += 5
        return tea.stock
      }
    }
    #expect(stock == 5)

    let figures = shop.figures
    print(figures.workers.waiting, figures.connections?.inUse ?? 0, figures.connections?.refusals ?? 0)

    let health = try await shop.checkHealth(timeout: .seconds(2))
    print(health.acceptsWrites, health.duration < .seconds(2))

    for transaction in try shop.history(since: seen, limit: 100) {
      print(transaction.author ?? "-", transaction.changes)
    }

    if let plan = try MigrationPlan(of: .postgres(url, schema: "shop"), to: .shop) { print(plan) }

    let context = shop.newContext()
    let plan = try context.explain(
      Product.where {
        $0.stock > 0
        $0.name.contains("tea", .caseInsensitive)
      })
    print(plan.steps.joined(separator: "\n"))

    let pooled = try PersistentContainer(
      model: .shop, store: .postgres(url, schema: "shop", throughTransactionPool: true))
    #expect(try pooled.newContext().count(Product.all) == 1)
    pooled.close()

    let replicaURL = url
    let replicated = try PersistentContainer(
      model: .shop, store: .postgres(url, schema: "shop", replica: replicaURL))
    let names = try await replicated.perform(fromReplica: true) { context in
      try context.fetch(Product.all.sorted { $0.name }).map(\.name)
    }
    #expect(names == ["Tea"])
    replicated.close()

    let promised = try Self.guide.blocks("text").flatMap { $0.split(separator: "\n").map(String.init) }
    #expect(printed == promised, "\(printed.joined(separator: "\n"))")
  }

  @Test("each sample stands in this test") func compiled() throws {
    let missing = try Self.guide.samples(missingFrom: #filePath)
    #expect(missing == [])
  }

  // MARK: Tables and roles

  @Test("the tables are those that the guide shows") func tables() throws {
    try openShop(at: url).close()
    let shown = try Self.guide.blocks("psql")
    let described = try ["Product", "OrderLine"].map { table in
      try psql("\\pset format aligned\n\\pset tuples_only off\n\\d shop.\"\(table)\"")
    }
    func lines(_ text: some StringProtocol) -> [Substring] {
      text.split(separator: "\n").map { line in
        line.prefix(line.lastIndex { $0 != " " }.map { line.distance(from: line.startIndex, to: $0) + 1 } ?? 0)
      }.filter { !$0.isEmpty }.map { Substring($0) }
    }
    let parts = described.map { $0.split(separator: "Triggers:\n", maxSplits: 1) }
    #expect(shown.map { lines($0) } == parts.map { lines($0[0]) })
    for part in parts {
      let triggers = lines(try #require(part.count == 2 ? part[1] : nil)).map { $0.split(separator: "\"")[1] }
      #expect(triggers == ["_past.delete", "_past.insert", "_past.truncate", "_past.update"])
      #expect(try triggers.allSatisfy { try Self.guide.contains("`\($0)`") })
    }
    #expect(
      try psql("SELECT relname FROM pg_class WHERE relnamespace = 'shop'::regnamespace AND relkind = 'r' ORDER BY 1")
        == """
        Order
        OrderLine
        Product
        _history
        _keys
        _models
        _past.Order
        _past.OrderLine
        _past.Product
        _saves
        _trellis
        """)
  }

  @Test("the roles may what the guide says", .enabled(if: PostgresCluster.canStart)) func roles() throws {
    let (_, cluster, database) = try ownAddress()
    let statements = try Self.guide.blocks("sql")
    #expect(statements.count == 5)
    _ = try cluster.psql(
      statements[1] + statements[2] + statements[4]
        + ["shop_owner", "shop_app", "shop_reader"].map { ";ALTER ROLE \($0) PASSWORD 'secret'" }.joined(),
      database: database)
    func address(_ role: String) -> String {
      "postgresql://\(role):secret@\(cluster.host):\(cluster.port)/\(database)"
    }
    // Who may not create cannot be the first.
    #expect(code { _ = try openShop(at: address("shop_app")) } == .cannotOpen)
    try openShop(at: address("shop_owner")).close()

    let app = try openShop(at: address("shop_app"))
    defer { app.close() }
    let context = app.newContext()
    let tea = Product(in: context, name: "Tea", price: 1)
    let order = Order(in: context, customer: "Ada")
    order.lines.append(OrderLine(in: context, quantity: 1, product: tea))
    try context.save()
    try context.delete(order)
    try context.save()
    #expect(try app.history().count == 2)
    #expect(try app.deleteHistory(before: app.historyToken()) == 1)
    #expect(try context.updateAll(Product.all) { $0.stock.increase(by: 1) } == 1)

    let reader = try openShop(at: address("shop_reader"))
    defer { reader.close() }
    let reading = reader.newContext()
    let seen = try #require(try reading.first(Product.all))
    #expect(try seen.stock == 1 && reader.history().count == 2)
    seen.stock = 2
    #expect(code { try reading.save() } == .cannotOpen)

    // A migration is for the owner of the tables.
    _ = try cluster.psql("CREATE SCHEMA shop2 AUTHORIZATION shop_owner", database: database)
    let former = try Shelf(address("shop_owner"), schema: "shop2")
    former.store.close()
    _ = try cluster.psql(
      "GRANT USAGE ON SCHEMA shop2 TO shop_app; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop2 TO "
        + "shop_app", database: database)
    let newer = try Shelf.model(
      AttributeDescription("name", .string), AttributeDescription("count", .int64, optional: true),
      AttributeDescription("note", .string, optional: true))
    func open(_ role: String, _ policy: MigrationPolicy = .automatic) throws {
      try StoreConfiguration.postgres(address(role), schema: "shop2", migration: policy).open(newer).close()
    }
    #expect(code { try open("shop_app") } == .cannotOpen)
    #expect(code { try open("shop_app", .refused) } == .needsMigration)
    try open("shop_owner")
    try open("shop_app", .refused)
    #expect(code { _ = try Shelf(address("shop_app"), schema: "shop2") } == .newerModel)
  }

  @Test("a schema of others is left as it is") func foreign() throws {
    _ = try psql("CREATE SCHEMA shop; CREATE TABLE shop.\"Product\" (number int)")
    #expect(code { _ = try openShop(at: url) } == .foreignFile)
    #expect(try psql("SELECT count(*) FROM pg_class WHERE relnamespace = 'shop'::regnamespace") == "1")
  }

  @Test("a model that leaves everything stored as it is works beside the former one") func sameStorage() throws {
    func model(_ length: Int) throws -> Model {
      try Model(
        ModelDescription(
          name: "Shelf",
          entities: [
            EntityDescription(
              "Item",
              attributes: [
                AttributeDescription("name", .string, rules: AttributeRules(maxLength: length)),
                AttributeDescription("count", .int64, optional: true),
              ], uniqueKeys: [["name"]])
          ]))
    }
    func open(_ model: Model) throws -> any Store {
      try StoreConfiguration.postgres(url, schema: "shelf").open(model)
    }
    let (former, current) = (try open(model(10)), try open(model(20)))
    defer {
      former.close()
      current.close()
    }
    for (key, store) in zip([Int64(1), 2, 3], [former, current, former]) {
      let request = SaveRequest()
      request.inserts = [
        SaveRequest.Inserts(
          entity: 0, records: [PlainRecord(try model(10).entities[0], key: key, ["name": .text("\(key)")])])
      ]
      try store.connect().save(request)
    }
    #expect(try former.connect().count(StoreRequest(entity: 0)) == 3)
    #expect(try current.connect().count(StoreRequest(entity: 0)) == 3)
  }

  // MARK: Connections

  @Test("a container has its connections and one more") func connections() async throws {
    let shop = try PersistentContainer(
      model: .shop, store: .postgres(url + "?application_name=guide", schema: "shop", connections: 3))
    defer { shop.close() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<50 {
        group.addTask {
          try await shop.perform { context in
            _ = Product(in: context, name: "Tea \(number)", price: 1)
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    // The one that hears of others is opened in the background.
    try await Task.sleep(for: .milliseconds(300))
    let sessions = try psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'guide'")
    #expect((1...4).contains(Int(sessions) ?? 0), "\(sessions)")
  }

  @Test("the round trips are those of the guide") func roundTrips() throws {
    let shop = try PersistentContainer(model: .shop, store: .postgres(url, schema: "shop", connections: 1))
    defer { shop.close() }
    let store = try #require(shop.core.store as? PostgresStore)
    func roundTrips(_ body: () throws -> Void) throws -> Int {
      let before = try store.pool.withConnection { $0.roundTrips }
      try body()
      return try store.pool.withConnection { $0.roundTrips } - before
    }
    let context = shop.newContext()
    let order = Order(in: context, customer: "Ada")
    for number in 0..<3 {
      order.lines.append(
        OrderLine(in: context, quantity: 1, product: Product(in: context, name: "Tea \(number)", price: 1)))
    }
    #expect(try roundTrips { try context.save() } == 1)
    let id = order.id
    let request = Order.where { $0.id == id }
    #expect(try roundTrips { _ = try shop.newContext().first(request) } == 1)
    #expect(try roundTrips { _ = try shop.newContext().first(request.prefetching { $0.lines }) } == 2)
    #expect(
      try roundTrips { _ = try shop.newContext().first(request.prefetching({ $0.lines }, then: { $0.product })) } == 3)
    #expect(try roundTrips { _ = try shop.newContext().count(request) } == 1)
  }

  // MARK: Isolation

  @Test("what was only read may change meanwhile, and what was touched may not") func writeSkew() throws {
    let shop = try openShop(at: url)
    defer { shop.close() }
    let setup = shop.newContext()
    for name in ["Tea", "Coffee"] { Product(in: setup, name: name, price: 1).stock = 1 }
    try setup.save()

    func read(_ context: ManagedObjectContext) throws -> [String: Product] {
      Dictionary(uniqueKeysWithValues: try context.fetch(Product.all).map { ($0.name, $0) })
    }
    let (a, b) = (shop.newContext(), shop.newContext())
    let (here, there) = (try read(a), try read(b))
    try #require(here["Tea"]).stock = 0
    try #require(there["Coffee"]).stock = 0
    try a.save()
    try b.save()
    #expect(try shop.newContext().count(Product.where { $0.stock > 0 }) == 0)

    for product in try setup.fetch(Product.all) { product.stock = 1 }
    try setup.save()
    func sellOut(_ name: String, in context: ManagedObjectContext) throws {
      let products = try context.fetch(Product.where { $0.name.isIn(["Tea", "Coffee"]) })
      guard products.filter({ $0.stock > 0 }).count > 1 else { return }
      for product in products {
        if product.name == name { product.stock = 0 }
        product.revision += 1  // what is only read is written as well, so two that do this at once conflict
      }
    }
    let (c, d) = (shop.newContext(), shop.newContext())
    try sellOut("Tea", in: c)
    try sellOut("Coffee", in: d)
    try c.save()
    #expect(throws: SaveConflict.self) { try d.save() }
    d.rollback()
    try d.saveRetrying { try sellOut("Coffee", in: d) }
    #expect(try shop.newContext().fetch(Product.where { $0.stock > 0 }).map(\.name) == ["Coffee"])
  }

  // MARK: Limits

  @Test("the server's limits are errors") func limits() throws {
    let shop = try openShop(at: url)
    defer { shop.close() }
    let context = shop.newContext()
    func saving(_ body: () -> Void) -> StoreError.Code? {
      body()
      defer { context.rollback() }
      return code { try context.save() }
    }
    #expect(saving { _ = Product(in: context, name: "T\0ea", price: 1) } == .unstorableValue)
    let early = Date(timeIntervalSince1970: -210_866_803_201)
    #expect(
      saving {
        let order = Order(in: context, customer: "Ada", placedAt: early)
        order.lines.append(
          OrderLine(in: context, quantity: 1, product: Product(in: context, name: "Tea", price: 1)))
      } == .unstorableValue)

    let shelf = try Shelf(url)
    var generator = SeededGenerator(seed: 1)
    let long = String((0..<6_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126, using: &generator))) })
    #expect(code { try shelf.insert(long) } == .limit)
    #expect(code { try shelf.insert(String(repeating: "a", count: 6_000)) } == nil)
  }

  // MARK: Others

  @Test("the statements for a program that writes by itself insert a row once, which objects then have")
  func foreignRows() throws {
    let shop = try openShop(at: url)
    defer { shop.close() }
    let sql = try #require(try Self.guide.blocks("sql").first { $0.hasPrefix("BEGIN;") })
    for _ in 0..<2 { _ = try psql(sql) }
    let context = shop.newContext()
    let tea = try #require(try context.fetch(Product.all).first)
    tea.stock += 3
    _ = Product(in: context, name: "Coffee", price: 5)
    try context.save()
    #expect(try psql("SELECT count(*) || ' ' || max(stock) FROM shop.\"Product\"") == "2 3")
  }

  @Test("a cancelled task ends what the server does for its block, and the container goes on")
  func cancelledTask() async throws {
    let shop = try openShop(at: url)
    defer { shop.close() }
    let holder = try ServerConnection(ServerAddress(url).keywords(timeout: 10), preparesStatements: false)
    try holder.run(ServerStatement("BEGIN"))
    try holder.run(ServerStatement("LOCK TABLE shop.\"Product\" IN ACCESS EXCLUSIVE MODE"))
    let task = Task { try await shop.perform { try $0.count(Product.all) } }
    try await Task.sleep(for: .milliseconds(500))
    let start = ContinuousClock.now
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(ContinuousClock.now - start < .seconds(3))
    #expect(try psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") == "0")
    try holder.run(ServerStatement("ROLLBACK"))
    #expect(try await shop.perform { try $0.count(Product.all) } == 0)
  }

  @Test(
    "the history tells what Trellis saves, in an order that a long transaction delays",
    .enabled(if: PostgresCluster.canStart))
  func history() throws {
    let (url, cluster, database) = try ownAddress()
    let shop = try openShop(at: url)
    defer { shop.close() }
    let context = shop.newContext()
    let tea = Product(in: context, name: "Tea", price: 1)
    try context.save()
    let start = try shop.historyToken()

    // Another program than Trellis.
    _ = try cluster.psql("UPDATE shop.\"Product\" SET stock = 9, _version = _version + 1", database: database)
    #expect(try shop.history(since: start).isEmpty)
    try context.refresh(tea)
    #expect(tea.stock == 9)

    // A transaction of another database that has written something.
    let setup = PostgresSetup(
      try ServerAddress(cluster.url(database: "postgres")), PostgresOptions(connectionString: url, schema: "public"),
      shop.model)
    let other = try setup.connect()
    try other.run(ServerStatement("BEGIN"))
    try other.run(ServerStatement("SELECT pg_current_xact_id()"))
    tea.stock = 10
    try context.save()
    #expect(try shop.history(since: start).isEmpty)
    try other.run(ServerStatement("ROLLBACK"))
    #expect(try shop.history(since: start).count == 1)
  }

  @Test("the store is shown as it was, whoever has changed it", .enabled(if: PostgresCluster.canStart))
  func asItWas() throws {
    let (url, cluster, database) = try ownAddress()
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Shop.model.json")
    let text = try String(contentsOf: file, encoding: .utf8).replacing(
      "\"history\": true", with: "\"history\": \"values\"")
    let description = try #require(ModelFile.parse(Array(text.utf8), path: "Shop.model.json").description)
    let shop = try PersistentContainer(
      model: ObjectModel(dynamic: description), store: .postgres(url, schema: "shop"))
    defer { shop.close() }
    let context = shop.newContext()
    _ = try context.insert("Product", ["name": .text("Tea"), "price": .text("4")])
    try context.save()
    let end = Date.now + 60
    while try shop.history().isEmpty, Date.now < end { Thread.sleep(forTimeInterval: 0.01) }

    let then = try shop.historyToken()
    let audit = try shop.newContext(asOf: then)
    _ = try cluster.psql("UPDATE shop.\"Product\" SET price = 5; DELETE FROM shop.\"Product\"", database: database)
    #expect(try audit.objects("Product").map { try $0.value("price") } == [.text("4")])
    #expect(try shop.newContext().objects("Product").isEmpty)
  }

  @Test("a backup goes to another server", .enabled(if: PostgresCluster.canStart)) func backup() throws {
    let url = try ownAddress().url
    let shop = try openShop(at: url)
    defer { shop.close() }
    let context = shop.newContext()
    let tea = Product(in: context, name: "Tea", price: 1)
    try context.save()
    let start = try shop.historyToken()
    tea.stock = 5
    try context.save()

    let programs = try #require(PostgresPrograms.installed)
    let dump = Process()
    dump.executableURL = programs.url(of: "pg_dump")
    dump.arguments = ["--no-owner", "--schema=shop", "-d", url]
    let output = Pipe()
    dump.standardOutput = output
    try dump.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    dump.waitUntilExit()
    #expect(dump.terminationStatus == 0)

    let cluster = try PostgresCluster.start()
    let copyDatabase = try cluster.makeDatabase()
    _ = try cluster.psql(text, database: copyDatabase)
    let copy = try openShop(at: cluster.url(database: copyDatabase))
    defer { copy.close() }
    #expect(try copy.history(since: start).map { $0.changes.count } == [1])
    let copied = copy.newContext()
    try #require(try copied.first(Product.all)).stock += 1
    _ = Product(in: copied, name: "Coffee", price: 1)
    try copied.save()
    #expect(try copy.history(since: start).map { $0.changes.count } == [1, 2])
    #expect(try copied.values(of: Product.all.sorted { $0.name }) { $0.stock } == [0, 6])
  }

  @Test(
    "a restarted server is found again, and one that may only be read says so", .enabled(if: PostgresCluster.canStart))
  func restart() throws {
    let cluster = try PostgresCluster.start()
    let shop = try openShop(at: cluster.url(database: "postgres"))
    defer { shop.close() }
    let context = shop.newContext()
    let tea = Product(in: context, name: "Tea", price: 1)
    try context.save()
    try cluster.stop()
    tea.stock = 1
    #expect(code { try context.save() } == .cannotOpen)
    #expect(code { _ = try shop.newContext().count(Product.all) } == .cannotOpen)
    try cluster.start()
    try context.save()
    #expect(try shop.newContext().values(of: Product.all) { $0.stock } == [1])

    _ = try cluster.psql("ALTER SYSTEM SET default_transaction_read_only = on")
    try cluster.restart()
    tea.stock = 2
    #expect(code { try context.save() } == .readOnly)
    #expect(try shop.newContext().values(of: Product.all) { $0.stock } == [1])
    let reader = try openShop(at: cluster.url(database: "postgres"))
    #expect(try reader.newContext().count(Product.all) > 0)
    reader.close()
    #expect(
      code { _ = try openShop(at: cluster.url(database: "postgres") + "?target_session_attrs=read-write") }
        == .cannotOpen)
    // There is no TLS in this server.
    #expect(code { _ = try openShop(at: cluster.url(database: "postgres") + "?sslmode=require") } == .cannotOpen)
  }
}
