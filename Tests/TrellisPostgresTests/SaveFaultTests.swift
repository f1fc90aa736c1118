import Foundation
import Synchronization
import Testing
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// Saves whose connection is lost at some moment. Whatever a save says must be so: what was saved is there once, and
/// what was refused is not there.
@Suite("Saves over connections that are lost", .enabled(if: PostgresCluster.canStart, "needs initdb"))
struct SaveFaultTests {
  /// One server for all of these tests, because the proxy stands before a server of this machine.
  private static let cluster = Result { try PostgresCluster.start() }

  /// A store behind a proxy, and the same store without it.
  private func place() throws -> (proxy: DelayProxy, behind: Shelf, direct: Shelf) {
    let cluster = try Self.cluster.get()
    let database = try cluster.makeDatabase()
    let proxy = try DelayProxy(to: cluster.port)
    let direct = try Shelf(cluster.url(database: database), schema: "shelf")
    let behind = try Shelf(
      cluster.url(database: database, port: proxy.port), schema: "shelf", connections: 1, timeout: 60)
    return (proxy, behind, direct)
  }

  /// The statement, which a zero byte ends, and not a name of an isolation level.
  private static let commit = Array("COMMIT\0".utf8)

  private func isCommit(_ bytes: ArraySlice<UInt8>, _ direction: DelayProxy.Direction) -> Bool {
    direction == .toServer && bytes.contains(Self.commit)
  }

  @Test("a save whose commit reached the server is saved, though its answer did not come back")
  func lostAnswer() throws {
    let (proxy, behind, direct) = try place()
    for number in 0..<10 {
      // The statement is prepared by its first use, and has its text no more after that.
      try behind.renewConnections()
      proxy.cut(.afterForwarding) { isCommit($0, $1) }
      try behind.insert("item \(number)")
      #expect(try direct.names().count == number + 1)
    }
  }

  @Test("a save whose commit did not reach the server is made again")
  func lostCommit() throws {
    let (proxy, behind, direct) = try place()
    for number in 0..<10 {
      try behind.renewConnections()
      proxy.cut(.beforeForwarding) { isCommit($0, $1) }
      try behind.insert("item \(number)")
      #expect(try direct.names().count == number + 1)
    }
  }

  @Test("a connection that is cut after any number of bytes loses nothing and writes nothing twice")
  func cutAnywhere() throws {
    let (proxy, behind, direct) = try place()
    try behind.insert("first")
    let before = proxy.traffic.reduce(0) { $0 + $1.bytesFromClient }
    try behind.insert("second")
    let bytes = proxy.traffic.reduce(0) { $0 + $1.bytesFromClient } - before
    var expected: Set = ["first", "second"]
    let step = max(1, bytes / TestSettings.number("TRELLIS_CUTS", or: 60))
    for place in stride(from: 1, through: bytes + 200, by: step) {
      let name = "item \(place)"
      proxy.cut(afterBytesFromClient: place)
      do {
        try behind.insert(name)
        expected.insert(name)
      } catch let error as StoreError {
        // Nothing is left in doubt: a save that fails has written nothing.
        #expect(error.code == .inputOutput || error.code == .cannotOpen, "\(error)")
      }
      #expect(try Set(direct.names()) == expected, "after \(place) bytes")
    }
  }

  @Test("a transaction that is said not to be committed never is", arguments: [false, true])
  func ending(isFirst: Bool) throws {
    let (_, _, direct) = try place()
    let setup = direct.store.setup
    let (saver, asker) = (try setup.connect(), try setup.connect())
    if !isFirst { try saver.run(SaveMark(setup, saver.identity).statement) }
    let mark = SaveMark(setup, saver.identity)
    try saver.run(ServerStatement("BEGIN"))
    #expect(try asker.run(mark.ending).integer(0, 0) == 0)
    let (_, failure) = try saver.run([mark.statement, ServerStatement("COMMIT")])
    #expect(failure?.state == "23502")
    saver.rollBack()
    #expect(try asker.run(mark.ending).integer(0, 0) == 0)
  }

  @Test("a transaction that has left its mark is waited for") func waiting() throws {
    let (_, _, direct) = try place()
    let setup = direct.store.setup
    let (saver, asker) = (try setup.connect(), try setup.connect())
    let mark = SaveMark(setup, saver.identity)
    try saver.runAll([ServerStatement("BEGIN"), mark.statement])
    try asker.run(ServerStatement("SET statement_timeout = 200"))
    #expect(try asker.run([mark.ending]).failure?.state == ServerError.endedState)
    try saver.run(ServerStatement("COMMIT"))
    #expect(try asker.run(mark.ending).integer(0, 0) == 1)
    #expect(try asker.run(mark.ending).integer(0, 0) == 1)
  }

  @Test("sessions that an administrator ends at any moment lose no save and write none twice")
  func endedSessions() throws {
    let (_, _, direct) = try place()
    let cluster = try Self.cluster.get()
    let database = try #require(URL(string: direct.store.setup.options.connectionString)?.lastPathComponent)
    let isDone = Atomic(false)
    let failures = Failures()
    let saved = Mutex<Set<String>>([])
    let group = DispatchGroup()
    for writer in 0..<4 {
      Thread.start(in: group) {
        do {
          // The session in which a store is opened may be ended as well.
          var opened: Shelf?
          while opened == nil {
            do {
              opened = try Shelf(
                direct.store.setup.options.connectionString, schema: "shelf", connections: 1, timeout: 60)
            } catch let error as StoreError where error.code == .inputOutput || error.code == .cannotOpen {}
          }
          let shelf = try #require(opened)
          for number in 0..<TestSettings.number("TRELLIS_ENDED_SAVES", or: 150) {
            let name = "\(writer).\(number)"
            do {
              try shelf.insert(name)
              _ = saved.withLock { $0.insert(name) }
            } catch let error as StoreError where error.code == .inputOutput || error.code == .cannotOpen {}
          }
        } catch {
          failures.add(error)
        }
      }
    }
    let killer = DispatchGroup()
    Thread.start(in: killer) {
      while !isDone.load(ordering: .acquiring) {
        _ = try? cluster.psql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trellis' "
            + "AND datname = current_database() AND random() < 0.5", database: database)
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
    group.wait()
    isDone.store(true, ordering: .releasing)
    killer.wait()
    #expect(failures.all.isEmpty, "\(failures.all.first.map { "\($0)" } ?? "")")
    #expect(try Set(direct.names()) == saved.withLock { $0 })
    #expect(saved.withLock { $0.count } > 0)
  }

  @Test("after a restart of the server, reads and saves go on") func restart() throws {
    let cluster = try PostgresCluster.start()
    let shelf = try Shelf(cluster.url(database: "postgres"), schema: "shelf")
    try shelf.insert("a")
    try cluster.restart()
    #expect(try shelf.names() == ["a"])
    try cluster.restart(mode: .immediate)
    try shelf.insert("b")
    try cluster.stop()
    #expect(throws: StoreError.self) { try shelf.names() }
    #expect(throws: StoreError.self) { try shelf.insert("c") }
    try cluster.start()
    #expect(try shelf.names() == ["a", "b"])
    try shelf.insert("c")
    #expect(try shelf.names() == ["a", "b", "c"])
  }

  @Test("no message has the password of the connection string") func password() throws {
    let cluster = try Self.cluster.get()
    let wrong = "postgresql://trellis:secret-word@127.0.0.1:\(cluster.port)/postgres"
    let error = try #require(throws: StoreError.self) { try Shelf(wrong) }
    #expect(error.code == .cannotOpen && !error.description.contains("secret-word"), "\(error)")
    let shelf = try Shelf(cluster.url(database: "postgres"))
    #expect(!shelf.store.name.contains(cluster.password) && shelf.store.name.contains("127.0.0.1"))
    let nonsense = try #require(throws: StoreError.self) { try Shelf("postgresql://a:secret-word@[::1/x") }
    #expect(!nonsense.description.contains("secret-word"), "\(nonsense)")
  }
}

extension Shelf {
  /// Closes the connections of the pool, so that the next call makes a new one.
  func renewConnections() throws { store.pool.renew() }
}

extension Collection<UInt8> where Self: BidirectionalCollection {
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    String(decoding: self, as: UTF8.self).contains(String(decoding: part, as: UTF8.self))
  }
}

extension Thread {
  fileprivate static func start(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    detachNewThread {
      body()
      group.leave()
    }
  }
}
