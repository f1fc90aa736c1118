import Dispatch
import TrellisSchema

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
