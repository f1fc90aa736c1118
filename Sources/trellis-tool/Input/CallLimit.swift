import TrellisModel
import TrellisRuntime
import TrellisStorage

/// Ends the work of one call on a store from another thread: at its deadline, or when its answer is not needed any more.
final class CallLimit: Sendable {
  /// The limit of the call that runs on this thread. Nil outside of calls.
  @TaskLocal static var current: CallLimit?

  private struct State {
    var reason: StoreError?
    var container: PersistentContainer?
  }

  private let interruption = Interruption()
  private let state = Locked(State())

  /// Why the call has to end. Nil while it may go on.
  var reason: StoreError? { state.withLock { $0.reason } }

  /// Runs the work of the call.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try Self.$current.withValue(self) { try Interruption.$current.withValue(interruption) { try body() } }
  }

  /// Ends what runs, and refuses what comes. What is not committed is rolled back. The first reason stays.
  func end(because reason: StoreError) {
    let container = state.withLock { state -> PersistentContainer? in
      guard state.reason == nil else { return nil }
      state.reason = reason
      return state.container
    }
    interruption.cancel(because: reason)
    // A file's statements end by a suspension. The call closes the container, so it is never resumed.
    try? container?.suspend(within: .zero)
  }

  /// Notes the container that the call has opened.
  func watch(_ container: PersistentContainer) {
    let isOver = state.withLock { state in
      state.container = container
      return state.reason != nil
    }
    if isOver { try? container.suspend(within: .zero) }
  }
}
