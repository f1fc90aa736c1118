import Foundation
import Testing
import TrellisTestSupport

@Suite("Random graphs") struct RandomGraphTests {
  private static let steps = TestSettings.number("TRELLIS_GRAPH_STEPS", or: 2000)
  private static let seed =
    TestSettings.number("TRELLIS_GRAPH_SEED", or: UInt64(20_261_122))
  /// The only episode to be played, such as one that a report names; all of them otherwise.
  private static let only: Int? = TestSettings.number("TRELLIS_GRAPH_EPISODE")
  /// After so many differences a run ends.
  private static let enough = 10

  @Test("whatever is done, the graph is as the reference says, in memory and in the store", .timeLimit(.minutes(600)))
  func agreesWithReference() throws { try run(Self.steps, cascading: nil) }

  @Test("the same holds where cascades are left to the store, and nobody loads what goes", .timeLimit(.minutes(600)))
  func agreesWhereNothingIsLoaded() throws { try run(Self.steps / 2, cascading: Episode.cascadingEntities) }

  @Test("the same holds in a child, and its parent is as it was saved", .timeLimit(.minutes(600)))
  func agreesInChild() throws { try run(Self.steps / 2, cascading: nil, levels: 1) }

  @Test("the same holds two levels down", .timeLimit(.minutes(600)))
  func agreesInGrandchild() throws { try run(Self.steps / 4, cascading: nil, levels: 2) }

  private func run(_ count: Int, cascading: [String]?, levels: Int = 0) throws {
    let rules = try Rules()
    var random = SeededGenerator(seed: Self.seed)
    var (steps, saves, refusals, cascades, undos, episodes) = (0, 0, 0, 0, 0, 0)
    var differences = 0
    while steps < count {
      let kind = episodes % 4 == 3 ? StoreKind.sqlite : .memory
      let episode = Episode(seed: random.next(), stores: kind, length: 200, cascading: cascading, levels: levels)
      if let only = Self.only, episodes + 1 != only {
        if episodes >= only { return }
        episodes += 1
        continue
      }
      let outcome = try episode.run(rules)
      steps += outcome.steps
      saves += outcome.saves
      refusals += outcome.refusals
      cascades += outcome.cascades
      undos += outcome.undos
      episodes += 1
      if let difference = outcome.difference {
        Issue.record(
          "seed \(Self.seed), episode \(episodes) (\(kind)): \(difference)\n\(outcome.operations.joined(separator: "\n"))"
        )
        differences += 1
        if differences == Self.enough { return }
      }
    }
    // Without any, a run that is long enough would show nothing.
    #expect(cascading == nil || count < 10_000 || cascades > 0)
    print(
      "random graphs\(cascading == nil ? "" : ", cascades left to the store")\(levels > 0 ? ", \(levels) levels down" : ""): seed \(Self.seed), \(episodes) episodes, "
        + "\(steps) steps, \(saves) saves, \(refusals) refusals, \(cascades) cascades, \(undos) undos"
    )
  }
}
