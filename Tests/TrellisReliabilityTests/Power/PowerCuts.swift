import Testing
import Trellis
import TrellisTestSupport

/// The power goes at moments of a recorded run that are drawn by a seed, at each with every kind of loss.
struct PowerCuts: CustomStringConvertible {
  static let seed = TestSettings.seed("TRELLIS_POWER_SEED")

  private(set) var count = 0
  /// How many cuts took saves that had returned.
  private(set) var losses = 0

  /// Expects that as many saves are found as were promised.
  ///
  /// - Parameters:
  ///   - usual: how many moments are tried; more by the environment variable TRELLIS_POWER_CUTS.
  ///   - look: opens what the disk holds, and tells how many saves are in it.
  init(
    _ run: RecordedRun, _ durability: Durability, usually usual: Int,
    look: (_ image: [String: [UInt8]], _ place: Comment) throws -> Int
  ) throws {
    var chance = SeededGenerator(seed: Self.seed)
    // The first steps make the store, so they are tried more often than those of the saves.
    let moments = (0..<TestSettings.number("TRELLIS_POWER_CUTS", or: usual)).map {
      chance.below($0 % 4 == 0 ? 60 : run.steps.count + 1)
    }
    var history = DiskHistory()
    var done = 0
    for moment in moments.sorted() {
      for step in run.steps[done..<moment] { history.apply(step) }
      done = moment
      let (begun, returned) = run.saves(at: moment)
      for loss in DiskHistory.Loss.allCases {
        let place: Comment = "step \(moment), lost \(loss), seed \(Self.seed)"
        let found = try look(history.image(loss, &chance), place)
        count += 1
        if found < returned { losses += 1 }
        let least = durability == .durable ? returned : 0
        #expect(found >= least && found <= begun, "\(place): \(returned) saves returned, \(found) found")
      }
    }
  }

  var description: String { "\(count) power cuts, seed \(Self.seed), \(losses) took saves that had returned" }
}
