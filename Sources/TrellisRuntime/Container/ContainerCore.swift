import Synchronization
import TrellisStorage

/// The state that the contexts of a container share. Everything in it can be used from any thread.
final class ContainerCore: Sendable {
  let runtime: RuntimeModel
  let store: any Store
  let keys: KeyAllocator
  let hub: ChangeHub
  let externalChanges: ExternalChangeMonitor
  private let log: QueryLog?
  private let closed = Atomic(false)
  let errorHandler: @Sendable (ContextError) -> Void

  init(
    runtime: RuntimeModel, store: any Store, log: QueryLog?,
    errorHandler: @escaping @Sendable (ContextError) -> Void
  ) throws {
    let hub = ChangeHub()
    self.hub = hub
    externalChanges = ExternalChangeMonitor(hub) { try store.connect() }
    self.log = log
    self.runtime = runtime
    self.store = store
    self.errorHandler = errorHandler
    keys = try KeyAllocator(store)
  }

  func connect() throws -> any StoreConnection {
    try checkOpen()
    let connection = try store.connect()
    return log.map { LoggingConnection(connection, $0, runtime.model) } ?? connection
  }

  /// - Throws: ``StoreError`` if the container is closed.
  func checkOpen() throws {
    guard closed.load(ordering: .acquiring) else { return }
    throw StoreError(
      .closed, "The container of \(store.name) is closed.", remedy: "Open the store with a new container.")
  }

  func close() {
    guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    hub.close()
    keys.giveBackUnused()
    store.close()
  }

  func report(_ problem: ContextError) { errorHandler(problem) }
}
