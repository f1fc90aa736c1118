import Foundation
import Testing
import TrellisTestSupport

/// The commands that take a store, with one on a server beside the same in a file.
@Suite("Stores on servers", .enabled(if: TestServer.isThere, "needs a server")) struct ServerStoreTests {
  private let folder: ToolFolder
  private let schemas: Schemas

  /// Schemas that are dropped at the end.
  private final class Schemas {
    private var names: [String] = []

    /// The address of a schema that no other test has.
    func new() -> String {
      let name = TestServer.newSchema()
      names.append(name)
      let schema = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      return "\(TestServer.url)\(TestServer.url.contains("?") ? "&" : "?")schema=\(schema)"
    }

    func sql(_ text: String) throws {
      _ = try PostgresCluster.running().psql(text.replacing("SCHEMA", with: "\"\(names.last ?? "")\""))
    }

    deinit {
      for name in names { _ = try? PostgresCluster.running().psql("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE") }
    }
  }

  private static let everything = ToolFolder.root.appending(
    path: "Tests/Packages/Consumer/Sources/Library/Everything.model.json"
  ).path

  private static let shelf = """
    {
      "model": "Shelf",
      "entities": {
        "Book": {
          "attributes": { "title": { "type": "string", "maxLength": 20 }, "pages": "int32?" },
          "relationships": { "tags": { "destination": "Tag", "inverse": "books", "toMany": true, "ordered": true } },
          "fetchRequests": { "long": { "predicate": "pages > 100" } }
        },
        "Tag": {
          "attributes": { "name": "string" },
          "relationships": { "books": { "destination": "Book", "inverse": "tags", "toMany": true } },
          "unique": [["name"]]
        }
      }
    }
    """

  init() throws {
    folder = try ToolFolder()
    schemas = Schemas()
    try folder.write(Self.shelf, to: "Shelf.model.json")
  }

  private func output(_ arguments: String..., status: Int32 = 0) throws -> String {
    let outcome = try folder.run(arguments)
    #expect(outcome.status == status, "\(arguments)\n\(outcome.output)\(outcome.errors)")
    return outcome.output
  }

  private func errors(_ arguments: String..., status: Int32 = 1) throws -> String {
    let outcome = try folder.run(arguments)
    #expect(outcome.status == status, "\(arguments)\n\(outcome.output)\(outcome.errors)")
    return outcome.errors
  }

  @Test("dump, load and copy keep everything, in each direction", arguments: ["1", "2", "77"])
  func transfers(seed: String) throws {
    let (server, second, third) = (schemas.new(), schemas.new(), schemas.new())
    _ = try folder.run("seed", "--seed", seed, Self.everything, "a.db", "25")
    try #require(try folder.names().contains("a.db"))
    _ = try output("copy", "a.db", server)
    _ = try output("dump", "a.db", "--output", "a.json")
    _ = try output("dump", server, "--output", "b.json")
    #expect(try folder.bytes(of: "a.json") == folder.bytes(of: "b.json"))
    _ = try output("copy", server, "c.db")
    _ = try output("dump", "c.db", "--output", "c.json")
    #expect(try folder.bytes(of: "a.json") == folder.bytes(of: "c.json"))
    _ = try folder.run("load", "--force", "a.json", second)
    #expect(try output("dump", second) == folder.text(of: "a.json"))
    _ = try output("copy", second, third)
    #expect(try output("dump", third) == folder.text(of: "a.json"))
    // New objects have other keys than those that came.
    let before = try output("list", second, "Person", "--json", "--limit", "1000")
    _ = try folder.run("insert", "--write", second, "Person", "name=new")
    #expect(try output("list", second, "Person", "--json", "--limit", "1000") != before)
    #expect(try folder.run("doctor", second).output.contains("a store on PostgreSQL"))
  }

  @Test("what commands say of a store is the same, wherever it is") func sameAnswers() throws {
    let server = schemas.new()
    let seeded = try output("seed", "Shelf.model.json", "a.db", "30")
    #expect(try output("seed", "Shelf.model.json", server, "30") == seeded)
    func compare(_ arguments: String..., status: Int32 = 0) throws {
      let answers = try ["a.db", server].map { place in
        try folder.run(arguments.map { $0 == "STORE" ? place : $0 })
      }
      #expect(answers[0] == answers[1], "\(arguments)")
      #expect(answers[0].status == status, "\(arguments): \(answers[0])")
    }
    try compare("list", "STORE")
    try compare("list", "STORE", "Book", "--sort", "-pages", "--limit", "7")
    try compare("query", "STORE", "Book", "pages > 10 AND ANY tags.name CONTAINS[c] 'A'", "--json")
    try compare("show", "STORE", "Book#1")
    try compare("get", "STORE", "Book#1", "title")
    try compare("describe", "STORE")
    try compare("diagram", "STORE")
    try compare("export-json", "STORE", "Book", status: 1)
    try compare("set", "STORE", "Book#1", "title=Tea", status: 2)
    try compare("set", "STORE", "Book#1", "title=Tea", "--write")
    try compare("set", "STORE", "Book#1", "title=This title is far too long", "--write", status: 1)
    try compare("delete", "STORE", "Book#2", "--write")
    try compare("list", "STORE", "Book", "--limit", "100", "--json")
    try compare("dump", "STORE")
    #expect(try output("doctor", server).hasSuffix("nothing is broken\n"))
    #expect(try output("doctor", "--json", server).contains("\"kind\": \"postgresql\""))
  }

  @Test("without --write nothing is written, and a store that cannot be made whole does not stay") func noTraces()
    throws
  {
    let (server, broken) = (schemas.new(), schemas.new())
    _ = try output("seed", "Shelf.model.json", server, "5")
    let before = try output("dump", server)
    _ = try output("insert", server, "Book", "title=Draft", status: 2)
    #expect(try output("dump", server) == before)
    // The server itself refuses what a command that only reads would write.
    try folder.write(
      before.replacing("\"title\": \"", with: "\"title\": \"much too long for this model "), to: "d.json")
    #expect(try errors("load", "d.json", broken).contains("was not kept"))
    #expect(try errors("list", broken, status: 66).contains("There is no store in"))
    _ = try folder.run("load", "--force", "d.json", broken)
    #expect(try output("doctor", broken, status: 1).contains("[broken-rule]"))
    #expect(try errors("load", "d.json", server).contains("has a store already"))
  }

  @Test("a schema that was there before is not dropped, and of several commands one makes it") func presentSchemas()
    throws
  {
    _ = try output("seed", "Shelf.model.json", "a.db", "5")
    let (made, raced) = (schemas.new(), schemas.new())
    try schemas.sql("CREATE schema \"\(Self.name(of: made))\"; CREATE TABLE \"\(Self.name(of: made))\".mine (a int)")
    try folder.write("{}", to: "no.json")
    #expect(try folder.run("load", "no.json", made).status != 0)
    _ = try output("copy", "a.db", made)
    #expect(try output("dump", made) == output("dump", "a.db"))
    #expect(try errors("copy", "a.db", made).contains("has a store already"))
    try schemas.sql("SELECT * FROM \"\(Self.name(of: made))\".mine")
    let lock = NSLock()
    nonisolated(unsafe) var statuses: [Int32] = []  // the lock guards it
    let folder = folder
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      let status = (try? folder.run("copy", "a.db", raced).status) ?? -1
      lock.withLock { statuses.append(status) }
    }
    #expect(statuses.filter { $0 == 0 }.count == 1, "\(statuses)")
    #expect(try output("dump", raced) == output("dump", "a.db"))
    // What a command that was killed has left is named.
    let left = schemas.new()
    try schemas.sql("CREATE schema \"\(Self.name(of: left)) (new)\"")
    #expect(try errors("copy", "a.db", left).contains("drop the schema \"\(Self.name(of: left)) (new)\""))
    try schemas.sql("DROP schema \"\(Self.name(of: left)) (new)\"")
    _ = try output("copy", "a.db", left)
    let long = "\(TestServer.url)\(TestServer.url.contains("?") ? "&" : "?")schema=\(String(repeating: "y", count: 64))"
    #expect(try errors("copy", "a.db", long, status: 66).contains("at most 63 bytes"))
  }

  private static func name(of address: String) -> String {
    String(address.split(separator: "=").last ?? "").removingPercentEncoding ?? ""
  }

  @Test("a migration is planned and made, and another program's faults are found") func migration() throws {
    let server = schemas.new()
    _ = try output("seed", "Shelf.model.json", server, "10")
    try folder.write(
      Self.shelf.replacing(
        "\"pages\": \"int32?\"", with: "\"pages\": \"int32?\", \"stars\": { \"type\": \"int16\", \"default\": 3 }"),
      to: "New.model.json")
    let plan = try output("migrate", "--plan", server, "New.model.json")
    #expect(plan.contains("Book.stars"), "\(plan)")
    #expect(try output("diff", "Shelf.model.json", "New.model.json", "--store", server).contains("stars"))
    _ = try output("migrate", server, "New.model.json")
    #expect(try output("get", server, "Book#1", "stars") == "3\n")
    try schemas.sql("UPDATE SCHEMA.\"Book\" SET title = repeat('x', 40) WHERE _id = 1")
    #expect(try output("doctor", server, status: 1).contains("at most 20"))
  }

  @Test("saves are listed, compared, undone and restored as in a file") func pastSaves() throws {
    try folder.write(
      Self.shelf.replacing("\"Shelf\",", with: "\"Shelf\", \"history\": \"values\","), to: "Past.model.json")
    var told: [[String]] = []
    for store in ["s.db", schemas.new()] {
      /// The numbers of the saves, once the server tells of all: transactions of other tests may have begun before.
      func saves(_ count: Int) throws -> [String] {
        let end = ContinuousClock.now + .seconds(60)
        while true {
          let found = try output("history", store, "--json").matches(of: /"save": ([0-9]+)/).map { String($0.1) }
          if found.count >= count || ContinuousClock.now > end { return found.reversed() }
          Thread.sleep(forTimeInterval: 0.01)
        }
      }
      _ = try output("seed", "Past.model.json", store, "2", "--seed", "3")
      let first = try saves(1)
      _ = try output("set", store, "Book#1", "title=Sea", "tags=Tag#3,Tag#4", "--write")
      _ = try output("set", store, "Book#1", "tags=Tag#4,Tag#3", "--write")
      _ = try output("delete", store, "Book#1", "--write")
      let all = try saves(first.count + 3)
      let mine = Array(all.suffix(3))
      var lines = [try output("diff-data", store, "--since", first[first.count - 1], "--until", mine[1])]
      lines.append(try output("diff-data", store, "Tag", "--since", "0", "--json"))
      let deleted = try output("history", store, mine[2]).split(separator: "\n").dropFirst(2).prefix(4)
      lines.append(deleted.joined(separator: "\n"))
      lines.append(try output("undo", store, mine[2], status: 2))
      lines.append(try errors("undo", store, mine[0], status: 1))
      lines.append(try output("restore", store, "Book#1", "--as-of", mine[0], "--write"))
      lines.append(try output("show", store, "Book#1"))
      _ = try saves(all.count + 1)
      // A server also lists the pairs of a deleted object at their other ends.
      lines.append(try errors("undo", store, mine[2], status: 1).split(separator: "\n").first.map(String.init) ?? "")
      lines.append(try output("undo", store, "--since", first[first.count - 1], "--write"))
      lines.append(try output("list", store, "Book", "--json"))
      lines.append(try output("doctor", store).split(separator: "\n").last.map(String.init) ?? "")
      told.append(lines)
    }
    #expect(told[0] == told[1])
    #expect(told[0][4].contains("[deleted-later]") && told[0][7].contains("[exists-again]"))
  }

  @Test("an address is told without its password, and files are asked for where they are needed") func messages() throws
  {
    let secret = "postgresql://shop:geheim@127.0.0.1:1/shop?schema=x"
    _ = try output("seed", "Shelf.model.json", "s.db", "3")
    for arguments in [
      ["list", secret], ["doctor", secret], ["dump", secret], ["migrate", secret, "Shelf.model.json"],
      ["load", "-", secret], ["copy", secret, "x.db"], ["seed", "Shelf.model.json", secret, "3"], ["check", secret],
      ["history", secret], ["diff-data", secret, "--since", "1"], ["restore", secret, "Book#1", "--as-of", "1"],
      ["undo", secret, "1"], ["browse", secret], ["diff", "--store", secret, "Shelf.model.json", "Shelf.model.json"],
      ["diagram", secret], ["sync", secret, "."], ["answer", secret, "."], ["replicas", secret],
      ["import", "Shelf.model.json", secret], ["import-json", secret, "x.json"], ["backup", secret, "y.db"],
      ["backup", "s.db", secret], ["dump", "s.db", "--output", secret], [secret], ["get", "s.db", secret, "x"],
      ["query", "s.db", secret], ["doctor", secret.replacing("postgresql", with: "POSTGRESQL")],
      ["doctor", secret.replacing("://", with: ":/")], ["doctor", "host=/tmp user=shop password=geheim dbname=shop"],
      ["copy", "s.db", "user=shop password='geheim' dbname=shop"],
    ] {
      let outcome = try folder.run(arguments)
      #expect(outcome.status != 0 && !outcome.errors.contains("geheim"), "\(arguments): \(outcome)")
    }
    #expect(try errors("check", secret, status: 66).contains("a file is needed here"))
    let server = schemas.new()
    _ = try output("seed", "Shelf.model.json", server, "3")
    #expect(try errors("backup", server, "y.db").contains("pg_dump"))
    #expect(try folder.names() == ["Shelf.model.json", "s.db"])
  }
}
