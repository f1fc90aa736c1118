public import Observation
public import TrellisRuntime

/// Keeps a store and a server alike while the program runs: it exchanges after saves, from time to time, and when the
/// program wants it.
///
/// ```swift
/// let session = try SyncSession(container)
/// session.start(with: HTTPTransport(url))
/// for await state in session.states { show(state) }
/// ```
/// Nothing changes for contexts: what they save is sent some moments later, and what an exchange brings they merge as they
/// merge the saves of other contexts. Without a network, the session tries again after pauses that become longer, up to
/// five minutes. It honours ``PersistentContainer/suspend(within:)``: nothing is exchanged while the container is
/// suspended, and the next exchange follows soon after ``PersistentContainer/resume()``. Of several processes that use one
/// file, such as an app and its extensions, one sends at a time.
///
/// A session can be used from any thread. It supports Swift's Observation: code that reads ``state`` in
/// `withObservationTracking`, or in a view, is notified on the thread on which the state changes. While nothing happens, one
/// task sleeps. The session stops when it is released or its container is closed.
public final class SyncSession: Sendable, Observable {
  /// The replica, by which the program lists and removes conflicts.
  public let replica: Replica
  private let core: SessionCore

  /// Creates a session, which exchanges nothing until it is started.
  ///
  /// - Parameters:
  ///   - replica: The replica.
  ///   - delay: The time between a save and its exchange, in which further saves come along.
  ///   - interval: The time between two exchanges without a save of the container's contexts; by them the saves of other
  ///     replicas come, and those of other processes go. Nil for none.
  public convenience init(
    _ replica: Replica, delay: Duration = .milliseconds(500), interval: Duration? = .seconds(60)
  ) {
    let backoff = Backoff(first: .seconds(1), longest: .seconds(300))
    self.init(replica, SyncSchedule(delay: delay, interval: interval, backoff: backoff), .system)
  }

  /// Creates a session of a container's store.
  ///
  /// - Parameters:
  ///   - container: The container.
  ///   - delay: The time between a save and its exchange, in which further saves come along.
  ///   - interval: The time between two exchanges without a save of the container's contexts; nil for none.
  /// - Throws: ``SyncError`` with the code `noHistory`; ``StoreError`` if the store fails.
  public convenience init(
    _ container: PersistentContainer, delay: Duration = .milliseconds(500), interval: Duration? = .seconds(60)
  ) throws {
    self.init(try Replica(container), delay: delay, interval: interval)
  }

  init(_ replica: Replica, _ schedule: SyncSchedule, _ clock: SessionClock) {
    self.replica = replica
    core = SessionCore(replica, schedule, clock)
  }

  deinit {
    core.end(reason: nil)
    core.observed.finish()
    core.feed.finish()
  }

  // MARK: Starting and stopping

  /// Begins to exchange with a server: at once, and then as described above. A session that is started uses the new
  /// transport from now on.
  ///
  /// - Parameter transport: The way to the server.
  public func start(with transport: some SyncTransport) { core.start(with: transport) }

  /// Exchanges nothing any more until the next ``start(with:)``. An exchange that is at work is cancelled; what it has not
  /// done, a later one does.
  public func stop() { core.end(reason: nil) }

  /// Exchanges at once, even if the session waits after a failure; during an exchange, the next one follows at once. While
  /// another process exchanges for the same store, the call waits; a process that was killed holds it up for 30 seconds at
  /// most.
  ///
  /// ```swift
  /// .refreshable { try? await session.now() }
  /// ```
  /// - Returns: what an exchange has done that began after the call. Calls at the same time share one.
  /// - Throws: ``SyncError``, with the code `notStarted` if the session is not started; ``StoreError`` if the store fails or
  ///   is suspended; errors of the transport; `CancellationError` if the task is cancelled, while the exchange goes on, or
  ///   the session is stopped.
  @discardableResult public func now() async throws -> ExchangeReport { try await core.exchangeNow() }

  // MARK: What happens

  /// What the session is doing.
  public var state: SyncState { core.observed.state }

  /// The present state, and each one that follows. An iteration that is slow misses those between, and gets the last.
  ///
  /// Each access makes a separate sequence. It ends when its task is cancelled or the session is released.
  public var states: AsyncStream<SyncState> { core.observed.states }

  /// What the server has not taken: the conflicts that the store keeps, and then each new one after the exchange that has
  /// brought it.
  ///
  /// ```swift
  /// for await conflict in try session.conflicts() {
  ///   report(conflict)
  ///   try session.replica.remove(conflict)
  /// }
  /// ```
  /// Each call makes a separate sequence, which has each conflict once. It ends when its task is cancelled or the session is
  /// released. Conflicts that are not removed come again in the next sequence, in a later run of the program as well.
  ///
  /// - Throws: ``StoreError`` if the store fails.
  public func conflicts() throws -> AsyncStream<SyncConflict> { try core.feed.conflicts() }
}
