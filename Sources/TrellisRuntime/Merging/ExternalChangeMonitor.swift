import Dispatch
import Synchronization
import TrellisSchema
import TrellisStorage

/// Detects writes to the store from outside the container, such as by another process.
///
/// Every use of a context checks the store, which costs about as much as reading a number. While anything waits for
/// external changes, a timer also checks the store ten times a second.
final class ExternalChangeMonitor: Sendable {
  private struct State {
    var watchers = 0
    var timer: (any DispatchSourceTimer)?
  }

  private let hub: ChangeHub
  private let connect: @Sendable () throws -> any StoreConnection
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "Trellis.ExternalChangeMonitor", qos: .utility)

  init(_ hub: ChangeHub, connect: @escaping @Sendable () throws -> any StoreConnection) {
    self.hub = hub
    self.connect = connect
  }

  /// Checks the store, and posts a notice to all contexts if there are external changes.
  func look(through connection: (any StoreConnection)?) {
    if connection?.hasExternalChanges() == true { hub.post(.ofExternalChanges, from: nil) }
  }

  /// Checks the store periodically until the returned watch is released or ended.
  func watch() -> ExternalChangeWatch {
    state.withLock { state in
      state.watchers += 1
      if state.watchers == 1 { state.timer = makeTimer() }
    }
    return ExternalChangeWatch(self)
  }

  fileprivate func endWatch() {
    let timer = state.withLock { state in
      state.watchers -= 1
      defer { if state.watchers == 0 { state.timer = nil } }
      return state.watchers == 0 ? state.timer : nil
    }
    timer?.cancel()
  }

  private func makeTimer() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    let eye = Eye()
    timer.schedule(deadline: .now() + .milliseconds(100), repeating: .milliseconds(100), leeway: .milliseconds(50))
    timer.setEventHandler { [weak self] in
      guard let self else { return }
      if eye.connection == nil { eye.connection = try? connect() }
      look(through: eye.connection)
    }
    timer.resume()
    return timer
  }
}

/// The connection that the timer uses. Sound because only the timer's handler accesses it, which runs on one queue.
private final class Eye: @unchecked Sendable {
  var connection: (any StoreConnection)?
}

/// Keeps the monitor checking the store for as long as it is held.
final class ExternalChangeWatch: Sendable {
  private let externalChanges: ExternalChangeMonitor
  private let isOver = Atomic(false)

  init(_ externalChanges: ExternalChangeMonitor) { self.externalChanges = externalChanges }

  deinit { end() }

  func end() {
    if !isOver.exchange(true, ordering: .acquiringAndReleasing) { externalChanges.endWatch() }
  }
}
