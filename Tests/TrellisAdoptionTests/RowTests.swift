import Foundation
import Testing
import TrellisAdoption
import TrellisStorage
import TrellisTestSupport

@Suite struct RowTests {
  @Test func `rows and references come across in all their kinds`() throws {
    let file = try AdoptionTestFile(
      """
      CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE, fee DECIMAL(6,2), live BOOLEAN);
      CREATE TABLE album (code TEXT PRIMARY KEY NOT NULL, artist_id INT NOT NULL REFERENCES artist, twin TEXT REFERENCES album)
        WITHOUT ROWID;
      CREATE TABLE fan (artist_id INT NOT NULL REFERENCES artist, album TEXT NOT NULL REFERENCES album, PRIMARY KEY (artist_id, album));
      INSERT INTO artist VALUES (7, 'Ann', '1990-02-03', 10.5, 1), (-3, 'Bob', NULL, NULL, 0), (9007199254740993, '가', NULL, 3, NULL);
      INSERT INTO album VALUES ('b', 7, 'a'), ('a', -3, 'b'), ('ü', 9007199254740993, NULL);
      INSERT INTO fan VALUES (7, 'a'), (7, 'b'), (-3, 'ü');
      """)
    let report = try file.database().copy(to: file.target)
    #expect(report.rows.map(\.description) == ["3 × Artist", "3 × Album"])
    #expect(report.pairs == 3)
    #expect(report.left.isEmpty)
    #expect(
      try file.copied(
        "SELECT id || name || ifnull(born, '-') || ifnull(fee, '-') || ifnull(live, '-') FROM Artist ORDER BY _id") == [
          "-3Bob--0", "7Ann63400320000000010.51", "9007199254740993가-3-",
        ])
    #expect(
      try file.copied(
        "SELECT a.code || r.id || ifnull(t.code, '-') FROM Album a JOIN Artist r ON r._id = a.artist LEFT JOIN Album t ON t._id = a.twin "
          + "ORDER BY a._id") == ["a-3b", "b7a", "ü9007199254740993-"])
    let join = try file.copied("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '!_A%' ESCAPE '!'")
    #expect(join.count == 1)
    #expect(try file.copied("SELECT count(*) FROM \"\(join.first ?? "")\"") == ["3"])
  }

  @Test func `rows that require each other are loaded`() throws {
    let file = try AdoptionTestFile(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, b_id INT NOT NULL REFERENCES b);
      CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INT NOT NULL REFERENCES a, self INT NOT NULL REFERENCES b);
      INSERT INTO a VALUES (1, 20), (2, 10); INSERT INTO b VALUES (10, 1, 10), (20, 2, 10);
      """)
    try file.database().copy(to: file.target)
    let column = try file.copied(
      "SELECT name FROM pragma_table_info('B') WHERE name NOT IN ('_id', '_version', 'id', 'a')")
    #expect(column.count == 1)
    #expect(
      try file.copied(
        "SELECT b.id || '>' || a.id || '>' || c.id || '>' || s.id FROM B b JOIN A a ON a._id = b.a JOIN B c ON c._id = a.b "
          + "JOIN B s ON s._id = b.\"\(column[0])\" ORDER BY b.id") == ["10>1>20>10", "20>2>10>10"])
  }

  private static let broken = """
    CREATE TABLE owner (id INTEGER PRIMARY KEY, age INT, born DATE, kind TEXT CHECK (kind IN ('a', 'b')), name VARCHAR(3));
    CREATE TABLE pet (id INTEGER PRIMARY KEY, owner_id INT NOT NULL REFERENCES owner, friend INT REFERENCES pet, mood TEXT NOT NULL);
    CREATE TABLE toy (id INTEGER PRIMARY KEY, pet_id INT NOT NULL REFERENCES pet);
    INSERT INTO owner (age, born) SELECT value, '2026-01-01' FROM generate_series(1, 40);
    PRAGMA ignore_check_constraints = 1;
    INSERT INTO owner VALUES (50, 'old', 'soon', 'c', NULL);
    INSERT INTO pet VALUES (1, 1, NULL, 'ok'), (2, 99, NULL, 'ok'), (3, 1, 2, 'ok'), (4, 1, 77, 'ok');
    INSERT INTO toy VALUES (1, 1), (2, 2);
    """

  /// SQLite has its table function for series in its shell alone.
  private static var brokenFile: AdoptionTestFile {
    get throws {
      try AdoptionTestFile(
        broken.replacingOccurrences(
          of: "generate_series(1, 40)",
          with:
            "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 40) SELECT value FROM n)"
        ))
    }
  }

  @Test func `what has no place is named, and nothing is made`() throws {
    let file = try Self.brokenFile
    let error = #expect(throws: AdoptionError.self) { try file.database().copy(to: file.target) }
    #expect(error?.code == .misfits)
    for line in [
      "owner#50.age: has a text that is no int64",
      "owner#50.born: has a text that is no date as the others are, which are texts, read as UTC where they name no zone",
      "owner#50.kind: has a value that is no case of its enum", "pet#2.owner_id: leads to no row of owner",
      "pet#4.friend: leads to no row of pet",
    ] { #expect(error?.message.contains(line) == true, "\(line) is not in \(error?.message ?? "")") }
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.url.path) == ["Shop.sqlite"])
  }

  @Test func `with consent each loss is listed`() throws {
    let file = try Self.brokenFile
    let report = try file.database().copy(to: file.target, allowingLoss: true)
    #expect(report.rows.map(\.description) == ["41 × Owner", "3 × Pet", "1 × Toy"])
    #expect(
      report.left.map(\.description).suffix(4) == [
        "pet#2.owner_id: leads to no row of owner, so the row is left out", "pet#4.friend: leads to no row of pet",
        "toy#2: requires a row of pet that is left out", "pet#3.friend: leads to a row of pet that is left out",
      ])
    #expect(report.leftCount == report.left.count)
    #expect(try file.copied("SELECT id FROM Owner WHERE age IS NULL AND born IS NULL AND kind IS NULL") == ["50"])
  }

  @Test func `an existing file is kept`() throws {
    let file = try AdoptionTestFile("CREATE TABLE t (x)")
    try Data("mine".utf8).write(to: file.target)
    #expect(throws: AdoptionError.self) { try file.database().copy(to: file.target) }
    #expect(try Data(contentsOf: file.target) == Data("mine".utf8))
  }

  @Test func `a copy shows one moment while others write`() throws {
    let file = try AdoptionTestFile("PRAGMA journal_mode = WAL; CREATE TABLE t (x INT); INSERT INTO t VALUES (1);")
    let database = try file.database()
    try OtherProgram(file.source).run("INSERT INTO t VALUES (2)")
    let report = try database.copy(to: file.target)
    #expect(report.rows.map(\.rows) == [1])
  }

  @Test(arguments: ["WAL", "DELETE"]) func `nothing stays beside a database that was read`(_ mode: String) throws {
    let file = try AdoptionTestFile("PRAGMA journal_mode = \(mode); CREATE TABLE t (x INT); INSERT INTO t VALUES (1);")
    let before = try Data(contentsOf: file.source)
    #expect(try file.database().notes.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.url.path) == ["Shop.sqlite"])
    #expect(try Data(contentsOf: file.source) == before)
  }
}
