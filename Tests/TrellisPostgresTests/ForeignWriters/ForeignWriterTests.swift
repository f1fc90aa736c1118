import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("What programs leave that write by themselves") struct ForeignWriterTests {
  @Test("the server refuses what its checks say, and a check of the store finds the rest", arguments: Market.Kind.there)
  func faults(kind: Market.Kind) throws {
    let market = try Market(kind)
    let faults = try market.faults()
    let keys = try market.insert(faults.map(\.entity))
    #expect(try market.findings() == [])
    var expected: Set<String> = []
    for (fault, key) in zip(faults, keys) {
      let place = "\(fault.entity).\(fault.property) = \(fault.value)"
      do {
        try market.set(fault, of: key)
        #expect(!(fault.isRefused && kind.hasChecks), "\(place) is accepted")
        guard let code = fault.finding else { continue }
        // A row of an unknown entity is reported with its table.
        expected.insert(Market.line(code == .unknownEntity ? "Base" : fault.entity, key, fault.property, code))
      } catch let error as ServerError {
        // A server before version 14 has no infinite numeric.
        if error.state == "22P02" && fault.value == "'Infinity'" { continue }
        #expect(fault.isRefused && kind.hasChecks && error.state == "23514", "\(place): \(error)")
        let prefix = fault.column == "_entity" ? "_entity." : fault.value == "NULL" ? "_required." : "_value."
        #expect(error.constraint.hasPrefix(prefix), "\(place): \(error.constraint)")
      }
    }
    let found = try market.findings()
    #expect(found.subtracting(expected).sorted() == [])
    #expect(expected.subtracting(found).sorted() == [])
  }

  @Test("each value of a row is told, and not the first alone", arguments: Market.Kind.there.filter { !$0.hasChecks })
  func several(kind: Market.Kind) throws {
    let market = try Market(kind)
    let faults = try market.faults().filter { $0.entity == "Leaf" && $0.finding != nil && $0.column != "_entity" }
    let key = try #require(try market.insert(["Leaf"]).first)
    var expected: Set<String> = []
    for fault in faults where !expected.contains(where: { $0.hasPrefix("Leaf/\(key).\(fault.property) ") }) {
      try market.set(fault, of: key)
      expected.insert(Market.line("Leaf", key, fault.property, fault.finding ?? .damaged))
    }
    #expect(expected.count > 20)
    #expect(try market.findings() == expected)
  }

  @Test("an inserted row is checked as well", .enabled(if: TestServer.isThere, "needs a server"))
  func inserts() throws {
    let market = try Market(.created)
    _ = try market.insert(["Base"])
    let before = try market.findings()
    for (column, value) in [("_entity", "'Nobody'"), ("bDecimalOr", "'NaN'"), ("bDateOr", "'infinity'")] {
      let error = #expect(throws: ServerError.self) {
        try market.run(
          "CREATE TEMP TABLE t AS SELECT * FROM SCHEMA.\"Base\";;UPDATE t SET _id = 99, \"\(column)\" = \(value);;"
            + "INSERT INTO SCHEMA.\"Base\" SELECT * FROM t")
      }
      try market.run("DROP TABLE t")
      #expect(error?.state == "23514" && error?.table == "Base", "\(column)")
    }
    #expect(try market.findings() == before)
  }

  @Test(
    "rows of before do not stop a migration, and a save that would change one names the check and the way out",
    .enabled(if: TestServer.isThere, "needs a server"))
  func formerRows() throws {
    let market = try Market(.earlier)
    let keys = try market.insert(["Plain", "Plain", "Leaf"])
    try market.run(
      "UPDATE SCHEMA.\"Plain\" SET \"pDecimal\" = 'NaN', \"friend\" = 1 WHERE _id = \(keys[0]);;"
        + "UPDATE SCHEMA.\"Base\" SET \"_entity\" = 'Nobody' WHERE _id = \(keys[2])")
    let found = try market.findings()
    #expect(found.count == 2)
    // The checks come with the next migration.
    var description = market.model.description
    let plain = try #require(description.entities.firstIndex { $0.name == "Plain" })
    description.entities[plain].attributes.append(AttributeDescription("note", .string, optional: true))
    let next = try Model(description)
    let store = try market.open(next)
    defer { store.close() }
    #expect(throws: ServerError.self) { try market.run("UPDATE SCHEMA.\"Plain\" SET \"pDateOr\" = 'infinity'") }
    #expect(throws: ServerError.self) {
      try market.run("UPDATE SCHEMA.\"Base\" SET \"_entity\" = 'None' WHERE _id = \(keys[2])")
    }

    let request = SaveRequest()
    let entity = next.entities[plain]
    let friend = try #require(entity.properties.first { $0.name == "friend" }?.relationship)
    request.clearedReferences = [.init(relationship: friend.number, targets: [1])]
    let connection = try store.connect()
    let error = try #require(throws: StoreError.self) { try connection.save(request) }
    #expect(error.code == .refusedByServer, "\(error)")
    #expect(error.message.contains("_value.Plain.pDecimal") && error.message.contains("table Plain"), "\(error)")
    #expect(error.remedy.contains("check()") && !error.description.contains("NaN"))
    try market.run("UPDATE SCHEMA.\"Plain\" SET \"pDecimal\" = 1 WHERE \"pDecimal\" = 'NaN'")
    try connection.save(request)
    try market.run("ALTER TABLE SCHEMA.\"Plain\" VALIDATE CONSTRAINT \"_value.Plain.pDecimal\"")
  }

  @Test(
    "a model that leaves everything stored as it is neither makes nor drops checks",
    .enabled(if: TestServer.isThere, "needs a server"), arguments: [Market.Kind.created, .earlier])
  func newText(kind: Market.Kind) throws {
    let market = try Market(kind)
    let keys = try market.insert(["Plain"])
    let before = try market.columnsAndChecks()
    var description = market.model.description
    description.version = "2"
    let strict = try #require(description.enums.firstIndex { $0.name == "Strict" })
    description.enums[strict].cases.append(.init("c", .text("c")))
    // A new case needs no lock of a table that another program reads.
    let reader = try ServerConnection(
      ServerAddress(TestServer.url).keywords(timeout: 10), preparesStatements: false)
    try reader.transaction { reader in
      try reader.run(ServerStatement("LOCK TABLE \(market.qualified("Plain")) IN ACCESS SHARE MODE"))
      try market.open(Model(description)).close()
    }
    // Not even those of an entity without rows.
    #expect(try market.columnsAndChecks() == before)
    func isRefused(_ sql: String) -> Bool {
      do {
        try market.run(sql)
        return false
      } catch { return true }
    }
    #expect(
      isRefused("UPDATE SCHEMA.\"Plain\" SET \"pDateOr\" = 'infinity' WHERE _id = \(keys[0])") == (kind == .created))
    #expect(!isRefused("UPDATE SCHEMA.\"Plain\" SET \"pStrict\" = 'c' WHERE _id = \(keys[0])"))
  }

  @Test(
    "a table follows its entities and attributes through migrations", .enabled(if: TestServer.isThere, "needs a server")
  )
  func renames() throws {
    let market = try Market(.created)
    _ = try market.insert(["Plain", "Leaf"])
    var description = market.model.description
    func number(_ name: String) -> Int { description.entities.firstIndex { $0.name == name } ?? 0 }
    // Names are given away and taken, and the child's required values get another name.
    let (leaf, other, twig) = (number("Leaf"), number("Other"), number("Twig"))
    description.entities[leaf].name = "Other"
    description.entities[leaf].renamedFrom = ["Leaf"]
    description.entities[other].name = "Leaf"
    description.entities[other].renamedFrom = ["Other"]
    description.entities[twig].parent = "Other"
    for entity in description.entities.indices {
      for place in description.entities[entity].relationships.indices
      where description.entities[entity].relationships[place].destination == "Leaf" {
        description.entities[entity].relationships[place].destination = "Other"
      }
    }
    let date = try #require(description.entities[leaf].attributes.firstIndex { $0.name == "lDate" })
    description.entities[leaf].attributes[date].name = "lMoment"
    description.entities[leaf].attributes[date].renamedFrom = ["lDate"]
    let plain = number("Plain")
    description.entities[plain].name = "Simple"
    description.entities[plain].renamedFrom = ["Plain"]
    for entity in description.entities.indices {
      for place in description.entities[entity].relationships.indices
      where description.entities[entity].relationships[place].destination == "Plain" {
        description.entities[entity].relationships[place].destination = "Simple"
      }
    }
    try market.open(Model(description)).close()
    func refusal(_ sql: String) -> String? {
      do {
        try market.run(sql)
        return nil
      } catch { return (error as? ServerError)?.constraint }
    }
    #expect(refusal("UPDATE SCHEMA.\"Simple\" SET \"pDecimal\" = 'NaN'") == "_value.Simple.pDecimal")
    #expect(refusal("UPDATE SCHEMA.\"Base\" SET \"Other.lMoment\" = NULL WHERE _entity = 'Other'") == "_required.Other")
    #expect(refusal("UPDATE SCHEMA.\"Base\" SET \"Other.lMoment\" = 'infinity'") == "_value.Base.Other.lMoment")
    #expect(refusal("UPDATE SCHEMA.\"Base\" SET \"_entity\" = 'Nobody'") == "_entity.Base")
  }
}
