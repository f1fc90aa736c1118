internal import CPQ
import Dispatch
import Foundation
import Synchronization

/// Asks a server to end what it does for a connection.
///
/// libpq's function for it waits for the server, so it runs on a thread of its own: a server that does not answer holds up
/// nobody but this thread.
///
/// `@unchecked` is sound because libpq's function for it may be called from any thread, and the rest is atomic.
final class ServerCancellation: @unchecked Sendable {
  private let cancel: OpaquePointer
  private let answer = DispatchGroup()
  private let wasSent = Atomic(false)

  /// The number of threads that wait for servers.
  private static let threads = Atomic(0)
  /// The maximum number of them. Beyond it nothing is sent, and connections are closed instead.
  private static let mostThreads = 32

  init(_ cancel: OpaquePointer) { self.cancel = cancel }

  deinit { trellis_PQfreeCancel(cancel) }

  /// Sends the request, once until ``settle(within:)``. It does not wait for the server.
  func send() {
    guard !wasSent.exchange(true, ordering: .sequentiallyConsistent) else { return }
    guard Self.threads.add(1, ordering: .sequentiallyConsistent).newValue <= Self.mostThreads else {
      Self.threads.subtract(1, ordering: .sequentiallyConsistent)
      return
    }
    answer.enter()
    Thread.detachNewThread { [self] in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
        _ = trellis_PQcancel(cancel, message.baseAddress, 256)
      }
      Self.threads.subtract(1, ordering: .sequentiallyConsistent)
      answer.leave()
    }
  }

  /// Waits until a request that was sent has arrived, so that it does not end what the connection does next.
  ///
  /// - Returns: false if it may still arrive later.
  func settle(within seconds: TimeInterval) -> Bool {
    guard wasSent.load(ordering: .sequentiallyConsistent) else { return true }
    guard answer.wait(timeout: .now() + seconds) == .success else { return false }
    wasSent.store(false, ordering: .sequentiallyConsistent)
    return true
  }
}
