import TrellisModel

@testable import TrellisSync

/// A server, and a store with a session whose clock the test moves.
final class SessionBench {
  let office: SyncStore
  let phone: SyncStore
  let server: SyncServer
  let transport: TestTransport
  let clock = TestClock()
  let session: SyncSession

  init(_ policy: SyncPolicy = SyncPolicy(), interval: Duration? = .seconds(60)) throws {
    let model = SyncModels.model(SyncModels.lists)
    (office, phone) = (try SyncStore(model), try SyncStore(model))
    server = try office.server(policy)
    transport = TestTransport(server)
    session = SyncSession(try phone.replica(), Self.schedule(interval), clock.clock)
  }

  static func schedule(_ interval: Duration? = .seconds(60)) -> SyncSchedule {
    SyncSchedule(
      delay: .milliseconds(500), interval: interval, backoff: Backoff(first: .seconds(1), longest: .seconds(300)))
  }

  /// Waits until the session has come to something. The test's own time limit ends a wait in vain.
  func wait(_ isThere: () throws -> Bool) async throws {
    while try !isThere() { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Moves the clock on, and further: a task that had not begun to sleep wakes as much later.
  func advance(by duration: Duration, until isThere: () throws -> Bool) async throws {
    clock.advance(by: duration)
    try await wait {
      if try isThere() { return true }
      clock.advance(by: .milliseconds(1))
      return false
    }
  }

  /// Waits until the session sleeps, which a late ring of its alarm ends for a moment.
  /// - Returns: for how long.
  func sleep(_ isThere: () -> Bool = { true }) async throws -> Duration {
    var sleeps: [Duration] = []
    try await wait {
      sleeps = clock.sleeps
      return sleeps.count == 1 && isThere()
    }
    return sleeps[0]
  }

  func waitUntilIdle(after pulls: Int) async throws {
    try await wait { transport.pulls >= pulls && isIdle && !clock.sleeps.isEmpty }
  }

  var isIdle: Bool { if case .idle = session.state { true } else { false } }
  var failure: SyncError? { if case .waiting(_, let error) = session.state { error } else { nil } }

  func insert(_ name: String, in store: SyncStore? = nil) throws {
    try (store ?? phone).save { context in _ = try context.insert("List", ["name": .text(name)]) }
  }
}

/// A clock that stands still until the test moves it.
final class TestClock: Sendable {
  private struct Content {
    var now = Duration.zero
    var sleepers: [Int: (end: Duration, wake: CheckedContinuation<Void, any Error>)] = [:]
    var cancelled: Set<Int> = []
    var last = 0
  }

  private let content = Locked(Content())

  private var now: Duration { content.withLock { $0.now } }

  var clock: SessionClock {
    SessionClock(
      now: { self.now }, timeOfDay: { 1_600_000_000_000_000 + Int64(self.now / .microseconds(1)) },
      sleep: { try await self.sleep($0) })
  }

  /// The times for which something sleeps, from the shortest on.
  var sleeps: [Duration] {
    content.withLock { content in content.sleepers.values.map { $0.end - content.now }.sorted() }
  }

  func advance(by duration: Duration) {
    let woken = content.withLock { content in
      content.now += duration
      let due = content.sleepers.filter { $0.value.end <= content.now }
      for number in due.keys { content.sleepers[number] = nil }
      return due.values.map(\.wake)
    }
    for wake in woken { wake.resume() }
  }

  private func sleep(_ duration: Duration) async throws {
    let number = content.withLock { content in
      content.last += 1
      return content.last
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (wake: CheckedContinuation<Void, any Error>) in
        let isOver = content.withLock { content in
          if content.cancelled.remove(number) != nil { return true }
          content.sleepers[number] = (content.now + duration, wake)
          return false
        }
        if isOver { wake.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let sleeper = content.withLock { content in
        if content.sleepers[number] == nil { content.cancelled.insert(number) }
        return content.sleepers.removeValue(forKey: number)
      }
      sleeper?.wake.resume(throwing: CancellationError())
    }
  }
}

/// A transport that the test makes fail or wait, and that counts its messages.
final class TestTransport: SyncTransport {
  struct Offline: Error {}

  private struct Content {
    var error: (any Error)?
    var answer: (@Sendable ([UInt8]) -> [UInt8])?
    var messages: [SyncMessage] = []
    var isHolding = false
    var held: [CheckedContinuation<Void, Never>] = []
  }

  private let server: SyncServer
  private let content = Locked(Content())

  init(_ server: SyncServer) { self.server = server }

  var error: (any Error)? {
    get { content.withLock { $0.error } }
    set { content.withLock { $0.error = newValue } }
  }

  /// What answers instead of the server.
  func answer(by answer: (@Sendable ([UInt8]) -> [UInt8])?) { content.withLock { $0.answer = answer } }

  var messages: [SyncMessage] { content.withLock { $0.messages } }
  var pulls: Int { messages.filter { if case .pull = $0 { true } else { false } }.count }

  /// Lets messages wait until the test says otherwise.
  var isHolding: Bool {
    get { content.withLock { $0.isHolding } }
    set {
      let held = content.withLock { content in
        content.isHolding = newValue
        defer { if !newValue { content.held = [] } }
        return newValue ? [] : content.held
      }
      for wake in held { wake.resume() }
    }
  }

  var holds: Int { content.withLock { $0.held.count } }

  func answer(to message: [UInt8]) async throws -> [UInt8] {
    let read = try SyncMessage(message)
    content.withLock { $0.messages.append(read) }
    await withCheckedContinuation { wake in
      let waits = content.withLock { content in
        if content.isHolding { content.held.append(wake) }
        return content.isHolding
      }
      if !waits { wake.resume() }
    }
    let (error, answer) = content.withLock { ($0.error, $0.answer) }
    if let error { throw error }
    return answer?(message) ?? server.answer(to: message)
  }
}
