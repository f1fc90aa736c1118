import CSQLite
import Testing
import TrellisModel
import TrellisTestSupport

@Suite("Finding bytes where the C library is slow") struct ByteSearchInCTests {
  @Test("a part is inside a text exactly when the search in memory finds it")
  func same() {
    let seed = TestSettings.seed()
    var random = SeededGenerator(seed: seed)
    for round in 0..<4_000 {
      let letters = 1 + random.below(3)
      func text(_ count: Int) -> String { String((0..<count).map { _ in ["a", "b", "c"][random.below(letters)] }) }
      let unit = text(1 + random.below(6))
      let part = round % 2 == 0 ? text(random.below(12)) : String(repeating: unit, count: random.below(8))
      let whole = text(random.below(80)) + String(repeating: unit, count: random.below(12)) + text(random.below(9))
      let isInside = trellis_is_inside(whole, whole.utf8.count, part, part.utf8.count) == 1
      #expect(isInside == TextBytes.contains(whole, part), "seed \(seed): \(part) in \(whole)")
    }
  }
}
