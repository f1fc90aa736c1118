import Foundation
import Testing
import Trellis
import TrellisDynamic
import TrellisJSON
import TrellisModel
import TrellisRuntime
import TrellisTestSupport

/// The same steps on objects with and without generated classes. `TRELLIS_DYNAMIC_STEPS` sets the length of a run.
@Suite("Objects without generated classes behave as those with") struct DifferentialTests {
  @Test("random steps have the same results, the same errors, and leave the same stores", arguments: StoreKind.allCases)
  func steps(_ kind: StoreKind) throws {
    let first = TestSettings.seed()
    for seed in first..<first + TestSettings.number("TRELLIS_DYNAMIC_RUNS", or: 4) {
      try run(kind, seed: seed, undoes: seed % 2 == 0)
    }
  }

  private func run(_ kind: StoreKind, seed: UInt64, undoes: Bool) throws {
    let folders = try [TestFolder(), TestFolder()]
    let typed = try Player<TypedSide>(configuration(kind, folders[0]), undoes: undoes)
    let dynamic = try Player<DynamicSide>(configuration(kind, folders[1]), undoes: undoes)
    var chooser = StepChooser(model: typed.container.model, random: SeededGenerator(seed: seed))
    var saves = 0
    for number in 0..<TestSettings.number("TRELLIS_DYNAMIC_STEPS", or: 150) {
      let step = chooser.next(typed.objects)
      let comment: Comment = "seed \(seed), step \(number), \(step)"
      let outcome = typed.play(step)
      try #require(dynamic.play(step) == outcome, comment)
      try #require(dynamic.errors.all.map(\.description) == typed.errors.all.map(\.description), comment)
      #expect(dynamic.context.graph.stateViolations().isEmpty, comment)
      if number % 5 == 0 {
        let seen = try (dynamic.picture(dynamic.context), typed.picture(typed.context))
        try #require(seen.0 == seen.1, comment)
      }
      guard case .save = step, outcome.isEmpty else { continue }
      saves += 1
      let fresh = try (dynamic.picture(dynamic.container.newContext()), typed.picture(typed.container.newContext()))
      try #require(fresh.0 == fresh.1, comment)
      if kind == .json {
        let texts = try folders.map { try String(contentsOf: $0.file("store.json"), encoding: .utf8) }
        try #require(texts[0] == texts[1], comment)
      }
    }
    #expect(saves > 0)
    #expect(try dynamic.container.check().map(\.description) == typed.container.check().map(\.description))
  }

  /// Some pictures are in files.
  private func configuration(_ kind: StoreKind, _ folder: TestFolder) -> StoreConfiguration {
    switch kind {
    case .memory, .postgres: kind.configuration(in: folder)
    case .sqlite: .sqlite(at: folder.file("store.sqlite"), durability: .relaxed, filesAbove: 3)
    case .json: .json(at: folder.file("store.json"), durability: .relaxed, filesAbove: 3)
    }
  }
}
