import Dispatch
public import TrellisStorage

/// How far the migration of a store is.
public struct MigrationProgress: Hashable, Sendable {
  /// The part of the work that is done, from 0 to 1. It never decreases.
  public let fractionCompleted: Double
}

extension PersistentContainer {
  /// Opens or creates a store off the caller's thread, for stores whose migration may take long.
  ///
  /// ```swift
  /// let container = try await PersistentContainer.opening(model: .diary, store: .sqlite(at: url)) { progress in
  ///   Task { @MainActor in bar.value = progress.fractionCompleted }
  /// }
  /// ```
  /// If the task is cancelled, or the program ends, before the migration is complete, the store is as it was.
  ///
  /// - Parameters:
  ///   - model: A generated model, such as `.diary`.
  ///   - store: The store, such as `.sqlite(at:)`.
  ///   - workers: As in ``init(model:store:workers:log:onError:)``.
  ///   - log: As in ``init(model:store:workers:log:onError:)``.
  ///   - progress: Called about a hundred times during a migration, on the thread that migrates. It is not called if the
  ///     store need not be migrated.
  ///   - onError: As in ``init(model:store:workers:log:onError:)``.
  /// - Throws: ``StoreError`` as the initializer, and with the code `cancelled` if the task is cancelled during a
  ///   migration.
  public static func opening(
    model: ObjectModel, store: StoreConfiguration, workers: Int? = nil, log: QueryLog? = .fromEnvironment,
    progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
    onError: @escaping @Sendable (ContextError) -> Void = PersistentContainer.printProblem
  ) async throws -> PersistentContainer {
    let observer = MigrationObserver { progress(MigrationProgress(fractionCompleted: $0)) }
    let observed = StoreConfiguration { try store.openObserved($0, observer) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .userInitiated).async {
          continuation.resume(
            with: Result {
              try PersistentContainer(model: model, store: observed, workers: workers, log: log, onError: onError)
            })
        }
      }
    } onCancel: {
      observer.cancel()
    }
  }
}

extension MigrationProgress: CustomStringConvertible {
  /// The part of the work in percent.
  public var description: String { "\(Int((fractionCompleted * 100).rounded())) %" }
}
