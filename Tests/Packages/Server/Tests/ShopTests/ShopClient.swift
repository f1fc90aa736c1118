import Foundation
import Hummingbird
import HummingbirdTesting

@testable import Shop

/// What a client does with a server, over a connection of its own or without any.
struct ShopClient: Sendable {
  struct Answer: Sendable {
    let status: HTTPResponse.Status
    let retryAfter: String?
    let data: Data

    func decoded<Document: Decodable>(as type: Document.Type = Document.self) throws -> Document {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .iso8601
      return try decoder.decode(type, from: data)
    }

    var isSuccess: Bool { status.kind == .successful }
    /// What the server says is wrong.
    var failure: HTTPFailure.Document? { try? decoded() }
  }

  let send: @Sendable (_ method: HTTPRequest.Method, _ uri: String, _ body: ByteBuffer?) async throws -> Answer

  init(_ client: any TestClientProtocol) {
    send = { method, uri, body in
      try await client.execute(uri: uri, method: method, headers: Self.headers, body: body) { response in
        Answer(
          status: response.status, retryAfter: response.headers[.retryAfter], data: Data(buffer: response.body))
      }
    }
  }

  init(_ client: TestClient) {
    send = { method, uri, body in
      let response = try await client.execute(
        TestClient.Request(uri, method: method, headers: Self.headers, body: body))
      return Answer(
        status: response.status, retryAfter: response.headers[.retryAfter],
        data: response.body.map { Data(buffer: $0) } ?? Data())
    }
  }

  private static let headers: HTTPFields = [.contentType: "application/json"]

  func get(_ uri: String) async throws -> Answer { try await send(.get, uri, nil) }
  func delete(_ uri: String) async throws -> Answer { try await send(.delete, uri, nil) }
  func post(_ uri: String, _ body: some Encodable) async throws -> Answer {
    try await send(.post, uri, ByteBuffer(data: JSONEncoder().encode(body)))
  }
  func patch(_ uri: String, _ body: some Encodable) async throws -> Answer {
    try await send(.patch, uri, ByteBuffer(data: JSONEncoder().encode(body)))
  }

  // MARK: Steps that have to succeed

  func product(_ name: String, price: Decimal = 1, stock: Int64 = 0) async throws -> ProductDocument {
    let made = try await post("/products", NewProduct(name: name, price: price)).decoded(as: ProductDocument.self)
    if stock == 0 { return made }
    return try await post("/products/\(made.id)/deliveries", Delivery(quantity: stock)).decoded()
  }

  func order(_ lines: [NewLine], by customer: String = "Ada") async throws -> OrderDocument {
    try await post("/orders", NewOrder(customer: customer, lines: lines)).decoded()
  }
}
