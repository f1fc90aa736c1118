import Testing
import Trellis
import TrellisTestSupport

@testable import TrellisRuntime

@Suite("The identity map") struct IdentityMapTests {
  /// Ways in which keys come: in a row, every fourth, in groups, from several runs of a program, scattered.
  private static let patterns: [@Sendable (Int64) -> Int64] = [
    { $0 + 1 }, { $0 * 4 + 1 }, { $0 * 16 + 3 }, { $0 * 256 + 16 }, { ($0 & 3) << 32 + $0 + 1 },
    { $0 &* 0x5DEE_CE66D & 0x7FFF_FFFF_FFFF + 1 },
  ]

  @Test("it holds what a dictionary holds, whatever comes and goes", arguments: patterns.indices)
  func agreement(pattern: Int) throws {
    let seed = TestSettings.seed()
    var generator = SeededGenerator(seed: seed)
    let context = try makeContext()
    let objects = (0..<3).map { _ in Node(in: context) }
    var map = IdentityMap()
    var reference: [Int64: ManagedObject] = [:]
    for step in 0..<20_000 {
      let key = Self.patterns[pattern](Int64.random(in: 0..<(step < 10_000 ? 3_000 : 40), using: &generator))
      if Int.random(in: 0..<3, using: &generator) == 0 {
        map.remove(key)
        reference[key] = nil
      } else {
        let object = objects[Int.random(in: 0..<3, using: &generator)]
        map.insert(object, for: key)
        reference[key] = object
      }
      try #require(map.count == reference.count, "seed \(seed), step \(step)")
      try #require(map[key] === reference[key], "seed \(seed), step \(step)")
    }
    for number in 0..<3_000 {
      let key = Self.patterns[pattern](Int64(number))
      try #require(map[key] === reference[key], "seed \(seed), key \(key)")
    }
    var seen = 0
    map.forEach { _ in seen += 1 }
    #expect(seen == reference.count)
  }

  @Test("what is referenced elsewhere, or is not to be dropped, stays", arguments: patterns.indices)
  func unreferenced(pattern: Int) throws {
    let seed = TestSettings.seed()
    var generator = SeededGenerator(seed: seed)
    // Objects of a context are referenced by it, so these belong to none any more.
    var map = IdentityMap()
    var (held, kept, all): ([Int64: ManagedObject], Set<Int64>, Set<Int64>) = ([:], [], [])
    for _ in 0..<2_000 {
      let key = Self.patterns[pattern](Int64.random(in: 0..<3_000, using: &generator))
      let object = try unregisteredNode()
      map.insert(object, for: key)
      (held[key], _) = (nil, kept.remove(key))
      all.insert(key)
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: held[key] = object
      case 1: kept.insert(key)
      default: break
      }
    }
    let keptObjects = Set(kept.compactMap { key in map[key].map { ObjectIdentifier($0) } })
    let removed = map.removeUnreferenced { !keptObjects.contains(ObjectIdentifier($0)) }
    let left = kept.union(held.keys)
    #expect(removed == all.count - left.count && map.count == left.count, "seed \(seed)")
    for key in all { #expect(map.contains(key) == left.contains(key), "seed \(seed), key \(key)") }
    for (key, object) in held { #expect(map[key] === object, "seed \(seed), key \(key)") }
    #expect(map.removeUnreferenced { _ in true } == kept.count, "seed \(seed)")
    #expect(map.count == held.count, "seed \(seed)")
  }

  @Test("keys that no object has are no trouble")
  func edges() throws {
    let object = Node(in: try makeContext())
    var map = IdentityMap()
    for key in 1...Int64(1_000) { map.insert(object, for: key) }
    #expect(map.count == 1_000 && map[1_000] === object && map[1_001] == nil)
    #expect(map[0] == nil && map[-1] == nil && map[.min] == nil && map[.max] == nil)
    map.remove(0)
    map.remove(-1)
    map.removeAll()
    #expect(map.count == 0 && map[1] == nil)
  }

  /// An object that nothing but the caller references: its context is gone.
  private func unregisteredNode() throws -> ManagedObject {
    let context = try makeContext()
    return Node(in: context)
  }
}
