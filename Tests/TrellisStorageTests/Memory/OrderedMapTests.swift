import Testing
import TrellisTestSupport

@testable import TrellisStorage

@Suite("The sorted map") struct OrderedMapTests {
  @Test("does what a dictionary and a sorted array do, in random order", arguments: [TestSettings.seed()])
  func random(_ seed: UInt64) {
    print("seed \(seed)")
    var state = seed
    func number(_ bound: UInt64) -> Int64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64((state >> 33) % bound)
    }
    var map = OrderedMap<Int64, Int64>()
    var model: [Int64: Int64] = [:]
    for step in 0..<40_000 {
      let key = number(step < 20_000 ? 5_000 : 600)
      if number(3) == 0 {
        #expect(map.remove(key) == model.removeValue(forKey: key))
      } else {
        #expect(map.set(key, Int64(step)) == (model.updateValue(Int64(step), forKey: key) == nil))
      }
    }
    #expect(map.count == model.count)
    var found: [Int64] = []
    map.forEach { key, value in
      #expect(model[key] == value && map[key] == value)
      found.append(key)
      return true
    }
    #expect(found == model.keys.sorted())
    for start in [Int64.min, 0, 300, 4_999, .max] {
      var rest: [Int64] = []
      map.forEach(from: start) { key, _ in
        rest.append(key)
        return true
      }
      #expect(rest == found.filter { $0 >= start })
    }
  }

  @Test("a copy stays as it was")
  func copies() {
    var map = OrderedMap<Int64, Int64>()
    for key in 0..<2_000 { map.set(Int64(key), 0) }
    let copy = map
    for key in 0..<2_000 where key.isMultiple(of: 2) { map.remove(Int64(key)) }
    map.set(1, 1)
    #expect(copy.count == 2_000 && copy[0] == 0 && copy[1] == 0)
    #expect(map.count == 1_000 && map[0] == nil && map[1] == 1)
  }
}
