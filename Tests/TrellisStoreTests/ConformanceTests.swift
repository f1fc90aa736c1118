import Foundation
import Testing
import TrellisMemory
import TrellisSQLite
import TrellisStorage
import TrellisStoreTesting

/// A store that runs the whole suite: one line a store.
struct TestedStore: Sendable, CustomTestStringConvertible {
  let name: String
  let conformance: StoreConformance

  var testDescription: String { name }

  static let all = [
    TestedStore(name: "memory", conformance: StoreConformance { MemoryStore($0) }),
    TestedStore(
      name: "SQLite", conformance: StoreConformance { try StoreConfiguration.sqlite(at: freshFile()).open($0) }),
  ]

  private static func freshFile() -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("trellis-conformance")
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appendingPathComponent("\(UUID().uuidString).db")
  }
}

@Suite("The rules of every store") struct ConformanceTests {
  @Test("every store keeps every rule", arguments: TestedStore.all, StoreConformance.cases)
  func rules(_ store: TestedStore, _ rule: ConformanceCase) {
    #expect(store.conformance.run(rule) == [])
  }

  @Test(
    "every store answers random queries as the evaluator does", arguments: TestedStore.all,
    [UInt64](1...8) + [UInt64.random(in: .min ... .max)])
  func queries(_ store: TestedStore, _ seed: UInt64) {
    print("\(store.name), seed \(seed)")
    #expect(store.conformance.runDifferential(seed: seed, queries: 400) == [])
  }
}
