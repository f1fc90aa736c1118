internal import CSQLite
import Synchronization
import TrellisModel

/// The open connections of a store, which a suspension ends from another thread.
final class OpenHandles: Sendable {
  /// A connection and its wait for locks.
  ///
  /// Sound because SQLite allows an interrupt from any thread while the connection is open, which the lock guards.
  private struct Handle: @unchecked Sendable {
    let pointer: OpaquePointer
    let waiting: UnsafeMutablePointer<trellis_waiting>
  }

  private struct State {
    var open: [Handle] = []
    /// The number of connections that are not closed yet.
    var count = 0
  }

  private let state = Locked(State())
  /// Whether connections end what they do, and no more of them are used.
  let isSuspended = Atomic(false)

  func add(_ pointer: OpaquePointer, _ waiting: UnsafeMutablePointer<trellis_waiting>) {
    let handle = Handle(pointer: pointer, waiting: waiting)
    state.withLock { state in
      state.open.append(handle)
      state.count += 1
    }
  }

  /// Called before a connection is closed. It is not ended any more.
  func willClose(_ pointer: OpaquePointer) {
    let handle = UInt(bitPattern: pointer)
    state.withLock { state in state.open.removeAll { UInt(bitPattern: $0.pointer) == handle } }
  }

  func didClose() { state.withLock { $0.count -= 1 } }

  var areAllClosed: Bool { state.withLock { $0.count == 0 } }

  /// Ends what the connections do.
  func end() {
    state.withLock { state in
      for handle in state.open { trellis_sqlite_end(handle.pointer, handle.waiting) }
    }
  }
}
