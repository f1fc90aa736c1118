import Foundation
import Testing
import TrellisAdoption
import TrellisModelFile
import TrellisTestSupport

@Suite struct SchemaTests {
  private static let shop = """
    CREATE TABLE Suppliers (SupplierID INTEGER PRIMARY KEY AUTOINCREMENT, CompanyName TEXT NOT NULL UNIQUE, Fax TEXT);
    CREATE TABLE "Order Details" ([OrderID] INTEGER NOT NULL, ProductID INTEGER NOT NULL,
      Quantity INTEGER NOT NULL DEFAULT (1) CHECK ([Quantity]>(0)), -- boxes, not pieces
      Discount REAL NOT NULL DEFAULT 0 CHECK (Discount >= 0 AND Discount <= 1),
      PRIMARY KEY (OrderID, ProductID), FOREIGN KEY (OrderID) REFERENCES orders (order_id) ON DELETE CASCADE,
      FOREIGN KEY (ProductID) REFERENCES products);
    CREATE TABLE orders (order_id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ('new', 'in-progress')) DEFAULT 'new',
      ordered_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, replaces INT REFERENCES orders ON DELETE SET NULL,
      description TEXT, is_paid BOOLEAN NOT NULL DEFAULT 0);
    CREATE TABLE products (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, price DECIMAL(10,2), supplier_id INT NOT NULL
      REFERENCES suppliers ON UPDATE CASCADE, second_supplier_id INT REFERENCES Suppliers(SupplierID), total AS (price * 2));
    CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE product_tags (product_id INT NOT NULL REFERENCES products ON DELETE CASCADE,
      tag_id INT NOT NULL REFERENCES tags ON DELETE CASCADE, PRIMARY KEY (product_id, tag_id));
    CREATE TABLE barcode (product_id INTEGER PRIMARY KEY REFERENCES products ON DELETE CASCADE, ean TEXT);
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    CREATE VIEW paid AS SELECT * FROM orders WHERE is_paid;
    CREATE TRIGGER audit AFTER INSERT ON tags BEGIN SELECT 1; END;
    CREATE INDEX by_name ON products (name, price DESC);
    CREATE UNIQUE INDEX some_tags ON tags (name) WHERE name <> '';
    CREATE INDEX folded ON tags (lower(name));
    """

  private func expect(_ lines: [String], in file: AdoptionTestFile) throws {
    let text = try file.database().modelText()
    for line in lines { #expect(text.contains(line), "\(line) is not in \(text)") }
  }

  @Test func `tables are entities with keys, rules and defaults`() throws {
    try expect(
      [
        #""OrderDetail": {"#, #""userInfo": { "table": "Order Details" }"#, #""unique": [["order", "product"]]"#,
        #""quantity": { "type": "int64", "default": 1, "min": 1, "doc": "boxes, not pieces""#,
        #""discount": { "type": "double", "default": 0.0, "min": 0.0, "max": 1.0"#,
        #""OrderState": { "type": "string", "cases": ["new", { "name": "inProgress", "value": "in-progress" }] }"#,
        #""state": { "type": "OrderState?", "default": "new" }"#, #""isPaid": { "type": "bool", "default": false"#,
        #""orderedAt": { "type": "date", "default": "now""#, #""name": { "type": "string", "maxLength": 40 }"#,
        #""price": { "type": "decimal?", "userInfo": { "type": "DECIMAL(10,2)" } }"#,
        #""description": { "type": "string?", "swiftName": "orderDescription" }"#, #""indexes": [["name", "-price"]]"#,
        #""unique": [["supplierID"], ["companyName"]]"#,
      ], in: try AdoptionTestFile(Self.shop))
  }

  @Test func `foreign keys are relationships with inverses and delete rules`() throws {
    try expect(
      [
        #""order": { "destination": "Order", "inverse": "orderDetails""#,
        #""orderDetails": { "destination": "OrderDetail", "inverse": "order", "deleteRule": "cascade", "toMany": true }"#,
        #""replaces": { "destination": "Order", "inverse": "orders", "optional": true }"#,
        #""orders": { "destination": "Order", "inverse": "replaces", "toMany": true }"#,
        #""productsBySupplier": { "destination": "Product", "inverse": "supplier", "deleteRule": "deny", "toMany": true }"#,
        #""productsBySecondSupplier":"#, #""inverse": "secondSupplier""#,
        #""barcode": { "destination": "Barcode", "inverse": "product", "deleteRule": "cascade", "optional": true }"#,
        #""tags": { "destination": "Tag", "inverse": "products", "toMany": true, "userInfo": { "table": "product_tags" } }"#,
      ], in: try AdoptionTestFile(Self.shop))
  }

  @Test func `what has no word is told`() throws {
    let notes = try AdoptionTestFile(Self.shop).database().notes.map(\.description)
    for note in [
      "left-out paid: is a view, and has no rows of its own",
      "left-out grdb_migrations: is bookkeeping of another library",
      "left-out tags: has the trigger audit; write what it does as a hook of the entity",
      "left-out tags: has the unique index some_tags over a part of its rows",
      "left-out tags: has the index folded over an expression",
      "ignored products.supplier_id: has ON UPDATE CASCADE; objects have keys that never change",
      "changed orders.description: is called orderDescription in Swift, since every class has a description",
      "changed products.total: is computed as price * 2; here it is set, and has the computed values; write it as \"derived\" "
        + "instead",
    ] { #expect(notes.contains(note), "\(note) is not in \(notes)") }
  }

  @Test func `a bound that a text cannot have is told as it is written`() throws {
    let file = try AdoptionTestFile(
      "CREATE TABLE t (a TEXT CHECK (a BETWEEN 'b' AND 'f'), c TEXT CHECK (c > 'b' AND c < 'f'))")
    let notes = try file.database().notes.map(\.description)
    for note in [
      "left-out t.a: must be at least 'b', and has no bound here",
      "left-out t.a: must be at most 'f', and has no bound here",
      "left-out t.c: must be above 'b', and has no bound here",
      "left-out t.c: must be below 'f', and has no bound here",
    ] { #expect(notes.contains(note), "\(note) is not in \(notes)") }
  }

  @Test func `the model is without errors`() throws {
    let text = try AdoptionTestFile(Self.shop).database(name: "Store").modelText()
    let result = ModelFile.parse(Array(text.utf8), path: "Store.model.json")
    #expect(result.diagnostics.isEmpty, "\(result.diagnostics)")
    #expect(result.description?.name == "Store")
  }

  /// SQLite lets a primary key be null that is not declared NOT NULL, and hardly anybody declares it so.
  @Test(arguments: [("(1, 2), (1, 3)", true), ("(1, 2), (NULL, 3)", false)])
  func `a column of a primary key is required if no row has a null in it`(_ rows: String, _ isJoin: Bool) throws {
    let file = try AdoptionTestFile(
      """
      CREATE TABLE orders (id INTEGER PRIMARY KEY); CREATE TABLE tags (code TEXT PRIMARY KEY);
      CREATE TABLE order_tags (order_id INT REFERENCES orders, tag_code TEXT REFERENCES tags, PRIMARY KEY (order_id, tag_code));
      INSERT INTO orders VALUES (1); INSERT INTO tags VALUES (2), (3); INSERT INTO order_tags VALUES \(rows);
      """)
    #expect(try file.lines(#""code": "string""#).count == 1)
    #expect(try file.lines("\"OrderTag\":").isEmpty == isJoin)
    try file.database().copy(to: file.target)
    #expect(try file.copied("SELECT name FROM pragma_table_list WHERE name = 'OrderTag'").isEmpty == isJoin)
  }

  @Test(arguments: [
    ("INTEGER", "1", "int64?"), ("INT", "'x'", "string?"), ("TEXT", "'x'", "string?"), ("", "1", "int64?"),
    ("", "1.5", "double?"), ("", "x'00'", "data?"), ("", "'a'", "string?"), ("ANY", "NULL", "string?"),
    ("DATE", "'2026-01-31'", "date?"), ("DATETIME", "1700000000", "date?"), ("DATETIME", "1700000000000", "date?"),
    ("DATETIME", "2460000.5", "date?"), ("DATETIME", "'yesterday'", "string?"), ("TIMESTAMP", "NULL", "date?"),
    ("TIME", "'10:30'", "string?"), ("BOOLEAN", "1", "bool?"), ("BOOLEAN", "'false'", "bool?"),
    ("BOOLEAN", "7", "int64?"),
    ("UUID", "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'", "uuid?"), ("UUID", "'1-2'", "string?"),
    ("JSON", "'{}'", "string?"),
    ("NUMERIC", "1.5", "decimal?"), ("DECIMAL(10,2)", "'free'", "string?"), ("BLOB", "x'01'", "data?"),
    ("BLOB", "'text'", "string?"), ("STRING", "5", "string?"), ("DOUBLE PRECISION", "1", "double?"),
    ("REAL", "1", "double?"),
    ("VARCHAR(3)", "'abcd'", "string?"), ("bigint unsigned", "1", "int64?"), ("YEAR", "2026", "int64?"),
  ]) func `a type is that of the declaration unless values are of another kind`(
    _ declared: String, _ value: String, _ type: String
  ) throws {
    let file = try AdoptionTestFile(
      "CREATE TABLE t (id INTEGER PRIMARY KEY, c \(declared)); INSERT INTO t (c) VALUES (\(value));")
    let line = try file.lines("\"c\":").first ?? ""
    #expect(line.contains("\"\(type)\""), "\(line)")
  }

  @Test(arguments: [
    ("", "no-database"),
    ("not a database, but a text that is long enough for a header of one of these files", "no-database"),
  ]) func `what is no database is refused`(_ content: String, _ code: String) throws {
    let folder = try TestFolder()
    try Data(content.utf8).write(to: folder.file("x.db"))
    let error = #expect(throws: AdoptionError.self) { try AdoptedDatabase(sqlite: folder.file("x.db")) }
    // An empty file is a database without tables.
    #expect(error?.code.rawValue == (content.isEmpty ? "no-tables" : code))
    let missing = #expect(throws: AdoptionError.self) { try AdoptedDatabase(sqlite: folder.file("none.db")) }
    #expect(missing?.code == .unreadable)
  }

  @Test(arguments: [("_trellis", "describe"), ("Z_PRIMARYKEY", "import")])
  func `a store has a command of its own`(_ table: String, _ command: String) throws {
    let file = try AdoptionTestFile("CREATE TABLE \(table) (x)")
    let error = #expect(throws: AdoptionError.self) { try file.database() }
    #expect(error?.code == .otherCommand)
    #expect(error?.remedy.contains(command) == true)
  }
}
