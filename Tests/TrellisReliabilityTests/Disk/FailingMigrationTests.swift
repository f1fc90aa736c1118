import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisStorage
import TrellisTestSupport

@Suite("When the disk fails during a migration, a SQLite file is the former one or the new one")
struct
  FailingMigrationTests
{
  /// A change of the model, and what its rows are before and after it, as SQL.
  enum Change: CaseIterable {
    /// A column that SQLite adds without writing a row.
    case inPlace
    /// Tables that are written, and pairs that move to a join table.
    case written
    /// Rows and values that go, after a copy of the file.
    case losing

    var model: ModelDescription {
      switch self {
      case .inPlace:
        FailingMigrationTests.model([
          FailingMigrationTests.title, FailingMigrationTests.mood, .init("stars", .int16, default: .value(.integer(3))),
        ])
      case .written:
        FailingMigrationTests.model(
          [.init("caption", .string, renamedFrom: ["title"]), .init("mood", .string, default: .value(.text("none")))],
          tag: .init("tags", to: "Tag", inverse: "entries", toMany: true, optional: true, renamedFrom: ["tag"]))
      case .losing:
        FailingMigrationTests.model([FailingMigrationTests.title], removed: ["mood"], removedEntities: ["Draft"])
      }
    }

    var rows: String {
      switch self {
      case .inPlace: "SELECT _id || title || ifnull(mood, '-') || stars || ifnull(tag, '-') FROM Entry ORDER BY _id"
      case .written:
        "SELECT _id || caption || mood || ifnull((SELECT tags FROM _Entry_tags WHERE entries = _id), '-') FROM Entry ORDER BY _id"
      case .losing: "SELECT _id || title || '-' || ifnull(tag, '-') FROM Entry ORDER BY _id"
      }
    }
  }

  private static let title = AttributeDescription("title", .string)
  private static let mood = AttributeDescription("mood", .string, optional: true)

  private static func model(
    _ attributes: [AttributeDescription], removed: [String] = [], removedEntities: [String] = [],
    tag: RelationshipDescription = .init("tag", to: "Tag", inverse: "entries", optional: true)
  ) -> ModelDescription {
    var entities = [
      EntityDescription("Entry", attributes: attributes, relationships: [tag], removed: removed),
      EntityDescription(
        "Tag", attributes: [.init("name", .string)],
        relationships: [.init("entries", to: "Entry", inverse: tag.name, toMany: true, optional: true)]),
    ]
    if removedEntities.isEmpty { entities.append(EntityDescription("Draft", attributes: [title])) }
    return ModelDescription(name: "Diary", entities: entities, removed: removedEntities)
  }

  static let formerModel = model([title, mood])
  static let formerRows =
    "SELECT _id || title || ifnull(mood, '-') || ifnull(tag, '-') FROM Entry ORDER BY _id"
  private static let rowCount = 300

  private let folder: TestFolder
  private let disk: TestDisk
  private let url: URL
  private let former: Model

  init() throws {
    folder = try TestFolder()
    disk = try TestDisk(folder.url)
    url = folder.file("store")
    former = try Model(Self.formerModel)
  }

  private var store: StoreConfiguration { .sqlite(at: url) }

  private func makeFormer() throws -> Data { try Self.makeFormer(url, former, rowCount: Self.rowCount) }

  /// A store of the former model, with rows in every table.
  static func makeFormer(_ url: URL, _ former: Model, rowCount: Int) throws -> Data {
    let made = try StoreConfiguration.sqlite(at: url).open(former)
    _ = try made.reserveKeys(100_000)
    made.close()
    let file = try PlainSQLite(url)
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))"
    _ = try file.rows("\(numbers) INSERT INTO Tag (_id, _version, name) SELECT 60000 + i, 1, i FROM n WHERE i < 9")
    _ = try file.rows("\(numbers) INSERT INTO Draft (_id, _version, title) SELECT 70000 + i, 1, i FROM n")
    _ = try file.rows(
      "\(numbers) INSERT INTO Entry (_id, _version, title, mood, tag) SELECT i, 1, 'a title of some length ' || i, "
        + "CASE i % 3 WHEN 0 THEN 'glad' END, CASE i % 4 WHEN 0 THEN 60001 + i % 8 END FROM n")
    _ = try file.rows("PRAGMA wal_checkpoint(TRUNCATE)", columns: 3)
    return try Data(contentsOf: url)
  }

  private func put(_ data: Data) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
      try FileManager.default.removeItem(at: folder.file(name))
    }
    try data.write(to: url)
  }

  @Test(
    "each step of the disk may fail, once or for ever, and the next opening migrates",
    arguments: Change.allCases, FailingDiskTests.Fault.allCases)
  func everyStep(change: Change, fault: FailingDiskTests.Fault) throws {
    let whole = try makeFormer()
    let expectedFormer = try PlainSQLite(url).rows(Self.formerRows)
    let model = try Model(change.model)
    try store.open(model).close()
    let expected = try PlainSQLite(url).rows(change.rows)
    #expect(expected.count == Self.rowCount)
    var failures = 0
    for isForEver in [false, true] {
      for number in 1... {
        try put(whole)
        disk.fail(
          TestDisk.Failure(
            kinds: [fault.kind], number: number, isForEver: isForEver, code: fault.code, writesHalf: number % 2 == 0))
        do { try store.open(model).close() } catch { try check(error) }
        let hasFailed = disk.failures > 0
        disk.fail(nil)
        let place: Comment = "\(change), \(fault) \(number), for ever: \(isForEver)"
        if try store.plan(model) == nil {
          #expect(try PlainSQLite(url).rows(change.rows) == expected, place)
        } else {
          #expect(try PlainSQLite(url).rows(Self.formerRows) == expectedFormer, place)
        }
        try store.open(model).close()
        let file = try PlainSQLite(url)
        #expect(try file.rows(change.rows) == expected && file.rows("PRAGMA integrity_check") == [["ok"]], place)
        guard hasFailed else { break }
        failures += 1
      }
    }
    print("\(change), \(fault): failed at each of \(failures) steps")
  }

  private func check(_ error: any Error) throws {
    let error = try #require(error as? StoreError, "\(error)")
    #expect([.inputOutput, .full, .cannotOpen].contains(error.code), "\(error)")
  }

  @Test("a program that is open with the former model writes nothing into the migrated file, and is told why")
  func openElsewhere() throws {
    _ = try makeFormer()
    let old = try store.open(former)
    let connection = try old.connect()
    #expect(try connection.count(StoreRequest(entity: 0)) == Self.rowCount)
    let new = try store.open(Model(Change.written.model))
    let expected = try PlainSQLite(url).rows(Change.written.rows)
    for _ in 0..<2 {
      let reading = #expect(throws: StoreError.self) { _ = try connection.count(StoreRequest(entity: 0)) }
      #expect(reading?.code == .migratedByOthers)
      let saving = #expect(throws: StoreError.self) {
        var request = SaveRequest()
        request.deletes = [.init(entity: 2, keys: [70001], versions: [1])]
        _ = try connection.save(request)
      }
      #expect(saving?.code == .migratedByOthers)
    }
    old.close()
    #expect(throws: StoreError.self) { try store.open(former) }
    #expect(try PlainSQLite(url).rows(Change.written.rows) == expected)
    #expect(try PlainSQLite(url).rows("SELECT count(*) FROM _models") == [["2"]])
    new.close()
  }

  @Test("threads that open a former file at once migrate it once, and all open")
  func atOnce() async throws {
    let whole = try makeFormer()
    let model = try Model(Change.losing.model)
    for _ in 0..<5 {
      try put(whole)
      let store = store
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 {
          group.addTask {
            let opened = try store.open(model)
            defer { opened.close() }
            return try opened.connect().count(StoreRequest(entity: 0))
          }
        }
        for try await count in group { #expect(count == Self.rowCount) }
      }
      #expect(try PlainSQLite(url).rows("SELECT count(*) FROM _models") == [["2"]])
    }
  }
}
