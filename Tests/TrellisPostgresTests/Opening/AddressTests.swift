import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Addresses of servers", .enabled(if: TestServer.isThere, "\(PostgresCluster.requirement)"))
struct AddressTests {
  private func error(_ address: String, schema: String = "shelf", connections: Int = 2) -> StoreError? {
    do {
      try Shelf(address, schema: schema, connections: connections).store.close()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test(
    "no part of a password is in an error, however it is written",
    arguments: [
      "se/cret", "se@cret", "se?cret", "se#cret", "se%cret", "se cret", "se:cret", "%zz", "@", "/@", "secret",
    ])
  func passwords(_ password: String) throws {
    for address in [
      "postgresql://shop:\(password)@localhost:1/base",
      "postgres://shop:\(password)@localhost:1,localhost:2/base?sslmode=disable",
      "host=localhost port=1 user=shop password=\(password) dbname=base",
      "host=localhost port=1 user=shop dbname=base password='\(password)",
      "postgresql://localhost:1/base?user=shop&password=\(password)",
      "postgresql:///base?host=localhost&port=1&password=\(password)&nonsense=1",
      "postgresql://shop:\(password)@[::1/base", "postgresql://shop:\(password)@[]/base?nonsense=1",
    ] {
      let found = try #require(error(address), "\(address)")
      #expect(found.code == .cannotOpen, "\(found)")
      let text = "\(found) \(found.message) \(found.remedy)"
      #expect(!text.contains("cret") && !text.contains("zz"), "\(address): \(found)")
    }
  }

  @Test("an address that libpq does not take is refused with what is wrong")
  func malformed() throws {
    let unknown = try #require(error("postgresql://shop:secret@localhost/base?aplication_name=x"))
    #expect(unknown.message.contains("aplication_name") && !unknown.message.contains("secret"), "\(unknown)")
    let keyword = try #require(error("host=localhost nonsense=1"))
    #expect(keyword.message.contains("nonsense"), "\(keyword)")
    let slash = try #require(error("postgresql://shop:se/cret@localhost/base"))
    #expect(slash.remedy.contains("%2F"), "\(slash)")
    let percent = try #require(error("postgresql://shop:a%b@localhost/base"))
    #expect(percent.remedy.contains("%25"), "\(percent)")
    for nothing in ["", "  ", "hello world"] {
      let found = try #require(error(nothing))
      #expect(found.remedy.contains("postgresql://"), "\(found)")
    }
  }

  @Test("a password and a database whose characters are encoded are taken as they are")
  func encoded() throws {
    #expect(try ServerAddress("postgresql://a:b%40%2Fc@one/base%40x").name == "postgresql://one/base@x")
    #expect(try ServerAddress("postgresql://a:b:c@one:1/base").name == "postgresql://one:1/base")
    #expect(try ServerAddress("postgresql:///base?host=/tmp").name == "postgresql:///tmp/base")
  }

  @Test("the name of a schema that cannot be one is refused", arguments: ["", "pg_shop", "a\u{0}b"])
  func schemas(_ name: String) throws {
    let found = try #require(error(TestServer.url, schema: name))
    #expect(found.code == .cannotOpen && found.message.contains("schema"), "\(found)")
  }

  @Test("a server without room for another connection is busy")
  func slots() throws {
    guard PostgresCluster.canStart else { return }
    let cluster = try PostgresCluster.start(settings: ["max_connections": "8", "superuser_reserved_connections": "3"])
    _ = try cluster.psql("CREATE ROLE shop LOGIN PASSWORD 'secret'; GRANT ALL ON DATABASE postgres TO shop")
    let address = "postgresql://shop:secret@\(cluster.host):\(cluster.port)/postgres"
    let shelf = try Shelf(address, schema: "shelf", connections: 8)
    let pinned = try (0..<5).compactMap { _ in
      let connection = try shelf.store.connect()
      return (try? connection.pin()) == nil ? nil : connection
    }
    let found = #expect(throws: StoreError.self) {
      for _ in 0..<5 { try shelf.store.connect().pin() }
    }
    #expect(found?.code == .busy && found?.remedy.contains("max_connections") == true, "\(String(describing: found))")
    for connection in pinned { connection.unpin() }
  }
}
