import Foundation
import TrellisModel
import TrellisRuntime
import TrellisStorage

/// What a session does, in one task for each time that it is started.
final class SessionCore: Sendable {
  typealias Wish = CheckedContinuation<ExchangeReport, any Error>

  private struct Content {
    var schedule: SyncSchedule
    /// The number of the last run.
    var run = 0
    var alarm: Alarm?
    var task: Task<Void, Never>?
    var listening: SaveListening?
    /// Calls that wait for an exchange that has not begun yet.
    var wishes: [Int: Wish] = [:]
    /// Calls that wait for the end of the exchange that is at work.
    var served: [Int: Wish] = [:]
    var lastWish = 0
  }

  let observed = ObservedState()
  let feed: ConflictFeed
  private let replica: Replica
  private let lease: ExchangeLease
  private let clock: SessionClock
  private let fresh: SyncSchedule
  private let content: Locked<Content>

  init(_ replica: Replica, _ schedule: SyncSchedule, _ clock: SessionClock = .system) {
    self.replica = replica
    self.clock = clock
    lease = ExchangeLease(replica, clock)
    feed = ConflictFeed(replica)
    fresh = schedule
    content = Locked(Content(schedule: schedule))
  }

  // MARK: Starting and stopping

  func start(with transport: any SyncTransport) {
    end(reason: nil)
    let alarm = Alarm()
    let now = clock.now()
    let run = content.withLock { content in
      content.run += 1
      content.alarm = alarm
      content.schedule = fresh
      content.schedule.noteWish(at: now)
      return content.run
    }
    let listening = replica.container.listen { [weak self] author in
      // What an exchange has saved itself needs no exchange.
      if !Replica.isExchange(author) { self?.noteSave(run) }
    } end: { [weak self] in
      self?.end(run, reason: nil)
    }
    let task = Task.detached(priority: .utility) { [self] in await exchange(with: transport, run, alarm) }
    let isCurrent = content.withLock { content in
      guard content.run == run else { return false }
      content.listening = listening
      content.task = task
      return true
    }
    if !isCurrent { task.cancel() }
  }

  /// - Parameter run: the run that ends, unless another one has followed; nil for any.
  func end(_ run: Int? = nil, reason: SyncError?) {
    let ended = content.withLock { content -> Content? in
      guard run == nil || content.run == run else { return nil }
      let former = content
      content.run += 1
      (content.alarm, content.task, content.listening) = (nil, nil, nil)
      (content.wishes, content.served) = ([:], [:])
      return former
    }
    guard let ended else { return }
    ended.task?.cancel()
    observed.show(.stopped(reason), run: ended.run + 1)
    for wish in Array(ended.wishes.values) + Array(ended.served.values) {
      wish.resume(throwing: reason ?? CancellationError())
    }
  }

  private func noteSave(_ run: Int) {
    let now = clock.now()
    let alarm = content.withLock { content -> Alarm? in
      guard content.run == run else { return nil }
      content.schedule.noteSave(at: now)
      return content.alarm
    }
    alarm?.ring()
  }

  // MARK: Wishes

  /// Waits for an exchange that begins after the call.
  func exchangeNow() async throws -> ExchangeReport {
    try Task.checkCancellation()
    let number = content.withLock { content in
      content.lastWish += 1
      return content.lastWish
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (wish: Wish) in
        let now = clock.now()
        let alarm = content.withLock { content -> Alarm? in
          guard let alarm = content.alarm else { return nil }
          content.wishes[number] = wish
          content.schedule.noteWish(at: now)
          return alarm
        }
        guard let alarm else { return wish.resume(throwing: SyncError.notStarted) }
        alarm.ring()
        // The task may have been cancelled before the wish was there.
        if Task.isCancelled { cancelWish(number) }
      }
    } onCancel: {
      cancelWish(number)
    }
  }

  private func cancelWish(_ number: Int) {
    let wish = content.withLock { content in
      content.wishes.removeValue(forKey: number) ?? content.served.removeValue(forKey: number)
    }
    wish?.resume(throwing: CancellationError())
  }

  // MARK: Exchanging

  private enum Turn {
    case ended
    case pause(Duration?)
    case exchange
  }

  private func nextTurn(_ run: Int) -> Turn {
    let now = clock.now()
    return content.withLock { content in
      guard content.run == run else { return .ended }
      guard content.schedule.isDue(at: now) else { return .pause(content.schedule.due.map { $0 - now }) }
      content.schedule.noteBegin()
      (content.served, content.wishes) = (content.wishes, [:])
      return .exchange
    }
  }

  /// Ends the calls that have waited for an exchange.
  private func serve(_ run: Int, _ result: Result<ExchangeReport, any Error>) {
    let served = content.withLock { content -> [Int: Wish] in
      guard content.run == run else { return [:] }
      defer { content.served = [:] }
      return content.served
    }
    for wish in served.values { wish.resume(with: result) }
  }

  private func change(_ run: Int, _ body: (inout SyncSchedule, _ now: Duration) -> Void) {
    let now = clock.now()
    content.withLock { content in if content.run == run { body(&content.schedule, now) } }
  }

  private func exchange(with transport: any SyncTransport, _ run: Int, _ alarm: Alarm) async {
    while !Task.isCancelled {
      switch nextTurn(run) {
      case .ended: return
      case .pause(let duration): await alarm.wait(atMost: duration, clock)
      case .exchange:
        let result = await exchangeOnce(with: transport, run)
        // What cannot be read now is passed on after the next exchange.
        try? feed.tell()
        switch result {
        case .success(let report):
          change(run) { $0.noteSuccess(at: $1) }
          observed.show(.idle(since: Date()), run: run)
          serve(run, .success(report))
        case .failure(let taken as ExchangeLease.Taken): waitForOther(atMost: taken.rest, run)
        // Such as the exchange of a former run, which a transport may hold up after its end.
        case .failure(let error as SyncError) where error == .busy: waitForOther(atMost: Self.look, run)
        case .failure(let error):
          let isSuspended = note(error, run)
          serve(run, .failure(error))
          if isSuspended { await waitForResume(run, alarm) }
        }
      }
    }
  }

  private func exchangeOnce(with transport: any SyncTransport, _ run: Int) async -> Result<ExchangeReport, any Error> {
    defer { lease.giveBack() }
    do {
      let report = try await replica.exchange(with: transport) { step in
        switch step {
        case .registering:
          try lease.take()
          observed.show(.receiving(0), run: run)
        case .sending(let count):
          try lease.take()
          observed.show(.sending(count), run: run)
        case .receiving(let count): observed.show(.receiving(count), run: run)
        }
      }
      return .success(report)
    } catch {
      return .failure(error)
    }
  }

  // MARK: Failures

  /// - Returns: whether the container is suspended.
  private func note(_ error: any Error, _ run: Int) -> Bool {
    if Task.isCancelled { return false }
    if let error = error as? StoreError, error.code == .suspended {
      observed.show(.suspended, run: run)
      return true
    }
    if let error = error as? StoreError, error.code == .closed {
      end(run, reason: nil)
      return false
    }
    let reason = SyncError(exchange: error)
    guard reason.isPassing else {
      end(run, reason: reason)
      return false
    }
    var pause = Duration.zero
    change(run) { schedule, now in
      var generator = SystemRandomNumberGenerator()
      pause = schedule.noteFailure(at: now, using: &generator)
    }
    showWaiting(pause, reason, run)
    return false
  }

  private func showWaiting(_ pause: Duration, _ reason: SyncError, _ run: Int) {
    observed.show(.waiting(until: Date(timeIntervalSinceNow: pause / .seconds(1)), after: reason), run: run)
  }

  /// The time between two looks whether another exchange has ended, or whether the container is resumed. The process itself
  /// is suspended most of the time then.
  private static let look = Duration.seconds(1)

  /// Lets calls wait on while another process exchanges, or after an exchange that was faster.
  private func waitForOther(atMost rest: Duration, _ run: Int) {
    let now = clock.now()
    let pause = content.withLock { content -> Duration? in
      guard content.run == run else { return nil }
      let isWanted = !content.served.isEmpty || !content.wishes.isEmpty
      content.wishes.merge(content.served) { wish, _ in wish }
      content.served = [:]
      let pause = isWanted ? min(rest, Self.look) : rest
      content.schedule.wait(until: now + pause)
      return pause
    }
    if let pause { showWaiting(pause, .busy, run) }
  }

  private func waitForResume(_ run: Int, _ alarm: Alarm) async {
    // Whoever wants an exchange meanwhile gets the store's error.
    while !Task.isCancelled, replica.container.isSuspended, content.withLock({ $0.wishes.isEmpty }) {
      await alarm.wait(atMost: Self.look, clock)
    }
    change(run) { $0.noteWish(at: $1) }
  }
}

extension SyncError {
  /// The reason why an exchange has failed.
  fileprivate init(exchange error: any Error) {
    switch error {
    case let error as SyncError: self = error
    case let error as StoreError:
      self.init(
        .storeFailed, "The store of the replica has failed: \(error.message)", remedy: error.remedy)
    default: self = .unreachable("\(error)")
    }
  }

  /// Whether the same exchange may succeed later, without a change of the program or of the server.
  fileprivate var isPassing: Bool {
    [.busy, .unreachable, .serverFailed, .storeFailed, .damagedMessage].contains(code)
  }
}
