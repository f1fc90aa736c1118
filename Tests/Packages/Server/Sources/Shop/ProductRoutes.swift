import Foundation
import Hummingbird
import Trellis

/// A product as clients see it.
struct ProductDocument: ResponseCodable, Equatable {
  let id: UUID
  let name: String
  let price: Decimal
  let revision: Int64
  let stock: Int64

  init(_ product: Product) {
    id = product.id
    name = product.name
    price = product.price
    revision = product.revision
    stock = product.stock
  }
}

struct ProductPage: ResponseCodable {
  let products: [ProductDocument]
  /// What to ask for as `after` to get the next page. Nil on the last one.
  let next: String?
}

struct NewProduct: Codable {
  let name: String
  let price: Decimal
}

struct ProductChange: Codable {
  /// The revision that the client has seen.
  let revision: Int64
  var name: String?
  var price: Decimal?
}

struct Delivery: Codable {
  let quantity: Int64
}

struct ProductRoutes {
  private static let largestPage = 100
  private let shop: ShopStore

  init(_ shop: ShopStore) { self.shop = shop }

  func add(to router: Router<BasicRequestContext>) {
    router.group("products")
      .get { request, _ in
        try await page(
          after: request.uri.queryParameters["after"].map(String.init),
          limit: request.uri.queryParameters.get("limit", as: Int.self) ?? 20)
      }
      .get(":id") { _, context in try await product(context.parameters.require("id", as: UUID.self)) }
      .post { request, context in
        let product = try await create(request.decode(as: NewProduct.self, context: context))
        return EditedResponse(status: .created, response: product)
      }
      .patch(":id") { request, context in
        try await change(
          context.parameters.require("id", as: UUID.self), request.decode(as: ProductChange.self, context: context))
      }
      .post(":id/deliveries") { request, context in
        try await receive(
          context.parameters.require("id", as: UUID.self), request.decode(as: Delivery.self, context: context))
      }
      .delete(":id") { _, context in
        try await delete(context.parameters.require("id", as: UUID.self))
        return HTTPResponse.Status.noContent
      }
  }

  /// Pages begin after a name and not at a number, so that no product is skipped while others come and go.
  private func page(after name: String?, limit: Int) async throws -> ProductPage {
    let size = min(max(1, limit), Self.largestPage)
    return try await shop.perform { context in
      var request = Product.all
      if let name { request = Product.where { $0.name > name } }
      let found = try context.fetch(request.sorted { $0.name }.limit(size + 1))
      return ProductPage(
        products: found.prefix(size).map(ProductDocument.init),
        next: found.count > size ? found[size - 1].name : nil)
    }
  }

  private func product(_ id: UUID) async throws -> ProductDocument {
    try await shop.perform { context in ProductDocument(try Product.require(id, in: context)) }
  }

  private func create(_ new: NewProduct) async throws -> ProductDocument {
    try await shop.perform { context in
      let product = Product(in: context, name: new.name, price: new.price)
      try context.save()
      return ProductDocument(product)
    }
  }

  /// Changes what people edit. The revision is part of each change, so two that are made at once are a conflict even if
  /// they concern different properties.
  private func change(_ id: UUID, _ change: ProductChange) async throws -> ProductDocument {
    try await shop.perform { context in
      let product = try Product.require(id, in: context)
      guard product.revision == change.revision else { throw HTTPFailure.conflict }
      if let name = change.name { product.name = name }
      if let price = change.price { product.price = price }
      product.revision += 1
      try context.save()
      return ProductDocument(product)
    }
  }

  /// Adds to the stock. A counter is counted again from its new value if others were faster.
  private func receive(_ id: UUID, _ delivery: Delivery) async throws -> ProductDocument {
    try await shop.perform { context in
      try context.saveRetrying(atMost: 100) {
        let product = try Product.require(id, in: context)
        product.received += delivery.quantity
        product.stock += delivery.quantity
        return ProductDocument(product)
      }
    }
  }

  private func delete(_ id: UUID) async throws {
    try await shop.perform { context in
      try context.delete(try Product.require(id, in: context))
      try context.save()
    }
  }
}

extension Product {
  static func require(_ id: UUID, in context: ManagedObjectContext) throws -> Product {
    guard let product = try context.first(Product.where { $0.id == id }) else { throw HTTPFailure.notFound }
    return product
  }
}
