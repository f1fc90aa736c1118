import Foundation
import Testing
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// Connections over TLS, which is libpq's: that its words arrive, and what is said when one side does not trust the other.
@Suite(
  "TLS and passwords", .enabled(if: PostgresCluster.canStart && Certificates.canBeMade, "needs initdb and openssl"))
struct TLSTests {
  private static let certificates = Result { try Certificates() }
  /// A server that takes connections over TLS only, and asks the role `guest` for its certificate.
  private static let cluster = Result {
    let made = try certificates.get()
    let cluster = try PostgresCluster.start(
      settings: [
        "ssl": "on", "ssl_cert_file": "../server.crt", "ssl_key_file": "../server.key", "ssl_ca_file": "../ca.crt",
        "hba_file": "hba.conf", "log_statement": "all", "log_connections": "on",
      ],
      files: [
        "server.crt": made.text("server.crt"), "server.key": made.text("server.key"), "ca.crt": made.text("ca.crt"),
        "hba.conf": "hostssl all guest 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n",
      ])
    _ = try cluster.psql("CREATE ROLE guest LOGIN SUPERUSER")
    return cluster
  }

  private func url(_ words: String, user: String? = nil, password: String? = nil, host: String? = nil) throws -> String
  {
    let cluster = try Self.cluster.get()
    let credentials = "\(user ?? cluster.user):\(password ?? cluster.password)"
    return "postgresql://\(credentials)@\(host ?? cluster.host):\(cluster.port)/postgres?\(words)"
  }

  private func refusal(_ url: String) throws -> StoreError {
    let error = #expect(throws: StoreError.self) { _ = try Shelf(url, schema: TestServer.newSchema()) }
    let found = try #require(error)
    #expect(found.code == .cannotOpen && !"\(found)".contains("secret"), "\(found)")
    #expect(try !"\(found)".contains(Self.cluster.get().password))
    return found
  }

  @Test("a server whose certificate is trusted is used, in each mode")
  func trusted() throws {
    let root = try Self.certificates.get().path("ca.crt")
    for mode in ["require", "verify-ca", "verify-full"] {
      let shelf = try Shelf(url("sslmode=\(mode)&sslrootcert=\(root)"), schema: TestServer.newSchema())
      try shelf.insert(mode)
      #expect(try shelf.names() == [mode])
    }
  }

  @Test("a server whose certificate is not trusted, or is another one's, is refused")
  func untrusted() throws {
    let made = try Self.certificates.get()
    let unknown = try refusal(url("sslmode=verify-full&sslrootcert=\(made.path("other.crt"))"))
    #expect(unknown.message.contains("certificate verify failed"), "\(unknown)")
    let named = try refusal(url("sslmode=verify-full&sslrootcert=\(made.path("ca.crt"))", host: "localhost"))
    #expect(named.message.contains("does not match host name"), "\(named)")
  }

  @Test("a server without TLS is refused where TLS is required, and one that requires it where there is none")
  func withoutTLS() throws {
    let plain = try PostgresCluster.running()
    let error = try refusal(
      "postgresql://\(plain.user):\(plain.password)@\(plain.host):\(plain.port)/postgres?sslmode=require")
    #expect(error.message.contains("does not support SSL"), "\(error)")
    #expect(try refusal(url("sslmode=disable")).message.contains("no encryption"))
  }

  @Test("a role can be known by its certificate, and by no other")
  func clientCertificate() throws {
    let made = try Self.certificates.get()
    let words = "sslmode=verify-full&sslrootcert=\(made.path("ca.crt"))"
    let own = "&sslcert=\(made.path("guest.crt"))&sslkey=\(made.path("guest.key"))"
    let shelf = try Shelf(url(words + own, user: "guest", password: ""), schema: TestServer.newSchema())
    try shelf.insert("guest")
    #expect(try shelf.names() == ["guest"])
    #expect(try refusal(url(words, user: "guest", password: "")).message.contains("certificate"))
  }

  @Test("a wrong password is refused, and is neither in the error nor in the name of the store")
  func wrongPassword() throws {
    let error = try refusal(url("sslmode=require", password: "secret"))
    #expect(error.message.contains("password authentication failed"), "\(error)")
  }

  @Test("a server that logs all statements and connections logs no password")
  func serverLog() throws {
    try Shelf(url("sslmode=require"), schema: "logged").insert("first")
    _ = try refusal(url("sslmode=require", password: "secret"))
    let cluster = try Self.cluster.get()
    let log = try String(contentsOf: #require(cluster.log), encoding: .utf8)
    #expect(log.contains("connection authorized: user=trellis") && log.contains("INSERT INTO \"logged\""))
    #expect(!log.contains(cluster.password) && !log.contains("secret"))
  }
}

/// Certificates that are made for a test: of an authority with a server and a client, and of another authority.
private final class Certificates: Sendable {
  private let folder: TestFolder

  private static let program = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  static let canBeMade = program != nil

  init() throws {
    folder = try TestFolder()
    for authority in ["ca", "other"] {
      try run(
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=\(authority)", "-keyout",
        path("\(authority).key"), "-out", path("\(authority).crt"))
    }
    try Data("subjectAltName=IP:127.0.0.1".utf8).write(to: folder.file("names"))
    for (name, subject) in [("server", "the server"), ("guest", "guest")] {
      try run(
        "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=\(subject)", "-keyout", path("\(name).key"), "-out",
        path("\(name).csr"))
      try run(
        "x509", "-req", "-in", path("\(name).csr"), "-CA", path("ca.crt"), "-CAkey", path("ca.key"), "-CAcreateserial",
        "-days", "2", "-extfile", path("names"), "-out", path("\(name).crt"))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("\(name).key"))
    }
  }

  func path(_ name: String) -> String { folder.file(name).path }

  func text(_ name: String) -> String { (try? String(contentsOf: folder.file(name), encoding: .utf8)) ?? "" }

  private func run(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: Self.program ?? "openssl")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
