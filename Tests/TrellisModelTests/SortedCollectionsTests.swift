import Testing
import TrellisTestSupport

@testable import TrellisModel

@Suite("Sorted collections") struct SortedCollectionsTests {
  /// How keys are spread: without gaps, with few, with many, in groups, over all numbers.
  private static let spreads: [@Sendable (inout SeededGenerator) -> Int64] = [
    { Int64.random(in: 1...200, using: &$0) },
    { Int64.random(in: 1...5_000, using: &$0) * 4 },
    { Int64.random(in: 1...1_000_000, using: &$0) },
    { Int64.random(in: 0...3, using: &$0) << 40 + Int64.random(in: 1...100, using: &$0) },
    { Int64.random(in: .min ... .max, using: &$0) },
    { [.min, .max, 0, -1, 1].randomElement(using: &$0) ?? 0 },
    { Int64.random(in: -500 ... -300, using: &$0) },
  ]

  @Test("numbers are sorted and lose their repeats, however they are spread", arguments: spreads.indices)
  func withoutRepeats(spread: Int) {
    let seed = TestSettings.seed()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let count = [0, 1, 2, 63, 64, 65, 300].randomElement(using: &generator) ?? 0
      let numbers = (0..<count).map { _ in Self.spreads[spread](&generator) }
      #expect(numbers.sortedWithoutRepeats == Set(numbers).sorted(), "seed \(seed), \(numbers)")
      let ascending = Set(numbers).sorted()
      #expect(ascending.sortedWithoutRepeats == ascending, "seed \(seed)")
    }
  }

  @Test("the bits at the ends of the words of the map are the right numbers")
  func wordEnds() {
    let numbers = (0..<64).map { Int64($0) * 63 } + [4_031, 0, 63, 64, 127, 128, 4_032, 4_031]
    #expect(numbers.sortedWithoutRepeats == Set(numbers).sorted())
  }
}
