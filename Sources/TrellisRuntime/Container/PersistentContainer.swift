public import TrellisStorage

/// A model, a store, and the contexts that work with them.
///
/// ```swift
/// let container = try PersistentContainer(model: .diary, store: .sqlite(at: url))
/// let context = container.mainContext        // on the main actor
/// let names = try await container.perform { context in
///   try context.fetch(Tag.all).map(\.name)   // beside it
/// }
/// ```
/// A container may be used from anywhere. It lives as long as it or one of its contexts is held.
public final class PersistentContainer: Sendable {
  let core: ContainerCore
  private let workers: Workers
  @MainActor private var main: ManagedObjectContext?

  /// Opens a store for a model, or creates it.
  ///
  /// - Parameters:
  ///   - model: A generated model, such as `.diary`.
  ///   - store: Where the objects are kept, such as `.sqlite(at:)` or `.memory`.
  ///   - workers: How many blocks of ``perform(_:)`` run at a time. With one, the usual number, they run one after the other. With
  ///     more, two of them may change the same objects, which is then settled as between any two contexts.
  ///   - log: Gets each request to the store. Without one, the environment variable `TRELLIS_LOG` decides:
  ///     `queries` prints them to standard error, `queries,values` with the values, which may be user data.
  ///   - onError: Called for whatever goes wrong where nothing can be thrown, such as in a property; from the thread on
  ///     which it goes wrong. By default it is printed to standard error.
  /// - Throws: ``StoreError`` when the store cannot be opened, or was made with another model.
  public init(
    model: ObjectModel, store: StoreConfiguration, workers: Int = 1, log: QueryLog? = .fromEnvironment,
    onError: @escaping @Sendable (ContextError) -> Void = PersistentContainer.printProblem
  ) throws {
    self.workers = Workers(workers)
    let runtime = try RuntimeModel(model)
    core = try ContainerCore(runtime: runtime, store: store.open(runtime.model), log: log, errorHandler: onError)
  }

  /// Closes the store: a SQLite file is complete afterwards, without a log beside it.
  ///
  /// A container that is released does the same by itself; this is for one that lives on, such as a global variable.
  /// Whatever needs the store afterwards throws ``StoreError`` with the code `closed`; what was loaded stays readable, and
  /// what was not saved is lost. Closing again does nothing. Call it when no work is under way, or that work may throw half-way between two calls.
  public func close() { core.close() }

  /// The context of the main actor. It takes over by itself what other contexts of the container save: as soon as the main
  /// actor is free, and in any case before ``perform(_:)`` returns.
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

  /// A context of its own for whatever isolation domain keeps it.
  public func newContext() -> sending ManagedObjectContext {
    ManagedObjectContext(core: core)
  }

  /// Runs work beside the main actor, on a new context of a thread of the container's own.
  ///
  /// As many blocks run at a time as the container has workers: one, unless more were asked for. The others wait, suspended, and
  /// begin in the order in which they were handed in. Changes that the block does not save are dropped. Before this returns,
  /// ``mainContext`` has taken over what was saved.
  ///
  /// - Parameter body: The work. Objects stay inside; what it returns must be Sendable, such as snapshots.
  /// - Throws: what `body` throws; `CancellationError` when the task is cancelled before the block begins.
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
