import Foundation
import Observation
import Testing
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@testable import TrellisDynamic
@testable import TrellisRuntime
@testable import TrellisSync

@Suite("Sessions of replicas", .timeLimit(.minutes(60))) struct SyncSessionTests {
  @Test("A session exchanges at its start, after a save, and from time to time") func triggers() async throws {
    let bench = try SessionBench()
    try bench.insert("a")
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    #expect(try bench.office.texts("List") == ["a"])

    // Further saves come along.
    let before = bench.transport.messages.count
    try bench.insert("b")
    try await bench.wait { bench.clock.sleeps == [.milliseconds(500)] }
    try bench.insert("c")
    #expect(bench.transport.messages.count == before)
    try await bench.advance(by: .milliseconds(500)) { try bench.office.texts("List") == ["a", "b", "c"] }
    try await bench.waitUntilIdle(after: 2)
    let pushes = bench.transport.messages.dropFirst(before).filter { if case .push = $0 { true } else { false } }
    #expect(pushes.count == 1)

    try bench.insert("d", in: bench.office)
    try await bench.wait { bench.clock.sleeps == [.seconds(60)] }
    bench.clock.advance(by: .seconds(60))
    try await bench.wait { try bench.phone.texts("List") == ["a", "b", "c", "d"] }
  }

  @Test("While nothing happens, one task sleeps, and nothing looks for writes of others") func quiet() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    #expect(bench.clock.sleeps == [.seconds(60)])
    #expect(!bench.phone.container.core.externalChanges.isWatching)
    let history = try bench.phone.container.history().count
    let messages = bench.transport.messages.count
    bench.clock.advance(by: .seconds(60))
    try await bench.wait { bench.transport.messages.count == messages + 1 }
    try await bench.wait { bench.clock.sleeps == [.seconds(60)] }
    #expect(try bench.phone.container.history().count == history)
    #expect(try bench.phone.container.notes(beginningWith: "replica.lease") == [:])
  }

  @Test("Without an interval, only saves and the program begin an exchange") func withoutInterval() async throws {
    let bench = try SessionBench(interval: nil)
    bench.session.start(with: bench.transport)
    try await bench.wait { bench.isIdle }
    bench.clock.advance(by: .seconds(86_400))
    #expect(bench.clock.sleeps == [])
    let report = try await bench.session.now()
    #expect(report == ExchangeReport())
    #expect(bench.transport.pulls == 2)
  }

  @Test("What an exchange brings begins no further exchange") func ownSaves() async throws {
    let bench = try SessionBench()
    try bench.insert("a", in: bench.office)
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    try bench.insert("b", in: bench.office)
    #expect(try await bench.session.now().received > 0)
    try await bench.wait { bench.clock.sleeps == [.seconds(60)] }
  }

  @Test("A save during an exchange is sent after it") func saveMeanwhile() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    bench.transport.isHolding = true
    let call = Task { [session = bench.session] in try await session.now() }
    try await bench.wait { bench.transport.holds == 1 }
    try bench.insert("a")
    bench.transport.isHolding = false
    _ = try await call.value
    if try bench.office.texts("List") == [] {
      try await bench.wait { bench.clock.sleeps == [.milliseconds(500)] }
      bench.clock.advance(by: .milliseconds(500))
    }
    try await bench.wait { try bench.office.texts("List") == ["a"] }
  }

  @Test("Without a network, the pauses become longer, a save does not shorten them, and the program does")
  func offline() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    bench.transport.error = TestTransport.Offline()
    await #expect(throws: TestTransport.Offline.self) { try await bench.session.now() }
    for longest in [1, 2, 4, 8] {
      let sleep = try await bench.sleep { bench.failure?.code == .unreachable }
      #expect(sleep >= .seconds(longest) / 2 && sleep <= .seconds(longest))
      let messages = bench.transport.messages.count
      try bench.insert("\(longest)")
      bench.clock.advance(by: sleep - .microseconds(1))
      #expect(bench.transport.messages.count == messages)
      try await bench.advance(by: .microseconds(1)) { bench.transport.messages.count > messages }
    }
    bench.transport.error = nil
    try await bench.session.now()
    #expect(try bench.office.texts("List") == ["1", "2", "4", "8"])
    try await bench.wait { bench.clock.sleeps == [.seconds(60)] }
  }

  @Test("An error that another attempt would meet again stops the session, which says why")
  func stopping() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    bench.transport.error = SyncError.notServed("the status is 401")
    let error = await #expect(throws: SyncError.self) { try await bench.session.now() }
    #expect(error?.code == .notServed)
    try await bench.wait { bench.session.state == .stopped(.notServed("the status is 401")) }
    let other = await #expect(throws: SyncError.self) { try await bench.session.now() }
    #expect(other?.code == .notStarted)
    bench.transport.error = nil
    bench.session.start(with: bench.transport)
    try await bench.session.now()
  }

  @Test("A session that is stopped exchanges nothing, and ends what is at work") func stop() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    bench.transport.isHolding = true
    let call = Task { [session = bench.session] in try await session.now() }
    try await bench.wait { bench.transport.holds == 1 }
    bench.session.stop()
    bench.transport.isHolding = false
    // The message that was on its way has its answer, or not.
    _ = await call.result
    #expect(bench.session.state == .stopped(nil))
    let messages = bench.transport.messages.count
    try bench.insert("a")
    bench.clock.advance(by: .seconds(3_600))
    try await Task.sleep(for: .milliseconds(20))
    #expect(bench.transport.messages.count == messages)
    #expect(bench.session.state == .stopped(nil))
    #expect(bench.clock.sleeps == [])
  }

  @Test("The program stops waiting for an exchange without ending it") func cancellingNow() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    bench.transport.isHolding = true
    let first = Task { [session = bench.session] in try await session.now() }
    try await bench.wait { bench.transport.holds == 1 }
    let second = Task { [session = bench.session] in try await session.now() }
    try await Task.sleep(for: .milliseconds(5))
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    bench.transport.isHolding = false
    _ = try await first.value
  }

  @Test("A call during an exchange is served by the next one, which begins at once", arguments: [false, true])
  func nowMeanwhile(fails: Bool) async throws {
    let bench = try SessionBench(interval: nil)
    bench.session.start(with: bench.transport)
    try await bench.wait { bench.isIdle }
    bench.transport.error = fails ? TestTransport.Offline() : nil
    bench.transport.isHolding = true
    let first = Task { [session = bench.session] in try await session.now() }
    try await bench.wait { bench.transport.holds == 1 }
    let pulls = bench.transport.pulls
    let second = Task { [session = bench.session] in try await session.now() }
    // The call comes while the exchange is at work, or else after it.
    try await Task.sleep(for: .milliseconds(20))
    bench.transport.isHolding = false
    for call in [first, second] {
      if fails {
        await #expect(throws: TestTransport.Offline.self) { try await call.value }
      } else {
        _ = try await call.value
      }
    }
    #expect(bench.transport.pulls == pulls + 1)
  }

  @Test("A session stops when its container is closed, and when it is released") func ending() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    bench.phone.container.close()
    #expect(bench.session.state == .stopped(nil))
    try await bench.wait { bench.clock.sleeps == [] }

    let other = try SessionBench()
    var session: SyncSession? = SyncSession(try other.phone.replica(), SessionBench.schedule(), other.clock.clock)
    session?.start(with: other.transport)
    try await other.wait { other.clock.sleeps == [.seconds(60)] }
    let states = try #require(session?.states)
    session = nil
    for await state in states { #expect(state != .suspended) }
    try await other.wait { other.clock.sleeps == [] }
  }

  @Test("A session waits while its container is suspended, and goes on afterwards") func suspension() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    try bench.phone.container.suspend()
    let error = await #expect(throws: StoreError.self) { try await bench.session.now() }
    #expect(error?.code == .suspended)
    try await bench.wait { bench.session.state == .suspended && bench.clock.sleeps.count == 1 }
    try bench.insert("a", in: bench.office)
    bench.clock.advance(by: .seconds(1))
    try await bench.wait { bench.clock.sleeps.count == 1 }
    #expect(bench.session.state == .suspended)
    // Whoever asks meanwhile gets an answer.
    await #expect(throws: StoreError.self) { try await bench.session.now() }
    try await bench.wait { bench.session.state == .suspended && bench.clock.sleeps.count == 1 }
    bench.phone.container.resume()
    bench.clock.advance(by: .seconds(1))
    try await bench.wait { bench.isIdle }
    #expect(try bench.phone.texts("List") == ["a"])
  }

  @Test("A suspension in the middle of an exchange loses nothing") func suspensionMeanwhile() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    try bench.insert("a")
    bench.transport.isHolding = true
    let call = Task { [session = bench.session] in try await session.now() }
    try await bench.wait { bench.transport.holds == 1 }
    try bench.phone.container.suspend()
    bench.transport.isHolding = false
    await #expect(throws: StoreError.self) { try await call.value }
    bench.phone.container.resume()
    try await bench.session.now()
    #expect(try bench.office.texts("List") == ["a"])
    #expect(try bench.phone.findings() == [])
  }

  @Test("A second process waits until the first one has sent, and does not wait for one that has ended for ever")
  func lease() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    let other = SyncSession(try bench.phone.replica(), SessionBench.schedule(), bench.clock.clock)
    bench.session.stop()
    try bench.insert("a")
    // The other process holds the lease, and ends.
    try ExchangeLease(bench.session.replica, bench.clock.clock).take()
    other.start(with: bench.transport)
    let states = other.states
    for await state in states {
      if case .waiting(_, let error) = state {
        #expect(error.code == .busy)
        break
      }
    }
    let sleep = try await bench.sleep()
    #expect(sleep > .zero && sleep <= .seconds(30))
    #expect(try bench.office.texts("List") == [])
    try await bench.advance(by: sleep) { try bench.office.texts("List") == ["a"] }
  }

  @Test("A call for an exchange waits while another process exchanges, unless it is cancelled") func leaseAndNow()
    async throws
  {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    try bench.insert("a")
    // Another process takes the lease.
    let lease = ExchangeLease(try bench.phone.replica(), bench.clock.clock)
    try lease.take()
    let session = bench.session
    let pulls = bench.transport.pulls
    let cancelled = Task { try await session.now() }
    let call = Task { try await session.now() }
    for await state in session.states {
      if case .waiting(_, let error) = state, error.code == .busy { break }
    }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(bench.transport.pulls == pulls)
    lease.giveBack()
    // The session looks again after a second.
    try await bench.advance(by: .seconds(1)) { bench.transport.pulls > pulls }
    #expect(try await call.value.sent == 1)
    #expect(try bench.office.texts("List") == ["a"])
  }

  @Test("Conflicts come once: those that the store keeps, and then the new ones") func conflicts() async throws {
    let bench = try SessionBench()
    try bench.insert("a")
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)

    func provoke(_ name: String) async throws {
      try bench.insert(name)
      try await bench.session.now()
      try bench.office.save { context in
        for list in try context.objects("List") where try list.value("name") == .text(name) { try context.delete(list) }
      }
      try bench.phone.edit("List", name) { try $0.set("total", .integer(5)) }
      try await bench.session.now()
    }
    try await provoke("b")
    var conflicts = try bench.session.conflicts().makeAsyncIterator()
    let first = try #require(await conflicts.next())
    #expect(first.reason == .deleted)
    try await provoke("c")
    let second = try #require(await conflicts.next())
    #expect(second.sequence > first.sequence)
    for conflict in try bench.session.replica.conflicts() { try bench.session.replica.remove(conflict) }
    try await provoke("d")
    let third = try #require(await conflicts.next())
    #expect(third.sequence > second.sequence)
  }

  @Test("Whoever observes the state is told of each change") func observation() async throws {
    let bench = try SessionBench()
    let (changes, told) = AsyncStream.makeStream(of: Void.self)
    withObservationTracking {
      #expect(bench.session.state == .stopped(nil))
    } onChange: {
      told.yield()
    }
    var states: [SyncState] = []
    let stream = bench.session.states
    bench.transport.isHolding = true
    bench.session.start(with: bench.transport)
    for await _ in changes { break }
    for await state in stream {
      states.append(state)
      if case .idle = state { break }
      if case .receiving = state { bench.transport.isHolding = false }
    }
    #expect(states.count > 1)
  }

  @Test("A started session that is started again uses the new transport") func restarting() async throws {
    let bench = try SessionBench()
    bench.session.start(with: bench.transport)
    try await bench.waitUntilIdle(after: 1)
    let other = TestTransport(bench.server)
    bench.session.start(with: other)
    try await bench.session.now()
    #expect(other.pulls > 0 && bench.transport.pulls == 1)
  }
}

@Suite("The schedule of a session") struct SyncScheduleTests {
  private var schedule = SyncSchedule(
    delay: .milliseconds(500), interval: .seconds(60), backoff: Backoff(first: .seconds(1), longest: .seconds(300)))
  private var generator = SeededGenerator(seed: 1)

  @Test("Saves that follow each other do not put an exchange off") mutating func saves() {
    schedule.noteBegin()
    schedule.noteSuccess(at: .zero)
    for time in 0..<10 { schedule.noteSave(at: .milliseconds(100 * time)) }
    #expect(schedule.due == .milliseconds(500))
  }

  @Test("A success forgets former failures") mutating func success() {
    for _ in 0..<20 { _ = schedule.noteFailure(at: .zero, using: &generator) }
    #expect(schedule.noteFailure(at: .zero, using: &generator) >= .seconds(150))
    schedule.noteSuccess(at: .zero)
    #expect(schedule.noteFailure(at: .zero, using: &generator) <= .seconds(1))
  }

  @Test("Someone who wants an exchange does not wait, and later saves count from then") mutating func wishes() {
    schedule.noteBegin()
    _ = schedule.noteFailure(at: .zero, using: &generator)
    schedule.noteWish(at: .milliseconds(1))
    #expect(schedule.isDue(at: .milliseconds(1)))
  }

  @Test("Whatever happens between two exchanges, a call for one is due at once, and a save within the longest pause")
  mutating func everyOrder() {
    for seed in 0..<2_000 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      schedule = SessionBench.schedule(seed.isMultiple(of: 2) ? nil : .seconds(60))
      var (now, isWished, isSaved) = (Duration.zero, false, false)
      schedule.noteBegin()
      for _ in 0..<12 {
        now += .milliseconds(Int.random(in: 0...700, using: &random))
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
          schedule.noteWish(at: now)
          isWished = true
        case 1:
          schedule.noteSave(at: now)
          isSaved = true
        case 2: schedule.noteSuccess(at: now)
        case 3: _ = schedule.noteFailure(at: now, using: &random)
        default:
          guard schedule.isDue(at: now) else { continue }
          schedule.noteBegin()
          (isWished, isSaved) = (false, false)
        }
        if isWished { #expect(schedule.isDue(at: now), "seed \(seed)") }
        if isSaved { #expect(schedule.isDue(at: now + .seconds(300)), "seed \(seed)") }
      }
    }
  }
}
