import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisRuntime

@Suite("Notices of other programs", .enabled(if: TestServer.isThere, "\(PostgresCluster.requirement)"))
struct NoticeTests {
  @Test("a program that writes by itself and rings makes contexts read again, though no history has its change")
  func otherProgram() throws {
    let cluster = try PostgresCluster.running()
    let database = try cluster.makeDatabase()
    defer { try? cluster.dropDatabase(database) }
    let shop = try PersistentContainer(
      model: .shop, store: .postgres(cluster.url(database: database), schema: "shop"), log: nil)
    defer { shop.close() }
    let context = shop.newContext()
    let tea = Product(in: context, name: "Tea", price: 4)
    try context.save()
    let store = try #require(shop.core.store as? PostgresStore)
    _ = try context.count(Product.all)
    for _ in 0..<600 where !store.watcher.isListening { Thread.sleep(forTimeInterval: 0.05) }
    context.mergeChanges()
    _ = try cluster.psql(
      """
      UPDATE shop."Product" SET "name" = 'Green tea', "_version" = "_version" + 1;
      \(GuideText("PostgreSQL.md").blocks("sql")[3])
      """, database: database)
    for _ in 0..<600 where tea.name == "Tea" {
      Thread.sleep(forTimeInterval: 0.05)
      context.mergeChanges()
    }
    #expect(tea.name == "Green tea")
  }
}
