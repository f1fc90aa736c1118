import Foundation
import Hummingbird
import Trellis

/// An order with its lines.
struct OrderDocument: ResponseCodable, Equatable {
  struct Line: Codable, Equatable {
    let product: UUID
    let name: String
    let quantity: Int64
  }

  let id: UUID
  let customer: String
  let placedAt: Date
  let lines: [Line]

  init(_ order: Order) {
    id = order.id
    customer = order.customer
    placedAt = order.placedAt
    lines = order.lines.compactMap { line in
      line.product.map { Line(product: $0.id, name: $0.name, quantity: line.quantity) }
    }
  }
}

struct NewOrder: Codable {
  let customer: String
  let lines: [NewLine]
}

struct NewLine: Codable {
  let product: UUID
  let quantity: Int64
}

struct OrderRoutes {
  private let shop: ShopStore

  init(_ shop: ShopStore) { self.shop = shop }

  func add(to router: Router<BasicRequestContext>) {
    router.group("orders")
      .get(":id") { _, context in try await order(context.parameters.require("id", as: UUID.self)) }
      .post { request, context in
        let order = try await place(request.decode(as: NewOrder.self, context: context))
        return EditedResponse(status: .created, response: order)
      }
      .post(":id/lines") { request, context in
        try await add(
          request.decode(as: NewLine.self, context: context),
          to: context.parameters.require("id", as: UUID.self))
      }
      .delete(":id") { _, context in
        try await cancel(context.parameters.require("id", as: UUID.self))
        return HTTPResponse.Status.noContent
      }
  }

  private func order(_ id: UUID) async throws -> OrderDocument {
    try await shop.perform { context in OrderDocument(try Order.require(id, in: context)) }
  }

  // Answers are made before the save, which throws if something that they show could not be loaded.

  private func place(_ new: NewOrder) async throws -> OrderDocument {
    try await shop.perform { context in
      try context.saveRetrying(atMost: 100) {
        let order = Order(in: context, customer: new.customer)
        for line in new.lines { try order.take(line, in: context) }
        return OrderDocument(order)
      }
    }
  }

  private func add(_ line: NewLine, to id: UUID) async throws -> OrderDocument {
    try await shop.perform { context in
      try context.saveRetrying(atMost: 100) {
        let order = try Order.require(id, in: context)
        try order.take(line, in: context)
        return OrderDocument(order)
      }
    }
  }

  /// Deletes an order. What was ordered is in stock again.
  private func cancel(_ id: UUID) async throws {
    try await shop.perform { context in
      try context.saveRetrying(atMost: 100) {
        let order = try Order.require(id, in: context)
        for line in order.lines { line.product?.stock += line.quantity }
        try context.delete(order)
      }
    }
  }
}

extension Order {
  /// Reads an order with its lines and their products.
  fileprivate static func require(_ id: UUID, in context: ManagedObjectContext) throws -> Order {
    let request = Order.where { $0.id == id }.prefetching({ $0.lines }, then: { $0.product })
    guard let order = try context.first(request) else { throw HTTPFailure.notFound }
    return order
  }

  /// Adds a line, and takes its products out of the stock. The model forbids that the stock falls below zero.
  fileprivate func take(_ line: NewLine, in context: ManagedObjectContext) throws {
    let product = try Product.require(line.product, in: context)
    product.stock -= line.quantity
    lines.append(OrderLine(in: context, quantity: line.quantity, product: product))
  }
}
