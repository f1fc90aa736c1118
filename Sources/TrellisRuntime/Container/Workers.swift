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
    /// When the block was put into the line; nil if a worker was free.
    var since: ContinuousClock.Instant?
  }

  private struct Line {
    /// The queues that run nothing.
    var free: [DispatchQueue] = []
    /// The number of queues so far.
    var made = 0
    var waiting: [Job] = []
    var figures: PoolFigures

    init(limit: Int) { figures = PoolFigures(limit: limit) }

    /// A queue that runs nothing; nil if there is none and no more may be made.
    mutating func takeQueue(atMost count: Int) -> DispatchQueue? {
      if let queue = free.popLast() { return queue }
      guard made < count else { return nil }
      made += 1
      figures.made = made
      return DispatchQueue(label: "Trellis.PersistentContainer.\(made)", qos: .userInitiated)
    }
  }

  /// Each worker has a serial queue, and so a thread of its own while it works. A concurrent queue would have about as many
  /// threads as there are cores, and blocks mostly wait for a store.
  private let line: Locked<Line>
  private let count: Int
  private let store: String

  /// - Parameters:
  ///   - count: the maximum number of blocks that run concurrently; less than 1 counts as 1.
  ///   - store: the name of the store, for errors.
  init(_ count: Int, of store: String) {
    self.count = max(1, count)
    self.store = store
    line = Locked(Line(limit: self.count))
  }

  /// What the workers do.
  var figures: PoolFigures {
    line.withLock { line in
      var figures = line.figures
      figures.inUse = line.made - line.free.count
      figures.waiting = line.waiting.count
      return figures
    }
  }

  /// - Throws: `CancellationError` if the task is cancelled before the block starts, or while a store that can end its work
  ///   does something for it; ``StoreError`` with the code `busy` after the timeout, and `timedOut` after the deadline;
  ///   errors of `body`.
  func run<Result: Sendable>(
    timeout: Duration?, deadline: Duration?, _ body: sending @escaping () throws -> Result
  ) async throws -> Result {
    let (job, interruption) = (Job(), Interruption())
    // Sound because the closure is transferred to the job, which runs it once.
    nonisolated(unsafe) let body = body
    let alarm = timeout.map { timeout in
      Self.alarm(after: timeout) { [self] in refuse(job) { ahead in self.busy(timeout, ahead) } }
    }
    let lastAlarm = deadline.map { deadline in
      Self.alarm(after: deadline) { [self] in
        let error = tooLate(deadline)
        refuse(job) { _ in error }
        interruption.cancel(because: error)
      }
    }
    defer {
      alarm?.cancel()
      lastAlarm?.cancel()
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        job.run = {
          let result = Swift.Result { try Interruption.$current.withValue(interruption) { try body() } }
          continuation.resume(with: result.mapError { interruption.reason(for: $0) ?? $0 })
        }
        job.refuse = { continuation.resume(throwing: $0) }
        add(job)
      }
    } onCancel: {
      refuse(job) { _ in CancellationError() }
      interruption.cancel(because: CancellationError())
    }
  }

  /// Calls a closure after some time, unless it is cancelled by then. It does not depend on the threads of tasks, which
  /// may all be busy.
  private static func alarm(after time: Duration, _ body: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .userInitiated))
    // A hundred million seconds are longer than any program runs.
    let seconds = min(max(0, time / .seconds(1)), 1e8)
    timer.schedule(deadline: .now() + seconds)
    timer.setEventHandler(handler: body)
    timer.resume()
    return timer
  }

  private func tooLate(_ deadline: Duration) -> StoreError {
    StoreError(
      .timedOut, "\(store) had not done the work of a block by its deadline of \(deadline).",
      remedy: "Do less in the block, or give it more time.")
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
      if let queue = line.takeQueue(atMost: count) {
        line.figures.uses += 1
        return (queue, nil)
      }
      job.since = .now
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
      if let since = job.since { line.figures.addWait(since: since, gotMember: false) }
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
          if !line.waiting.isEmpty {
            let next = line.waiting.removeFirst()
            if let since = next.since { line.figures.addWait(since: since, gotMember: true) }
            return next
          }
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
  /// Why the work of the block was ended, if an error says that the store has ended it.
  fileprivate func reason(for error: any Error) -> (any Error)? {
    let cause = (error as? StoreError) ?? ((error as? ContextError)?.cause as? StoreError)
    return cause?.code == .cancelled ? reason : nil
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
