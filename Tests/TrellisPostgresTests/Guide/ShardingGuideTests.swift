import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisPostgres

@Suite("The guide to sharding", .enabled(if: PostgresCluster.canStart, "\(PostgresCluster.requirement)"))
struct ShardingGuideTests {
  private static let guide = GuideText("Sharding.md")

  struct Shops: Sendable {
    let stores: [String: PersistentContainer]
    let places: [String: String]

    func store(of tenant: String) -> PersistentContainer? { places[tenant].flatMap { stores[$0] } }
  }

  func receive(_ count: Int64, of name: String, for tenant: String, _ shops: Shops) async throws -> Bool {
    guard let shop = shops.store(of: tenant) else { return false }
    return try await shop.perform { context in
      try context.saveRetrying {
        guard let product = try context.first(Product.where { $0.name == name }) else { return false }
        product.stock += count
        return true
      }
    }
  }

  @Test("each sample stands in this test") func compiled() throws {
    #expect(try Self.guide.samples(missingFrom: #filePath) == [])
  }

  @Test("the report adds up what the stores have, and writes nothing") func reports() async throws {
    let cluster = try PostgresCluster.start()
    let names = ["eu", "us"]
    let databases = try names.map { _ in try cluster.makeDatabase() }
    let containers = try databases.map {
      try PersistentContainer(model: .shop, store: .postgres(cluster.url(database: $0), schema: "shop", connections: 2))
    }
    defer { for container in containers { container.close() } }
    let shops = Shops(
      stores: Dictionary(uniqueKeysWithValues: zip(names, containers)), places: ["acme": "eu", "globex": "us"])
    for (tenant, count) in [("acme", 3), ("globex", 4)] {
      let store = try #require(shops.store(of: tenant))
      try await store.perform { context in
        _ = Product(in: context, name: "Tea", price: 4)
        try context.save()
      }
      #expect(try await receive(Int64(count), of: "Tea", for: tenant, shops))
    }
    #expect(try await receive(1, of: "Tea", for: "initech", shops) == false)

    let reader = "shop_reader"
    _ = try cluster.psql("CREATE ROLE \(reader) LOGIN PASSWORD 'secret'", database: databases[0])
    for database in databases {
      _ = try cluster.psql(
        "GRANT USAGE ON SCHEMA shop TO \(reader); GRANT SELECT ON ALL TABLES IN SCHEMA shop TO \(reader)",
        database: database)
    }
    let reports = try cluster.makeDatabase()
    let statements = try Self.guide.blocks("sql")
    try #require(statements.count == 2)
    var made = statements[0]
    for (name, database) in zip(names, databases) {
      made = made.replacing(
        "host '\(name).example.org', dbname 'shop'",
        with: "host '\(cluster.host)', port '\(cluster.port)', dbname '\(database)'")
    }
    _ = try cluster.psql(made, database: reports)
    #expect(try cluster.psql(statements[1], database: reports).contains("7"))
    let rows = try cluster.psql(
      "SELECT shard || stock FROM report.\"Product\" ORDER BY 1", database: reports)
    #expect(rows == "eu3\nus4")
    // Both stores have given their first product the same key.
    #expect(try cluster.psql("SELECT count(DISTINCT _id) FROM report.\"Product\"", database: reports) == "1")
    #expect(throws: (any Error).self) {
      try cluster.psql("UPDATE eu.\"Product\" SET stock = 0", database: reports)
    }
  }
}
