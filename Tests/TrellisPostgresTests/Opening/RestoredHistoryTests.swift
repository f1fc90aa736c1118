import Foundation
import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("A history that was restored at another server", .enabled(if: TestServer.isThere, "needs a server"))
struct RestoredHistoryTests {
  @Test("a reader opens the store, and the first program that writes begins the numbers anew") func restored() throws {
    let schema = TestServer.newSchema()
    func open() throws -> PersistentContainer {
      try PersistentContainer(model: .shop, store: .postgres(TestServer.url, schema: schema))
    }
    do {
      let shop = try open()
      defer { shop.close() }
      let context = shop.newContext()
      _ = Product(in: context, name: "Tea", price: 4)
      try context.save()
    }
    // The transactions of the other server had higher numbers.
    let setup = try Shelf().store.setup
    try setup.connect().run(ServerStatement("UPDATE \"\(schema)\"._history SET \"number\" = \"number\" + 1000000000"))
    do {
      let reader = try PersistentContainer(model: .shop, store: .postgresReading(TestServer.url, schema: schema))
      defer { reader.close() }
      #expect(try reader.newContext().fetch(Product.all).map(\.name) == ["Tea"])
      #expect(code { _ = try reader.historyToken() } == .historyExpired)
    }
    let shop = try open()
    defer { shop.close() }
    let token = try shop.historyToken()
    let context = shop.newContext()
    _ = Product(in: context, name: "Coffee", price: 5)
    try context.save()
    // The history shows a save once the transactions before it have ended, also those of other tests.
    let end = ContinuousClock.now + .seconds(60)
    while try shop.history(since: token).isEmpty, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
    #expect(try shop.history(since: token).count == 1)
  }
}
