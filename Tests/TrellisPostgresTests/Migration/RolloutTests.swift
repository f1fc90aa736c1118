import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// Programs with the former model and with the current one at work on one store.
@Suite("A model that adds, beside programs with the former one", .enabled(if: TestServer.isThere, "needs a server"))
struct RolloutTests {
  private typealias Former = FormerSchema

  private static let stars = AttributeDescription("stars", .int16, default: .value(.integer(3)))
  private static let place = AttributeDescription("place", .string, optional: true)
  private static let seen = AttributeDescription("seen", .date, default: .now)

  /// Entries with stars and a place, and comments on them.
  private static func expanded(version: String? = nil, removed: [String] = []) throws -> Model {
    var model = try Former.model([Former.title, Former.mood, stars, place, seen], removed: removed).description
    model.version = version
    model.entities.append(
      EntityDescription(
        "Comment", attributes: [AttributeDescription("text", .string)],
        relationships: [RelationshipDescription("entry", to: "Entry", optional: true)]))
    return try Model(model)
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? StoreError)?.code }
  }

  private func error(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch { return error as? StoreError }
  }

  /// An insert, an update and a delete by a program with the former model, of entries with the keys 1 to 3.
  private func work(_ store: any Store, _ model: Model, inserting key: Int) throws {
    let entry = model.entities[0]
    let request = SaveRequest()
    request.inserts = [
      .init(
        entity: 0,
        records: [PlainRecord(entry, key: Int64(key), ["title": .text("by the former"), "stars": .integer(3)])])
    ]
    try store.connect().save(request)
  }

  @Test("a program with the former model goes on reading and saving, and its rows get what they have no value for")
  func openProgram() throws {
    let schema = try Former()
    let open = try schema.open(schema.former, .automatic)
    defer { open.close() }
    let connection = try open.connect()
    #expect(try connection.count(StoreRequest(entity: 0)) == 3)
    let current = try Self.expanded()
    let new = try schema.open(current, .automatic)
    defer { new.close() }
    #expect(try connection.count(StoreRequest(entity: 0)) == 3)
    try work(open, schema.former, inserting: 10)
    #expect(
      try schema.sql(
        "SELECT \"stars\"::text, \"place\", (now() - \"seen\" < interval '1 minute')::text FROM SCHEMA.\"Entry\" "
          + "WHERE _id = 10")
        == [["3", nil, "true"]])
    // A change of a row leaves what the program does not know.
    try schema.sql("UPDATE SCHEMA.\"Entry\" SET \"stars\" = 5, \"place\" = 'Paris' WHERE _id = 1")
    let update = SaveRequest()
    let changed = PlainRecord(schema.former.entities[0], key: 1, version: 1, ["title": .text("changed")])
    update.updates = [.init(entity: 0, records: [changed], masks: [ColumnMask(only: 0)])]
    try connection.save(update)
    #expect(
      try schema.sql("SELECT \"title\", \"stars\"::text, \"place\" FROM SCHEMA.\"Entry\" WHERE _id = 1")
        == [["changed", "5", "Paris"]])
    #expect(try new.connect().count(StoreRequest(entity: 0)) == 4)
  }

  @Test("a program with the former model starts beside the newer one, checks the store, and changes no model")
  func restarted() throws {
    let schema = try Former()
    try schema.open(try Self.expanded(), .automatic).close()
    let before = try schema.sql("SELECT \"value\" FROM SCHEMA.\"_trellis\" ORDER BY \"key\"")
    let open = try schema.open(schema.former, .refused)
    defer { open.close() }
    try work(open, schema.former, inserting: 10)
    var findings: [StoreFinding] = []
    try open.connect().check { findings.append($0) }
    // The keys of the rows were not reserved in this test.
    #expect(findings.allSatisfy { $0.code == .unreservedKey }, "\(findings)")
    #expect(try schema.sql("SELECT \"value\" FROM SCHEMA.\"_trellis\" ORDER BY \"key\"") == before)
    #expect(try schema.configuration().plan(schema.former) == nil)
  }

  @Test("what a newer model refers to is not deleted by a program that does not know it, and the error says why")
  func deletes() throws {
    let schema = try Former()
    let open = try schema.open(schema.former, .automatic)
    defer { open.close() }
    let current = try Self.expanded()
    let new = try schema.open(current, .automatic)
    defer { new.close() }
    let comment = try #require(current.entity(named: "Comment"))
    let request = SaveRequest()
    request.inserts = [
      .init(
        entity: comment.index,
        records: [PlainRecord(comment, key: 50, ["text": .text("well"), "entry": .integer(1)])])
    ]
    try new.connect().save(request)
    func delete(_ key: Int64) -> SaveRequest {
      let request = SaveRequest()
      request.deletes = [.init(entity: 0, keys: [key], versions: [1])]
      return request
    }
    let refusal = try #require(error { try open.connect().save(delete(1)) })
    #expect(refusal.code == .refusedByServer)
    #expect(refusal.message.contains("_target.Comment.entry"), "\(refusal)")
    #expect(try schema.number("SELECT count(*) FROM SCHEMA.\"Entry\"") == 3)
    try open.connect().save(delete(2))
    #expect(try schema.number("SELECT count(*) FROM SCHEMA.\"Entry\"") == 2)
  }

  @Test("a migration that others cannot live with is refused while one of them is connected")
  func refused() throws {
    let schema = try Former()
    let open = try schema.open(schema.former, .automatic)
    // A program with this model could not use the store as it is, because a title is required there.
    let contracted = try Former.model(
      [AttributeDescription("text", .string, renamedFrom: ["title"]), Former.mood])
    let before = try schema.image()
    let refusal = try #require(error { try schema.open(contracted, .automatic).close() })
    #expect(refusal.code == .formerPrograms)
    #expect(refusal.message.contains("Entry.title: renamed to text"), "\(refusal)")
    #expect(try schema.image() == before)
    try work(open, schema.former, inserting: 10)
    open.close()
    try schema.open(contracted, .automatic).close()
    #expect(code { try schema.open(schema.former, .automatic).close() } == .newerModel)
  }

  @Test("what a refusal says leads on: a policy that stops former programs")
  func forced() throws {
    let schema = try Former()
    let open = try schema.open(schema.former, .automatic)
    defer { open.close() }
    let contracted = try Former.model([Former.title], removed: ["mood"])
    try schema.open(contracted, .automatic.stoppingFormerPrograms()).close()
    #expect(code { _ = try open.connect().count(StoreRequest(entity: 0)) } == .migratedByOthers)
  }

  /// A model without the mood and the stars of a former one, which has a default for the stars.
  private enum Contraction {
    static func former() throws -> Model { try Former.model([Former.title, Former.mood, stars]) }
    static func current() throws -> Model { try Former.model([Former.title], removed: ["mood", "stars"]) }
  }

  @Test("a model that only removes waits beside former programs, and goes on when its migration comes")
  func waiting() throws {
    let schema = try Former(try Contraction.former())
    let open = try schema.open(schema.former, .automatic)
    let current = try Contraction.current()
    let waiting = try schema.open(current, .automatic)
    defer { waiting.close() }
    #expect(try waiting.connect().count(StoreRequest(entity: 0)) == 3)
    try work(waiting, current, inserting: 10)
    #expect(
      try schema.sql("SELECT \"title\", \"mood\", \"stars\"::text FROM SCHEMA.\"Entry\" WHERE _id = 10")
        == [["by the former", nil, "3"]])
    var findings: [StoreFinding] = []
    try waiting.connect().check { findings.append($0) }
    #expect(findings.allSatisfy { $0.code == .unreservedKey }, "\(findings)")
    // Another one starts, while a former program is still there, and after it has ended.
    try schema.open(current, .refused).close()
    try schema.open(current, .automatic).close()
    try work(open, schema.former, inserting: 11)
    #expect(try schema.number("SELECT count(\"mood\") FROM SCHEMA.\"Entry\"") == 3)
    open.close()
    try schema.open(current, .refused).close()
    #expect(try schema.number("SELECT count(\"mood\") FROM SCHEMA.\"Entry\"") == 3)
    try schema.open(current, .automatic).close()
    #expect(
      try schema.number(
        "SELECT count(*) FROM pg_catalog.pg_attribute WHERE attrelid = 'SCHEMA.\"Entry\"'::pg_catalog.regclass "
          + "AND attname = 'mood'") == 0)
    // The program that waited goes on as if nothing had been.
    #expect(try waiting.connect().count(StoreRequest(entity: 0)) == 5)
    try work(waiting, current, inserting: 12)
    #expect(code { try schema.open(schema.former, .automatic).close() } == .newerModel)
  }

  @Test("a program with the former model starts again while a newer model waits, and a rollout is taken back")
  func rollback() throws {
    let schema = try Former(try Contraction.former())
    let open = try schema.open(schema.former, .automatic)
    defer { open.close() }
    let current = try Contraction.current()
    try schema.open(current, .automatic).close()
    let again = try schema.open(schema.former, .refused)
    defer { again.close() }
    try work(again, schema.former, inserting: 10)
    #expect(try again.connect().count(StoreRequest(entity: 0)) == 4)
  }

  @Test("a model waits only if it says what becomes of the data")
  func unconsented() throws {
    let schema = try Former(try Contraction.former())
    let open = try schema.open(schema.former, .automatic)
    defer { open.close() }
    let silent = try Former.model([Former.title])
    #expect(code { try schema.open(silent, .automatic).close() } == .dataLoss)
    #expect(code { try schema.open(try Contraction.current(), .refused).close() } == .needsMigration)
  }

  @Test("a store stays open to all models since the last one that was not additive")
  func chain() throws {
    let schema = try Former()
    let first = try Former.model([Former.title, Former.mood, Self.stars])
    let second = try Self.expanded()
    try schema.open(first, .automatic).close()
    let open = try schema.open(second, .automatic)
    for model in [schema.former, first, second] {
      let again = try schema.open(model, .refused)
      defer { again.close() }
      #expect(try again.connect().count(StoreRequest(entity: 0)) == 3)
    }
    // Without what was added, the model is stored as the former one.
    var back = try Former.model(
      [Former.title, Former.mood], removed: ["stars", "place", "seen"], version: "4"
    ).description
    back.removed = ["Comment"]
    let contracted = try Model(back)
    let former = try schema.open(schema.former, .automatic)
    defer { former.close() }
    open.close()
    try schema.open(contracted, .automatic).close()
    #expect(code { try schema.open(first, .automatic).close() } == .newerModel)
    #expect(code { try schema.open(second, .automatic).close() } == .newerModel)
    try work(former, schema.former, inserting: 10)
    try schema.open(try Former.formerModel(), .refused).close()
  }

  @Test("a snapshot goes on while its store is expanded, if it holds none of the tables that change")
  func snapshot() throws {
    let schema = try Former()
    let open = try schema.open(schema.former, .automatic)
    defer { open.close() }
    let pinned = try open.connect()
    try pinned.pin()
    #expect(try pinned.count(StoreRequest(entity: 1)) == 3)
    try schema.open(try Self.expanded(), .automatic).close()
    // The table has more columns by now, and the same rows.
    #expect(try pinned.count(StoreRequest(entity: 0)) == 3)
    pinned.unpin()
    #expect(try pinned.count(StoreRequest(entity: 0)) == 3)
  }
}
