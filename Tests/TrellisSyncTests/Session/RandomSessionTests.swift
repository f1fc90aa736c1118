import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisRuntime
@testable import TrellisSync

@Suite("Sessions, whatever happens to them", .timeLimit(.minutes(600))) struct RandomSessionTests {
  private static let episodes = TestSettings.number("TRELLIS_SYNC_SESSIONS", or: 100)
  private static let seed = TestSettings.number("TRELLIS_SYNC_SEED", or: UInt64(1))

  @Test("Every call for an exchange ends, and what was saved is sent") func callsEnd() async throws {
    print("sessions: seed \(Self.seed), \(Self.episodes) episodes")
    for seed in Self.seed..<(Self.seed + UInt64(Self.episodes)) {
      guard let difference = try await SessionEpisode(seed).run() else { continue }
      Issue.record("seed \(seed): \(difference)")
      return
    }
  }
}

/// The number of calls that have ended.
private final class Ended: Sendable { let count = Locked(0) }

/// A session to which random things happen: calls, saves, failures, another process, suspension, and time.
private final class SessionEpisode {
  private var random: SeededGenerator
  private let bench: SessionBench
  private let lease: ExchangeLease
  private var calls: [Task<ExchangeReport, any Error>] = []
  private let ended = Ended()
  private var saved: Set<String> = []
  private var acts: [String] = []

  init(_ seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    bench = try SessionBench(interval: seed.isMultiple(of: 2) ? nil : .seconds(60))
    lease = ExchangeLease(try bench.phone.replica(), bench.clock.clock)
  }

  /// - Returns: What is wrong at the end.
  func run() async throws -> String? {
    defer { bench.session.stop() }
    bench.session.start(with: bench.transport)
    for _ in 0..<Int.random(in: 4...24, using: &random) {
      act()
      if Bool.random(using: &random) { try await Task.sleep(for: .microseconds(200)) } else { await Task.yield() }
    }
    bench.transport.error = nil
    bench.transport.isHolding = false
    bench.phone.container.resume()
    lease.giveBack()
    if case .stopped = bench.session.state { bench.session.start(with: bench.transport) }
    call()
    let acts = acts.joined(separator: ", ")
    guard try await areCallsEnded() else { return "\(bench.session.state); a call has not ended after \(acts)" }
    guard let last = calls.last else { return nil }
    if case .failure(let error) = await last.result { return "the last call throws \(error) after \(acts)" }
    let sent = Set(try bench.office.texts("List"))
    return sent == saved ? nil : "\(saved.subtracting(sent)) is not sent after \(acts)"
  }

  private func call() {
    calls.append(
      Task { [session = bench.session, ended] in
        defer { ended.count.withLock { $0 += 1 } }
        return try await session.now()
      })
  }

  private func areCallsEnded() async throws -> Bool {
    for _ in 0..<20_000 {
      if ended.count.withLock({ $0 }) == calls.count { return true }
      bench.clock.advance(by: .milliseconds(100))
      try await Task.sleep(for: .milliseconds(1))
    }
    return false
  }

  private func act() {
    let kind = Int.random(in: 0..<12, using: &random)
    let isOn = Bool.random(using: &random)
    acts.append("\(kind)\(isOn ? "+" : "-")")
    switch kind {
    case 0, 1, 2: call()
    case 3, 4:
      let name = "\(acts.count)"
      // A suspended container saves nothing.
      if (try? bench.insert(name)) != nil { saved.insert(name) }
    case 5: bench.transport.error = isOn ? TestTransport.Offline() : nil
    case 6: bench.transport.isHolding = isOn
    case 7: if isOn { try? lease.take() } else { lease.giveBack() }
    case 8: if isOn { try? bench.phone.container.suspend() } else { bench.phone.container.resume() }
    case 9: if isOn { bench.session.start(with: bench.transport) } else { bench.session.stop() }
    case 10: bench.clock.advance(by: .milliseconds(Int.random(in: 0...3_000, using: &random)))
    default: calls.randomElement(using: &random)?.cancel()
    }
  }
}
