import Foundation

/// The PostgreSQL server that tests may use. `TRELLIS_POSTGRES_URL` names it; without it these tests are left out.
package enum TestServer {
  package static let url = ProcessInfo.processInfo.environment["TRELLIS_POSTGRES_URL"] ?? ""
  package static var isThere: Bool { !url.isEmpty }

  /// The name of a schema that no other test uses.
  package static func newSchema() -> String { "t\(UInt64.random(in: 0 ... .max))" }
}
