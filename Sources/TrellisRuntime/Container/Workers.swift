import Dispatch
import Foundation
import TrellisModel
import TrellisStorage

/// Runs blocks on separate threads, up to a maximum number at a time. Further blocks are queued, and the tasks that
/// wait for their results are suspended.
final class Workers: Sendable {
  /// A block with the continuation of its task. `@unchecked` is sound because the closures are called once, by the code
  /// that removes the job from the queue, and the rest is accessed only under the queue's lock.
  private final class Job: @unchecked Sendable {
    /// Why the block must not start. Nil if it may.
    var refusal: (any Error)?
    var run: () -> Void = {}
    var refuse: (any Error) -> Void = { _ in }
  }

  private struct Line {
    /// The queues that run nothing.
    var free: [DispatchQueue] = []
    /// The number of queues so far.
    var made = 0
    var waiting: [Job] = []

    /// A queue that runs nothing; nil if there is none and no more may be made.
    mutating func takeQueue(atMost count: Int) -> DispatchQueue? {
      if let queue = free.popLast() { return queue }
      guard made < count else { return nil }
      made += 1
      return DispatchQueue(label: "Trellis.PersistentContainer.\(made)", qos: .userInitiated)
    }
  }

  /// Each worker has a serial queue, and so a thread of its own while it works. A concurrent queue would have about as many
  /// threads as there are cores, and blocks mostly wait for a store.
  private let line = Locked(Line())
  private let count: Int
  private let store: String

  /// - Parameters:
  ///   - count: the maximum number of blocks that run concurrently; less than 1 counts as 1.
  ///   - store: the name of the store, for errors.
  init(_ count: Int, of store: String) {
    self.count = max(1, count)
    self.store = store
  }

  /// - Throws: `CancellationError` if the task is cancelled before the block starts, or while a store that can end its work
  ///   does something for it; ``StoreError`` with the code `busy` after the timeout; errors of `body`.
  func run<Result: Sendable>(timeout: Duration?, _ body: sending @escaping () throws -> Result) async throws -> Result {
    let (job, interruption) = (Job(), Interruption())
    // Sound because the closure is transferred to the job, which runs it once.
    nonisolated(unsafe) let body = body
    let alarm = timeout.map { timeout in
      Task { [self] in
        // If it is cancelled, the block has ended.
        guard (try? await Task.sleep(for: timeout)) != nil else { return }
        refuse(job) { ahead in self.busy(timeout, ahead) }
      }
    }
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        job.run = {
          let result = Swift.Result { try Interruption.$current.withValue(interruption) { try body() } }
          continuation.resume(with: result.mapError { interruption.isReason(for: $0) ? CancellationError() : $0 })
        }
        job.refuse = { continuation.resume(throwing: $0) }
        add(job)
      }
    } onCancel: {
      refuse(job) { _ in CancellationError() }
      interruption.cancel()
    }
  }

  private func busy(_ timeout: Duration, _ ahead: Int) -> StoreError {
    let workers =
      count == 1
      ? "The only worker of the container of \(store) was" : "All \(count) workers of the container of \(store) were"
    let blocks = ahead == 0 ? "no block" : ahead == 1 ? "1 block" : "\(ahead) blocks"
    return StoreError(
      .busy, "\(workers) at work for \(timeout), and \(blocks) waited before this one.",
      remedy: "Give the container more workers, do less in each block, or wait longer.")
  }

  private func add(_ job: Job) {
    let (queue, refusal) = line.withLock { line -> (DispatchQueue?, (any Error)?) in
      if let refusal = job.refusal { return (nil, refusal) }
      if let queue = line.takeQueue(atMost: count) { return (queue, nil) }
      line.waiting.append(job)
      return (nil, nil)
    }
    if let queue { start(job, on: queue) }
    if let refusal { job.refuse(refusal) }
  }

  /// A job that is already running goes on.
  ///
  /// - Parameter error: makes the error from the number of jobs that wait before this one.
  private func refuse(_ job: Job, _ error: (Int) -> any Error) {
    let refusal = line.withLock { line -> (any Error)? in
      let place = line.waiting.firstIndex { $0 === job }
      let refusal = error(place ?? 0)
      job.refusal = refusal
      guard let place else { return nil }
      line.waiting.remove(at: place)
      return refusal
    }
    if let refusal { job.refuse(refusal) }
  }

  private func start(_ job: Job, on queue: DispatchQueue) {
    queue.async {
      // The thread goes on with the jobs that wait, instead of leaving the queue and being woken for each.
      var job = job
      while true {
        withAutoreleasePool(job.run)
        let next = self.line.withLock { line -> Job? in
          if !line.waiting.isEmpty { return line.waiting.removeFirst() }
          line.free.append(queue)
          return nil
        }
        guard let next else { return }
        job = next
      }
    }
  }
}

extension Interruption {
  /// Whether an error says that the store has ended its work for this block.
  fileprivate func isReason(for error: any Error) -> Bool {
    let cause = (error as? StoreError) ?? ((error as? ContextError)?.cause as? StoreError)
    return cause?.code == .cancelled && isCancelled
  }
}

/// Releases what Objective-C code has autoreleased in a closure, on systems that have it.
private func withAutoreleasePool(_ body: () -> Void) {
  #if canImport(ObjectiveC)
    autoreleasepool(invoking: body)
  #else
    body()
  #endif
}
