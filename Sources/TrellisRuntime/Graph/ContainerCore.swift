import Synchronization
import TrellisModel
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

  /// - Parameter news: what the store tells of the saves of others; nil if it does not.
  init(
    runtime: RuntimeModel, store: any Store, news: (any SavesOfOthers)?, log: QueryLog?,
    errorHandler: @escaping @Sendable (ContextError) -> Void
  ) throws {
    let hub = ChangeHub()
    self.hub = hub
    externalChanges = ExternalChangeMonitor(hub, following: news) { try store.connect() }
    self.log = log
    self.runtime = runtime
    self.store = store
    self.errorHandler = errorHandler
    keys = try KeyAllocator(store)
  }

  func connect() throws -> any StoreConnection {
    try checkOpen()
    return logged(try store.connect())
  }

  /// A connection that also writes to the log, if there is one.
  func logged(_ connection: any StoreConnection) -> any StoreConnection {
    log.map { LoggingConnection(connection, $0, runtime.model) } ?? connection
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

// MARK: - Key allocator

/// Allocates blocks of keys to contexts, from the range that the store has reserved for this container.
///
/// Taking a block is one atomic addition. The first reservation is large enough for the lifetime of a process. If it is
/// exhausted nevertheless, the allocator reserves another range, under a lock.
final class KeyAllocator: Sendable {
  private let store: any Store
  private let first: Range<Int64>
  private let next: Atomic<Int64>
  /// The rest of a later reservation.
  private let later = Locked<Range<Int64>>(0..<0)
  /// The next key for an object that can never be saved. These keys are above all keys that a store reserves, so they
  /// are unique.
  private let unsaveable = Atomic(firstUnsaveable)
  private static let firstUnsaveable: Int64 = .max - (1 << 40)

  init(_ store: any Store) throws {
    self.store = store
    first = try store.reserveKeys(store.keyBlock)
    next = Atomic(first.lowerBound)
  }

  deinit { giveBackUnused() }

  /// Returns the unused keys to the store. Blocks that are taken afterwards need a new reservation.
  func giveBackUnused() {
    let used = next.exchange(first.upperBound, ordering: .acquiringAndReleasing)
    if used < first.upperBound { store.returnKeys(used..<first.upperBound) }
  }

  /// Takes a block of keys for exclusive use.
  func takeBlock(_ count: Int64, onFailure report: (ContextError) -> Void) -> Range<Int64> {
    let start = next.add(count, ordering: .acquiringAndReleasing).oldValue
    if start <= first.upperBound - count { return start..<(start + count) }
    return takeLater(count, onFailure: report)
  }

  private func takeLater(_ count: Int64, onFailure report: (ContextError) -> Void) -> Range<Int64> {
    do {
      return try later.withLock { left in
        if left.count < count { left = try store.reserveKeys(store.keyBlock) }
        guard left.count >= count else { throw KeyReservation.exhausted(store.name) }
        let block = left.lowerBound..<(left.lowerBound + count)
        left = block.upperBound..<left.upperBound
        return block
      }
    } catch {
      report(ContextError(.loadFailed, "No keys could be reserved for new objects.", cause: error))
      // One key at a time, so that the next object may get a key from the store again.
      let key = unsaveable.add(1, ordering: .relaxed).oldValue
      return key..<(key + 1)
    }
  }

  /// Refuses objects that were created while no keys could be reserved.
  ///
  /// - Throws: ``StoreError``.
  func check(_ inserted: ContiguousArray<ManagedObject>) throws(StoreError) {
    guard unsaveable.load(ordering: .relaxed) > Self.firstUnsaveable else { return }
    guard inserted.contains(where: { $0.phase == .inserted && $0._key >= Self.firstUnsaveable }) else { return }
    throw StoreError(
      .limit, "There are new objects that were made while \(store.name) gave out no keys, so they cannot be saved.",
      remedy: "Roll back, and make them again.")
  }
}
