import Foundation
import Hummingbird
import HummingbirdTesting
import Synchronization

@testable import Shop

/// Clients that all work on the same few products and orders, and know what the server has told them.
final class Crowd: Sendable {
  /// What was acknowledged for a product, and what may have happened without being acknowledged.
  struct Account {
    var received: Int64 = 0
    var mayBeReceived: Int64 = 0
    var changes: Int64 = 0
    var mayBeChanges: Int64 = 0
  }

  struct Notes {
    var accounts: [UUID: Account] = [:]
    /// The acknowledged lines of the orders that all add to, and of those that one client has placed.
    var lines: [UUID: Int] = [:]
    var mayBeLines: [UUID: Int] = [:]
    var names: [String: UUID] = [:]
    var deletedOrders: Set<UUID> = []
    /// Orders whose delete got no answer.
    var mayBeDeleted: Set<UUID> = []
    var statuses: [Int: Int] = [:]
    var surprises: [String] = []
  }

  let products: [UUID]
  private let orders: [UUID]
  private let locked = Mutex(Notes())
  private let mayFail: Bool

  var notes: Notes { locked.withLock { $0 } }

  /// Makes what the clients work on.
  ///
  /// - Parameter mayFail: whether the database may be away, so that requests may fail for that reason.
  init(_ client: ShopClient, mayFail: Bool = false) async throws {
    var notes = Notes()
    var (products, orders): ([UUID], [UUID]) = ([], [])
    for number in 0..<4 {
      let product = try await client.product("Product \(number)", stock: 100)
      products.append(product.id)
      notes.accounts[product.id] = Account(received: 100)
      notes.names[product.name] = product.id
    }
    for number in 0..<4 {
      let order = try await client.order([NewLine(product: products[number], quantity: 1)])
      orders.append(order.id)
      notes.lines[order.id] = 1
    }
    self.products = products
    self.orders = orders
    self.mayFail = mayFail
    locked.withLock { [notes] in $0 = notes }
  }

  private func note(_ body: (inout Notes) -> Void) { locked.withLock { body(&$0) } }

  /// Notes the status of an answer, and that it is none of those that the request may have.
  private func check(_ answer: ShopClient.Answer, _ request: String, _ expected: Int...) {
    let code = answer.status.code
    note { notes in
      notes.statuses[code, default: 0] += 1
      if expected.contains(code) || code == 503 && mayFail && answer.retryAfter != nil { return }
      notes.surprises.append("\(request): \(code) \(String(decoding: answer.data, as: UTF8.self))")
    }
  }

  /// What one client does.
  func visit(_ client: ShopClient, number: Int, requests: Int) async throws {
    var placed: [UUID] = []
    for request in 0..<requests {
      let product = products[Int.random(in: products.indices)]
      switch (number + request) % 8 {
      case 0: try await browse(client)
      case 1, 2: try await deliver(client, product)
      case 3: try await reprice(client, product)
      case 4: try await add(client, "New \(Int.random(in: 0..<50))")
      case 5: try await order(client, &placed)
      case 6: try await extend(client, product)
      default: try await cancel(client, &placed)
      }
    }
  }

  private func browse(_ client: ShopClient) async throws {
    let answer = try await client.get("/products?limit=100")
    check(answer, "page", 200)
    guard answer.isSuccess else { return }
    let names = try answer.decoded(as: ProductPage.self).products.map(\.name)
    if names.count < products.count || zip(names, names.dropFirst()).contains(where: { $0 >= $1 }) {
      note { $0.surprises.append("page: \(names)") }
    }
    guard let order = orders.randomElement() else { return }
    let read = try await client.get("/orders/\(order)")
    check(read, "order", 200)
    if read.isSuccess, try !(1...5).contains(read.decoded(as: OrderDocument.self).lines.count) {
      note { $0.surprises.append("order: \(String(decoding: read.data, as: UTF8.self))") }
    }
  }

  private func deliver(_ client: ShopClient, _ product: UUID) async throws {
    let quantity = Int64.random(in: 1...9)
    let answer = try await client.post("/products/\(product)/deliveries", Delivery(quantity: quantity))
    check(answer, "delivery", 200)
    note { notes in
      if answer.isSuccess {
        notes.accounts[product]?.received += quantity
      } else {
        notes.accounts[product]?.mayBeReceived += quantity
      }
    }
  }

  /// Changes a price, and reads it again until nobody else was faster.
  private func reprice(_ client: ShopClient, _ product: UUID) async throws {
    while true {
      let read = try await client.get("/products/\(product)")
      check(read, "product", 200)
      guard read.isSuccess else { return }
      let seen = try read.decoded(as: ProductDocument.self)
      let change = ProductChange(revision: seen.revision, price: seen.price + 1)
      let answer = try await client.patch("/products/\(product)", change)
      check(answer, "change", 200, 409)
      if answer.status == .conflict { continue }
      note { notes in
        if answer.isSuccess {
          notes.accounts[product]?.changes += 1
        } else {
          notes.accounts[product]?.mayBeChanges += 1
        }
      }
      return
    }
  }

  private func add(_ client: ShopClient, _ name: String) async throws {
    let answer = try await client.post("/products", NewProduct(name: name, price: 1))
    check(answer, "new product", 201, 422)
    if answer.isSuccess {
      let id = try answer.decoded(as: ProductDocument.self).id
      note { notes in
        notes.accounts[id] = Account()
        if notes.names.updateValue(id, forKey: name) != nil { notes.surprises.append("two have the name \(name)") }
      }
    } else if answer.status == .unprocessableContent, answer.failure?.rules?.map(\.rule) != ["unique"] {
      note { $0.surprises.append("new product: \(String(decoding: answer.data, as: UTF8.self))") }
    }
  }

  private func order(_ client: ShopClient, _ placed: inout [UUID]) async throws {
    let lines = products.shuffled().prefix(2).map { NewLine(product: $0, quantity: Int64.random(in: 1...5)) }
    let answer = try await client.post("/orders", NewOrder(customer: "Ada", lines: lines))
    check(answer, "new order", 201, 422)
    guard answer.isSuccess else { return }
    let id = try answer.decoded(as: OrderDocument.self).id
    placed.append(id)
    note { $0.lines[id] = 2 }
  }

  private func extend(_ client: ShopClient, _ product: UUID) async throws {
    guard let order = orders.randomElement() else { return }
    let answer = try await client.post("/orders/\(order)/lines", NewLine(product: product, quantity: 1))
    check(answer, "line", 200, 422)
    note { notes in
      if answer.isSuccess { notes.lines[order, default: 0] += 1 }
      if answer.status.code >= 500 { notes.mayBeLines[order, default: 0] += 1 }
    }
  }

  private func cancel(_ client: ShopClient, _ placed: inout [UUID]) async throws {
    guard let order = placed.popLast() else { return }
    let answer = try await client.delete("/orders/\(order)")
    check(answer, "delete", 204)
    note { notes in
      if answer.isSuccess { notes.deletedOrders.insert(order) } else { notes.mayBeDeleted.insert(order) }
    }
  }
}
