import Dispatch
public import TrellisStorage

/// What the pools of a container do.
///
/// ```swift
/// let figures = container.figures
/// gauge.record(figures.workers.waiting)
/// gauge.record(figures.connections?.inUse ?? 0)
/// ```
public struct ContainerFigures: Hashable, Sendable, CustomStringConvertible {
  /// The threads that run the blocks of `perform`.
  public let workers: PoolFigures
  /// The connections to a server. Nil for a store without a server.
  public let connections: PoolFigures?
  /// The connections to a replica. Nil for a store without one.
  public let replicaConnections: PoolFigures?

  /// The figures of each pool at this moment.
  public var description: String {
    let pools = [
      ("workers", workers), ("connections", connections), ("connections to the replica", replicaConnections),
    ]
    return pools.compactMap { name, figures in figures.map { "\(name): \($0)" } }.joined(separator: "; ")
  }
}

/// The answer of a store that can be used.
public struct StoreHealth: Hashable, Sendable, CustomStringConvertible {
  /// The time from the question to the answer, including the wait for a connection.
  public let duration: Duration
  /// Whether a server accepts writes. False for a replica, and for a server that has become read-only. True for other
  /// stores.
  public let acceptsWrites: Bool

  /// The duration, and what the store accepts.
  public var description: String { "answered in \(duration), \(acceptsWrites ? "accepts writes" : "only read")" }
}

extension PersistentContainer {
  /// What the pools of the container do at this moment, and have done since it was opened. It can be read from any
  /// thread, as often as a monitor likes.
  ///
  /// - Complexity: O(1). The store is not asked.
  public var figures: ContainerFigures {
    let served = core.store as? any ServedStore
    return ContainerFigures(
      workers: workers.figures, connections: served?.connectionFigures, replicaConnections: served?.replicaFigures)
  }

  /// Asks the store whether it can be used, for the readiness probe of a service.
  ///
  /// A server answers over a connection of the container, so the check also fails while all of them are in use. No worker
  /// is needed. Another store reads one row.
  ///
  /// ```swift
  /// router.get("ready") { _, _ in
  ///   try await container.checkHealth(timeout: .seconds(1)).acceptsWrites ? .ok : .serviceUnavailable
  /// }
  /// ```
  /// - Parameter timeout: How long a server may take, including the wait for a connection of the container; at least a
  ///   tenth of a second.
  /// - Returns: the duration of the check, and whether the server accepts writes.
  /// - Throws: ``StoreError``, by its code: `busy` if no connection was free within the timeout, `timedOut` if the server
  ///   did not answer, `cannotOpen` and `inputOutput` if it cannot be reached, `migratedByOthers` if the store has another
  ///   model now, `closed` after ``close()``.
  public func checkHealth(timeout: Duration = .seconds(2)) async throws -> StoreHealth {
    let core = core
    return try await withCheckedThrowingContinuation { continuation in
      // The call may wait, and all workers may be at work.
      DispatchQueue.global(qos: .userInitiated).async {
        continuation.resume(with: Result { try core.checkHealth(within: timeout) })
      }
    }
  }
}

extension ContainerCore {
  fileprivate func checkHealth(within timeout: Duration) throws -> StoreHealth {
    let start = ContinuousClock.now
    try checkOpen()
    var acceptsWrites = true
    if let served = store as? any ServedStore {
      acceptsWrites = try served.checkHealth(within: max(0.1, timeout / .seconds(1)))
    } else if !runtime.model.entities.isEmpty {
      try store.connect().fetch(StoreRequest(entity: 0, limit: 1)) { _ in }
    }
    return StoreHealth(duration: start.duration(to: .now), acceptsWrites: acceptsWrites)
  }
}
