import Testing
import TrellisTestSupport

/// Every migration of a random store brings what was meant, in a file as in memory.
///
/// `TRELLIS_MIGRATION_EPISODES` is the number of migrations, `TRELLIS_MIGRATION_SEED` the first seed.
@Suite("Migrations by chance") struct RandomMigrationTests {
  private static let episodes: Int = TestSettings.number("TRELLIS_MIGRATION_EPISODES", or: 25)
  private static let first: UInt64 = TestSettings.number("TRELLIS_MIGRATION_SEED", or: 1)

  @Test(
    "rows, values and links become what they were meant to become, and nothing else", arguments: MigratedKind.present)
  func answered(_ kind: MigratedKind) throws { try run(dropsAnswers: false, kind) }

  @Test("without an answer nothing is lost and nothing changes", arguments: MigratedKind.present)
  func unanswered(_ kind: MigratedKind) throws { try run(dropsAnswers: true, kind) }

  private func run(dropsAnswers: Bool, _ kind: MigratedKind) throws {
    var (valid, refused, failed) = (0, 0, 0)
    // A server makes and drops many tables for each of them.
    let episodes = kind == .schema ? max(1, Self.episodes / 5) : Self.episodes
    for seed in Self.first..<(Self.first + UInt64(episodes)) {
      guard let episode = Episode(seed: seed, dropsAnswers: dropsAnswers, kind) else { continue }
      valid += 1
      if episode.isRefused { refused += 1 }
      var faults: [String]
      do { faults = try episode.run() } catch { faults = ["\(error)"] }
      if faults.isEmpty { continue }
      failed += 1
      if failed > 20 { continue }
      let told = failed == 1 ? "\n" + episode.told : ""
      Issue.record(
        "\(kind), seed \(seed) [\(episode.pair.edits)]:\n  \(faults.prefix(6).joined(separator: "\n  "))\(told)")
    }
    print("\(kind): \(valid) of \(episodes) migrations, \(refused) of them refused, \(failed) failures")
    #expect(failed == 0)
    #expect(valid * 3 > episodes)
  }
}
