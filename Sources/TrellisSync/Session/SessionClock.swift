import Foundation

/// What a session measures its pauses and its lease by, and waits with.
struct SessionClock: Sendable {
  /// The time since some moment. It goes on while the computer sleeps.
  let now: @Sendable () -> Duration
  /// The time of day in microseconds since 1970, by which processes understand each other's leases.
  let timeOfDay: @Sendable () -> Int64
  let sleep: @Sendable (Duration) async throws -> Void

  static let system = {
    let start = ContinuousClock.now
    return SessionClock(
      now: { ContinuousClock.now - start }, timeOfDay: { Date().microseconds },
      sleep: { try await Task.sleep(for: $0) })
  }()
}

/// Wakes the one task that waits for it.
struct Alarm: Sendable {
  private let rings: AsyncStream<Void>
  private let bell: AsyncStream<Void>.Continuation

  init() { (rings, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

  func ring() { bell.yield() }

  /// Waits for a ring, which may have been before, for the end of some time or for the end of the task.
  func wait(atMost duration: Duration?, _ clock: SessionClock) async {
    let timer = duration.map { duration in
      Task {
        do { try await clock.sleep(duration) } catch { return }
        ring()
      }
    }
    defer { timer?.cancel() }
    var iterator = rings.makeAsyncIterator()
    _ = await iterator.next()
  }
}
