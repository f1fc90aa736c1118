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
  /// The core that opened the store; nil for that one itself.
  private let original: ContainerCore?
  let suspended = Atomic(false)
  let suspensionObservers = SuspensionObservers()
  let errorHandler: @Sendable (ContextError) -> Void

  /// - Parameter news: what the store tells of the saves of others; nil if it does not.
  init(
    runtime: RuntimeModel, store: any Store, news: HistoryFollower?, log: QueryLog?,
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
    original = nil
  }

  /// The same store and the same audience, with other classes for the entities of the same model.
  init(sharing other: ContainerCore, as runtime: RuntimeModel) {
    hub = other.hub
    externalChanges = other.externalChanges
    log = other.log
    self.runtime = runtime
    store = other.store
    errorHandler = other.errorHandler
    keys = other.keys
    original = other
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
    guard isClosed else { return }
    throw StoreError(
      .closed, "The container of \(store.name) is closed.", remedy: "Open the store with a new container.")
  }

  var isClosed: Bool { closed.load(ordering: .acquiring) || original?.isClosed == true }
  var isSuspended: Bool { suspended.load(ordering: .acquiring) }

  func close() {
    guard !closed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    suspensionObservers.removeAll()
    hub.close()
    externalChanges.close()
    keys.giveBackUnused()
    store.close()
  }

  func report(_ problem: ContextError) { errorHandler(problem) }
}

// MARK: - Key allocator

/// Allocates blocks of keys to contexts, from the range that the store has reserved for this container.
///
/// Taking a block is one atomic addition. The first reservation is large enough for the lifetime of a process. If it is
/// exhausted nevertheless, the allocator reserves another range, under a lock. A store that can only be read reserves
/// none; it is asked again when keys are needed, because another server may have taken its place.
final class KeyAllocator: Sendable {
  private let store: any Store
  /// Empty if the store has refused.
  private let first: Range<Int64>
  private let next: Atomic<Int64>

  private struct Later {
    /// The rest of a later reservation.
    var left: Range<Int64> = 0..<0
    /// Why the store can only be read, and when it said so. Nil if it has reserved keys since.
    var refusal: Refusal?
  }

  private struct Refusal {
    let error: StoreError
    let time: ContinuousClock.Instant
  }

  private let later: Locked<Later>
  /// A store that can only be read is asked again after this time.
  private static let pause = Duration.seconds(1)
  /// The next key for an object that can never be saved. These keys are above all keys that a store reserves, so they
  /// are unique.
  private let unsaveable = Atomic(firstUnsaveable)
  private static let firstUnsaveable: Int64 = .max - (1 << 40)

  init(_ store: any Store) throws {
    self.store = store
    do {
      first = try store.reserveKeys(store.keyBlock)
      later = Locked(Later())
    } catch let error as StoreError where Self.isRefusal(error) {
      first = 0..<0
      later = Locked(Later(refusal: Refusal(error: error, time: .now)))
    }
    next = Atomic(first.lowerBound)
  }

  /// Whether a store can be read though it reserves no keys.
  private static func isRefusal(_ error: StoreError) -> Bool {
    [.readOnly, .cannotOpen, .full].contains(error.code)
  }

  deinit { giveBackUnused() }

  /// Returns the unused keys to the store. Blocks that are taken afterwards need a new reservation.
  func giveBackUnused() {
    let used = next.exchange(first.upperBound, ordering: .acquiringAndReleasing)
    if used < first.upperBound { store.returnKeys(used..<first.upperBound) }
  }

  /// Makes all keys that are taken from now on have a number at least.
  ///
  /// - Throws: ``StoreError``.
  func raise(to key: Int64) throws {
    giveBackUnused()
    try later.withLock { later in
      later.left = 0..<0
      let next = try store.reserveKeys(1)
      if next.upperBound < key { _ = try store.reserveKeys(key - next.upperBound) }
    }
  }

  /// Takes a block of keys for exclusive use.
  func takeBlock(_ count: Int64, onFailure report: (ContextError) -> Void) -> Range<Int64> {
    let start = next.add(count, ordering: .acquiringAndReleasing).oldValue
    if start <= first.upperBound - count { return start..<(start + count) }
    return takeLater(count, onFailure: report)
  }

  private func takeLater(_ count: Int64, onFailure report: (ContextError) -> Void) -> Range<Int64> {
    do {
      return try later.withLock { later in
        if later.left.count < count { try reserve(&later) }
        guard later.left.count >= count else { throw KeyReservation.exhausted(store.name) }
        let block = later.left.lowerBound..<(later.left.lowerBound + count)
        later.left = block.upperBound..<later.left.upperBound
        return block
      }
    } catch {
      // Objects of a store that can only be read are not saved, which a save says.
      if (error as? StoreError).map(Self.isRefusal) != true {
        report(ContextError(.loadFailed, "No keys could be reserved for new objects.", cause: error))
      }
      // One key at a time, so that the next object may get a key from the store again.
      let key = unsaveable.add(1, ordering: .relaxed).oldValue
      return key..<(key + 1)
    }
  }

  private func reserve(_ later: inout Later) throws {
    if let refusal = later.refusal, refusal.time + Self.pause > .now { throw refusal.error }
    do {
      later.left = try store.reserveKeys(store.keyBlock)
      later.refusal = nil
    } catch let error as StoreError where Self.isRefusal(error) {
      later.refusal = Refusal(error: error, time: .now)
      throw error
    }
  }

  /// Refuses objects that were created while no keys could be reserved.
  ///
  /// - Throws: ``StoreError``.
  func check(_ inserted: ContiguousArray<ManagedObject>) throws(StoreError) {
    guard unsaveable.load(ordering: .relaxed) > Self.firstUnsaveable else { return }
    guard inserted.contains(where: { $0.phase == .inserted && $0._key >= Self.firstUnsaveable }) else { return }
    if let refusal = later.withLock({ $0.refusal }) { throw refusal.error }
    throw StoreError(
      .limit, "There are new objects that were made while \(store.name) gave out no keys, so they cannot be saved.",
      remedy: "Roll back, and make them again.")
  }
}
