import Foundation

/// The PostgreSQL server that tests share: the one that `TRELLIS_POSTGRES_URL` names, or one that is made for them. Where
/// there is neither, tests that need one are skipped by name.
package enum TestServer {
  package static let isThere = PostgresCluster.isAvailable
  /// The address; empty if the server could not be started, which the first test that opens a store says.
  package static let url = (try? PostgresCluster.running().url(database: "postgres")) ?? ""

  /// The name of a schema that no other test has.
  package static func newSchema() -> String { "test \(UInt64.random(in: 0 ... .max))" }
}
