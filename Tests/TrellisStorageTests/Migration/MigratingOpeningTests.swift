import Foundation
import Testing
import TrellisJSON
import TrellisModel
import TrellisTestSupport

@testable import TrellisStorage

@Suite("Opening a store of a former model") struct MigratingOpeningTests {
  private let home: TestFolder
  private let url: URL

  init() throws {
    home = try TestFolder()
    url = home.file("store")
  }

  private static func model(_ attributes: [AttributeDescription], removed: [String] = []) throws -> Model {
    try Model(
      ModelDescription(name: "Diary", entities: [EntityDescription("Entry", attributes: attributes, removed: removed)]))
  }

  private static let title = AttributeDescription("title", .string)

  private func store(_ isDocument: Bool, readOnly: Bool = false, _ policy: MigrationPolicy = .automatic)
    -> StoreConfiguration
  {
    isDocument
      ? .json(at: url, readOnly: readOnly, migration: policy) : .sqlite(at: url, readOnly: readOnly, migration: policy)
  }

  /// A store with rows of the former model, which has a mood.
  private func makeFormer(_ isDocument: Bool, rows: Int = 3) throws -> Model {
    let former = try Self.model([Self.title, .init("mood", .string, optional: true)])
    let store = try store(isDocument).open(former)
    defer { store.close() }
    _ = try store.reserveKeys(Int64(rows) + 1)
    let request = SaveRequest()
    request.inserts = [
      .init(
        entity: 0,
        records: (1...rows).map {
          TestRecord(former.entities[0], key: Int64($0), ["title": .text("\($0)"), "mood": .text("glad")])
        })
    ]
    try store.connect().save(request)
    return former
  }

  private func rowCount(_ store: any Store) throws -> Int {
    defer { store.close() }
    return try store.connect().count(StoreRequest(entity: 0))
  }

  @Test("what has no place is refused with the lines to write, and the file stays as it was", arguments: [false, true])
  func refused(isDocument: Bool) throws {
    _ = try makeFormer(isDocument)
    let before = try Data(contentsOf: url)
    let error = try #require(throws: StoreError.self) {
      try store(isDocument).open(Self.model([Self.title, .init("feeling", .string, optional: true)]))
    }
    #expect(error.code == .dataLoss && error.entity == "Entry" && error.properties == ["mood"])
    #expect(
      error.message.contains(
        """
          Entry.mood: has no place in this model, and there are 3 values. Write "renamedFrom": "mood" at Entry.feeling if \
        it is now called so; write "removed": ["mood"] in Entry if its values may go.
        """), "\(error)")
    let unanswered = #expect(throws: StoreError.self) {
      try store(isDocument).open(
        Self.model([Self.title, .init("mood", .string, optional: true), .init("stars", .int16)]))
    }
    #expect(unanswered?.code == .unanswered)
    #expect(try Data(contentsOf: url) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.path).allSatisfy { !$0.contains("before") })
  }

  @Test(
    "a backfill that does not fit the attribute or the stored rows is refused with its place, and the file stays as it was",
    arguments: [false, true],
    [
      // The type, the expression, and a part of the message.
      (AttributeType.int16, "nothing", "nothing"), (.int16, "title.length", "title"),
      (.int16, "title BEGINSWITH 'a'", "condition"), (.int16, "title +", "Expected a value"),
      (.data, "5", "no value of the type data"), (.int16, "mood", "is null for these rows"),
      (.date, "title", "is null for these rows"),
      (.bool, "1 / 0", "is null for these rows"), (.uuid, "mood", "is null for these rows"),
      (.int16, "70000", "is null for these rows"),
    ])
  func unfitBackfill(isDocument: Bool, backfill: (AttributeType, String, String)) throws {
    _ = try makeFormer(isDocument)
    let before = try Data(contentsOf: url)
    let (type, expression, part) = backfill
    let now = try Self.model([
      Self.title, .init("mood", .string, optional: true), .init("stars", type, backfill: .expression(expression)),
    ])
    let error = #expect(throws: StoreError.self) { try store(isDocument).open(now) }
    #expect(error?.code == .unanswered, "\(error)")
    #expect(error?.entity == "Entry" && error?.properties == ["stars"], "\(error)")
    #expect(error?.message.contains(part) == true, "\(error)")
    #expect(try Data(contentsOf: url) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.path).allSatisfy { !$0.contains("before") })
  }

  @Test("a copy of the former store is beside a store that has lost data, and opens", arguments: [false, true])
  func copies(isDocument: Bool) throws {
    let former = try makeFormer(isDocument)
    let now = try Self.model([Self.title], removed: ["mood"])
    #expect(try rowCount(store(isDocument).open(now)) == 3)
    let copy = URL(filePath: "\(url.path).before-\(former.checksum)")
    let opened = try (isDocument ? StoreConfiguration.json(at: copy) : .sqlite(at: copy)).open(former)
    var moods: [StoredValue] = []
    try opened.connect().fetch(StoreRequest(entity: 0)) { moods.append($0.value(1, .text)) }
    #expect(moods == Array(repeating: .text("glad"), count: 3))
    opened.close()
  }

  @Test(
    "nothing is copied if nothing is lost, and the store opens again without a migration", arguments: [false, true])
  func keepsAll(isDocument: Bool) throws {
    _ = try makeFormer(isDocument)
    let now = try Self.model([
      .init("caption", .string, renamedFrom: ["title"]), .init("mood", .string, optional: true),
      .init("stars", .int16, default: .value(.integer(5))),
    ])
    #expect(try rowCount(store(isDocument).open(now)) == 3)
    let first = try Data(contentsOf: url)
    #expect(try rowCount(store(isDocument, .refused).open(now)) == 3)
    if isDocument { #expect(try Data(contentsOf: url) == first) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: home.url.path).allSatisfy { !$0.contains("before") })
  }

  @Test("policies refuse, or allow the loss", arguments: [false, true])
  func policies(isDocument: Bool) throws {
    let former = try makeFormer(isDocument)
    let before = try Data(contentsOf: url)
    let error = #expect(throws: StoreError.self) {
      try store(isDocument, .refused).open(Self.model([Self.title], removed: ["mood"]))
    }
    #expect(error?.code == .needsMigration)
    #expect(try Data(contentsOf: url) == before)
    #expect(try rowCount(store(isDocument, .allowingDataLoss).open(Self.model([Self.title]))) == 3)
    #expect(FileManager.default.fileExists(atPath: "\(url.path).before-\(former.checksum)"))
  }

  @Test(
    "a step runs once although nothing else is stored otherwise, and not for a store of the new version",
    arguments: [false, true])
  func stepAlone(isDocument: Bool) throws {
    let former = try makeFormer(isDocument)
    var description = former.description
    description.version = "2"
    let now = try Model(description)
    #expect(now.checksum != former.checksum)
    let runs = Locked(0)
    let step = CodedStep(
      number: 1, released: [former.checksum], text: former.description.canonicalJSON(), target: now.checksum
    ) { stores in
      runs.withLock { $0 += 1 }
      #expect(try stores.former.connect().count(StoreRequest(entity: 0)) == 3)
      let request = SaveRequest()
      request.deletes = [.init(entity: 0, keys: [2], versions: [1])]
      try stores.current.connect().save(request)
    }
    let steps = MigrationPolicy(mode: .automatic, steps: [step])
    #expect(try store(isDocument, steps).plan(now)?.steps.isEmpty == false)
    for _ in 0..<2 {
      #expect(try rowCount(store(isDocument, steps).open(now)) == 2)
      #expect(runs.withLock { $0 } == 1)
      #expect(try store(isDocument, steps).plan(now) == nil)
    }
    try FileManager.default.removeItem(at: url)
    try? FileManager.default.removeItem(atPath: url.path + "-wal")
    try? FileManager.default.removeItem(atPath: url.path + "-shm")
    #expect(try rowCount(store(isDocument, steps).open(now)) == 0)
    #expect(runs.withLock { $0 } == 1)
  }

  @Test("a store that is only read is not changed: a document is migrated in memory, a file is refused")
  func readOnly() throws {
    let now = try Self.model([Self.title], removed: ["mood"])
    for isDocument in [false, true] {
      _ = try makeFormer(isDocument)
      let before = try Data(contentsOf: url)
      if isDocument {
        #expect(try rowCount(store(isDocument, readOnly: true).open(now)) == 3)
      } else {
        let error = #expect(throws: StoreError.self) { try store(isDocument, readOnly: true).open(now) }
        #expect(error?.code == .needsMigration)
      }
      #expect(try Data(contentsOf: url) == before)
      try FileManager.default.removeItem(at: url)
    }
  }

  @Test("an observer sees the work grow to its end", arguments: [false, true])
  func progress(isDocument: Bool) throws {
    _ = try makeFormer(isDocument, rows: 20_000)
    let seen = Locked<[Double]>([])
    let observer = MigrationObserver { fraction in seen.withLock { $0.append(fraction) } }
    let opened = try store(isDocument).openObserved(Self.model([Self.title], removed: ["mood"]), observer)
    #expect(try rowCount(opened) == 20_000)
    let fractions = seen.withLock { $0 }
    #expect(fractions.first == 0 && fractions.last == 1 && fractions == fractions.sorted() && fractions.count <= 102)
    #expect(fractions.count > 2)
  }

  @Test("a cancelled migration leaves the former store", arguments: [false, true], [0.0, 0.2])
  func cancelled(isDocument: Bool, after: Double) throws {
    let former = try makeFormer(isDocument, rows: 20_000)
    let before = try Data(contentsOf: url)
    let holder = Locked<MigrationObserver?>(nil)
    let observer = MigrationObserver { if $0 >= after { holder.withLock { $0 }?.cancel() } }
    holder.withLock { $0 = observer }
    let error = #expect(throws: StoreError.self) {
      try store(isDocument).openObserved(
        Self.model([Self.title, .init("mood", .string, default: .value(.text("")))]), observer)
    }
    #expect(error?.code == .cancelled)
    #expect(try Data(contentsOf: url) == before)
    #expect(try rowCount(store(isDocument, .refused).open(former)) == 20_000)
    holder.withLock { $0 = nil }
  }

  @Test("a file whose tables do not fit beside themselves on the disk is refused before anything is written")
  func space() throws {
    _ = try makeFormer(false)
    let before = try Data(contentsOf: url)
    let files = FailingFiles()
    files.freeSpace = 1_000
    var options = OpenOptions(durability: .durable, busyTimeoutMilliseconds: 1_000, isReadOnly: false)
    options.files = files
    let model = try Self.model([Self.title, .init("mood", .string, default: .value(.text("")))])
    let error = #expect(throws: StoreError.self) { try SQLiteStore(url: url, model: model, options: options) }
    #expect(error?.code == .full)
    #expect(try Data(contentsOf: url) == before)
    files.freeSpace = 1 << 40
    #expect(try rowCount(SQLiteStore(url: url, model: model, options: options)) == 3)
  }
}
