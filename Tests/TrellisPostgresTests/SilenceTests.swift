import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// A server whose processes are stopped accepts everything and answers nothing.
@Suite("A server that is silent", .serialized, .enabled(if: PostgresCluster.canStart, "needs initdb"))
struct SilenceTests {
  private static let cluster = Result { try PostgresCluster.start() }

  private func place(timeout: Double = 2) throws -> (shelf: Shelf, sessions: Sessions) {
    let cluster = try Self.cluster.get()
    let database = try cluster.makeDatabase()
    let shelf = try Shelf(cluster.url(database: database), schema: "shelf", connections: 1, timeout: timeout)
    try shelf.insert("first")
    return (shelf, Sessions(cluster, database))
  }

  /// The error of a closure. One that waited for the server, which is stopped, would not end.
  private func error(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test("a read and a save end in time, and go on with another connection")
  func calls() throws {
    let (shelf, sessions) = try place()
    let stopped = try sessions.stop()
    #expect(error { _ = try shelf.names() }?.code == .timedOut)
    #expect(try shelf.names() == ["first"])
    let request = try shelf.inserting(["second"])
    let others = try sessions.stop()
    #expect(error { try shelf.store.connect().save(request) }?.code == .timedOut)
    sessions.resume(stopped + others)
    #expect(try shelf.names() == ["first"])
    try shelf.insert("third")
    #expect(try shelf.names() == ["first", "third"])
    #expect(try shelf.store.pool.withConnection { !$0.isLost })
  }

  @Test("a snapshot ends in time") func snapshot() throws {
    let (shelf, sessions) = try place()
    let reader = try shelf.store.connect()
    try reader.pin()
    let stopped = try sessions.stop()
    #expect(error { _ = try reader.count(shelf.all) }?.code == .timedOut)
    #expect(error { reader.unpin() } == nil)
    sessions.resume(stopped)
    #expect(try shelf.names() == ["first"])
  }

  @Test("a commit without an answer is told as one in doubt") func commit() throws {
    let (shelf, sessions) = try place(timeout: 3)
    // The server is at the commit for long enough to be stopped there.
    try sessions.run(
      """
      CREATE FUNCTION shelf.pause() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(2); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER pause AFTER INSERT ON shelf."Item" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (NEW.name = 'second') EXECUTE FUNCTION shelf.pause()
      """)
    let stopped = Locked<[Int32]>([])
    let watcher = Thread {
      let end = Date.now + 60
      while Date.now < end, stopped.withLock({ $0.isEmpty }) {
        if let found = try? sessions.stop(which: "wait_event = 'PgSleep'") { stopped.withLock { $0 = found } }
      }
    }
    watcher.start()
    let request = try shelf.inserting(["second"])
    let told = error { try shelf.store.connect().save(request) }
    #expect(told?.code == .inDoubt && told?.message.contains("committed") == true, "\(String(describing: told))")
    #expect(stopped.withLock { $0.count } == 1)
    sessions.resume(stopped.withLock { $0 })
    try shelf.insert("third")
    #expect(Set(try shelf.names()).isSuperset(of: ["first", "third"]))
  }

  @Test("a server that only accepts connections ends an opening") func connecting() throws {
    let cluster = try PostgresCluster.start()
    let file = try cluster.psql("SELECT pg_read_file('postmaster.pid')")
    let server = try #require(Int32(file.prefix { $0.isNumber }))
    kill(server, SIGSTOP)
    defer { kill(server, SIGCONT) }
    let told = error { _ = try Shelf(cluster.url(database: "postgres"), timeout: 1) }
    #expect(told?.code == .cannotOpen, "\(String(describing: told))")
  }

  @Test("a creation and a migration end in time at each statement", arguments: [0, 3, 9])
  func preparing(_ statement: Int) throws {
    let cluster = try Self.cluster.get()
    let database = try cluster.makeDatabase()
    let sessions = Sessions(cluster, database)
    func open(_ model: Model, stopsAt number: Int?) throws {
      var options = PostgresOptions(connectionString: cluster.url(database: database), schema: "shelf", connections: 1)
      (options.timeout, options.statementTimeout) = (1, 1)
      let count = Locked(0)
      let stopped = Locked<[Int32]>([])
      if let number {
        options.willPrepare = { process, _ in
          let isFirst = count.withLock { count in
            count += 1
            return count == number + 1
          }
          guard isFirst else { return }
          kill(process, SIGSTOP)
          stopped.withLock { $0.append(process) }
        }
      }
      defer { sessions.resume(stopped.withLock { $0 }) }
      try PostgresOpening(model, options).open(nil).close()
    }
    let model = try Shelf.model()
    #expect(error { try open(model, stopsAt: statement) }?.code == .timedOut)
    try open(model, stopsAt: nil)
    let changed = try Shelf.model(
      AttributeDescription("name", .string), AttributeDescription("list", .string, optional: true),
      AttributeDescription("size", .int64, default: .value(.integer(3))))
    #expect(error { try open(changed, stopsAt: statement) }?.code == .timedOut)
    try open(changed, stopsAt: nil)
  }

  @Test("a store is closed while the session that hears of others is silent") func listening() throws {
    let (shelf, sessions) = try place()
    let connection = try shelf.store.connect()
    connection.beginToHear()
    let stopped = try sessions.stop()
    defer { sessions.resume(stopped) }
    Thread.sleep(forTimeInterval: 2.2)
    #expect(error { shelf.store.close() } == nil)
  }

  @Test("a statement that takes long is ended, and its connection stays usable") func slow() throws {
    let (shelf, _) = try place()
    try shelf.store.pool.withConnection { connection in
      connection.patience = 0.3
      let error = try #require(throws: ServerError.self) { try connection.run(ServerStatement("SELECT pg_sleep(5)")) }
      #expect(error.isSilence && !error.isLost && !connection.isLost, "\(error)")
      #expect(try connection.run(ServerStatement("SELECT 7::bigint")).integer(0, 0) == 7)
      connection.patience = 10
      try connection.run(ServerStatement("SELECT pg_sleep(0.5)"))
    }
  }

  @Test("a store with a longer time for statements lets them take it") func patient() throws {
    let (shelf, _) = try place(timeout: 0.5)
    let options = shelf.store.setup.options
    let patient = StoreConfiguration.postgres(
      options.connectionString, schema: "shelf", timeout: 0.5, statementTimeout: 30)
    let store = try #require(try patient.open(shelf.model) as? PostgresStore)
    try store.pool.withConnection { _ = try $0.run(ServerStatement("SELECT pg_sleep(1)")) }
  }

  /// The server's processes for the sessions of a database.
  private struct Sessions: Sendable {
    private let cluster: PostgresCluster
    private let database: String

    init(_ cluster: PostgresCluster, _ database: String) {
      self.cluster = cluster
      self.database = database
    }

    func run(_ sql: String) throws { _ = try cluster.psql(sql, database: database) }

    /// Stops those of Trellis that run.
    func stop(which condition: String = "true") throws -> [Int32] {
      let found = try cluster.psql(
        "SELECT pid FROM pg_stat_activity WHERE datname = '\(database)' AND application_name = 'trellis' AND \(condition)"
      )
      let processes = found.split(separator: "\n").compactMap { Int32($0) }.filter { !isStopped($0) }
      for process in processes { kill(process, SIGSTOP) }
      return processes
    }

    private func isStopped(_ process: Int32) -> Bool {
      let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
      return status.contains(") T ")
    }

    func resume(_ processes: [Int32]) { for process in processes { kill(process, SIGCONT) } }
  }
}

@Suite("Work that is cancelled", .enabled(if: TestServer.isThere, "needs a server"))
struct CancellationTests {
  @Test("an interruption ends the statement, and the connection stays usable") func statement() throws {
    let shelf = try Shelf()
    let interruption = Interruption()
    Thread.detachNewThread {
      Thread.sleep(forTimeInterval: 0.3)
      interruption.cancel(because: CancellationError())
    }
    try shelf.store.pool.withConnection { connection in
      let start = Date.now
      let error = #expect(throws: ServerError.self) {
        try Interruption.$current.withValue(interruption) { try connection.run(ServerStatement("SELECT pg_sleep(20)")) }
      }
      #expect(error?.state == ServerError.cancelled.state && Date.now.timeIntervalSince(start) < 5)
      // Nothing more is run for the same block, and everything for others.
      #expect(throws: ServerError.self) {
        try Interruption.$current.withValue(interruption) { try connection.run(ServerStatement("SELECT 1")) }
      }
      let answer = try connection.run(ServerStatement("SELECT 7::bigint"))
      #expect(answer.integer(0, 0) == 7)
    }
  }

  @Test("an interruption at any moment of a save leaves it whole or undone, as it says") func saves() throws {
    let shelf = try Shelf(connections: 1)
    var expected: Set<String> = []
    for number in 0..<150 {
      let (interruption, name) = (Interruption(), "item \(number)")
      let request = try shelf.inserting([name])
      Thread.detachNewThread {
        Thread.sleep(forTimeInterval: Double(number) * 0.000_05)
        interruption.cancel(because: CancellationError())
      }
      do {
        try Interruption.$current.withValue(interruption) { try shelf.store.connect().save(request) }
        expected.insert(name)
      } catch let error as StoreError {
        #expect(error.code == .cancelled, "\(error)")
      }
    }
    #expect(try Set(shelf.names()) == expected)
    print("\(expected.count) of 150 saves came before their cancellation")
  }
}
