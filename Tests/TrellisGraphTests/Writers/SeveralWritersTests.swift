import Testing
import TrellisTestSupport

@Suite("Several contexts with unsaved changes") struct SeveralWritersTests {
  private static let episodes = TestSettings.number("TRELLIS_WRITERS_EPISODES", or: 16)
  private static let seed = TestSettings.number("TRELLIS_WRITERS_SEED", or: UInt64(1))
  private static let length = TestSettings.number("TRELLIS_WRITERS_STEPS", or: 300)
  private static let scrutiny =
    Village.Scrutiny(rawValue: TestSettings.number("TRELLIS_WRITERS_SCRUTINY", or: 2)) ?? .everything
  /// After so many differences a run ends.
  private static let enough = TestSettings.number("TRELLIS_WRITERS_ENOUGH", or: 3)
  /// Faults that these episodes find, still to be mended, by seed.
  private static let known: [UInt64: Comment] = [
    11: "observers are not told that the target of a to-one is gone",
    24: "the other end of a one-to-one is stale after a conflict was given up",
  ]

  @Test(
    "after every merge and save, memory agrees with the store but for what is unsaved", .timeLimit(.minutes(60)),
    arguments: Episode.StoreKind.allCases)
  func agreesWithStore(kind: Episode.StoreKind) throws {
    let rules = try Rules(.village)
    let count = UInt64(kind == .memory ? Self.episodes : max(1, Self.episodes / 8))
    var differences = 0
    for seed in Self.seed..<(Self.seed + count) {
      let episode = VillageEpisode(seed: seed, stores: kind, length: Self.length, scrutiny: Self.scrutiny)
      let known = Self.known[seed]
      guard let failure = try episode.run(rules, shortens: known == nil) else { continue }
      let comment: Comment = "seed \(seed) (\(kind)): \(failure)"
      if let known {
        withKnownIssue(known) { _ = Issue.record(comment) }
        continue
      }
      Issue.record(comment)
      differences += 1
      if differences == Self.enough { return }
    }
  }
}
