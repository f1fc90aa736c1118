import Testing
import TrellisTestSupport

@testable import TrellisRuntime

@Suite("The set of a few keys") struct KeySetTests {
  @Test("it holds what a set holds, few or many", arguments: [3, 8, 9, 12, 200])
  func agreement(range: Int64) {
    let seed = TestSettings.seed()
    var generator = SeededGenerator(seed: seed)
    for round in 0..<100 {
      var reference = Set((0..<range).filter { _ in Bool.random(using: &generator) }.prefix(round % 12))
      var keys = KeySet(reference)
      for _ in 0..<60 {
        let key = Int64.random(in: 0..<range, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
          let removed = Set([key, key + 1])
          keys.subtract(removed)
          reference.subtract(removed)
        case 1: keys.reserve(Int(key))
        case 2: #expect(keys.isDisjoint(with: [key, -1]) == reference.isDisjoint(with: [key, -1]), "seed \(seed)")
        default: #expect(keys.insert(key) == reference.insert(key).inserted, "seed \(seed)")
        }
        #expect(keys.contains(key) == reference.contains(key), "seed \(seed)")
      }
      #expect(Array(keys).sorted() == reference.sorted(), "seed \(seed)")
    }
  }
}
