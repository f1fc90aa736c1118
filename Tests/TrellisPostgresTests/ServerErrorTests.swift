import Foundation
import Testing
import TrellisModel
import TrellisTestSupport

@testable import TrellisPostgres
@testable import TrellisStorage

@Suite("Errors of a server") struct ServerErrorTests {
  /// A state of each class of the manual, and those that differ from their class.
  private static let codes: [(state: String, code: StoreError.Code)] = [
    ("08006", .inputOutput), ("09000", .refusedByServer), ("0A000", .unsupported), ("0F000", .refusedByServer),
    ("0L000", .cannotOpen), ("0P000", .cannotOpen), ("0Z000", .refusedByServer), ("10608", .refusedByServer),
    ("20000", .refusedByServer), ("21000", .refusedByServer), ("22001", .refusedByServer), ("22P02", .refusedByServer),
    ("23000", .refusedByServer), ("23001", .refusedByServer), ("23502", .refusedByServer), ("23503", .refusedByServer),
    ("23505", .refusedByServer), ("23514", .refusedByServer), ("23P01", .refusedByServer), ("25006", .readOnly),
    ("25P03", .timedOut), ("25P04", .timedOut), ("26000", .cannotOpen), ("27000", .refusedByServer),
    ("28000", .cannotOpen), ("2BP01", .refusedByServer), ("2F002", .refusedByServer), ("38000", .refusedByServer),
    ("39000", .refusedByServer), ("3D000", .cannotOpen), ("3F000", .changedByOthers), ("40001", .contended),
    ("40002", .contended), ("40P01", .contended), ("42501", .cannotOpen), ("42703", .changedByOthers),
    ("42P01", .changedByOthers), ("42804", .changedByOthers), ("42883", .changedByOthers), ("42P05", .cannotOpen),
    ("42P07", .foreignFile), ("44000", .refusedByServer), ("53000", .limit), ("53100", .full), ("53200", .limit),
    ("53300", .busy), ("54000", .limit), ("54011", .limit), ("55000", .refusedByServer), ("55006", .busy),
    ("55P03", .busy), ("57014", .timedOut), ("57P01", .inputOutput), ("57P02", .inputOutput), ("58030", .inputOutput),
    ("72000", .busy), ("F0000", .inputOutput), ("HV000", .inputOutput), ("P0001", .refusedByServer),
    ("P0004", .refusedByServer), ("SH001", .refusedByServer), ("XX001", .damaged), ("XX002", .damaged),
    ("42601", .internalError), ("42P02", .internalError), ("25P02", .internalError), ("34000", .internalError),
    ("XX000", .internalError),
  ]

  @Test("each class has a code, and only what Trellis has written wrongly is a mistake of Trellis")
  func classes() {
    for (state, code) in Self.codes {
      let error = ServerError(state: state, message: "words").storeError("S", doing: ServerError.saving)
      #expect(error.code == code, "\(state): \(error)")
      #expect(error.remedy.contains("mistake in Trellis") == (code == .internalError), "\(state)")
    }
  }

  @Test("what a function of the database raises is a rule of its owner, whatever its state")
  func functions() {
    for state in ["P0001", "42P01", "42601", "22012", "23505", "XX000", "0A000"] {
      var error = ServerError(state: state, message: "tea of Ada")
      error.function = "shop.check()"
      let told = error.storeError("S", doing: ServerError.saving)
      #expect(told.code == .refusedByServer && told.message.contains("shop.check()"), "\(told)")
      #expect(!told.description.contains("Ada"))
    }
  }
}

@Suite("Rules of a server's owner", .enabled(if: TestServer.isThere, "needs a server"))
struct OwnerRuleTests {
  private func sql(_ shelf: Shelf, _ text: String) throws {
    let connection = try shelf.store.setup.connect(preparesStatements: false)
    for statement in text.split(separator: ";;") {
      try connection.run(
        ServerStatement(String(statement).replacing("SCHEMA.", with: "\"\(shelf.store.setup.options.schema)\".")))
    }
  }

  private func refusal(_ rule: String) throws -> StoreError {
    let shelf = try Shelf()
    try shelf.insert("tea")
    try sql(shelf, rule)
    return try #require(throws: StoreError.self) { try shelf.insert("secret") }
  }

  @Test(
    "a save that a rule refuses says which one, without values",
    arguments: [
      (
        "CREATE FUNCTION SCHEMA.no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not %', NEW.name; END $$"
          + ";;CREATE TRIGGER t BEFORE INSERT ON SCHEMA.\"Item\" FOR EACH ROW EXECUTE FUNCTION SCHEMA.no()", "no()"
      ),
      // The names of a trigger are looked up in the server's catalog only.
      (
        "CREATE FUNCTION SCHEMA.log() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO nowhere VALUES (1); END $$"
          + ";;CREATE TRIGGER t BEFORE INSERT ON SCHEMA.\"Item\" FOR EACH ROW EXECUTE FUNCTION SCHEMA.log()", "log()"
      ),
      ("ALTER TABLE SCHEMA.\"Item\" ADD CONSTRAINT short CHECK (length(\"name\") < 4)", "short"),
      ("ALTER TABLE SCHEMA.\"Item\" ADD CONSTRAINT one EXCLUDE USING btree ((1) WITH =)", "one"),
      (
        "ALTER TABLE SCHEMA.\"Item\" ADD COLUMN shop bigint NOT NULL DEFAULT 1;;ALTER TABLE SCHEMA.\"Item\" ALTER shop DROP DEFAULT",
        "shop"
      ),
      ("CREATE UNIQUE INDEX single ON SCHEMA.\"Item\" ((true))", "single"),
      ("ALTER TABLE SCHEMA.\"Item\" ALTER \"name\" TYPE varchar(5)", "SQLSTATE 22001"),
    ])
  func refused(_ rule: String, _ name: String) throws {
    let error = try refusal(rule)
    #expect(error.code == .refusedByServer && error.message.contains(name), "\(error)")
    #expect(!error.description.contains("secret") && !error.remedy.contains("Trellis."))
  }

  @Test("a column or a table that was dropped by hand is a change by others, and not another version")
  func dropped() throws {
    for change in ["ALTER TABLE SCHEMA.\"Item\" DROP COLUMN \"list\"", "DROP TABLE SCHEMA.\"Item\""] {
      let shelf = try Shelf()
      try shelf.insert("tea")
      _ = try shelf.names()
      try sql(shelf, change)
      #expect(code { _ = try shelf.names() } == .changedByOthers)
      #expect(code { try shelf.insert("coffee") } == .changedByOthers)
    }
  }

  @Test("a view that a migration would break is named, and the store is migrated without it")
  func view() throws {
    let shelf = try Shelf()
    try shelf.insert("tea")
    let schema = shelf.store.setup.options.schema
    try sql(shelf, "CREATE VIEW SCHEMA.report AS SELECT \"list\" FROM SCHEMA.\"Item\"")
    let changed = try Model(
      ModelDescription(
        name: "Shelf",
        entities: [
          EntityDescription(
            "Item", attributes: [AttributeDescription("name", .string)], uniqueKeys: [["name"]], removed: ["list"])
        ]))
    let configuration = StoreConfiguration.postgres(
      TestServer.url, schema: schema, migration: .automatic.stoppingFormerPrograms())
    let error = try #require(throws: StoreError.self) { try configuration.open(changed) }
    #expect(error.code == .refusedByServer && error.message.contains("report"), "\(error)")
    try sql(shelf, "DROP VIEW SCHEMA.report")
    try configuration.open(changed).close()
  }

  @Test("a statement that the server's time-out ends is not tried again")
  func statementTimeout() throws {
    let shelf = try Shelf()
    try shelf.insert("tea")
    let other = try shelf.store.setup.connect(preparesStatements: false)
    try other.transaction { other in
      try other.run(ServerStatement("LOCK TABLE \"\(shelf.store.setup.options.schema)\".\"Item\""))
      try shelf.store.pool.withConnection { _ = try $0.run(ServerStatement("SET statement_timeout = 200")) }
      let start = Date.now
      #expect(code { _ = try shelf.names() } == .timedOut)
      #expect(Date.now.timeIntervalSince(start) < 0.6)
    }
    #expect(try shelf.names() == ["tea"])
  }
}
