import Foundation
import Synchronization

/// Notes calls that do not return.
final class Watch: Sendable {
  private struct Call {
    let name: String
    let start: ContinuousClock.Instant
    var isNoted = false
  }

  private let calls = Mutex<[String: Call]>([:])
  private let journal: Journal
  /// A call that lasts longer has forgotten its time-outs.
  private let limit: Duration

  init(_ journal: Journal, limit: Duration) {
    self.journal = journal
    self.limit = limit
  }

  func begin(_ call: String) {
    calls.withLock { $0[call] = Call(name: call, start: .now) }
  }

  func end(_ call: String) {
    calls.withLock { $0[call] = nil }
  }

  /// Looks at the calls, once in a second and on a thread of its own, which no call can hold up.
  func start() {
    Thread.detachNewThread { [weak self] in
      while let self {
        look()
        Thread.sleep(forTimeInterval: 1)
      }
    }
  }

  private func look() {
    let late = calls.withLock { calls in
      let late = calls.values.filter { !$0.isNoted && ContinuousClock.now - $0.start > limit }
      for call in late { calls[call.name]?.isNoted = true }
      return late
    }
    for call in late { journal.note("hang", call.name, "\(ContinuousClock.now - call.start)") }
  }
}
