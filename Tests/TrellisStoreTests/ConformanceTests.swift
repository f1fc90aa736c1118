import Testing
import TrellisMemory
import TrellisStorage
import TrellisStoreTesting

@Suite("The rules of every store") struct ConformanceTests {
  static let memory = StoreConformance { MemoryStore($0) }

  @Test("memory", arguments: StoreConformance.cases) func memory(_ rule: ConformanceCase) {
    #expect(Self.memory.run(rule) == [])
  }

  @Test(
    "memory answers random queries as the evaluator does",
    arguments: [UInt64](1...8) + [UInt64.random(in: .min ... .max)])
  func memoryDifferential(_ seed: UInt64) {
    print("seed \(seed)")
    #expect(Self.memory.runDifferential(seed: seed, queries: 400) == [])
  }
}
