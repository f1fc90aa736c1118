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

  // MARK: Commits that wait for a replica

  /// Waits for a save that the primary has committed and no replica has.
  private func sessionThatWaits(_ pair: ReplicaPair) throws -> String {
    for _ in 0..<1_000 {
      let found = try pair.primary.psql(
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid() LIMIT 1")
      if !found.isEmpty { return found }
      Thread.sleep(forTimeInterval: 0.02)
    }
    throw CocoaError(.fileReadUnknown)
  }

  @Test(
    "a save whose wait for its replica is ended has not returned before the replica has it",
    arguments: ["pg_terminate_backend", "pg_cancel_backend"])
  func waits(_ ending: String) throws {
    let pair = try ReplicaPair()
    let shelf = try Shelf(pair.primaryURL, schema: "shelf", connections: 1, timeout: 60)
    try shelf.insert("first")
    try pair.waitUntilEqual()
    // Its key is reserved by a transaction of its own. The request is used by the other thread only.
    nonisolated(unsafe) let request = try shelf.inserting(["second"])
    _ = try pair.primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    _ = try pair.primary.psql("SELECT pg_reload_conf()")
    try pair.replica.stop(mode: .immediate)
    let outcome = Locked<String?>(nil)
    Thread.detachNewThread {
      do {
        try shelf.store.connect().save(request)
        outcome.withLock { $0 = "saved" }
      } catch {
        outcome.withLock { $0 = "\(error)" }
      }
    }
    let session = try sessionThatWaits(pair)
    _ = try pair.primary.psql("SELECT \(ending)(\(session))")
    // The server shows the save from now on, and it is gone if the replica takes over.
    var shown = ""
    for _ in 0..<500 where shown != "2" {
      shown = try pair.primary.psql("SELECT count(*) FROM shelf.\"Item\"", database: pair.database)
    }
    #expect(shown == "2")
    Thread.sleep(forTimeInterval: 1)
    #expect(outcome.withLock { $0 } == nil)
    try pair.replica.start()
    for _ in 0..<3_000 where outcome.withLock({ $0 == nil }) { Thread.sleep(forTimeInterval: 0.02) }
    #expect(outcome.withLock { $0 } == "saved")
    try pair.waitUntilEqual()
    #expect(try pair.replica.psql("SELECT count(*) FROM shelf.\"Item\"", database: pair.database) == "2")
  }

  // MARK: Former primaries

  @Test("a former primary that comes back is not used, for reads neither") func formerPrimary() throws {
    let pair = try ReplicaPair()
    let shelf = try Shelf(pair.writableURL, schema: "shelf", connections: 2, timeout: 10)
    try shelf.insert("first")
    try pair.waitUntilEqual()
    try pair.primary.stop(mode: .immediate)
    try pair.promote()
    try shelf.insert("second")
    try pair.primary.start()
    // Both accept writes now, and the former primary is the first of the address.
    shelf.store.pool.renew()
    #expect(try shelf.names() == ["first", "second"])
    try pair.replica.stop(mode: .immediate)
    shelf.store.pool.renew()
    let error = #expect(throws: StoreError.self) { try shelf.names() }
    #expect(
      error?.code == .cannotOpen && error?.message.contains("former primary") == true, "\(String(describing: error))")
    #expect(code { try shelf.insert("third") } == .cannotOpen)
    try pair.replica.start()
    try shelf.insert("third")
    #expect(try shelf.names() == ["first", "second", "third"])
  }

  @Test("connections to a server are left when another one has taken its place") func leftConnections() throws {
    let pair = try ReplicaPair()
    let shelf = try Shelf(pair.writableURL, schema: "shelf", connections: 2, timeout: 10)
    try shelf.insert("first")
    try pair.waitUntilEqual()
    // One stays open to the primary, which is only cut off from the others.
    let kept = try shelf.store.pool.take()
    try pair.promote()
    shelf.store.setup.choice.leave(0)
    let fresh = try shelf.store.pool.take()
    #expect(fresh.isFirstOfTimeline && fresh.server.port == String(pair.replica.port))
    shelf.store.pool.giveBack(fresh)
    shelf.store.pool.giveBack(kept)
    try shelf.insert("second")
    #expect(try pair.replica.psql("SELECT count(*) FROM shelf.\"Item\"", database: pair.database) == "2")
    #expect(try pair.primary.psql("SELECT count(*) FROM shelf.\"Item\"", database: pair.database) == "1")
  }

  @Test("the server that was right is tried first, and each has its share of the time") func order() throws {
    let address = try ServerAddress("postgresql://a,b:5433,c/shop?connect_timeout=7")
    func value(_ keyword: String, first: Int) -> String? {
      address.keywords(timeout: 30, first: first).first { $0.keyword == keyword }?.value
    }
    #expect(
      value("host", first: 0) == "a,b,c" && value("host", first: 1) == "b,c,a" && value("host", first: 5) == "c,a,b")
    #expect(value("port", first: 1) == "5433,," && value("connect_timeout", first: 0) == "7")
    let other = try ServerAddress("host=a,b,c port=5000 dbname=shop")
    let keywords = other.keywords(timeout: 30, first: 2)
    #expect(keywords.first { $0.keyword == "port" }?.value == "5000")
    #expect(keywords.first { $0.keyword == "connect_timeout" }?.value == "10")
    #expect(other.number(host: "c", port: "5000") == 2 && other.number(host: "d", port: "5000") == nil)
    #expect(address.number(host: "b", port: "5433") == 1 && address.number(host: "a", port: "5432") == 0)
    let choice = ServerChoice(count: 3)
    choice.prefer(1)
    choice.leave(0)
    #expect(choice.first == 1)
    choice.leave(1)
    #expect(choice.first == 2)
    #expect(choice.note(timeline: 4) == .known && choice.note(timeline: 4) == .known)
    #expect(
      choice.note(timeline: 5) == .new && choice.note(timeline: 4) == .former && choice.note(timeline: 5) == .known)
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
      _ = try? pair.replica.psql("SELECT pg_wal_replay_resume(); SELECT pg_sleep(1); SELECT pg_promote()")
    }
    do {
      try shelf.store.connect().save(request)
      // A replica may have a commit that another one has not, which takes over.
      #expect(try pair.replica.psql("SELECT pg_is_in_recovery()") == "f")
    } catch let error as StoreError where error.code == .inDoubt {
      // On a busy machine the replica may take over after the minute of the question.
      _ = try pair.replica.psql("SELECT pg_promote() WHERE pg_is_in_recovery()")
    }
    #expect(try Shelf(pair.replicaURL, schema: "shelf").names() == ["first", "second"])
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
