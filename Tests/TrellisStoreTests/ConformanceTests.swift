import Foundation
import Testing
import TrellisStorage
import TrellisJSON
import TrellisStoreTesting
import TrellisTestSupport

/// A store that runs the whole suite: one line a store.
struct TestedStore: Sendable, CustomTestStringConvertible {
  let name: String
  /// How to make an empty store, with a folder for its files.
  let make: @Sendable (TestFolder) -> StoreConformance

  var testDescription: String { name }

  /// The stores that keep files, with nothing but empty data in rows.
  static let withFiles = [
    TestedStore(name: "JSON with files") { folder in
      StoreConformance { model in
        let file = folder.url.appending(path: "\(UUID().uuidString).json")
        return try StoreConfiguration.json(at: file, filesAbove: 0).open(model)
      }
    },
    TestedStore(name: "SQLite with files") { folder in
      StoreConformance { model in
        let file = folder.url.appending(path: "\(UUID().uuidString).db")
        return try StoreConfiguration.sqlite(at: file, durability: .relaxed, filesAbove: 0).open(model)
      }
    },
  ]

  static let all = [
    TestedStore(name: "memory") { _ in StoreConformance { MemoryStore($0) } },
    TestedStore(name: "JSON") { folder in
      StoreConformance { model in
        try StoreConfiguration.json(at: folder.url.appending(path: "\(UUID().uuidString).json")).open(model)
      }
    },
    TestedStore(name: "SQLite") { folder in
      StoreConformance { model in
        try StoreConfiguration.sqlite(at: folder.url.appending(path: "\(UUID().uuidString).db")).open(model)
      }
    },
  ]
}

@Suite("The rules of every store") struct ConformanceTests {
  @Test("every store keeps every rule", arguments: TestedStore.all + TestedStore.withFiles, StoreConformance.cases)
  func rules(_ store: TestedStore, _ rule: ConformanceCase) throws {
    let failures = try store.make(TestFolder()).run(rule)
    #expect(failures == [])
  }

  /// How many predicates each seed tries.
  private static let queries = TestSettings.number("TRELLIS_PREDICATES", or: 60)

  @Test(
    "every store answers random queries as the evaluator does", arguments: TestedStore.all + TestedStore.withFiles,
    [UInt64](1...8) + [16_155_586_889_048_462_758, 4_002_486_170_142_277_933, .random(in: .min ... .max)])
  func queries(_ store: TestedStore, _ seed: UInt64) throws {
    print("\(store.name), seed \(seed), \(Self.queries) predicates")
    let failures = try store.make(TestFolder()).runDifferential(seed: seed, queries: Self.queries)
    for failure in failures.prefix(3) { print(failure) }
    #expect(failures == [])
  }
}
