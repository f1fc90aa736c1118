/// When the next exchange of a session begins. Times are those of the session's clock.
struct SyncSchedule: Hashable, Sendable {
  /// The time between a save and its exchange, in which further saves come along.
  let delay: Duration
  /// The time between two exchanges without a save; nil for as long as it takes.
  let interval: Duration?
  let backoff: Backoff

  /// When the next exchange begins; nil if only a save or a request of the program begins one.
  private(set) var due: Duration? = .zero
  /// Before this time, a save does not begin an exchange.
  private var patience = Duration.zero
  private var failures = 0
  /// Whether something was saved since the last exchange has begun.
  private var hasNews = false
  /// Whether the program wants an exchange that begins after the present one.
  private var isWished = false

  init(delay: Duration, interval: Duration?, backoff: Backoff) {
    self.delay = delay
    self.interval = interval
    self.backoff = backoff
  }

  func isDue(at now: Duration) -> Bool { due.map { $0 <= now } ?? false }

  /// Something was saved.
  mutating func noteSave(at now: Duration) {
    hasNews = true
    bring(to: max(now + delay, patience))
  }

  /// The program wants an exchange.
  mutating func noteWish(at now: Duration) {
    patience = now
    isWished = true
    bring(to: now)
  }

  private mutating func bring(to time: Duration) { due = min(due ?? time, time) }

  /// An exchange begins. It has all saves until now.
  mutating func noteBegin() {
    (hasNews, isWished) = (false, false)
    due = nil
  }

  mutating func noteSuccess(at now: Duration) {
    failures = 0
    patience = now
    due = isWished ? now : interval.map { now + $0 }
    if hasNews { noteSave(at: now) }
  }

  /// - Returns: how long the next exchange waits.
  mutating func noteFailure(at now: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
    failures += 1
    let pause = backoff.pause(after: failures, using: &generator)
    wait(until: now + pause)
    if isWished { due = now }
    return pause
  }

  /// Nothing is exchanged before a time, unless the program wants it.
  mutating func wait(until time: Duration) {
    patience = time
    due = time
  }
}
