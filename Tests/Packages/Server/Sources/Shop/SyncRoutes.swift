import Hummingbird
import Trellis
import TrellisSync

/// Replicas of the shop, such as tills that go on selling without a network.
struct SyncRoutes {
  /// The largest message, in bytes.
  private static let largestMessage = 64 << 20
  private let shop: ShopStore
  private let server: SyncServer

  init(_ shop: ShopStore) throws {
    var policy = SyncPolicy(.latest)
    // What two tills take out of the stock is taken out twice.
    policy["Product.stock"] = .sum
    policy["Product.received"] = .sum
    self.shop = shop
    server = try SyncServer(shop.container, policy: policy)
  }

  func add<Context: RequestContext>(to router: Router<Context>) {
    router.post("sync") { request, _ in
      let message = [UInt8](buffer: try await request.body.collect(upTo: Self.largestMessage))
      let server = server
      let answer = try await shop.perform { _ in server.answer(to: message) }
      return Response(
        status: .ok, headers: [.contentType: "application/octet-stream"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer)))
    }
  }
}
