import Foundation
import Testing
import TrellisPostgres
import TrellisStorage
import TrellisStoreTesting
import TrellisTestSupport

@Suite("The rules of every store, on PostgreSQL", .enabled(if: TestServer.isThere, "needs a server"))
struct ConformanceTests {
  static let limits: Set<StoreLimit> = [
    .zeroCharacter, .datesBefore(microseconds: -210_866_803_200_000_000),
  ]

  static func conformance() -> StoreConformance {
    StoreConformance(limits: limits) { model in
      try StoreConfiguration.postgres(TestServer.url, schema: TestServer.newSchema(), connections: 2, timeout: 300)
        .open(model)
    }
  }

  @Test("PostgreSQL keeps every rule", arguments: StoreConformance.cases + StoreConformance.limitCases(limits))
  func rules(_ rule: ConformanceCase) throws {
    #expect(Self.conformance().run(rule) == [])
  }

  @Test("PostgreSQL answers random queries as the evaluator does", arguments: [1, UInt64.random(in: 2 ... .max)])
  func queries(_ seed: UInt64) throws {
    let queries = TestSettings.number("TRELLIS_PREDICATES", or: 200)
    print("seed \(seed), \(queries) predicates")
    let failures = Self.conformance().runDifferential(seed: seed, queries: queries)
    for failure in failures.prefix(3) { print(failure) }
    #expect(failures == [])
  }
}
