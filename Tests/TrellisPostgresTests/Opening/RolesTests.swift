import Foundation
import Testing
import Trellis
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

/// Roles that may do less than the owner of the tables.
@Suite("Roles on a server", .enabled(if: PostgresCluster.canStart, "needs initdb"), .serialized)
struct RolesTests {
  private static let cluster = Result {
    let cluster = try PostgresCluster.start()
    _ = try cluster.psql(
      "CREATE ROLE owner LOGIN PASSWORD 'secret'; CREATE ROLE app LOGIN PASSWORD 'secret';"
        + "CREATE ROLE reader LOGIN PASSWORD 'secret'")
    return cluster
  }

  private let database: String

  init() throws {
    database = try Self.cluster.get().makeDatabase()
    try makeSchema()
  }

  private func makeSchema() throws {
    _ = try Self.cluster.get().psql(
      """
      CREATE SCHEMA shop AUTHORIZATION owner;
      GRANT USAGE ON SCHEMA shop TO app, reader;
      ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA shop GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO app;
      ALTER DEFAULT PRIVILEGES FOR ROLE owner IN SCHEMA shop GRANT SELECT ON TABLES TO reader;
      """, database: database)
  }

  private func address(_ role: String) throws -> String {
    let cluster = try Self.cluster.get()
    return "postgresql://\(role):secret@\(cluster.host):\(cluster.port)/\(database)"
  }

  private func model(
    indexes: [IndexDescription] = [], maxLength: Int? = nil, history: HistoryContent = .off, isNewer: Bool = false
  ) throws -> Model {
    var attributes = [
      AttributeDescription("name", .string, rules: AttributeRules(maxLength: maxLength)),
      AttributeDescription("size", .int64, default: .value(.integer(0))),
    ]
    if isNewer { attributes.append(AttributeDescription("note", .string, optional: true)) }
    return try Model(
      ModelDescription(
        name: "Shelf",
        entities: [EntityDescription("Item", attributes: attributes, uniqueKeys: [["name"]], indexes: indexes)],
        history: history))
  }

  private func open(_ role: String, _ model: Model, _ policy: MigrationPolicy = .automatic) throws -> any Store {
    try StoreConfiguration.postgres(address(role), schema: "shop", migration: policy).open(model)
  }

  private func error(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test(
    "a model whose text changes no row is opened by a role that may not write the text", arguments: ["app", "reader"],
    [MigrationPolicy.automatic, .refused])
  func text(_ role: String, _ policy: MigrationPolicy) throws {
    for history in [HistoryContent.off, .changes] {
      _ = try Self.cluster.get().psql("DROP SCHEMA IF EXISTS shop CASCADE", database: database)
      try makeSchema()
      func model(_ indexes: [IndexDescription] = [], _ maxLength: Int? = nil) throws -> Model {
        try self.model(indexes: indexes, maxLength: maxLength, history: history)
      }
      try open("owner", model()).close()
      let index = IndexDescription([.init("size")])
      for changed in [try model([index]), try model([], 10), try model([index], 5)] {
        let store = try open(role, changed, policy)
        let connection = try store.connect()
        if role == "app" {
          let request = SaveRequest()
          let key = try store.reserveKeys(1).lowerBound
          request.inserts = [
            SaveRequest.Inserts(
              entity: 0,
              records: [
                PlainRecord(changed.entities[0], key: key, ["name": .text("\(key)"), "size": .integer(1)])
              ])
          ]
          try connection.save(request)
        }
        #expect(try connection.count(StoreRequest(entity: 0)) >= (role == "app" ? 1 : 0))
        store.close()
      }
      try open("owner", model([index])).close()
      try open(role, model([], 20), policy).close()
    }
  }

  @Test("roles that may not make tables of derived values use those of the owner, and keep them") func derived() throws
  {
    func model(_ expression: String, stored: Bool = true) throws -> Model {
      try Model(
        ModelDescription(
          name: "Shelf",
          entities: [
            EntityDescription(
              "Item",
              attributes: [
                AttributeDescription("name", .string),
                AttributeDescription("length", .int64, derived: expression, stored: stored),
              ])
          ]))
    }
    func store(_ role: String, _ model: Model) throws -> PostgresStore {
      try #require(open(role, model) as? PostgresStore)
    }
    let kept = try model("length(name)")
    try open("owner", kept).close()
    let app = try store("app", kept)
    let request = SaveRequest()
    let key = try app.reserveKeys(1).lowerBound
    request.inserts = [
      SaveRequest.Inserts(entity: 0, records: [PlainRecord(kept.entities[0], key: key, ["name": .text("five5")])])
    ]
    try app.connect().save(request)
    let table = try #require(app.features.derived.tables.first?.name)
    #expect(
      try Self.cluster.get().psql("SELECT length FROM \(table)", database: database).contains("5"))
    let reader = try store("reader", kept)
    #expect(reader.features.derived.tables.count == 1)
    // A table of another role might have triggers.
    _ = try Self.cluster.get().psql(
      """
      CREATE SCHEMA other AUTHORIZATION owner; GRANT CREATE, USAGE ON SCHEMA other TO app; SET ROLE owner;
      """, database: database)
    let url = try address("owner")
    try StoreConfiguration.postgres(url, schema: "other").open(model("length(name)", stored: false)).close()
    _ = try Self.cluster.get().psql(
      "SET ROLE app; CREATE TABLE other.\"_derivedMarks\" (a int)", database: database)
    let refused = error { _ = try StoreConfiguration.postgres(url, schema: "other").open(kept) }
    #expect(refused?.code == .foreignFile, "\(String(describing: refused))")
    // A model whose expression the store has no table for.
    let other = try store("app", model("length(name) + 1"))
    #expect(other.features.derived.tables.isEmpty)
    for store in [app, reader, other] { store.close() }
  }

  @Test(
    "an index that is missing is left to the owner by a role that may not make it",
    arguments: [0, 1_000_000] as [Int64])
  func index(largeTable: Int64) throws {
    let model = try model(indexes: [IndexDescription([.init("size")])])
    try open("owner", model).close()
    _ = try Self.cluster.get().psql("DROP INDEX shop.\"_index.Item.size\"", database: database)
    for role in ["app", "reader", "owner"] {
      var options = PostgresOptions(connectionString: try address(role), schema: "shop")
      options.largeTable = largeTable
      let store = try PostgresOpening(model, options).open(nil)
      #expect(try store.connect().count(StoreRequest(entity: 0)) == 0)
      store.close()
      let count = "SELECT count(*) FROM pg_class WHERE relname = '_index.Item.size'"
      #expect(try Self.cluster.get().psql(count, database: database) == (role == "owner" ? "1" : "0"))
    }
  }

  @Test("a role that may not migrate is told that the store has to be, and which role it is")
  func migration() throws {
    try open("owner", model()).close()
    let found = try #require(error { _ = try open("app", model(isNewer: true)) })
    #expect(found.code == .cannotOpen, "\(found)")
    #expect(
      found.message.contains("migrat") && found.message.contains("app") && found.remedy.contains("owner"), "\(found)")
  }

  @Test("a role that may not make a store is told that there is none")
  func creation() throws {
    let found = try #require(error { _ = try open("app", model()) })
    #expect(found.code == .cannotOpen && found.message.contains("no store"), "\(found)")
    #expect(found.message.contains("app") && found.remedy.contains("owner"), "\(found)")
  }

  @Test("a save by a role that only reads is an error of the store, and nothing is reported before")
  func reader() async throws {
    try PersistentContainer(model: .shop, store: .postgres(address("owner"), schema: "shop")).close()
    let reports = Locked(0)
    let container = try PersistentContainer(model: .shop, store: .postgres(address("reader"), schema: "shop")) { _ in
      reports.withLock { $0 += 1 }
    }
    let context = container.newContext()
    for number in 0..<3 { _ = Product(in: context, name: "Tea \(number)", price: 4) }
    let found = error { try context.save() }
    #expect(
      found?.code == .cannotOpen && found?.message.contains("permission denied") == true, "\(String(describing: found))"
    )
    #expect(reports.withLock { $0 } == 0)
    context.rollback()
    #expect(try context.count(Product.all) == 0)
    container.close()
  }

  @Test("former rows are kept of what a role changes that has no right to them, and a reader is shown the past")
  func formerRows() throws {
    let model = try model(history: .values)
    try open("owner", model).close()
    let cluster = try Self.cluster.get()
    _ = try cluster.psql("REVOKE ALL ON shop.\"_past.Item\" FROM app", database: database)
    let app = try open("app", model)
    let request = SaveRequest()
    let key = try app.reserveKeys(1).lowerBound
    request.inserts = [
      SaveRequest.Inserts(
        entity: 0, records: [PlainRecord(model.entities[0], key: key, ["name": .text("a"), "size": .integer(1)])])
    ]
    try app.connect().save(request)
    let changes = "SET ROLE app; UPDATE shop.\"Item\" SET name = 'b'; DELETE FROM shop.\"Item\""
    let reader = try #require(try open("reader", model) as? PostgresStore)
    let connection = try #require(try reader.connect() as? any HistoryConnection)
    // A transaction of the server's own, as of autovacuum, delays the moment.
    let end = Date.now + 60
    while try connection.position(of: .now).number == 0, Date.now < end { Thread.sleep(forTimeInterval: 0.01) }
    let then = try connection.position(of: .now)
    _ = try cluster.psql(changes, database: database)
    #expect(try cluster.psql("SELECT count(*) FROM shop.\"_past.Item\"", database: database) == "3")
    var names: [String] = []
    try reader.connect(asOf: then).fetch(StoreRequest(entity: 0)) { names.append($0.text(0)) }
    #expect(names == ["a"])
    #expect(error { _ = try (app as? PostgresStore)?.connect(asOf: then) }?.code == .unsupported)
    app.close()
    reader.close()
  }

  @Test("a history is left to the owner by a role that may not end it")
  func history() throws {
    try open("owner", model(history: .changes)).close()
    let store = try open("app", model())
    #expect(try store.connect().count(StoreRequest(entity: 0)) == 0)
    store.close()
  }
}
