import Foundation
import Testing
import Trellis
import TrellisJSON

@Suite("A check finds what is wrong with a store, and nothing else") struct CheckTests {
  @Test("a store that is right has no findings", arguments: ClubStore.Kind.allCases)
  func right(kind: ClubStore.Kind) throws {
    let store = try ClubStore(kind)
    try store.fill()
    #expect(try store.findings() == [])
  }

  @Test("a store in memory is checked as well")
  func memory() throws {
    let container = try PersistentContainer(model: .club, store: .memory, log: nil)
    let context = container.newContext()
    _ = Person(in: context, name: "Ann")
    try context.save()
    #expect(try container.check().isEmpty)
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    let sql: String
    let findings: [String]

    init(_ sql: String, _ findings: String...) {
      self.sql = sql
      self.findings = findings
    }

    var testDescription: String { sql }
  }

  static let damages = [
    Damage("UPDATE Person SET name = '' WHERE name = 'Ann'", "broken-rule Person name"),
    Damage("UPDATE Person SET age = 151 WHERE name = 'Fay'", "broken-rule Captain age"),
    Damage("UPDATE Person SET age = 40000 WHERE name = 'Ann'", "unreadable-value Person age"),
    Damage("UPDATE Person SET \"Captain.rank\" = NULL WHERE name = 'Fay'", "missing-value Captain rank"),
    Damage(
      "UPDATE Person SET _entity = 'Coach' WHERE name = 'Eva'", "unknown-entity Person",
      "damaged Person"),
    Damage("UPDATE Person SET team = 999 WHERE name = 'Dee'", "dangling-reference Person team"),
    Damage("UPDATE Person SET mentor = 999 WHERE name = 'Dee'"),
    Damage("UPDATE Desk SET owner = NULL WHERE _id = (SELECT min(_id) FROM Desk)", "missing-value Desk owner"),
    Damage("UPDATE Person SET partner = NULL WHERE name = 'Ann'", "missing-inverse Person partner"),
    Damage(
      "UPDATE Person SET team = NULL WHERE name = 'Fay'", "member-count Team members", "stale-position Captain team"),
    Damage("UPDATE Person SET team = NULL, _team_order = NULL WHERE name = 'Fay'", "member-count Team members"),
    Damage(
      "UPDATE Person SET team = (SELECT team FROM Person WHERE name = 'Ann'), _team_order = -5 WHERE name = 'Dee'",
      "member-count Team members"),
    Damage(
      "UPDATE Person SET _team_order = (SELECT _team_order FROM Person WHERE name = 'Ann') WHERE name = 'Ben'"),
    Damage("UPDATE _Person_songs SET _songs_order = 5"),
    Damage("DELETE FROM Song WHERE _id = (SELECT max(_id) FROM Song)", "dangling-reference Person songs"),
    Damage("INSERT INTO _Person_badges VALUES (999, (SELECT min(_id) FROM Badge))", "dangling-reference Person badges"),
    Damage("UPDATE Person SET _id = 1 << 60 WHERE name = 'Fay'", "unreserved-key Person"),
    Damage("DROP INDEX \"_index.Person.age\"", "index-differs store"),
    Damage(
      "DROP INDEX \"_unique.Person.code\"; UPDATE Person SET code = 'code 0'",
      "index-differs store", "not-unique Person code", "not-unique Person code", "not-unique Person code",
      "not-unique Person code", "not-unique Person code"),
    Damage("UPDATE Person SET name = CAST(x'41FF' AS TEXT) WHERE name = 'Ann'", "unreadable-value Person name"),
    Damage(
      "UPDATE Badge SET _id = (SELECT _id FROM Person WHERE name = 'Dee')", "dangling-reference Person badges",
      "not-unique Badge"),
    Damage("DROP TABLE Badge", "damaged Person", "damaged Badge", "damaged store", "table-differs store"),
  ]

  @Test("damage done by SQL is found where it is", arguments: damages)
  func sql(damage: Damage) throws {
    let store = try ClubStore(.sqlite)
    try store.fill()
    try store.damage(damage.sql)
    #expect(try store.findings() == damage.findings.sorted())
  }

  @Test("a pair that only one end knows of is found in a relationship that is its own inverse")
  func symmetry() throws {
    let store = try ClubStore(.sqlite)
    try store.fill()
    try store.damage("DELETE FROM _Person_friends WHERE _owner < friends")
    #expect(try store.findings() == ["missing-inverse Person friends"])
  }

  @Test("an index that does not agree with its table is found, and no value is told")
  func disagreeingIndex() throws {
    let store = try ClubStore(.sqlite)
    try store.fill()
    // While the schema does not know of the index, nobody keeps it.
    let index = "name = '_index.Person.age'"
    try store.damage(
      "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE \(index); DELETE FROM sqlite_schema WHERE \(index)")
    try store.damage(
      "UPDATE Person SET age = 44 WHERE name = 'Ann'; INSERT INTO sqlite_schema SELECT * FROM kept; DROP TABLE kept")
    let container = try store.open()
    let findings = try container.check()
    container.close()
    #expect(!findings.isEmpty)
    #expect(findings.allSatisfy { $0.code == .damaged && $0.message.contains("_index.Person.age") }, "\(findings)")
    #expect(findings.allSatisfy { !$0.description.contains("44") })
  }

  static let edits = [
    ("\"name\": \"Ann\"", "\"name\": \"\"", "broken-rule Person name"),
    ("\"age\": 30", "\"age\": -1", "broken-rule Person age"),
  ]

  @Test("damage done by hand to a document is found where it is", arguments: edits)
  func json(text: String, other: String, finding: String) throws {
    let store = try ClubStore(.json)
    try store.fill()
    try store.replace(text, by: other)
    #expect(try store.findings() == [finding])
  }

  @Test("a check changes nothing in the file", arguments: ClubStore.Kind.allCases)
  func unchanged(kind: ClubStore.Kind) throws {
    let store = try ClubStore(kind)
    try store.fill()
    let before = try Data(contentsOf: store.file)
    let container = try PersistentContainer(
      model: .club,
      store: kind == .json ? .json(at: store.file, readOnly: true) : .sqlite(at: store.file, readOnly: true),
      log: nil)
    _ = try container.check()
    container.close()
    #expect(try Data(contentsOf: store.file) == before)
  }

  @Test("many pages of objects are looked through, and the limit ends the check")
  func pages() throws {
    let store = try ClubStore(.sqlite)
    let container = try store.open()
    let context = container.newContext()
    for number in 0..<1_000 { Person(in: context, name: "\(number)").code = "\(number)" }
    try context.save()
    container.close()
    try store.damage("UPDATE Person SET age = -1 WHERE _id % 2 = 0")
    let damaged = try store.open()
    #expect(try damaged.check().count == 500)
    #expect(try damaged.check(limit: 7).count == 7)
    #expect(try damaged.check(limit: 0).isEmpty)
    damaged.close()
  }

  @Test("a finding says where, what and the way out, without values")
  func words() throws {
    let store = try ClubStore(.sqlite)
    try store.fill()
    try store.damage("UPDATE Person SET age = 151 WHERE name = 'Fay'")
    let container = try store.open()
    let finding = try #require(try container.check().first)
    #expect(finding.entity == "Captain")
    #expect(
      finding.description
        == "Captain/\(finding.key ?? 0).age: The value must be at most 150. "
        + "Set a value that keeps the rule, or change the rule in the model. [broken-rule]")
    container.close()
  }
}
