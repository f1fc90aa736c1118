import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A replica that takes the place of its primary.
@Suite("Failover", .enabled(if: PostgresCluster.canStart, "needs initdb"), .serialized)
struct FailoverTests {
  @Test(
    "a store goes on with the replica that takes the place of its primary, and no save is there half or twice",
    arguments: [false, true])
  func failover(isSynchronous: Bool) throws {
    let pair = try ReplicaPair()
    if isSynchronous {
      _ = try pair.primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
      _ = try pair.primary.psql("SELECT pg_reload_conf()")
    }
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
    try pair.promote()
    let count = saved.withLock { $0.count }
    for _ in 0..<6_000 where saved.withLock({ $0.count }) < count + 50 { Thread.sleep(forTimeInterval: 0.01) }
    isOver.withLock { $0 = true }
    for _ in 0..<6_000 where isDone.withLock({ $0 }) < 3 { Thread.sleep(forTimeInterval: 0.01) }
    #expect(isDone.withLock { $0 } == 3 && failures.withLock { $0 } == [])
    try shelf.insert("after")
    let names = try Shelf(pair.replicaURL, schema: "shelf").names()
    #expect(Set(names).count == names.count)
    #expect(Set(saved.withLock { $0 }).subtracting(names).isSubset(of: isSynchronous ? [] : lost))
    #expect(Set(names).subtracting(saved.withLock { $0 } + ["before", "after"]).isEmpty)
    #expect(before.isSubset(of: names) && names.contains("after") && names.count > before.count + 50)
  }

  @Test("a lost commit is not taken for none because a replica that is behind does not have it yet")
  func question() throws {
    let pair = try ReplicaPair()
    let proxy = try DelayProxy(to: pair.primary.port)
    let shelf = try Shelf(pair.url(ofPort: proxy.port), schema: "shelf", connections: 1, timeout: 60)
    try shelf.insert("first")
    try pair.waitUntilEqual()
    _ = try pair.replica.psql("SELECT pg_wal_replay_pause()")
    // A new connection, which prepares the statement and so has its text.
    shelf.store.pool.renew()
    let request = try shelf.inserting(["second"])
    proxy.refuse = true
    proxy.cut(.afterForwarding) { bytes, direction in
      // The statement that leaves the mark goes with the commit.
      direction == .toServer && String(decoding: bytes, as: UTF8.self).contains("_saves")
    }
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 1)
      _ = try? pair.replica.psql("SELECT pg_wal_replay_resume()")
    }
    try shelf.store.connect().save(request)
    #expect(try Shelf(pair.primaryURL, schema: "shelf").names() == ["first", "second"])
  }

  @Test("keys that were reserved in a transaction that is lost are not given again to others")
  func keys() throws {
    let pair = try ReplicaPair()
    let shelf = try Shelf(pair.writableURL, schema: "shelf")
    var last: Int64 = 0
    try pair.failOver { last = try shelf.store.reserveKeys(100).upperBound }
    try shelf.insert("after")
    #expect(try Shelf(pair.replicaURL, schema: "shelf").store.reserveKeys(1).lowerBound >= last)
  }

  @Test("what others save without a notice is noticed when the numbers of transactions begin anew")
  func numbers() throws {
    let pair = try ReplicaPair()
    let shelf = try Shelf(pair.writableURL, schema: "shelf")
    let connection = try shelf.store.connect()
    connection.beginToHear()
    try pair.failOver {
      let statements = (0..<200).map { "CREATE TABLE shelf.lost\($0)();" }.joined()
      _ = try pair.primary.psql(statements, database: pair.database)
      Thread.sleep(forTimeInterval: 3)
      #expect(connection.hearsOfOthers())
    }
    try shelf.insert("after")
    // The notice of the new connection.
    #expect(connection.hearsOfOthers())
    Thread.sleep(forTimeInterval: 5)
    _ = connection.hasExternalChanges()
    _ = try pair.replica.psql("CREATE TABLE shelf.new()", database: pair.database)
    #expect(connection.hearsOfOthers())
  }

  @Test("a store that was opened at a replica hears of saves by notices, and writes, when the replica is promoted")
  func promotion() throws {
    let pair = try ReplicaPair()
    let written = try Shelf(pair.primaryURL, schema: "shelf")
    let first = try written.store.reserveKeys(10)
    try pair.waitUntilEqual()
    let shelf = try Shelf(pair.replicaURL, schema: "shelf")
    let connection = try shelf.store.connect()
    connection.beginToHear()
    #expect(!shelf.store.watcher.isListening)
    #expect(code { _ = try shelf.store.reserveKeys(1) } == .readOnly)
    try pair.primary.stop()
    try pair.promote()
    for _ in 0..<600 where !shelf.store.watcher.isListening { Thread.sleep(forTimeInterval: 0.05) }
    #expect(shelf.store.watcher.isListening)
    #expect(try shelf.store.reserveKeys(1).lowerBound >= first.upperBound)
    try shelf.insert("after")
    try Shelf(pair.replicaURL, schema: "shelf").insert("by another")
    #expect(connection.hearsOfOthers())
    #expect(try shelf.names() == ["after", "by another"])
  }

  @Test("a server that becomes read-only under its connections is left for the one that took its place")
  func demotion() throws {
    let pair = try ReplicaPair()
    let shelf = try Shelf(pair.writableURL, schema: "shelf", connections: 2)
    try shelf.insert("before")
    try pair.waitUntilEqual()
    try pair.promote()
    _ = try pair.primary.psql("ALTER SYSTEM SET default_transaction_read_only = on")
    _ = try pair.primary.psql("SELECT pg_reload_conf()")
    while try pair.primary.psql("SHOW default_transaction_read_only") != "on" { Thread.sleep(forTimeInterval: 0.01) }
    try shelf.insert("after")
    #expect(try Shelf(pair.replicaURL, schema: "shelf").names() == ["after", "before"])
    #expect(try shelf.store.reserveKeys(1).lowerBound > 0)
  }
}
