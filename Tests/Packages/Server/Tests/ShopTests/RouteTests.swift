import Foundation
import Hummingbird
import HummingbirdTesting
import Testing

@testable import Shop

@Suite("The routes of a shop", .enabled(if: TestDatabase.isThere, "needs PostgreSQL or TRELLIS_POSTGRES_URL"))
struct RouteTests {
  private func withClient(
    _ settings: ShopSettings? = nil, _ body: @escaping @Sendable (ShopClient) async throws -> Void
  ) async throws {
    let server = try ShopServer(try settings ?? TestDatabase.settings())
    defer { server.close() }
    try await server.application.test(.router) { client in try await body(ShopClient(client)) }
  }

  @Test("a product is created, read, changed and deleted") func product() async throws {
    try await withClient { client in
      let made = try await client.post("/products", NewProduct(name: "Tea", price: 4.5))
      #expect(made.status == .created)
      let tea = try made.decoded(as: ProductDocument.self)
      let change = ProductChange(revision: tea.revision, price: 4.75)
      let changed = try await client.patch("/products/\(tea.id)", change)
      #expect(changed.status == .ok)
      let read = try await client.get("/products/\(tea.id)").decoded(as: ProductDocument.self)
      #expect(try changed.decoded() == read)
      #expect(read.price == Decimal(string: "4.75") && read.revision == 2)
      #expect(try await client.patch("/products/\(tea.id)", change).status == .conflict)
      #expect(try await client.delete("/products/\(tea.id)").status == .noContent)
      #expect(try await client.get("/products/\(tea.id)").status == .notFound)
      #expect(try await client.patch("/products/\(tea.id)", change).status == .notFound)
      #expect(try await client.delete("/products/\(tea.id)").status == .notFound)
    }
  }

  @Test("a service says whether it is ready, and how busy it is") func health() async throws {
    try await withClient { client in
      #expect(try await client.get("/live").status == .ok)
      #expect(try await client.get("/ready").status == .ok)
      _ = try await client.product("Tea", stock: 3)
      let figures = try await client.get("/figures").decoded(as: FigureDocument.self)
      #expect(figures.workers.uses > 0 && figures.workers.waiting == 0 && figures.connections?.inUse == 0)
    }
  }

  @Test("broken rules are named") func rules() async throws {
    try await withClient { client in
      _ = try await client.product("Tea", stock: 3)
      func rules(_ answer: ShopClient.Answer) -> [String] {
        #expect(answer.status == .unprocessableContent)
        return answer.failure?.rules?.map { "\($0.entity).\($0.property) \($0.rule)" } ?? []
      }
      #expect(rules(try await client.post("/products", NewProduct(name: "Tea", price: 1))) == ["Product.name unique"])
      #expect(
        rules(try await client.post("/products", NewProduct(name: "", price: -1)))
          == ["Product.name minimumLength", "Product.price minimum"])
      let zero = try await client.post("/products", NewProduct(name: "Tea\0", price: 1))
      #expect(zero.status == .unprocessableContent && zero.failure?.code == "unstorable-value")
    }
  }

  @Test("a body or an id that is none is a bad request") func malformed() async throws {
    try await withClient { client in
      let body = try await client.post("/products", ["name": "Tea"])
      #expect(body.status == .badRequest)
      for (uri, status) in [("/products/tea", 400), ("/changes?since=tea", 400), ("/nowhere", 404)] {
        #expect(try await client.get(uri).status.code == status, "\(uri)")
      }
    }
  }

  @Test("pages come one after the other") func pages() async throws {
    try await withClient { client in
      for number in 1...5 { _ = try await client.product("Tea \(number)") }
      var (names, after): ([[String]], String?) = ([], nil)
      repeat {
        let query = after.map { "&after=" + $0.replacing(" ", with: "%20") } ?? ""
        let page = try await client.get("/products?limit=2\(query)").decoded(as: ProductPage.self)
        names.append(page.products.map(\.name))
        after = page.next
      } while after != nil
      #expect(names == [["Tea 1", "Tea 2"], ["Tea 3", "Tea 4"], ["Tea 5"]])
    }
  }

  @Test("an order has one to five lines, and takes what it orders out of the stock") func order() async throws {
    try await withClient { client in
      let tea = try await client.product("Tea", stock: 10)
      let line = NewLine(product: tea.id, quantity: 2)
      func stock() async throws -> Int64 {
        try await client.get("/products/\(tea.id)").decoded(as: ProductDocument.self).stock
      }
      #expect(try await client.post("/orders", NewOrder(customer: "Ada", lines: [])).status == .unprocessableContent)
      let order = try await client.order([line])
      let read = try await client.get("/orders/\(order.id)").decoded(as: OrderDocument.self)
      #expect(read == order && read.lines.map(\.name) == ["Tea"])
      #expect(try await stock() == 8)

      // Nothing of an order that cannot be filled remains.
      let tooMuch = NewLine(product: tea.id, quantity: 9)
      #expect(try await client.post("/orders/\(order.id)/lines", tooMuch).status == .unprocessableContent)
      #expect(try await stock() == 8)

      for count in 2...5 {
        let more = try await client.post("/orders/\(order.id)/lines", NewLine(product: tea.id, quantity: 1))
        #expect(try more.decoded(as: OrderDocument.self).lines.count == count)
      }
      let sixth = try await client.post("/orders/\(order.id)/lines", NewLine(product: tea.id, quantity: 1))
      #expect(sixth.status == .unprocessableContent && sixth.failure?.rules?.map(\.rule) == ["maximumCount"])

      // A product with orders stays.
      #expect(try await client.delete("/products/\(tea.id)").status == .unprocessableContent)
      #expect(try await client.delete("/orders/\(order.id)").status == .noContent)
      #expect(try await client.get("/orders/\(order.id)").status == .notFound)
      #expect(try await stock() == 10)
      #expect(try await client.delete("/products/\(tea.id)").status == .noContent)
    }
  }

  @Test("a request that has waited too long is told to come again") func busy() async throws {
    var settings = try TestDatabase.settings(connections: 1)
    settings.patience = .milliseconds(1)
    try await withClient(settings) { client in
      let answers = try await withThrowingTaskGroup(of: ShopClient.Answer.self) { group in
        for number in 0..<100 {
          group.addTask { try await client.post("/products", NewProduct(name: "Tea \(number)", price: 1)) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      let refused = answers.filter { $0.status == .serviceUnavailable }
      #expect(!refused.isEmpty && answers.contains { $0.status == .created })
      #expect(answers.allSatisfy { $0.status == .created || $0.status == .serviceUnavailable })
      #expect(refused.allSatisfy { $0.retryAfter == "1" && $0.failure?.code == "busy" })
    }
  }
}
