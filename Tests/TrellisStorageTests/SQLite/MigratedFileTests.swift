import Foundation
import Testing
import TrellisModel
@testable import TrellisStorage
import TrellisTestSupport

@Suite("A file that another program brings to another model while it is open") struct MigratedFileTests {
  private let home: TestFolder
  private let url: URL

  init() throws {
    home = try TestFolder()
    url = home.file("shop.db")
  }

  private static func description(doc: String? = nil, colour: Bool = false, name: String = "Shop") -> ModelDescription {
    var attributes = [AttributeDescription("name", .string), AttributeDescription("note", .string, optional: true)]
    if colour { attributes.append(AttributeDescription("colour", .string, optional: true)) }
    return ModelDescription(name: name, doc: doc, entities: [EntityDescription("Item", attributes: attributes)])
  }

  /// With keys for whatever a test inserts.
  private func open(_ description: ModelDescription, readOnly: Bool = false) throws -> any Store {
    let store = try TestStore.open(url, try Model(description), readOnly: readOnly)
    _ = try store.reserveKeys(100)
    return store
  }

  private func insert(_ key: Int64, _ connection: any StoreConnection) throws {
    let item = try Model(Self.description()).entities[0]
    let request = SaveRequest()
    request.inserts = [.init(entity: 0, records: [TestRecord(item, key: key, ["name": .text("\(key)")])])]
    try connection.save(request)
  }

  private func keys(_ connection: any StoreConnection) throws -> [Int64] {
    var keys: [Int64] = []
    try connection.fetch(StoreRequest(entity: 0)) { keys.append($0.key) }
    return keys
  }

  /// What another program does that knows a newer model: it changes the tables and says so.
  private func migrate(_ sql: String, to description: ModelDescription) throws {
    let fresh = home.file("\(UUID().uuidString).db")
    try TestStore.open(fresh, try Model(description)).close()
    let program = try OtherProgram(url)
    let names = "('model', 'storage', 'modelJSON', 'checksum')"
    try program.run(
      "ATTACH '\(fresh.path)' AS fresh; BEGIN IMMEDIATE; \(sql);"
        + "DELETE FROM main._trellis WHERE \"key\" IN \(names);"
        + "INSERT INTO main._trellis SELECT * FROM fresh._trellis WHERE \"key\" IN \(names); COMMIT")
  }

  private func addColour() throws {
    try migrate("ALTER TABLE Item ADD COLUMN colour TEXT", to: Self.description(colour: true))
  }

  private func metadata() throws -> [String] {
    try OtherProgram(url).texts("SELECT \"key\" || '=' || \"value\" FROM _trellis WHERE \"key\" <> 'nextKey'")
  }

  private func expectMigrated(_ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void) throws {
    let error = try #require(throws: StoreError.self, sourceLocation: location) { try body() }
    #expect(error.code == .migratedByOthers, "\(error)", sourceLocation: location)
  }

  @Test("no save writes the former model over the new one", arguments: [nil, "Another text."])
  func saving(doc: String?) throws {
    do { try insert(1, try open(Self.description()).connect()) }
    let store = try open(Self.description(doc: doc))
    let connection = try store.connect()
    try addColour()
    let before = try metadata()
    try expectMigrated { try insert(2, connection) }
    try expectMigrated { try insert(2, store.connect()) }
    store.close()
    #expect(try metadata() == before)
    #expect(try keys(try open(Self.description(colour: true)).connect()) == [1])
  }

  @Test("a save is refused that began to wait before the migration ended")
  func waiting() throws {
    let store = try StoreConfiguration.sqlite(at: url, durability: .relaxed, busyTimeout: 20).open(
      Model(Self.description(doc: "Another text.")))
    let connection = try store.connect()
    try insert(1, connection)
    // The thread has it for itself from its start on.
    nonisolated(unsafe) let program = try OtherProgram(url)
    try program.run("BEGIN IMMEDIATE; ALTER TABLE Item DROP COLUMN note")
    let checksum = try Model(Self.description(colour: true)).checksum
    let commit = Thread {
      Thread.sleep(forTimeInterval: 0.3)
      try? program.run(
        "UPDATE _trellis SET value = 'other' WHERE key = 'storage'; UPDATE _trellis SET value = '\(checksum)' WHERE key = 'checksum'; COMMIT"
      )
    }
    commit.start()
    try expectMigrated { try insert(2, connection) }
    #expect(try OtherProgram(url).texts("SELECT name FROM Item") == ["1"])
  }

  @Test("every read says so, and none takes the file for a damaged one", arguments: [false, true])
  func reading(readOnly: Bool) throws {
    do { try insert(1, try open(Self.description()).connect()) }
    // While it is open for writing too, one that only reads sees what others commit.
    let writer = try open(Self.description())
    let store = try open(Self.description(), readOnly: readOnly)
    let connection = try store.connect()
    #expect(try keys(connection) == [1])
    try migrate("ALTER TABLE Item RENAME COLUMN note TO remark", to: Self.description(colour: true))
    for _ in 0..<2 {
      try expectMigrated { _ = try keys(connection) }
      try expectMigrated { try connection.rows(of: 0, keys: [1]) { _ in } }
      try expectMigrated { _ = try keys(store.connect()) }
    }
    if !readOnly {
      try expectMigrated { _ = try connection.count(StoreRequest(entity: 0)) }
      try expectMigrated { try connection.check { _ in } }
      try expectMigrated { _ = try store.reserveKeys(1) }
    }
    writer.close()
  }

  @Test("a moment that is shown stays as it is, and what comes after it is refused")
  func pinned() throws {
    let store = try open(Self.description())
    let connection = try store.connect()
    try insert(1, connection)
    try connection.pin()
    try addColour()
    #expect(try keys(connection) == [1])
    connection.unpin()
    try expectMigrated { _ = try keys(connection) }
  }

  @Test("a model that is stored alike changes nothing for those who have the file open, and its text stays")
  func storedAlike() throws {
    do { try insert(1, try open(Self.description()).connect()) }
    let mine = try open(Self.description(doc: "Mine."))
    let connection = try mine.connect()
    #expect(try keys(connection) == [1])
    do { try insert(2, try open(Self.description(doc: "Others'.")).connect()) }
    try insert(3, connection)
    try insert(4, connection)
    #expect(try keys(connection) == [1, 2, 3, 4])
    #expect(try OtherProgram(url).texts("SELECT value FROM _trellis WHERE key = 'modelJSON'")[0].contains("Others'."))
  }

  @Test("a model of another name is refused though it is stored alike")
  func otherName() throws {
    do { try insert(1, try open(Self.description()).connect()) }
    let error = try #require(throws: StoreError.self) { try open(Self.description(name: "Market")) }
    #expect(error.code == .otherModel)
    #expect(error.message.contains("Shop") && error.message.contains("Market"))
    #expect(error.remedy.contains("\"model\": \"Shop\""))
  }

  @Test("a table that was altered is as good as one that was made so, and a difference is still found")
  func structure() throws {
    do { try insert(1, try open(Self.description()).connect()) }
    try addColour()
    let store = try open(Self.description(colour: true))
    let connection = try store.connect()
    var findings: [StoreFinding] = []
    try connection.check { findings.append($0) }
    #expect(findings.isEmpty, "\(findings)")
    try OtherProgram(url).run("ALTER TABLE Item ADD COLUMN size INTEGER")
    try connection.check { findings.append($0) }
    #expect(findings.map(\.code) == [.tableDiffers], "\(findings)")
  }
}
