import CSQLite
import Foundation
import Testing

@testable import TrellisCoreData

@Suite("Core Data stores that differ from their model") struct UnmatchedDataTests {
  /// A copy of a fixture after statements have changed it.
  private func changed(_ name: String, _ scratch: Scratch, _ statements: [String]) throws -> CoreDataStore {
    let url = try StoreValueTests.copied(name, to: scratch)
    #expect(trellis_sqlite_load() == nil)
    var opened: OpaquePointer?
    let flags = TRELLIS_SQLITE_OPEN_READWRITE | TRELLIS_SQLITE_OPEN_NOMUTEX
    try #require(trellis_sqlite3_open_v2(url.path, &opened, Int32(flags), nil) == TRELLIS_SQLITE_OK)
    defer { _ = trellis_sqlite3_close_v2(opened) }
    for text in statements {
      var statement: OpaquePointer?
      #expect(trellis_sqlite3_prepare_v3(opened, text, -1, 0, &statement, nil) == TRELLIS_SQLITE_OK, "\(text)")
      #expect(trellis_sqlite3_step(statement) == TRELLIS_SQLITE_DONE, "\(text)")
      _ = trellis_sqlite3_finalize(statement)
    }
    return try CoreDataStore(at: url, model: name == "nocache" ? Fixtures.url("Stores/Entry.xcdatamodel") : nil)
  }

  private func findings(_ name: String, _ statements: [String]) throws -> [String] {
    let scratch = try Scratch()
    let report = try changed(name, scratch, statements).copy(to: scratch.file("copy.sqlite"))
    return (report.repaired + report.left).map(\.description)
  }

  @Test("rows of an entity that the model does not have are told", arguments: ["nocache", "history"])
  func entity(_ name: String) throws {
    let found = try findings(
      name,
      [
        "INSERT INTO Z_PRIMARYKEY VALUES (2, 'Tag', 0, 2)",
        "CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR)",
        "INSERT INTO ZTAG VALUES (1, 2, 1, 'sea'), (2, 2, 1, 'sun')",
      ])
    #expect(found == ["left-out 2 × Tag: is not in the model (1, 2)"])
  }

  @Test("values of a column that no property has are told, and an empty column is not") func column() throws {
    let found = try findings(
      "nocache",
      [
        "ALTER TABLE ZENTRY ADD COLUMN ZMOOD VARCHAR", "ALTER TABLE ZENTRY ADD COLUMN ZEMPTY VARCHAR",
        "UPDATE ZENTRY SET ZMOOD = 'happy'",
      ])
    #expect(found == ["left-out 1 × Entry.ZMOOD: is a column that no property of the model has (1)"])
  }

  @Test("properties without a column or a table are told") func properties() throws {
    #expect(
      try findings("scalars", ["ALTER TABLE ZTHING DROP COLUMN ZSTR"])
        == ["repaired 1 × Thing.str: has no column in the store, and is nil"])
    #expect(
      try findings("relationships", ["DROP TABLE ZPAGE"])
        == ["left-out 1 × Page: has no table in the store, although there were rows"])
  }

  @Test("a primary key that comes again leaves its row out") func repeatedKey() throws {
    let found = try findings(
      "history",
      [
        "CREATE TABLE other AS SELECT * FROM ZTASK", "DROP TABLE ZTASK", "ALTER TABLE other RENAME TO ZTASK",
        "UPDATE ZTASK SET Z_PK = 7",
      ])
    #expect(found == ["left-out 1 × ZTASK: has no primary key of its own (7)"])
  }

  @Test("a store that agrees with its model has nothing to tell", arguments: StoreValueTests.whole)
  func agreeing(_ name: String) throws {
    let scratch = try Scratch()
    let report = try StoreValueTests.open(name, scratch).copy(to: scratch.file("copy.sqlite"))
    let told = (report.repaired + report.left).filter { finding in
      [" no ", "not in the"].contains(where: finding.message.contains)
    }
    #expect(told == [])
  }
}
