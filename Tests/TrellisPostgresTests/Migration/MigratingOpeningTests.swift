import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Opening a store of a former model on PostgreSQL", .enabled(if: TestServer.isThere, "needs a server"))
struct MigratingOpeningTests {
  private func titles(_ store: any Store, _ model: Model) throws -> [String] {
    defer { store.close() }
    var titles: [String] = []
    let request = StoreRequest(entity: 0)
    try store.connect().fetch(request) { row in titles.append(row.text(0)) }
    return titles.sorted()
  }

  @Test("names change, columns come and go, and no table or index is written again")
  func tablesStay() throws {
    let store = try FormerSchema()
    let former = try store.files()
    let current = try FormerSchema.currentModel()
    let plan = try #require(try store.configuration().plan(current))
    #expect(plan.loses)
    // The tables may be changed by the plan's statements alone, because no rows are written between them.
    for statement in plan.sql { #expect(statement.contains("\"\(store.schema)\".") && !statement.contains("STRICT")) }
    struct Undone: Error {}
    #expect(throws: Undone.self) {
      try store.connection.transaction { connection in
        try connection.runAll(plan.sql)
        throw Undone()
      }
    }
    #expect(try titles(store.open(current), current) == ["1", "2", "3"])
    #expect(try store.files() == former)
    #expect(try store.sql("SELECT \"stars\"::text FROM SCHEMA.\"Entry\"") == [["3"], ["3"], ["3"]])
    #expect(try store.number("SELECT count(*) FROM SCHEMA.\"_models\"") == 2)
    #expect(try store.configuration().plan(current) == nil)
    let older = #expect(throws: StoreError.self) { try store.open(store.former) }
    #expect(older?.code == .newerModel)
  }

  @Test("a table whose values are computed is written again, and the others stay")
  func tableIsWritten() throws {
    let store = try FormerSchema()
    let former = try store.files()
    let current = try FormerSchema.writtenModel()
    try store.open(current).close()
    #expect(
      try store.sql("SELECT \"summary\" FROM SCHEMA.\"Entry\" ORDER BY 1").map { $0[0] } == [
        "About 1", "About 2", "About 3",
      ])
    let files = try store.files()
    #expect(files["Entry"] != former["Entry"])
    for name in ["Tag", current.joinTables[0].name] { #expect(files[name] != nil && files[name] == former[name]) }
  }

  @Test("what has no place is refused with the lines to write, and the schema stays as it was")
  func refused() throws {
    let store = try FormerSchema()
    let before = try store.image()
    let error = try #require(throws: StoreError.self) {
      try store.open(FormerSchema.model([FormerSchema.title, .init("feeling", .string, optional: true)]))
    }
    #expect(error.code == .dataLoss && error.entity == "Entry" && error.properties == ["mood"])
    #expect(
      error.message.contains(
        """
          Entry.mood: has no place in this model, and there are 3 values. Write "renamedFrom": "mood" at Entry.feeling if \
        it is now called so; write "removed": ["mood"] in Entry if its values may go.
        """), "\(error)")
    #expect(try store.image() == before)
  }

  @Test("policies refuse, or allow the loss")
  func policies() throws {
    let store = try FormerSchema()
    let before = try store.image()
    let error = #expect(throws: StoreError.self) { try store.open(FormerSchema.currentModel(), .refused) }
    #expect(error?.code == .needsMigration)
    #expect(try store.image() == before)
    let shorter = try FormerSchema.model([FormerSchema.title])
    #expect(try titles(store.open(shorter, .allowingDataLoss), shorter) == ["1", "2", "3"])
  }

  @Test("a model of another name is refused, as are features and formats of newer versions")
  func others() throws {
    let store = try FormerSchema()
    var description = store.former.description
    description.name = "Other"
    let other = #expect(throws: StoreError.self) { try store.open(Model(description)) }
    #expect(other?.code == .otherModel)
    try store.sql("UPDATE SCHEMA.\"_trellis\" SET \"value\" = 'wings' WHERE \"key\" = 'readOnlyCompatible'")
    let kept = try store.image()
    let readOnly = try store.open(store.former)
    #expect(try readOnly.connect().count(StoreRequest(entity: 0)) == 3)
    let write = #expect(throws: StoreError.self) {
      try readOnly.connect().save(store.request(store.former, 10...11))
    }
    #expect(write?.code == .readOnly)
    readOnly.close()
    let migration = #expect(throws: StoreError.self) { try store.open(FormerSchema.currentModel()) }
    #expect(migration?.code == .readOnly)
    #expect(try store.image() == kept)
    try store.sql("UPDATE SCHEMA.\"_trellis\" SET \"value\" = 'wings' WHERE \"key\" = 'incompatible'")
    let unknown = #expect(throws: StoreError.self) { try store.open(store.former) }
    #expect(unknown?.code == .newerFormat && unknown?.message.contains("wings") == true)
  }

  @Test("a schema that another program has changed is not migrated, nor one with views of it")
  func changedByOthers() throws {
    let store = try FormerSchema()
    try store.sql("CREATE VIEW SCHEMA.\"moods\" AS SELECT \"mood\" FROM SCHEMA.\"Entry\"")
    var before = try store.image()
    let viewed = #expect(throws: StoreError.self) { try store.open(FormerSchema.currentModel()) }
    #expect(viewed?.code == .refusedByServer && viewed?.message.contains("depends on") == true)
    #expect(try store.image() == before)
    try store.sql("DROP VIEW SCHEMA.\"moods\"")
    try store.sql("ALTER TABLE SCHEMA.\"Entry\" ADD COLUMN \"own\" text")
    before = try store.image()
    let changed = #expect(throws: StoreError.self) { try store.open(FormerSchema.currentModel()) }
    #expect(changed?.code == .damaged && changed?.message.contains("table Entry") == true)
    #expect(try store.image() == before)
  }

  @Test("a new text of the model is kept, with its indexes, and open programs go on")
  func newText() throws {
    let store = try FormerSchema()
    let open = try store.open(store.former)
    defer { open.close() }
    let connection = try open.connect()
    #expect(try connection.count(StoreRequest(entity: 0)) == 3)
    let current = try FormerSchema.model(
      [FormerSchema.title, FormerSchema.mood], indexes: [.init([.init("title"), .init("mood", descending: true)])],
      version: "2")
    try store.open(current).close()
    #expect(try store.sql("SELECT \"version\" FROM SCHEMA.\"_models\" ORDER BY \"number\"") == [[nil], ["2"]])
    #expect(try store.files().keys.contains("_index.Entry.title.mood-"))
    #expect(try connection.count(StoreRequest(entity: 0)) == 3)
    try connection.save(store.request(store.former, 10...11))
    // The former text does not replace the newer one.
    try store.open(store.former).close()
    #expect(try store.files().keys.contains("_index.Entry.title.mood-"))
    try store.open(FormerSchema.model([FormerSchema.title, FormerSchema.mood], version: "3")).close()
    #expect(try !store.files().keys.contains("_index.Entry.title.mood-"))
  }

  @Test("an index that an administrator has made stays")
  func foreignIndex() throws {
    let store = try FormerSchema()
    try store.sql("CREATE INDEX \"admin\" ON SCHEMA.\"Entry\" (\"title\")")
    try store.open(FormerSchema.currentModel()).close()
    #expect(try store.files().keys.contains("admin"))
  }

  @Test("an observer sees the work grow to its end")
  func progress() throws {
    let store = try FormerSchema(rows: 20_000)
    let seen = Locked<[Double]>([])
    let observer = MigrationObserver { fraction in seen.withLock { $0.append(fraction) } }
    let opened = try store.configuration().openObserved(FormerSchema.writtenModel(), observer)
    #expect(try opened.connect().count(StoreRequest(entity: 0)) == 20_000)
    opened.close()
    let fractions = seen.withLock { $0 }
    #expect(fractions.first == 0 && fractions.last == 1 && fractions == fractions.sorted() && fractions.count <= 102)
    #expect(fractions.count > 2)
  }

  @Test("a cancelled migration leaves the former store", arguments: [0.0, 0.2])
  func cancelled(after: Double) throws {
    let store = try FormerSchema(rows: 5_000)
    let before = try store.image()
    let holder = Locked<MigrationObserver?>(nil)
    let observer = MigrationObserver { if $0 >= after { holder.withLock { $0 }?.cancel() } }
    holder.withLock { $0 = observer }
    let error = #expect(throws: StoreError.self) {
      try store.configuration().openObserved(FormerSchema.writtenModel(), observer)
    }
    #expect(error?.code == .cancelled)
    #expect(try store.image() == before)
    holder.withLock { $0 = nil }
  }
}
