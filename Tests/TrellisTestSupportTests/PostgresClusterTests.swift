import Foundation
import Testing
import TrellisTestSupport

@Suite(
  "A PostgreSQL server for tests", .enabled(if: PostgresCluster.isAvailable, "\(PostgresCluster.requirement)"))
struct SharedClusterTests {
  private let cluster: PostgresCluster

  init() throws { cluster = try PostgresCluster.running() }

  @Test("each test has a database of its own, with texts in UTF-8 and sorted by their bytes")
  func databases() throws {
    let names = [try cluster.makeDatabase(), try cluster.makeDatabase()]
    _ = try cluster.psql("CREATE TABLE only_here (name text)", database: names[0])
    #expect(try cluster.psql("SELECT to_regclass('only_here')", database: names[0]) == "only_here")
    #expect(try cluster.psql("SELECT to_regclass('only_here')", database: names[1]) == "")
    let settings =
      "SELECT pg_encoding_to_char(encoding), datcollate FROM pg_database WHERE datname = current_database()"
    #expect(try cluster.psql(settings, database: names[1]) == "UTF8|C")
    for name in names { try cluster.dropDatabase(name) }
    #expect(try cluster.psql("SELECT count(*) FROM pg_database WHERE datname IN ('\(names[0])', '\(names[1])')") == "0")
  }

  @Test("psql returns rows as they are, and throws what the server says, also after other statements")
  func psql() throws {
    #expect(try cluster.psql("SELECT 1, 'é|커피', NULL; SELECT 'b'") == "1|é|커피|\nb")
    #expect(try cluster.psql("SELECT repeat('x', 1000000)").utf8.count == 1_000_000)
    let failure = #expect(throws: PostgresFailure.self) { try cluster.psql("SELECT 1; SELECT no_such; SELECT 2") }
    #expect(failure?.description.contains("column \"no_such\" does not exist") == true)
  }

  @Test("databases can be made by several tests at the same time")
  func concurrent() async throws {
    let cluster = cluster
    let names = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<8 { group.addTask { try cluster.makeDatabase() } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(names.count == 8)
    for name in names { try cluster.dropDatabase(name) }
  }
}

@Suite("A PostgreSQL server of one test", .enabled(if: PostgresCluster.canStart, "needs PostgreSQL's initdb"))
struct OwnClusterTests {
  @Test("the server has the settings that were asked for, and a password for every way in")
  func settings() throws {
    let cluster = try PostgresCluster.start(
      fsync: true, settings: ["max_connections": "17", "application_name": "it's"])
    func shown(_ setting: String) throws -> String { try cluster.psql("SHOW \(setting)") }
    #expect(try shown("fsync") == "on")
    #expect(try shown("max_connections") == "17")
    #expect(try shown("max_prepared_transactions") == "0")
    #expect(try shown("listen_addresses") == "127.0.0.1")
    #expect(try shown("unix_socket_directories") == cluster.socketFolder)
    #expect(try shown("server_encoding") == "UTF8")
    #expect(try cluster.psql("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user") == "trellis|t")
    let methods = try cluster.psql("SELECT DISTINCT auth_method FROM pg_hba_file_rules")
    #expect(methods == "scram-sha-256")
    #expect(
      try cluster.psql("SELECT rolpassword LIKE 'SCRAM-SHA-256$%' FROM pg_authid WHERE rolname = 'trellis'") == "t")
    let folder = try #require(cluster.socketFolder)
    #expect("\(folder)/.s.PGSQL.\(cluster.port)".utf8.count < 100)
    #expect(FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.\(cluster.port)"))
    #expect(cluster.url(database: "d") == "postgresql://trellis:\(cluster.password)@127.0.0.1:\(cluster.port)/d")
  }

  @Test(
    "a shared server has no fsync, and room for many connections",
    .enabled(if: PostgresCluster.shared.isOwn, "a named server has settings of its own"))
  func shared() throws {
    let cluster = try PostgresCluster.running()
    #expect(try cluster.psql("SHOW fsync") == "off")
    #expect(try cluster.psql("SHOW max_connections") == "200")
  }

  @Test("a stopped server is gone, and has its data at the same address when it starts again")
  func restart() throws {
    let cluster = try PostgresCluster.start()
    let database = try cluster.makeDatabase()
    _ = try cluster.psql("CREATE TABLE kept (number int); INSERT INTO kept VALUES (1)", database: database)
    let address = cluster.url(database: database)
    for mode in PostgresCluster.Shutdown.allCases {
      try cluster.stop(mode: mode)
      #expect(throws: PostgresFailure.self) { try cluster.psql("SELECT 1") }
      #expect(throws: PostgresFailure.self) { try cluster.stop() }
      try cluster.start()
      #expect(try cluster.psql("UPDATE kept SET number = number + 1 RETURNING number", database: database) != "1")
    }
    try cluster.restart()
    #expect(cluster.url(database: database) == address)
    #expect(try cluster.psql("SELECT number FROM kept", database: database) == "4")
    let log = try String(contentsOf: #require(cluster.log), encoding: .utf8)
    #expect(log.contains("received smart shutdown request"))
    #expect(log.contains("received fast shutdown request"))
    #expect(log.contains("database system was not properly shut down; automatic recovery in progress"))
  }

  @Test("a server that does not start says why, and leaves nothing")
  func refusedSetting() throws {
    let place = try ServerPlace()
    let failure = #expect(throws: PostgresFailure.self) {
      try PostgresCluster.start(settings: ["max_connections": "none"], in: place.path)
    }
    #expect(failure?.description.contains("invalid value for parameter \"max_connections\": \"none\"") == true)
    #expect(try place.isEmpty())
  }

  @Test("a server goes with its object")
  func released() throws {
    let place = try ServerPlace()
    var cluster: PostgresCluster? = try PostgresCluster.start(in: place.path)
    #expect(try cluster?.psql("SELECT 1") == "1")
    #expect(try !place.isEmpty())
    cluster = nil
    #expect(try place.isEmpty())
  }

  @Test("a server goes with the process that started it", arguments: ["return", "crash", "wait"])
  func endedProcess(manner: String) throws {
    let place = try ServerPlace()
    let process = try ServerProcess(place, manner)
    #expect(process.output.fileHandleForReading.availableData == Data("running\n".utf8))
    if manner == "wait" {
      #if os(Linux)
        #expect(place.processes() > 1)
      #endif
      process.kill()
    }
    process.waitUntilExit()
    try place.waitUntilEmpty()
  }

  @Test("a process that is killed while its server starts leaves nothing", arguments: [0.02, 0.1, 0.3, 0.6, 1, 1.5])
  func killedAtStart(seconds: TimeInterval) throws {
    let place = try ServerPlace()
    let process = try ServerProcess(place, "wait")
    Thread.sleep(forTimeInterval: seconds)
    process.kill()
    process.waitUntilExit()
    try place.waitUntilEmpty()
  }
}

@Suite("PostgreSQL's programs") struct PostgresProgramsTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test("those in the search path come first, without those that are not all there; links are followed")
  func searchPath() throws {
    let whole = try install("9.6/bin")
    _ = try install("half", ["initdb"])
    let links = folder.file("links")
    try FileManager.default.createDirectory(at: links, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      at: links.appending(path: "initdb"), withDestinationURL: whole.appending(path: "initdb"))
    _ = try install("versions/15/bin")
    let path = ["none", "half", "links"].map(folder.path).joined(separator: ":")
    let found = PostgresPrograms.find(searchPath: path, places: [(folder.path("versions"), "")])
    #expect(found?.folder.path == whole.resolvingSymlinksInPath().path)
  }

  @Test("of several versions the newest that is whole is taken, of those whose name fits")
  func versions() throws {
    for version in ["9.6", "14", "15"] { _ = try install("versions/\(version)/bin") }
    _ = try install("versions/16/bin", ["psql"])
    func found(_ place: String, _ prefix: String) -> String? {
      PostgresPrograms.find(searchPath: "", places: [(folder.path("none"), ""), (folder.path(place), prefix)])?
        .folder.deletingLastPathComponent().lastPathComponent
    }
    #expect(found("versions", "") == "15")
    for name in ["postgresql@9", "postgresql@14", "mysql@99"] { _ = try install("opt/\(name)/bin") }
    #expect(found("opt", "postgresql") == "postgresql@14")
    #expect(found("opt", "oracle") == nil)
  }

  private func install(_ path: String, _ programs: [String] = ["initdb", "postgres", "psql"]) throws -> URL {
    let place = folder.file(path)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    for program in programs {
      let made = FileManager.default.createFile(
        atPath: place.appending(path: program).path, contents: Data(), attributes: [.posixPermissions: 0o755])
      try #require(made)
    }
    return place
  }
}

extension PostgresCluster.Availability {
  fileprivate var isOwn: Bool { if case .running(let cluster) = self { cluster.log != nil } else { false } }
}

/// A folder for the folder of a server, with a short path, and what there is of the server.
private final class ServerPlace {
  struct NotEmpty: Error, CustomStringConvertible { let description: String }

  let path: String

  init() throws {
    path = "/tmp/tpg\(UInt32.random(in: .min ... .max))"
    // The server may run as another user.
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func isEmpty() throws -> Bool { try contents().isEmpty && processes() == 0 }

  /// What is there, but for a folder with nothing in it: a process may be killed between making it and telling the one
  /// that removes it.
  private func contents() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { name in
      (try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(name)"))?.isEmpty != true
    }
  }

  /// The number of processes that work in the folder, where the system shows it.
  func processes() -> Int {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.count { number in
      let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(number)/cwd")
      return place?.hasPrefix("\(path)/") == true
    }
  }

  func waitUntilEmpty() throws {
    for _ in 0..<1_500 {
      if try isEmpty() { return }
      Thread.sleep(forTimeInterval: 0.02)
    }
    throw NotEmpty(description: "\(processes()) processes, and \(try contents())")
  }
}

/// A process with a server, which ends it in the manner that it is told.
private final class ServerProcess {
  struct Missing: Error {}

  let output = Pipe()
  private let process = Process()

  init(_ place: ServerPlace, _ manner: String) throws {
    guard let program = BuiltProgram.url(of: "TrellisClusterProcess") else { throw Missing() }
    process.executableURL = program
    process.arguments = [place.path, manner]
    process.standardOutput = output
    // A crash on purpose needs no report.
    process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
    try process.run()
  }

  func kill() { _ = Foundation.kill(process.processIdentifier, SIGKILL) }

  func waitUntilExit() { process.waitUntilExit() }
}
