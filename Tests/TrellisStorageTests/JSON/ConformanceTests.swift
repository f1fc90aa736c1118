import Foundation
import Testing
import TrellisStorage
@testable import TrellisJSON
import TrellisStoreTesting
import TrellisTestSupport

@Suite("The rules of every store, by the JSON document") struct ConformanceTests {
  /// How many random queries a seed asks; more by the environment variable TRELLIS_QUERIES.
  private static let queryCount = TestSettings.number("TRELLIS_QUERIES", or: 80)

  private func conformance() throws -> StoreConformance {
    let folder = try TestFolder()
    return StoreConformance { model in try JSONStore(path: folder.path("\(UUID().uuidString).json"), model: model) }
  }

  @Test("the JSON document keeps every rule", arguments: StoreConformance.cases)
  func rules(_ rule: ConformanceCase) throws {
    #expect(try conformance().run(rule) == [])
  }

  @Test(
    "the JSON document answers random queries as the evaluator does", arguments: [1, TestSettings.seed()])
  func queries(_ seed: UInt64) throws {
    print("JSON, seed \(seed)")
    #expect(try conformance().runDifferential(seed: seed, queries: Self.queryCount) == [])
  }
}
