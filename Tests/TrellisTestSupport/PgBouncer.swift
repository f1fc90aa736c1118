import Foundation

/// PgBouncer in its mode `transaction` before a server: each transaction runs on any of few connections. It goes with the
/// object, and with the process.
package final class PgBouncer: Sendable {
  /// Whether there is one to start.
  package static let isAvailable = SearchPath.url(of: "pgbouncer") != nil && PostgresCluster.canStart
  package static let requirement = "needs pgbouncer, and PostgreSQL's initdb"

  package let port: UInt16
  private let server: PostgresCluster
  private let home: ServerHome

  /// - Parameters:
  ///   - size: the number of its connections to a database.
  ///   - patience: the number of seconds that a client waits for one of them.
  package init(before server: PostgresCluster, size: Int, patience: Int = 120) throws {
    guard let programs = PostgresPrograms.installed else { throw PostgresFailure(description: Self.requirement) }
    home = try ServerHome(programs, in: "/tmp")
    self.server = server
    port = try PostgresCluster.freePort()
    let settings = """
      [databases]
      * = host=\(server.host) port=\(server.port) user=\(server.user) password=\(server.password)
      [pgbouncer]
      listen_addr = 127.0.0.1
      listen_port = \(port)
      unix_socket_dir =
      auth_type = any
      pool_mode = transaction
      default_pool_size = \(size)
      max_client_conn = 200
      query_wait_timeout = \(patience)

      """
    try home.write(settings, to: "pool.ini")
    guard home.watchdog.tell("pool") else { throw PostgresFailure(description: "pgbouncer does not start") }
    for _ in 0..<500 {
      if (try? server.psql("SELECT 1", port: port)) == "1" { return }
      Thread.sleep(forTimeInterval: 0.02)
    }
    let log = (try? String(contentsOfFile: "\(home.folder)/pool.log", encoding: .utf8)) ?? ""
    throw PostgresFailure(description: "pgbouncer cannot be reached:\n\(log)")
  }

  /// The address of a database behind it.
  package func url(database: String) -> String { server.url(database: database, port: port) }
}
