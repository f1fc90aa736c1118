import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A server that follows another one, is only read, and takes its place.
@Suite("Replicas", .enabled(if: PostgresCluster.canStart, "needs initdb"), .serialized)
struct ReplicaTests {
  private struct Pair {
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
    var writableURL: String {
      let credentials = "\(primary.user):\(primary.password)"
      return "postgresql://\(credentials)@\(primary.host):\(primary.port),\(replica.host):\(replica.port)/\(database)"
        + "?target_session_attrs=read-write"
    }
  }

  @Test("a replica is read as its primary is, hears of saves, and says of a save that it only reads")
  func reading() throws {
    let pair = try Pair()
    #expect(code { _ = try Shelf(pair.replicaURL, schema: "shelf") } == .readOnly)
    let written = try Shelf(pair.primaryURL, schema: "shelf")
    try written.insert("first")
    try pair.waitUntilEqual()
    let read = try Shelf(pair.replicaURL, schema: "shelf")
    let connection = try read.store.connect()
    #expect(try read.names() == ["first"] && connection.count(read.all) == 1)
    try connection.pin()
    #expect(try connection.count(read.all) == 1)
    connection.unpin()
    connection.beginToHear()
    #expect(code { try read.insert("by the replica") } == .readOnly)
    try written.insert("second")
    #expect(connection.hearsOfOthers())
    try pair.waitUntilEqual()
    #expect(try read.names() == ["first", "second"])
    #expect(try written.names() == ["first", "second"])
  }

  @Test("a store that needs a migration is not migrated at a replica, and says so")
  func migration() throws {
    let pair = try Pair()
    _ = try Shelf(pair.primaryURL, schema: "shelf")
    try pair.waitUntilEqual()
    let changed = try Shelf.model(
      AttributeDescription("name", .string), AttributeDescription("list", .string, optional: true),
      AttributeDescription("size", .int64, optional: true))
    #expect(code { _ = try StoreConfiguration.postgres(pair.replicaURL, schema: "shelf").open(changed) } == .readOnly)
    #expect(try Shelf(pair.replicaURL, schema: "shelf").names() == [])
  }

  @Test("a store goes on with the replica that takes the place of its primary, and no save is there half or twice")
  func failover() throws {
    let pair = try Pair()
    let shelf = try Shelf(pair.writableURL, schema: "shelf", connections: 3, timeout: 60)
    try shelf.insert("before")
    try pair.waitUntilEqual()
    let saved = Locked<[String]>([])
    let failures = Locked<[String]>([])
    let isOver = Locked(false)
    let isDone = Locked(0)
    for worker in 0..<3 {
      Thread.detachNewThread {
        var number = 0
        while !isOver.withLock({ $0 }) {
          number += 1
          let name = "item \(worker).\(number)"
          do {
            try shelf.insert(name)
            saved.withLock { $0.append(name) }
          } catch let error as StoreError where error.code == .cannotOpen || error.code == .inputOutput {
            // There is no server that can be written to.
            Thread.sleep(forTimeInterval: 0.05)
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
        isDone.withLock { $0 += 1 }
      }
    }
    Thread.sleep(forTimeInterval: 0.2)
    // What is committed from now on and not streamed yet is lost, as always without synchronous replication.
    let before = Set(saved.withLock { $0 })
    try pair.waitUntilEqual()
    try pair.primary.stop(mode: .immediate)
    let lost = Set(saved.withLock { $0 }).subtracting(before)
    #expect(try pair.replica.psql("SELECT pg_promote()") == "t")
    let count = saved.withLock { $0.count }
    for _ in 0..<6_000 where saved.withLock({ $0.count }) < count + 50 { Thread.sleep(forTimeInterval: 0.01) }
    isOver.withLock { $0 = true }
    for _ in 0..<6_000 where isDone.withLock({ $0 }) < 3 { Thread.sleep(forTimeInterval: 0.01) }
    #expect(isDone.withLock { $0 } == 3 && failures.withLock { $0 } == [])
    try shelf.insert("after")
    let names = try Shelf(pair.replicaURL, schema: "shelf").names()
    #expect(Set(names).count == names.count)
    #expect(Set(saved.withLock { $0 }).subtracting(names).isSubset(of: lost))
    #expect(Set(names).subtracting(saved.withLock { $0 } + ["before", "after"]).isEmpty)
    #expect(before.isSubset(of: names) && names.contains("after") && names.count > before.count + 50)
  }

  @Test("the name of a store has its hosts with their ports, and no password")
  func names() throws {
    #expect(
      try ServerAddress("postgresql://a:secret@one:5001,two:5002/base").name == "postgresql://one:5001,two:5002/base")
    #expect(
      try ServerAddress("host=one,two port=6000 dbname=base password=secret").name
        == "postgresql://one:6000,two:6000/base")
    #expect(try ServerAddress("postgresql://a@one/base").name == "postgresql://one/base")
  }
}
