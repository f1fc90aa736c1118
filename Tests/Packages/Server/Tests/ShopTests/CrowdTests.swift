import Foundation
import Hummingbird
import HummingbirdTesting
import Testing
import Trellis

@testable import Shop

@Suite(
  "Many clients of a shop", .serialized,
  .enabled(if: TestDatabase.isThere, "needs PostgreSQL or TRELLIS_POSTGRES_URL"))
struct CrowdTests {
  /// Two instances of the server on one database, with a client of each.
  private func withTwoInstances(
    _ settings: ShopSettings, _ body: @escaping @Sendable (_ ports: [Int], _ clients: [ShopClient]) async throws -> Void
  ) async throws {
    var other = settings
    other.instance = "second"
    let (first, second) = (try ShopServer(settings), try ShopServer(other))
    defer {
      first.close()
      second.close()
    }
    try await first.application.test(.live) { a in
      try await second.application.test(.live) { b in
        let ports = try [#require(a.port), #require(b.port)]
        try await body(ports, [ShopClient(a), ShopClient(b)])
      }
    }
  }

  /// A hundred clients, each with a connection of its own to one of the instances.
  private func run(_ crowd: Crowd, requests: Int, ports: [Int]) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          try await TestClient.withClient(
            host: "127.0.0.1", port: ports[number % ports.count], configuration: .init(timeout: .seconds(120))
          ) { client in
            try await crowd.visit(ShopClient(client), number: number, requests: requests)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Compares what the clients were told with what is stored.
  private func check(_ crowd: Crowd, _ settings: ShopSettings) throws {
    let notes = crowd.notes
    #expect(notes.surprises.isEmpty, "\(notes.surprises.prefix(5))")
    let container = try PersistentContainer(
      model: .shop, store: .postgres(settings.databaseURL, schema: settings.schema))
    defer { container.close() }
    let context = container.newContext()

    let products = try context.fetch(Product.all.prefetching { $0.lines })
    #expect(Set(products.map(\.name)).count == products.count)
    for product in products {
      let account = notes.accounts[product.id] ?? Crowd.Account()
      #expect((0...account.mayBeReceived).contains(product.received - account.received))
      #expect((0...account.mayBeChanges).contains(product.revision - 1 - account.changes))
      #expect(product.stock >= 0)
      #expect(product.stock == product.received - product.lines.reduce(0) { $0 + $1.quantity })
    }
    let stored = Set(products.map(\.id))
    #expect(notes.names.values.allSatisfy(stored.contains))

    let orders = try context.fetch(Order.all.prefetching { $0.lines })
    for order in orders {
      #expect((1...5).contains(order.lines.count))
      guard let lines = notes.lines[order.id] else { continue }
      #expect((0...(notes.mayBeLines[order.id] ?? 0)).contains(order.lines.count - lines))
    }
    let present = Set(orders.map(\.id))
    #expect(notes.deletedOrders.isDisjoint(with: present))
    let missing = Set(notes.lines.keys).subtracting(present)
    #expect(missing.isSubset(of: notes.deletedOrders.union(notes.mayBeDeleted)))
    try context.save()
  }

  @Test("no update is lost, and no rule is broken, while a hundred clients work on two instances")
  func crowd() async throws {
    let settings = try TestDatabase.settings(connections: 8, instance: "first")
    try await withTwoInstances(settings) { ports, clients in
      let start = try await clients[0].get("/changes").decoded(as: ChangePage.self).token
      let crowd = try await Crowd(clients[0])
      let time = try await ContinuousClock().measure { try await run(crowd, requests: 20, ports: ports) }
      print("a crowd of 100 clients took \(time), with the statuses \(crowd.notes.statuses)")
      try check(crowd, settings)
      #expect(crowd.notes.statuses.keys.allSatisfy { $0 < 500 })

      // Whoever follows the changes, at whichever instance, has seen each exactly once.
      var (token, inserted, authors): (String, [UUID?], Set<String?>) = (start, [], [])
      while true {
        let page = try await clients[1].get("/changes?since=\(token)&limit=50").decoded(as: ChangePage.self)
        if page.transactions.isEmpty { break }
        token = page.token
        for transaction in page.transactions {
          authors.insert(transaction.author)
          inserted += transaction.changes.filter { $0.kind == .inserted && $0.entity == "Product" }.map(\.id)
        }
      }
      #expect(Set(inserted) == Set(crowd.notes.names.values) && inserted.count == crowd.notes.names.count)
      #expect(authors == ["first", "second"])
    }
  }

  @Test("each instance sees what the other one has changed") func instances() async throws {
    try await withTwoInstances(TestDatabase.settings(instance: "first")) { _, clients in
      let start = try await clients[1].get("/changes").decoded(as: ChangePage.self)
      #expect(start.transactions.isEmpty)
      let tea = try await clients[0].product("Tea", stock: 5)
      #expect(try await clients[1].get("/products/\(tea.id)").decoded() == tea)
      let order = try await clients[1].order([NewLine(product: tea.id, quantity: 2)])
      #expect(try await clients[0].get("/orders/\(order.id)").decoded() == order)
      #expect(try await clients[0].get("/products/\(tea.id)").decoded(as: ProductDocument.self).stock == 3)
      #expect(try await clients[0].delete("/orders/\(order.id)").status == .noContent)
      #expect(try await clients[1].get("/orders/\(order.id)").status == .notFound)

      // Both read the same history, in the same order.
      for client in clients {
        let page = try await client.get("/changes?since=\(start.token)").decoded(as: ChangePage.self)
        #expect(page.transactions.map(\.author) == ["first", "first", "second", "first"])
        let changes = page.transactions.map { $0.changes.map { "\($0.kind) \($0.entity)" } }
        #expect(
          changes == [
            ["inserted Product"], ["updated Product"], ["updated Product", "inserted Order"],
            ["updated Product", "deleted Order"],
          ])
        #expect(page.transactions[1].changes[0].properties == ["received", "stock"])
        #expect(page.transactions[3].changes[1].id == order.id)
      }
    }
  }

  @Test(
    "requests fail or succeed while the database restarts, and never do half", .enabled(if: Cluster.isPossible),
    arguments: ["fast", "immediate"])
  func restart(_ mode: String) async throws {
    // Other tests need theirs meanwhile.
    let cluster = try Cluster()
    let settings = try TestDatabase.settings(cluster.url, connections: 8, instance: "first")
    try await withTwoInstances(settings) { ports, clients in
      let crowd = try await Crowd(clients[0], mayFail: true)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await run(crowd, requests: 60, ports: ports) }
        for _ in 0..<2 {
          try await Task.sleep(for: .seconds(1))
          try cluster.stop(mode)
          try await Task.sleep(for: .milliseconds(200))
          try cluster.start()
        }
        try await group.waitForAll()
      }
      print("a crowd during two \(mode) restarts: \(crowd.notes.statuses)")
      // The restarts have been noticed.
      #expect(crowd.notes.statuses[503] != nil)
      try check(crowd, settings)
      for client in clients {
        let product = try await client.get("/products/\(crowd.products[0])").decoded(as: ProductDocument.self)
        let delivery = Delivery(quantity: 1)
        let after = try await client.post("/products/\(product.id)/deliveries", delivery)
        #expect(try after.decoded(as: ProductDocument.self).stock == product.stock + 1)
      }
    }
  }
}
