import CSQLite
import Foundation
import Synchronization
import Testing
import TrellisAdoption
import TrellisTestSupport

/// Schemas with functions: those of SQLite itself are used, and no others.
@Suite("Functions in schemas", .serialized) struct ForeignFunctionTests {
  @Test(arguments: [
    // Django writes this for each JSONField.
    #"CREATE TABLE "shop_item" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "data" text NOT NULL CHECK ((JSON_VALID("data") OR "data" IS NULL)))"#,
    "CREATE TABLE item (id INTEGER PRIMARY KEY, data TEXT CHECK (json_type(data) = 'object'))",
    #"CREATE TABLE item (data TEXT, a TEXT AS (json_extract(data, "$.a")))"#,
    "CREATE TABLE item (data TEXT, a TEXT GENERATED ALWAYS AS (data ->> '$.a') STORED)",
    "CREATE TABLE item (data TEXT, a INT AS (json_array_length(data, '$.b')) VIRTUAL NOT NULL)",
    "CREATE TABLE item (data TEXT DEFAULT (json_object('a', 1))); CREATE INDEX by_a ON item (json_extract(data, '$.a'))",
    "CREATE TABLE item (data TEXT); CREATE UNIQUE INDEX by_a ON item (data -> 'a') WHERE json_valid(data)",
    "CREATE TABLE item (data TEXT); CREATE VIEW items AS SELECT json_quote(data) FROM item",
    "CREATE TABLE item (data TEXT CHECK (length(printf('%s', data)) > 0 AND data LIKE '{%' AND data GLOB '*}'))",
  ]) func `a schema may use all functions of SQLite`(_ sql: String) throws {
    let table = sql.contains("shop_item") ? "shop_item" : "item"
    let file = try AdoptionTestFile(#"\#(sql); INSERT INTO \#(table) (data) VALUES ('{"a": "x", "b": [1, 2]}');"#)
    let report = try file.database().copy(to: file.target)
    #expect(report.rows.map(\.rows) == [1])
    let name = table == "item" ? "Item" : "ShopItem"
    #expect(try file.copied("SELECT data FROM \(name)") == [#"{"a": "x", "b": [1, 2]}"#])
    guard sql.contains(" AS (") else { return }
    #expect(try file.copied("SELECT a FROM \(name)") == [sql.contains("length") ? "2" : "x"])
  }

  @Test func `operators of JSON are told as they are written`() throws {
    let file = try AdoptionTestFile(
      "CREATE TABLE item (data TEXT, a TEXT AS (data ->> '$.a'), b TEXT AS (data -> 'b'))")
    let notes = try file.database().notes.map(\.message)
    #expect(notes.contains { $0.hasPrefix("is computed as data ->> '$.a';") }, "\(notes)")
    #expect(notes.contains { $0.hasPrefix("is computed as data -> 'b';") }, "\(notes)")
  }

  /// A file whose table has another declaration than SQLite would accept here.
  private static func file(_ declaration: String) throws -> AdoptionTestFile {
    let file = try AdoptionTestFile("CREATE TABLE item (a TEXT); INSERT INTO item VALUES ('x');")
    let text = declaration.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    try OtherProgram(file.source).run("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '\(text)'")
    return file
  }

  @Test(arguments: [
    ("CREATE TABLE item (a TEXT, b AS (fold_name(a)))", "fold_name"),
    ("CREATE TABLE item (a TEXT COLLATE localized PRIMARY KEY) WITHOUT ROWID", "localized"),
  ]) func `what only the program has is named with the way out`(_ declaration: String, _ name: String) throws {
    // Rows of a table without numbers have another form.
    let file = try Self.file(declaration)
    if declaration.contains("WITHOUT") { try OtherProgram(file.source).run("DELETE FROM item") }
    let error = #expect(throws: AdoptionError.self) { try file.database() }
    // SQLite may find such a file damaged for another reason first.
    guard error?.code != .damaged || !declaration.contains("WITHOUT") else { return }
    #expect(error?.code == .unreadable, "\(error?.description ?? "")")
    #expect(error?.message.contains("what only the program has that made it") == true, "\(error?.description ?? "")")
    #expect(error?.message.contains(name) == true, "\(error?.description ?? "")")
    #expect(error?.remedy.contains("VACUUM INTO") == true)
  }

  /// Conditions do not run, since nothing is written.
  @Test(arguments: ["is_name", "load_extension", "fts3_tokenizer", "writefile"])
  func `a condition with a function of the program is no obstacle`(_ function: String) throws {
    let file = try Self.file("CREATE TABLE item (a TEXT CHECK (\(function)(a) IS NULL))")
    #expect(try file.database().copy(to: file.target).rows.map(\.rows) == [1])
    #expect(try file.database().notes.contains { $0.message.contains(function) })
  }

  @Test(arguments: ["load_extension(a)", "load_extension(a, 'f')", "fts3_tokenizer(a)", "random()"])
  func `a computed column with an effect is refused`(_ call: String) throws {
    let file = try Self.file("CREATE TABLE item (a TEXT, b AS (\(call)))")
    #expect(throws: AdoptionError.self) { try file.database() }
  }

  #if os(Linux)
    private static let calls = Mutex(0)

    private typealias Entry = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32
    private typealias Registration = @convention(c) (Entry) -> Int32

    /// Registers a function with an effect at each connection that is opened, as an extension in the program does.
    private static let entry: Entry = { connection, _, _ in
      trellis_sqlite3_create_function_v2(
        connection, "trellis_test_effect", 1, TRELLIS_SQLITE_UTF8 | TRELLIS_SQLITE_DETERMINISTIC, nil,
        { context, _, _ in
          ForeignFunctionTests.calls.withLock { $0 += 1 }
          trellis_sqlite3_result_int64(context, 1)
        }, nil, nil, nil)
    }

    @Test func `a function that the process adds to each connection does not run`() throws {
      let library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_NOLOAD) ?? dlopen("libsqlite3.so.0", RTLD_NOW)
      guard let add = dlsym(library, "sqlite3_auto_extension"),
        let cancel = dlsym(library, "sqlite3_cancel_auto_extension")
      else { return }
      let file = try AdoptionTestFile("CREATE TABLE item (a TEXT); INSERT INTO item VALUES ('x');")
      _ = unsafeBitCast(add, to: Registration.self)(Self.entry)
      defer { _ = unsafeBitCast(cancel, to: Registration.self)(Self.entry) }
      let other = try OtherProgram(file.source)
      try other.run(
        "PRAGMA writable_schema = ON; "
          + "UPDATE sqlite_schema SET sql = 'CREATE TABLE item (a TEXT, b AS (trellis_test_effect(a)))'")
      // The function is there for others, so that the test would notice.
      #expect(try OtherProgram(file.source).texts("SELECT b FROM item") == ["1"])
      let before = Self.calls.withLock { $0 }
      #expect(before > 0)
      let error = #expect(throws: AdoptionError.self) { try file.database().copy(to: file.target) }
      #expect(error?.message.contains("trellis_test_effect") == true, "\(error?.description ?? "")")
      #expect(Self.calls.withLock { $0 } == before)
    }
  #endif

  @Test func `views and triggers of a file do not run`() throws {
    let file = try AdoptionTestFile(
      """
      CREATE TABLE item (a TEXT); INSERT INTO item VALUES ('x');
      CREATE TRIGGER grow AFTER INSERT ON item BEGIN INSERT INTO item VALUES (load_extension('x')); END;
      CREATE VIEW items AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n;
      """)
    #expect(try file.database().copy(to: file.target).rows.map(\.rows) == [1])
  }
}
