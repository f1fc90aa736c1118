import Foundation
import Testing
import TrellisTestSupport

/// Random worlds of a server and replicas.
@Suite("Simulated exchanges") struct SimulatorTests {
  /// `TRELLIS_SYNC_STEPS` sets the number of steps, `TRELLIS_SYNC_SEED` the first seed.
  @Test("All stores are equal when nothing is under way, and obey their model after each step")
  func equal() throws {
    let steps = TestSettings.number("TRELLIS_SYNC_STEPS", or: 600)
    let seed = TestSettings.seed("TRELLIS_SYNC_SEED")
    let length = TestSettings.number("TRELLIS_SYNC_LENGTH", or: 100)
    var totals = World.Totals()
    for episode in 0..<UInt64(max(1, steps / length)) {
      var numbers = SeededGenerator(seed: seed &+ episode)
      let model = [SyncModels.lists, SyncModels.shapes, SyncModels.shapes, SyncModels.boxes][numbers.below(4)]
      var world = try World(
        model, replicas: 2 + numbers.below(3), seed: seed &+ episode, checksEachStep: numbers.below(4) == 0,
        restores: numbers.below(2) == 0, totals)
      totals = try world.run(steps: length)
      let failures = world.failures
      #expect(failures.isEmpty, "TRELLIS_SYNC_SEED=\(seed &+ episode): \(failures.joined(separator: "\n"))")
      if !failures.isEmpty { return }
    }
    print("sync: \(totals)")
    #expect(totals.sets > 0 && totals.applied > 0)
  }
}
