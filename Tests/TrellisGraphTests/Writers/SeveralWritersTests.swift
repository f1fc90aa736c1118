import Foundation
import Testing
import TrellisTestSupport

@Suite("Several contexts with unsaved changes") struct SeveralWritersTests {
  private static let episodes = TestSettings.number("TRELLIS_WRITERS_EPISODES", or: 8)
  private static let seed = TestSettings.number("TRELLIS_WRITERS_SEED", or: UInt64(1))
  private static let length = TestSettings.number("TRELLIS_WRITERS_STEPS", or: 300)
  private static let scrutiny =
    Village.Scrutiny(rawValue: TestSettings.number("TRELLIS_WRITERS_SCRUTINY", or: 2)) ?? .everything
  /// After so many differences a run ends.
  private static let enough = TestSettings.number("TRELLIS_WRITERS_ENOUGH", or: 3)
  /// A file with lines of a report, to be played again; its seed is `TRELLIS_WRITERS_SEED`.
  private static let report = ProcessInfo.processInfo.environment["TRELLIS_WRITERS_REPORT"]

  /// Printing reads, which a fault may not survive.
  private static let prints = TestSettings.number("TRELLIS_WRITERS_PRINTS", or: 1) != 0

  private static let replayed =
    StoreKind.allCases.first { "\($0)" == ProcessInfo.processInfo.environment["TRELLIS_WRITERS_STORE"] }
    ?? .memory

  @Test("a report is played again, with what every context shows after each act", .enabled(if: report != nil))
  func replays() throws {
    guard let path = Self.report else { return }
    let isOfCouples = TestSettings.number("TRELLIS_WRITERS_COUPLES", or: 0) == 1
    let episode = VillageEpisode(
      seed: Self.seed, stores: Self.replayed, length: 0, scrutiny: Self.scrutiny, isOfCouples: isOfCouples)
    let report = try String(contentsOfFile: path, encoding: .utf8)
    let difference = try episode.replay(report[...], Rules(.village), prints: Self.prints)
    #expect(difference == nil)
  }

  /// In files and on a server, one in so many reports is played; 1 for all of them.
  private static let part = TestSettings.number("TRELLIS_REPORTS_PART", or: 11)

  @Test("what once went wrong goes right", arguments: StoreKind.allCases)
  func mended(kind: StoreKind) throws {
    let rules = try Rules(.village)
    let reports = try Report.all()
    #expect(reports.count > 200)
    for (number, report) in reports.enumerated() where kind == .memory || number.isMultiple(of: Self.part) {
      let episode = VillageEpisode(
        seed: report.seed, stores: kind, length: 0, isOfCouples: report.isOfCouples)
      let difference = try episode.replay(report.acts, rules)
      #expect(difference == nil, "\(report.heading)")
    }
  }

  @Test(
    "after every merge and save, memory agrees with the store but for what is unsaved", .timeLimit(.minutes(600)),
    arguments: StoreKind.allCases)
  func agreesWithStore(kind: StoreKind) throws {
    let rules = try Rules(.village)
    let count = UInt64(kind == .memory ? Self.episodes : max(1, Self.episodes / 8))
    var differences = 0
    for seed in Self.seed..<(Self.seed + count) {
      let episode = VillageEpisode(seed: seed, stores: kind, length: Self.length, scrutiny: Self.scrutiny)
      guard let failure = try episode.run(rules) else { continue }
      Issue.record("seed \(seed) (\(kind)): \(failure)")
      differences += 1
      if differences == Self.enough { return }
    }
  }

  private static let couples = TestSettings.number("TRELLIS_COUPLES_EPISODES", or: 40)

  @Test("both halves of a couple agree in a context and its child, whatever is saved and rolled back")
  func couplesAgree() throws {
    let rules = try Rules(.village)
    var differences = 0
    for seed in Self.seed..<(Self.seed + UInt64(Self.couples)) {
      let episode = VillageEpisode(seed: seed, stores: .memory, length: 24, isOfCouples: true)
      guard let failure = try episode.run(rules) else { continue }
      Issue.record("seed \(seed): \(failure)")
      differences += 1
      if differences == Self.enough { return }
    }
  }
}
