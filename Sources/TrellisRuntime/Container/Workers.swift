import Dispatch
import Synchronization
import TrellisModel
import TrellisStorage

/// Runs blocks on separate threads, up to a maximum number at a time. Further blocks are queued, and the tasks that
/// wait for their results are suspended.
final class Workers: Sendable {
  /// A block with the continuation of its task. `@unchecked` is sound because the closures are called once, by the code
  /// that removes the job from the queue, and the rest is accessed only under the queue's lock.
  private final class Job: @unchecked Sendable {
    var isCancelled = false
    var run: () -> Void = {}
    var cancel: () -> Void = {}
  }

  private struct Line {
    var free: Int
    var waiting: [Job] = []
  }

  private let line: Locked<Line>
  private let queue = DispatchQueue(
    label: "Trellis.PersistentContainer", qos: .userInitiated, attributes: .concurrent)

  /// - Parameter count: the maximum number of blocks that run concurrently; less than 1 counts as 1.
  init(_ count: Int) { line = Locked(Line(free: max(1, count))) }

  /// - Throws: `CancellationError` if the task is cancelled before the block starts; errors of `body`.
  func run<Result: Sendable>(_ body: sending @escaping () throws -> Result) async throws -> Result {
    let job = Job()
    // Sound because the closure is transferred to the job, which runs it once.
    nonisolated(unsafe) let body = body
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        job.run = { continuation.resume(with: Swift.Result { try body() }) }
        job.cancel = { continuation.resume(throwing: CancellationError()) }
        add(job)
      }
    } onCancel: {
      cancel(job)
    }
  }

  private func add(_ job: Job) {
    let (starts, isCancelled) = line.withLock { line in
      if job.isCancelled { return (false, true) }
      if line.free == 0 {
        line.waiting.append(job)
        return (false, false)
      }
      line.free -= 1
      return (true, false)
    }
    if starts { start(job) }
    if isCancelled { job.cancel() }
  }

  /// A job that is already running is not interrupted.
  private func cancel(_ job: Job) {
    let isOut = line.withLock { line in
      job.isCancelled = true
      guard let place = line.waiting.firstIndex(where: { $0 === job }) else { return false }
      line.waiting.remove(at: place)
      return true
    }
    if isOut { job.cancel() }
  }

  private func start(_ job: Job) {
    queue.async {
      job.run()
      let next = self.line.withLock { line -> Job? in
        if !line.waiting.isEmpty { return line.waiting.removeFirst() }
        line.free += 1
        return nil
      }
      if let next { self.start(next) }
    }
  }
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
    first = try store.reserveKeys(KeyReservation.size)
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
        if left.count < count { left = try store.reserveKeys(KeyReservation.size) }
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
