import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

/// Migrations that went wrong once, as the smallest models that show it, or by their seeds.
@Suite("Migrations that went wrong once") struct MigrationFaultTests {
  @Test(
    "what the net has found stays mended",
    arguments: [
      // The order of a relationship that is its own inverse, and of one that was.
      (4, true), (90, false),
      // The table of an entity that becomes a child has the name that another entity gets.
      (117, false),
      // Pairs of a sibling that loses the second end.
      (335, true),
      // Each entity consents for itself; pairs with removed objects ask for nothing.
      (37, true), (360, true), (354, false),
      // The order of the losses; ends of two links that become one.
      (151, true), (185, false),
      // A new end with a column, whose inverse continues the link.
      (1392, false),
    ] as [(UInt64, Bool)])
  func recorded(seed: UInt64, dropsAnswers: Bool) throws {
    let episode = try #require(Episode(seed: seed, dropsAnswers: dropsAnswers))
    #expect(try episode.run() == [], "\(episode.told)")
  }
}
