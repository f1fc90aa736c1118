import Foundation
import TrellisTestSupport

/// A server and a replica that follows it.
struct ReplicaPair {
  let primary: PostgresCluster
  let replica: PostgresCluster
  let database: String

  init() throws {
    primary = try PostgresCluster.start()
    database = try primary.makeDatabase()
    replica = try primary.makeReplica()
    try waitUntilEqual()
  }

  /// Waits until the replica has what the primary has committed.
  func waitUntilEqual() throws {
    let end = try primary.psql("SELECT pg_current_wal_lsn()")
    for _ in 0..<3_000 {
      if try replica.psql("SELECT pg_last_wal_replay_lsn() >= '\(end)'") == "t" { return }
      Thread.sleep(forTimeInterval: 0.01)
    }
    throw CocoaError(.fileReadUnknown)
  }

  var primaryURL: String { primary.url(database: database) }
  var replicaURL: String { replica.url(database: database) }
  /// Both, for whichever can be written to.
  var writableURL: String { url(ofPort: primary.port) + "?target_session_attrs=read-write" }

  /// Both, with another port of the primary, such as that of a proxy. A connection goes to the first that answers.
  func url(ofPort port: UInt16) -> String {
    let credentials = "\(primary.user):\(primary.password)"
    return "postgresql://\(credentials)@\(primary.host):\(port),\(replica.host):\(replica.port)/\(database)"
  }

  /// Makes the replica a server that can be written to.
  func promote() throws {
    guard try replica.psql("SELECT pg_promote()") == "t" else { throw CocoaError(.featureUnsupported) }
  }

  /// Ends the primary as in a crash. What a closure commits before is not streamed, so the replica that takes its place
  /// does not have it.
  func failOver(losing body: () throws -> Void) throws {
    try waitUntilEqual()
    try replica.stop()
    try body()
    try primary.stop(mode: .immediate)
    try replica.start()
    try promote()
  }
}
