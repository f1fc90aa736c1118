import Hummingbird
import Trellis

/// What the platform of a service asks it.
struct HealthRoutes {
  private let shop: ShopStore

  init(_ shop: ShopStore) { self.shop = shop }

  func add<Context: RequestContext>(to router: Router<Context>) {
    // The process runs, whatever the database does.
    router.get("live") { _, _ in HTTPResponse.Status.ok }
    router.get("ready") { _, _ in try await ready() }
    router.get("figures") { _, _ in FigureDocument(shop.container.figures) }
  }

  /// An error of the store becomes its status.
  private func ready() async throws -> HTTPResponse.Status {
    try await shop.container.checkHealth(timeout: .seconds(1)).acceptsWrites ? .ok : .serviceUnavailable
  }
}

/// What a monitor reads.
struct FigureDocument: ResponseCodable {
  struct Pool: Codable {
    let limit: Int
    let inUse: Int
    let waiting: Int
    let uses: Int
    let refusals: Int
    let waitSeconds: Double

    init(_ figures: PoolFigures) {
      limit = figures.limit
      inUse = figures.inUse
      waiting = figures.waiting
      uses = figures.uses
      refusals = figures.refusals
      waitSeconds = figures.waitTime / .seconds(1)
    }
  }

  let workers: Pool
  let connections: Pool?

  init(_ figures: ContainerFigures) {
    workers = Pool(figures.workers)
    connections = figures.connections.map(Pool.init)
  }
}
