public import Hummingbird
import Logging
import Trellis
import TrellisPostgres

/// An instance of the server: a store, and the routes that use it.
public struct ShopServer: Sendable {
  private let settings: ShopSettings
  private let shop: ShopStore
  private let sync: SyncRoutes

  /// Opens the store. An empty schema becomes one, and a store of a former version of the model is migrated.
  public init(_ settings: ShopSettings) throws {
    self.settings = settings
    shop = try ShopStore(settings)
    sync = try SyncRoutes(shop)
  }

  public var application: some ApplicationProtocol {
    var logger = Logger(label: settings.instance)
    logger.logLevel = settings.logLevel
    let router = Router()
    router.add(middleware: StoreFailureMiddleware())
    ProductRoutes(shop).add(to: router)
    OrderRoutes(shop).add(to: router)
    ChangeRoutes(shop).add(to: router)
    sync.add(to: router)
    HealthRoutes(shop).add(to: router)
    return Application(
      router: router,
      configuration: ApplicationConfiguration(
        address: .hostname(settings.host, port: settings.port), serverName: settings.instance),
      logger: logger)
  }

  /// Closes the connections to the database.
  public func close() { shop.container.close() }
}

/// The store of a shop, as the handlers use it.
struct ShopStore: Sendable {
  let container: PersistentContainer
  private let instance: String
  private let patience: Duration

  init(_ settings: ShopSettings) throws {
    container = try PersistentContainer(
      model: .shop,
      store: .postgres(settings.databaseURL, schema: settings.schema, connections: settings.connections))
    instance = settings.instance
    patience = settings.patience
  }

  /// Runs a handler's work in a context of its own, on a thread that may wait for the database.
  func perform<Result: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let instance = instance
    return try await container.perform(timeout: patience, deadline: .seconds(30)) { context in
      context.author = instance
      return try body(context)
    }
  }
}
