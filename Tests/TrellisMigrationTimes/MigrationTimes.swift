import CSQLite
import Foundation
import TrellisModel
import TrellisStorage

/// Measures each kind of migration on copies of one file, in turn with the statements that a careful author would write.
struct MigrationTimes {
  let count: Int
  private let folder: URL
  private static let rounds = 5

  init(count: Int) throws {
    self.count = count
    folder = FileManager.default.temporaryDirectory.appending(path: "migration-times-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  // MARK: Models

  /// What an entry has in a version of the model.
  private static func model(
    attributes: [AttributeDescription] = former, tags: RelationshipDescription? = nil, inverse: String = "entries"
  ) throws -> Model {
    let tag = tags ?? RelationshipDescription("tag", to: "Tag", inverse: inverse, optional: true)
    return try Model(
      ModelDescription(
        name: "Times",
        entities: [
          EntityDescription(
            "Entry", attributes: attributes, relationships: [tag], indexes: [.init([.init("number")])]),
          EntityDescription(
            "Tag", attributes: [.init("name", .string)],
            relationships: [
              .init(inverse, to: "Entry", inverse: tag.name, toMany: true, optional: true)
            ]),
        ]))
  }

  private static let former: [AttributeDescription] = [
    .init("title", .string), .init("number", .int64), .init("mood", .string, optional: true),
  ]

  private struct Kind {
    let name: String
    let model: Model
    let sql: String
  }

  private func kinds() throws -> [Kind] {
    let columns =
      "\"_id\" INTEGER PRIMARY KEY, \"_version\" INTEGER NOT NULL, \"title\" TEXT NOT NULL, \"number\" INTEGER NOT NULL"
    let tag = "\"tag\" INTEGER REFERENCES \"Tag\"(\"_id\") DEFERRABLE INITIALLY DEFERRED"
    let indexes = """
      CREATE INDEX "_reference.Entry.tag" ON "Entry" ("tag"); CREATE INDEX "_index.Entry.number" ON "Entry" ("number")
      """
    return [
      Kind(
        name: "a new optional attribute",
        model: try Self.model(attributes: Self.former + [.init("place", .string, optional: true)]),
        sql: "ALTER TABLE Entry ADD COLUMN place TEXT"),
      Kind(
        name: "a new attribute with a default",
        model: try Self.model(attributes: Self.former + [.init("stars", .int16, default: .value(.integer(3)))]),
        sql: "ALTER TABLE Entry ADD COLUMN stars INTEGER NOT NULL DEFAULT 3"),
      Kind(
        name: "a renamed attribute",
        model: try Self.model(
          attributes: [.init("caption", .string, renamedFrom: ["title"])] + Self.former.dropFirst()),
        sql: "ALTER TABLE Entry RENAME COLUMN title TO caption"),
      Kind(
        name: "a required attribute (table written)",
        model: try Self.model(
          attributes: Self.former.dropLast() + [.init("mood", .string, default: .value(.text("")))]),
        sql: """
          CREATE TABLE new (\(columns), "mood" TEXT NOT NULL, \(tag)) STRICT;
          INSERT INTO new SELECT _id, _version, title, number, ifnull(mood, ''), tag FROM Entry;
          DROP TABLE Entry; ALTER TABLE new RENAME TO Entry; \(indexes)
          """),
      Kind(
        name: "to many instead of to one (pairs)",
        model: try Self.model(
          tags: RelationshipDescription(
            "tags", to: "Tag", inverse: "entries", toMany: true, optional: true, renamedFrom: ["tag"])),
        sql: """
          CREATE TABLE "_Entry_tags" ("entries" INTEGER NOT NULL REFERENCES "Entry"("_id") DEFERRABLE INITIALLY DEFERRED,
          "tags" INTEGER NOT NULL REFERENCES "Tag"("_id") DEFERRABLE INITIALLY DEFERRED, PRIMARY KEY ("entries", "tags"))
          STRICT, WITHOUT ROWID;
          INSERT INTO "_Entry_tags" SELECT _id, tag FROM Entry WHERE tag IS NOT NULL;
          CREATE TABLE new (\(columns), "mood" TEXT) STRICT;
          INSERT INTO new SELECT _id, _version, title, number, mood FROM Entry;
          DROP TABLE Entry; ALTER TABLE new RENAME TO Entry;
          CREATE INDEX "_index.Entry.number" ON "Entry" ("number");
          CREATE INDEX "_reverse.Entry_tags" ON "_Entry_tags" ("tags", "entries")
          """),
    ]
  }

  // MARK: Measuring

  func run() throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appending(path: "source")
    try makeStore(at: source)
    print("\(count) rows, medians of \(Self.rounds) rounds; durable (synchronous = FULL), write-ahead log")
    for kind in try kinds() {
      var times: [(trellis: Double, sql: Double)] = []
      for round in 0..<Self.rounds {
        let urls = ["trellis", "sql"].map { folder.appending(path: "\($0)-\(round)") }
        for url in urls { try FileManager.default.copyItem(at: source, to: url) }
        let mine = try milliseconds { try StoreConfiguration.sqlite(at: urls[0]).open(kind.model).close() }
        let theirs = try milliseconds { try runSQL(kind.sql, at: urls[1]) }
        times.append((mine, theirs))
        for url in urls { try FileManager.default.removeItem(at: url) }
      }
      show(kind.name, median(times.map(\.trellis)), median(times.map(\.sql)))
    }
    try planWide()
    try openUnchanged(source)
  }

  private func show(_ name: String, _ trellis: Double, _ sql: Double) {
    print("\(name): \(rounded(trellis)) ms, SQL \(rounded(sql)) ms, \(rounded(trellis / sql)) x")
  }

  /// The plan of a model with 100 entities, of 20 attributes and 5 relationships each.
  private func planWide() throws {
    func model(_ version: Int) throws -> Model {
      try Model(
        ModelDescription(
          name: "Wide",
          entities: (0..<100).map { number in
            let attributes = (0..<20).map { AttributeDescription("a\($0)", .string, optional: true) }
            let relationships = (0..<5).map {
              RelationshipDescription("r\($0)", to: "E\((number + $0 * 7) % 100)", optional: true)
            }
            let new = version == 0 ? [] : [AttributeDescription("b", .int64, optional: true)]
            return EntityDescription("E\(number)", attributes: attributes + new, relationships: relationships)
          }))
    }
    let (former, current) = (try model(0), try model(1))
    let times = try (0..<Self.rounds).map { _ in
      try milliseconds { _ = try MigrationPlan(Migration(from: former, to: current)).steps.count }
    }
    print("plan of a model with 100 entities: \(rounded(median(times))) ms")
  }

  private func openUnchanged(_ source: URL) throws {
    let model = try Self.model()
    let times = try (0..<Self.rounds).map { _ in
      try milliseconds { try StoreConfiguration.sqlite(at: source).open(model).close() }
    }
    print("opening an unchanged file: \(rounded(median(times))) ms")
  }

  private func milliseconds(_ body: () throws -> Void) rethrows -> Double {
    let duration = try ContinuousClock().measure(body)
    return Double(duration.components.seconds) * 1_000 + Double(duration.components.attoseconds) / 1e15
  }

  private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private func rounded(_ value: Double) -> String { String(format: "%.2f", value) }

  // MARK: Files

  private func makeStore(at url: URL) throws {
    let store = try StoreConfiguration.sqlite(at: url).open(Self.model())
    _ = try store.reserveKeys(Int64(count) + 1_001)
    store.close()
    try runSQL(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO Tag (_id, _version, name) SELECT \(count) + i, 1, 'tag ' || i FROM n;
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO Entry (_id, _version, title, number, mood, tag)
      SELECT i, 1, 'a title of usual length, ' || i, i * 7919 % 1000003, CASE i % 2 WHEN 0 THEN 'glad' END,
        \(count) + 1 + i % 1000 FROM n
      """, at: url)
  }

  private struct Failure: Error {
    let message: String
  }

  /// Runs statements in one transaction, and brings the log into the file.
  private func runSQL(_ sql: String, at url: URL) throws {
    var database: OpaquePointer?
    guard trellis_sqlite3_open_v2(url.path, &database, Int32(TRELLIS_SQLITE_OPEN_READWRITE), nil) == TRELLIS_SQLITE_OK
    else { throw Failure(message: "cannot open \(url.path)") }
    defer { _ = trellis_sqlite3_close_v2(database) }
    let script =
      "PRAGMA cache_size = -65536; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA journal_mode = WAL; "
      + "BEGIN IMMEDIATE; \(sql); COMMIT; PRAGMA wal_checkpoint(TRUNCATE)"
    guard trellis_sqlite3_exec(database, script, nil, nil, nil) == TRELLIS_SQLITE_OK else {
      throw Failure(message: String(cString: trellis_sqlite3_errmsg(database)))
    }
  }
}
