public import TrellisStorage

/// A model, a store, and their contexts.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
/// let context = container.mainContext        // on the main actor
/// let names = try await container.perform { context in
///   try context.fetch(Tag.all).map(\.name)   // off the main actor
/// }
/// ```
/// A container can be used from any thread. It stays alive as long as it or one of its contexts is referenced.
public final class PersistentContainer: Sendable {
  let core: ContainerCore
  private let workers: Workers
  @MainActor private var main: ManagedObjectContext?

  /// Opens or creates a store for a model.
  ///
  /// - Parameters:
  ///   - model: A generated model, such as `.diary`.
  ///   - store: The store, such as `.sqlite(at:)` or `.memory`.
  ///   - workers: The maximum number of blocks of ``perform(_:)`` that run concurrently. With the default of one, they
  ///     run one after the other. With more, two of them may change the same objects, which causes a conflict as
  ///     between any two contexts.
  ///   - log: Receives each request to the store. The default is set by the environment variable `TRELLIS_LOG`:
  ///     `queries` prints the requests to standard error, `queries,values` prints them with their values, which may be
  ///     user data.
  ///   - onError: Called for each problem where no error can be thrown, such as in a property, on the thread where it
  ///     occurs. By default the problem is printed to standard error.
  /// - Throws: ``StoreError`` if the store cannot be opened, or was created with another model.
  public init(
    model: ObjectModel, store: StoreConfiguration, workers: Int = 1, log: QueryLog? = .fromEnvironment,
    onError: @escaping @Sendable (ContextError) -> Void = PersistentContainer.printProblem
  ) throws {
    self.workers = Workers(workers)
    let runtime = try RuntimeModel(model)
    core = try ContainerCore(runtime: runtime, store: store.open(runtime.model), log: log, errorHandler: onError)
  }

  /// Closes the store. A SQLite file is complete afterwards, without a write-ahead log next to it.
  ///
  /// A container that is released is closed automatically; this method is for containers that stay alive, such as a
  /// global variable. Operations that need the store afterwards throw ``StoreError`` with the code `closed`. Loaded
  /// values stay readable, and unsaved changes are lost. Closing again does nothing. Call this when no work is in
  /// progress, because that work may otherwise throw halfway between two calls.
  public func close() { core.close() }

  /// The context of the main actor. It merges the saves of the container's other contexts automatically, as soon as the
  /// main actor is free and at the latest before ``perform(_:)`` returns.
  @MainActor public var mainContext: ManagedObjectContext {
    if let main { return main }
    let made = ManagedObjectContext(core: core)
    main = made
    let bells = made.inbox.listen()
    Task { @MainActor [weak made] in
      for await _ in bells { made?.mergeChanges() }
    }
    return made
  }

  /// Creates a context for the isolation domain of the caller.
  public func newContext() -> sending ManagedObjectContext {
    ManagedObjectContext(core: core)
  }

  /// Runs work off the main actor, on a new context and on a thread of the container.
  ///
  /// At most as many blocks run concurrently as the container has workers, which is one by default. Further blocks are
  /// suspended and start in the order of their calls. Changes that the block does not save are discarded. Before this
  /// method returns, ``mainContext`` has merged what was saved.
  ///
  /// - Parameter body: The work. Objects must not leave it; its result must be Sendable, such as snapshots.
  /// - Throws: errors of `body`; `CancellationError` if the task is cancelled before the block starts.
  public func perform<Result: Sendable>(
    _ body: sending @escaping (ManagedObjectContext) throws -> Result
  ) async throws -> Result {
    let core = core
    let result = try await workers.run { try body(ManagedObjectContext(core: core)) }
    await mergeIntoMain()
    return result
  }

  @MainActor private func mergeIntoMain() {
    main?.mergeChanges()
  }
}
