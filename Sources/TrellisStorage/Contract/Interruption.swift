import TrellisModel

/// Ends what a store does for a block of work, from another thread.
///
/// The container makes one for each block. A store that can end a running statement finds it in ``current`` and registers
/// how. A store that cannot does nothing.
package final class Interruption: Sendable {
  /// The interruption of the block that runs on this thread. Nil outside of blocks.
  @TaskLocal package static var current: Interruption?

  private struct State {
    var reason: (any Error)?
    var number = 0
    var handlers: [(number: Int, interrupt: @Sendable () -> Void)] = []
  }

  private let state = Locked(State())

  package init() {}

  package var isCancelled: Bool { reason != nil }

  /// Why nothing may run any more. Nil while it may.
  package var reason: (any Error)? { state.withLock { $0.reason } }

  /// Ends what runs, and refuses what comes. The first reason stays.
  package func cancel(because reason: any Error) {
    state.withLock { state in
      guard state.reason == nil else { return }
      state.reason = reason
      // Under the lock, so that nothing is interrupted after it is removed.
      for handler in state.handlers { handler.interrupt() }
    }
  }

  /// Adds a closure that ends what is about to run. It must return soon, and not use the interruption.
  ///
  /// - Returns: its number for ``remove(_:)``, or nil if nothing may run any more.
  package func add(_ interrupt: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      if state.reason != nil { return nil }
      state.number += 1
      state.handlers.append((state.number, interrupt))
      return state.number
    }
  }

  /// Removes a closure. It is not running when this method returns, and is not called afterwards.
  package func remove(_ number: Int) {
    state.withLock { state in state.handlers.removeAll { $0.number == number } }
  }

  /// The error of a call that was interrupted.
  package static func error(of store: String) -> StoreError {
    StoreError(
      .cancelled, "The task was cancelled while it used \(store); what it was doing there has changed nothing.",
      remedy: "Run it again if it is still wanted.")
  }
}
