import TrellisStorage

/// What the contexts of a container share. Everything in it may be used from any thread.
final class ContainerCore: Sendable {
  let runtime: RuntimeModel
  let store: any Store
  let keys: KeyAllocator
  let hub = ChangeHub()
  private let errorHandler: @Sendable (GraphProblem) -> Void

  init(
    runtime: RuntimeModel, store: any Store, errorHandler: @escaping @Sendable (GraphProblem) -> Void
  ) throws {
    self.runtime = runtime
    self.store = store
    self.errorHandler = errorHandler
    keys = try KeyAllocator(store)
  }

  func report(_ problem: GraphProblem) { errorHandler(problem) }
}
