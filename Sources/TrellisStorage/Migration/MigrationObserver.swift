import Synchronization
import TrellisModel

/// Follows a migration from another thread, and cancels it.
package final class MigrationObserver: Sendable {
  private let cancelled = Atomic(false)
  private let report: @Sendable (Double) -> Void
  private let work = Locked(Work())

  /// The work of a migration, in units that are about equally long.
  private struct Work {
    var total = 0.0
    var done = 0.0
    /// The work of the running statement, and its part that is done.
    var current = 0.0
    var reported = -1.0
  }

  /// - Parameter report: receives the fraction of the work that is done, from 0 to 1, on the thread of the migration.
  ///   It never decreases.
  package init(_ report: @escaping @Sendable (Double) -> Void = { _ in }) { self.report = report }

  package func cancel() { cancelled.store(true, ordering: .relaxed) }

  package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// - Throws: ``StoreError`` with the code `cancelled`.
  package func check(_ store: String) throws(StoreError) {
    if isCancelled { throw Self.cancellation(of: store) }
  }

  static func cancellation(of store: String) -> StoreError {
    StoreError(
      .cancelled, "The migration of \(store) was cancelled; nothing was changed.", remedy: "Open the store again.")
  }

  /// Called before the work begins.
  package func begin(total: Double) {
    work.withLock { $0 = Work(total: max(1, total)) }
    show()
  }

  /// Called before work that may be part of what has begun.
  package func continueOrBegin(total: Double) {
    if work.withLock({ $0.total == 0 }) { begin(total: total) }
  }

  /// Called at the end, if work has begun.
  package func end() {
    let hasBegun = work.withLock { work in
      work.done = work.total
      return work.total > 0
    }
    if hasBegun { show() }
  }

  /// Called after each part of the work.
  package func finish(_ part: Double) {
    work.withLock { work in
      work.done += part
      work.current = 0
    }
    show()
  }

  /// Called again and again while a part is under way.
  package func advance(to part: Double) {
    work.withLock { $0.current = max($0.current, part) }
    show()
  }

  private func show() {
    let fraction = work.withLock { work -> Double? in
      let fraction = min(1, (work.done + work.current) / work.total)
      // A hundred reports are enough for a bar.
      guard fraction >= work.reported + 0.01 || fraction == 1 && work.reported < 1 else { return nil }
      work.reported = fraction
      return fraction
    }
    if let fraction { report(fraction) }
  }
}
