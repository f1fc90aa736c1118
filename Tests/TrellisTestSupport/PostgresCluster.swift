package import Foundation

/// A PostgreSQL server for tests: one of its own in a temporary folder, or the one whose address is in the variable
/// `TRELLIS_POSTGRES_URL`.
///
/// ```swift
/// @Suite("…", .enabled(if: PostgresCluster.isAvailable, "\(PostgresCluster.requirement)")) struct SomeTests {
///   let database = try PostgresCluster.running().makeDatabase()
/// ```
/// An own server and its folder go with the object, and with the process, however that ends.
package final class PostgresCluster: Sendable {
  package enum Availability: Sendable {
    case running(PostgresCluster)
    case unavailable(String)
  }

  /// How a server is stopped. The raw value is the signal.
  package enum Shutdown: String, CaseIterable, Sendable {
    /// Waits until all clients have gone.
    case smart = "TERM"
    /// Ends the connections.
    case fast = "INT"
    /// Ends as in a crash, so that the next start recovers.
    case immediate = "QUIT"
  }

  private static let namedServer = ProcessInfo.processInfo.environment["TRELLIS_POSTGRES_URL"]

  /// The address of the server, with the database of the administrator.
  private let server: URLComponents
  private let client: URL
  private let own: ServerHome?

  // MARK: Finding a server

  /// What is missing where ``isAvailable`` is false.
  package static let requirement = "needs PostgreSQL: its initdb, or the address of a server in TRELLIS_POSTGRES_URL"

  /// Whether there is a server, or the programs that make one.
  package static var isAvailable: Bool { namedServer != nil || canStart }

  /// Whether there are programs that make a server, so that ``start(fsync:settings:in:)`` can.
  package static var canStart: Bool { PostgresPrograms.installed != nil }

  /// The server that the tests of this process share, started when the first of them needs it.
  package static let shared: Availability = {
    do {
      if let namedServer { return .running(try PostgresCluster(at: namedServer)) }
      return canStart ? .running(try start()) : .unavailable(requirement)
    } catch {
      return .unavailable("\(error)")
    }
  }()

  /// The shared server.
  package static func running() throws -> PostgresCluster {
    switch shared {
    case .running(let cluster): cluster
    case .unavailable(let reason): throw PostgresFailure(description: reason)
    }
  }

  private init(at address: String) throws {
    guard let server = URLComponents(string: address), server.host != nil else {
      throw PostgresFailure(description: "TRELLIS_POSTGRES_URL is no address of a server: \(address)")
    }
    guard let client = SearchPath.url(of: "psql") ?? PostgresPrograms.installed?.url(of: "psql") else {
      throw PostgresFailure(description: "The tests need psql, the client of PostgreSQL.")
    }
    self.server = server
    self.client = client
    own = nil
    _ = try psql("SELECT 1")
  }

  // MARK: An own server

  /// Makes a server in a new folder and starts it.
  ///
  /// - Parameters:
  ///   - fsync: whether it waits until the disk has what is committed. Without it, the server is faster, and does not
  ///     survive a crash of the machine.
  ///   - settings: further settings, or other values of those that a server has here.
  ///   - files: files of the folder with their content, beside the folder of the data.
  ///   - parent: where the folder is made. The path of a Unix socket has little room, so it must be short.
  package static func start(
    fsync: Bool = false, settings: [String: String] = [:], files: [String: String] = [:], in parent: String = "/tmp"
  ) throws -> PostgresCluster {
    guard let programs = PostgresPrograms.installed else { throw PostgresFailure(description: requirement) }
    return try PostgresCluster(programs, fsync: fsync, settings: settings, files: files, in: parent)
  }

  /// Makes a replica that follows this server by streaming, and starts it. It has the same roles and passwords.
  package func makeReplica(in parent: String = "/tmp") throws -> PostgresCluster {
    guard let programs = PostgresPrograms.installed else { throw PostgresFailure(description: Self.requirement) }
    return try PostgresCluster(programs, settings: [:], of: self, in: parent)
  }

  private init(
    _ programs: PostgresPrograms, fsync: Bool = false, settings: [String: String], files: [String: String] = [:],
    of primary: PostgresCluster? = nil, in parent: String
  ) throws {
    let home = try ServerHome(programs, in: parent)
    let (folder, watchdog) = (home.folder, home.watchdog)
    let password =
      primary?.password ?? (0..<4).map { _ in String(UInt32.random(in: .min ... .max), radix: 36) }.joined()
    try home.write(password, to: "password")
    for (name, content) in files { try home.write(content, to: name) }
    var server = URLComponents()
    (server.scheme, server.host, server.path) = ("postgresql", "127.0.0.1", "/postgres")
    (server.user, server.password, server.port) = ("trellis", password, Int(try Self.freePort()))
    self.server = server
    client = programs.url(of: "psql")
    own = home
    if let primary {
      try home.write(
        "host=\(primary.host) port=\(primary.port) user=\(primary.user) password=\(password)", to: "source")
      guard watchdog.tell("copy") else { throw failure("pg_basebackup failed") }
    } else {
      guard watchdog.tell("initialize") else { throw failure("initdb failed") }
    }
    let usual = [
      "listen_addresses": "127.0.0.1", "port": "\(port)", "unix_socket_directories": folder,
      "fsync": fsync ? "on" : "off", "max_connections": "200", "max_prepared_transactions": "0",
    ]
    let lines = usual.merging(settings) { $1 }.sorted { $0.key < $1.key }.map { name, value in
      "\(name) = '\(value.replacing("'", with: "''"))'\n"
    }
    let file = try FileHandle(forWritingTo: URL(filePath: "\(folder)/data/postgresql.conf"))
    try file.seekToEnd()
    try file.write(contentsOf: Data(lines.joined().utf8))
    try file.close()
    try start()
  }

  /// Starts the server after ``stop(mode:)``, at the same address.
  package func start() throws {
    guard try ownServer().watchdog.tell("start") else { throw failure("the server does not start") }
  }

  /// Stops the server. Its folder stays.
  package func stop(mode: Shutdown = .fast) throws {
    guard try ownServer().watchdog.tell("stop \(mode.rawValue)") else { throw failure("the server does not run") }
  }

  package func restart(mode: Shutdown = .fast) throws {
    try stop(mode: mode)
    try start()
  }

  /// What the server has written about itself; nil if it is not an own one.
  package var log: URL? { own.map { URL(filePath: "\($0.folder)/postgres.log") } }

  /// The folder of the server's Unix socket; nil if it is not an own one.
  package var socketFolder: String? { own?.folder }

  static func freePort() throws -> UInt16 {
    let (listener, port) = try LocalSocket.listening()
    close(listener)
    return port
  }

  private func ownServer() throws -> ServerHome {
    guard let own else { throw PostgresFailure(description: "The server belongs to somebody else.") }
    return own
  }

  private func failure(_ what: String) -> PostgresFailure {
    let text = log.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
    return PostgresFailure(description: ([what + ":"] + text.split(separator: "\n").suffix(20)).joined(separator: "\n"))
  }

  // MARK: Using it

  package var host: String { server.host ?? "127.0.0.1" }
  package var port: UInt16 { server.port.flatMap(UInt16.init) ?? 5432 }
  package var user: String { server.user ?? "postgres" }
  package var password: String { server.password ?? "" }

  /// The address of a database, with the user and the password.
  ///
  /// - Parameter port: another port of the same host, such as that of a proxy.
  package func url(database: String, port: UInt16? = nil) -> String {
    var address = server
    address.path = "/" + database
    if let port { address.port = Int(port) }
    return address.string ?? ""
  }

  /// Makes an empty database with a name that no other has. Its texts are in UTF-8 and sorted by their bytes. On a named
  /// server it stays until somebody drops it.
  package func makeDatabase() throws -> String {
    let name = "trellis_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
    _ = try psql("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    return name
  }

  /// Removes a database and ends its connections.
  package func dropDatabase(_ name: String) throws { _ = try psql("DROP DATABASE \(name) WITH (FORCE)") }

  /// Runs statements with the program `psql`.
  ///
  /// - Parameters:
  ///   - database: the database; the administrator's if it is nil.
  ///   - port: another port of the same host, such as that of a proxy.
  /// - Returns: the rows without headings, a line for each, with `|` between the columns.
  /// - Throws: ``PostgresFailure`` with the server's message at the first statement that fails.
  package func psql(_ sql: String, database: String? = nil, port: UInt16? = nil) throws -> String {
    var address = server
    if let database { address.path = "/" + database }
    if let port { address.port = Int(port) }
    // Others can read the arguments of a program.
    address.password = nil
    let folder = try TestFolder()
    for name in ["sql", "errors"] { try Data(name == "sql" ? sql.utf8 : "".utf8).write(to: folder.file(name)) }
    let process = Process()
    process.executableURL = client
    process.arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", address.string ?? ""]
    process.environment = Self.environment.merging(["PGPASSWORD": password, "PGCLIENTENCODING": "UTF8"]) { $1 }
    process.standardInput = try FileHandle(forReadingFrom: folder.file("sql"))
    process.standardError = try FileHandle(forWritingTo: folder.file("errors"))
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let answer = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw PostgresFailure(description: try String(contentsOf: folder.file("errors"), encoding: .utf8))
    }
    let text = String(decoding: answer, as: UTF8.self)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  /// The environment of PostgreSQL's programs, without what it says to other clients.
  static let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
    .merging(["LC_ALL": "C"]) { $1 }
}

/// A server that cannot be used, or a statement that failed.
package struct PostgresFailure: Error, CustomStringConvertible {
  package let description: String
}
