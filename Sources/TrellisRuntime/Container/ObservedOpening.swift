import Dispatch
import TrellisModel
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
    let logged = log.map(LoggedOpening.init)
    let observer = MigrationObserver { fraction in
      logged?.migrationBegins()
      progress(MigrationProgress(fractionCompleted: fraction))
    }
    let open: @Sendable (Model) throws -> any Store = { model in
      guard let logged else { return try store.openObserved(model, observer) }
      return try logged.run { _ in try store.openObserved(model, observer) }
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global(qos: .userInitiated).async {
          continuation.resume(
            with: Result {
              try PersistentContainer(model, workers: workers, log: log, onError: onError, open: open)
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

// MARK: - Log

/// Tells a log of an opening, and of the migration in it.
final class LoggedOpening: Sendable {
  /// A migration that has begun.
  private struct Migration {
    let start: ContinuousClock.Instant
    let end: QueryLog.End
  }

  private let log: QueryLog
  private let migration = Locked<Migration?>(nil)

  init(_ log: QueryLog) { self.log = log }

  /// Called when a store reports that it migrates, any number of times.
  func migrationBegins() {
    migration.withLock { migration in
      if migration == nil { migration = Migration(start: .now, end: log.begins(.migration)) }
    }
  }

  /// Runs an opening.
  ///
  /// - Parameter body: receives what has to be called when a store reports that it migrates.
  func run(_ body: (_ report: @escaping @Sendable (Double) -> Void) throws -> any Store) throws -> any Store {
    try log.logged(.opening) { _ in
      do {
        let store = try body { _ in self.migrationBegins() }
        migrationEnds()
        return store
      } catch {
        migrationEnds(with: error)
        throw error
      }
    }
  }

  private func migrationEnds(with error: (any Error)? = nil) {
    guard let migration = migration.withLock({ $0 }) else { return }
    migration.end(
      QueryLogEntry(
        kind: .migration, subject: nil, rows: 0, duration: migration.start.duration(to: .now), statements: [],
        failure: error.map(QueryLogEntry.failure)))
  }
}
