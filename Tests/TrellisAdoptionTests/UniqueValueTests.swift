import Foundation
import Testing
import TrellisAdoption
import TrellisTestSupport

/// Values that are unique in the database, and equal as values of objects.
@Suite("Unique values after conversion") struct UniqueValueTests {
  @Test(arguments: [
    (
      "CREATE TABLE t (id UUID PRIMARY KEY, v INT); INSERT INTO t VALUES ('550e8400-e29b-41d4-a716-446655440000', 1), ('550E8400-E29B-41D4-A716-446655440000', 2);",
      "t#2.id: has to be unique, and is, as a uuid, the same as in t#1", "1 × T", ", so the row is left out"
    ),
    (
      "CREATE TABLE t (id UUID UNIQUE, v INT); INSERT INTO t VALUES ('550e8400-e29b-41d4-a716-446655440000', 1), (x'550e8400e29b41d4a716446655440000', 2);",
      "t#2.id: has to be unique, and is, as a uuid, the same as in t#1", "2 × T", ""
    ),
    (
      "CREATE TABLE t (id INTEGER PRIMARY KEY, d DATE NOT NULL UNIQUE); INSERT INTO t VALUES (1, '2020-01-01'), (5, '2020-01-01 00:00:00');",
      "t#5.d: has to be unique, and is, as a date, the same as in t#1", "1 × T", ", so the row is left out"
    ),
    (
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a INT, b DATETIME, UNIQUE (a, b)); INSERT INTO t VALUES (1, 1, '2020-01-01T00:00:00Z'), (2, 1, '2020-01-01T09:00:00+09:00'), (3, 2, '2020-01-01T00:00:00Z');",
      "t#2.a, b: has to be unique, and is, as an int64 and a date, the same as in t#1", "3 × T", ", so b is left out"
    ),
    (
      "CREATE TABLE t (id INTEGER PRIMARY KEY, n); CREATE UNIQUE INDEX i ON t (n); INSERT INTO t VALUES (1, 7), (2, '7'), (3, 'x');",
      "t#2.n: has to be unique, and is, as a string, the same as in t#1", "3 × T", ""
    ),
    (
      "CREATE TABLE t (id INTEGER PRIMARY KEY, s DATETIME UNIQUE); INSERT INTO t VALUES (1, '2020-01-01 10:00:00.1234561'), (2, '2020-01-01 10:00:00.1234569'), (3, NULL), (4, NULL);",
      "t#2.s: has to be unique, and is, as a date, the same as in t#1", "4 × T", ""
    ),
    (
      "CREATE TABLE t (id INTEGER PRIMARY KEY, r TEXT COLLATE NOCASE CHECK (r IN ('admin', 'user'))); CREATE UNIQUE INDEX i ON t (r COLLATE BINARY); INSERT INTO t VALUES (1, 'admin'), (2, 'Admin');",
      "t#2.r: has to be unique, and is, as a TR, the same as in t#1", "2 × T", ""
    ),
  ]) func `equal values are named before anything is written`(
    _ sql: String, _ finding: String, _ copied: String, _ end: String
  ) throws {
    let file = try AdoptionTestFile(sql)
    let error = #expect(throws: AdoptionError.self) { try file.database().copy(to: file.target) }
    #expect(error?.code == .misfits)
    #expect(error?.message.contains(finding + "\n") == true, "\(error?.message ?? "")")
    #expect(try FileManager.default.contentsOfDirectory(atPath: file.folder.url.path) == ["Shop.sqlite"])
    let report = try file.database().copy(to: file.target, allowingLoss: true)
    #expect(report.rows.map(\.description) == [copied])
    #expect(report.left.map(\.description) == [finding + end])
  }

  @Test func `rows that require one that is left out go with it`() throws {
    let file = try AdoptionTestFile(
      """
      CREATE TABLE day (d DATE PRIMARY KEY NOT NULL); CREATE TABLE stop (id INTEGER PRIMARY KEY, d DATE NOT NULL REFERENCES day);
      INSERT INTO day VALUES ('2020-01-01'), ('2020-01-01T00:00'), ('2020-01-02');
      INSERT INTO stop VALUES (1, '2020-01-01'), (2, '2020-01-01T00:00'), (3, '2020-01-02');
      """)
    let report = try file.database().copy(to: file.target, allowingLoss: true)
    #expect(report.rows.map(\.description) == ["2 × Day", "2 × Stop"])
    #expect(
      report.left.map(\.description) == [
        "day#2.d: has to be unique, and is, as a date, the same as in day#1, so the row is left out",
        "stop#2: requires a row of day that is left out",
      ])
  }

  /// A key of two rows whose letters are composed in one and decomposed in the other, which Swift takes for equal.
  @Test func `texts with the same letters in other bytes stay two`() throws {
    let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
    let file = try AdoptionTestFile(
      """
      CREATE TABLE place (name TEXT PRIMARY KEY NOT NULL, n INT) WITHOUT ROWID;
      CREATE TABLE visit (id INTEGER PRIMARY KEY, name TEXT NOT NULL REFERENCES place, UNIQUE (name));
      INSERT INTO place VALUES ('\(composed)', 1), ('\(decomposed)', 2); INSERT INTO visit VALUES (1, '\(composed)'), (2, '\(decomposed)');
      """)
    #expect(try file.database().copy(to: file.target).rows.map(\.rows) == [2, 2])
    #expect(
      try file.copied("SELECT v.id || '-' || p.n FROM Visit v JOIN Place p ON p._id = v.name ORDER BY v.id") == [
        "1-1", "2-2",
      ])
  }

  @Test func `unique dates in any notations are copied once each`() throws {
    let seed = TestSettings.seed("TRELLIS_ADOPTION_SEED")
    var random = SeededGenerator(seed: seed)
    for round in 0..<20 {
      var moments: Set<Int> = []
      var texts: Set<String> = []
      for _ in 0..<(1 + random.below(12)) {
        let hour = random.below(6)
        let forms = [
          "2020-01-01 0\(hour):00", "2020-01-01T0\(hour):00:00Z", "2020-01-01 0\(hour):00:00.000",
          "2020-01-01 1\(hour):00:00+10:00", "2020-01-01 0\(hour):00:00",
        ]
        if texts.insert(forms[random.below(forms.count)]).inserted { moments.insert(hour) }
      }
      let rows = texts.sorted().map { "('\($0)')" }.joined(separator: ", ")
      let file = try AdoptionTestFile("CREATE TABLE t (at DATETIME NOT NULL UNIQUE); INSERT INTO t VALUES \(rows);")
      let report = try file.database().copy(to: file.target, allowingLoss: true)
      #expect(report.rows.map(\.rows) == [moments.count], "TRELLIS_ADOPTION_SEED=\(seed), round \(round): \(rows)")
      #expect(report.leftCount == texts.count - moments.count, "TRELLIS_ADOPTION_SEED=\(seed), round \(round)")
    }
  }
}
