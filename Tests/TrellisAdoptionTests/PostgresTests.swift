import Foundation
import Testing
import TrellisAdoption
import TrellisModelFile
import TrellisPostgresAdoption
import TrellisTestSupport

@Suite("Databases on servers", .enabled(if: PostgresCluster.isAvailable, "\(PostgresCluster.requirement)"))
struct PostgresTests {
  private static let rental = """
    CREATE TYPE mpaa_rating AS ENUM ('G', 'PG-13');
    CREATE DOMAIN year AS integer CHECK (VALUE >= 1901 AND VALUE <= 2155);
    CREATE TABLE language (language_id serial PRIMARY KEY, name character(20) NOT NULL);
    CREATE TABLE film (film_id serial PRIMARY KEY, title text NOT NULL, released year, language_id integer NOT NULL
      REFERENCES language ON UPDATE CASCADE ON DELETE RESTRICT, original_language_id integer REFERENCES language ON DELETE SET NULL,
      rate numeric(4,2) DEFAULT 4.99 NOT NULL CHECK (rate >= 0), rating mpaa_rating DEFAULT 'G', features text[], body tsvector,
      uid uuid DEFAULT gen_random_uuid() NOT NULL, trailer bytea, at timestamptz DEFAULT now() NOT NULL, ratio double precision,
      kind varchar(9) CHECK (kind IN ('short', 'long')), doubled integer GENERATED ALWAYS AS (released * 2) STORED,
      CONSTRAINT odd CHECK (length(title) > rate));
    COMMENT ON TABLE film IS 'A film that can be rented.';
    COMMENT ON COLUMN film.rate IS 'For a day.';
    CREATE TABLE category (name varchar(25) PRIMARY KEY);
    CREATE TABLE film_category (film_id integer NOT NULL REFERENCES film ON DELETE CASCADE, category varchar(25) NOT NULL
      REFERENCES category ON DELETE CASCADE, PRIMARY KEY (film_id, category));
    CREATE TABLE staff (staff_id integer PRIMARY KEY, store_id integer NOT NULL);
    CREATE TABLE store (store_id bigint PRIMARY KEY, manager_id integer NOT NULL REFERENCES staff);
    ALTER TABLE staff ADD FOREIGN KEY (store_id) REFERENCES store DEFERRABLE INITIALLY DEFERRED;
    CREATE TABLE payment (id integer, paid_at timestamptz, amount numeric(5,2), PRIMARY KEY (paid_at, id)) PARTITION BY RANGE (paid_at);
    CREATE TABLE payment_2022 PARTITION OF payment FOR VALUES FROM ('2022-01-01') TO ('2023-01-01');
    CREATE TABLE "No Key" (x text);
    CREATE VIEW titles AS SELECT title FROM film;
    CREATE INDEX bodies ON film USING gist (body);
    CREATE INDEX titles_down ON film (title DESC);
    INSERT INTO language (name) VALUES ('English'), ('한국어');
    INSERT INTO film (title, released, language_id, original_language_id, rating, features, trailer, at, ratio, kind) VALUES
      ('First film', 1999, 1, 2, 'PG-13', '{"a,b",c}', '\\x00ff', '2022-02-15 10:02:19.123456+09', 1e-300, 'short'),
      ('Second film', NULL, 2, NULL, NULL, NULL, NULL, '1900-01-01 00:00+00', 'Infinity', NULL);
    INSERT INTO category VALUES ('b'), ('A');
    INSERT INTO film_category VALUES (1, 'A'), (1, 'b'), (2, 'b');
    BEGIN; INSERT INTO staff VALUES (1, 7); INSERT INTO store VALUES (7, 1); COMMIT;
    INSERT INTO payment VALUES (1, '2022-05-01', 5.99);
    INSERT INTO "No Key" VALUES ('same'), ('same'), (NULL);
    """

  /// The address of a database of its own for each test.
  private static func database(_ sql: String) throws -> String {
    let cluster = try PostgresCluster.running()
    let name = try cluster.makeDatabase()
    if !sql.isEmpty { _ = try cluster.psql(sql, database: name) }
    return cluster.url(database: name)
  }

  @Test func `a schema becomes a model`() throws {
    let adopted = try AdoptedDatabase(postgres: Self.database(Self.rental), name: "Rental")
    let text = try adopted.modelText()
    for line in [
      #""doc": "A film that can be rented.""#, #""released": { "type": "int32?", "min": 1901, "max": 2155 }"#,
      #""rating": { "type": "MpaaRating?", "default": "g" }"#, #"{ "name": "pg13", "value": "PG-13" }"#,
      #""type": "decimal", "default": "4.99", "min": "0", "doc": "For a day.""#, #""features": "[string]?""#,
      #""uid": { "type": "uuid", "default": "new" }"#, #""at": { "type": "date", "default": "now" }"#,
      #""kind": "FilmKind?""#, #""inverse": "filmsByOriginalLanguage", "optional": true"#, #""indexes": [["-title"]]"#,
      #""storeID": { "type": "int64", "userInfo": { "column": "store_id" } }"#, #""unique": [["paidAt", "id"]]"#,
    ] { #expect(text.contains(line), "\(line) is not in \(text)") }
    #expect(!text.contains("payment_2022"))
    let notes = adopted.notes.map(\.description)
    for note in [
      "left-out titles: is a view, and has no rows of its own", "left-out film: has the index bodies of the kind gist",
      "changed film.body: is of the type tsvector, and is a string with its text here",
      "ignored film.language_id: has ON UPDATE CASCADE; objects have keys that never change",
    ] { #expect(notes.contains(note), "\(note) is not in \(notes)") }
    #expect(notes.contains { $0.hasPrefix("left-out film: has the condition (") })
    #expect(ModelFile.parse(Array(text.utf8), path: "Rental.model.json").diagnostics.isEmpty)
  }

  @Test func `rows come across`() throws {
    let adopted = try AdoptedDatabase(postgres: Self.database(Self.rental), name: "Rental")
    let folder = try TestFolder()
    let report = try adopted.copy(to: folder.file("Rental.db"))
    #expect(
      report.rows.map(\.description) == [
        "2 × Language", "2 × Film", "2 × Category", "1 × Staff", "1 × Store", "1 × Payment", "3 × NoKey",
      ])
    #expect(report.pairs == 3)
    let copy = try OtherProgram(folder.file("Rental.db"))
    #expect(
      try copy.texts(
        "SELECT f.title || '|' || l.name || '|' || f.rate || '|' || f.rating || '|' || f.features || '|' || hex(f.trailer) || '|' || f.at "
          + "|| '|' || f.doubled FROM Film f JOIN Language l ON l._id = f.originalLanguage") == [
          "First film|한국어|4.99|PG-13|[\"a,b\",\"c\"]|00FF|1644886939123456|3998"
        ])
    #expect(try copy.texts("SELECT ratio FROM Film ORDER BY _id") == ["1.0e-300", "Inf"])
    #expect(
      try copy.texts("SELECT s.staffID || '-' || t.storeID FROM Staff s JOIN Store t ON t._id = s.store") == ["1-7"])
  }

  @Test func `what has no place is named`() throws {
    let adopted = try AdoptedDatabase(
      postgres: Self.database(
        "CREATE TABLE t (id integer PRIMARY KEY, at timestamp, n numeric, l text[]); "
          + "INSERT INTO t VALUES (5, 'infinity', 'NaN', '{a,NULL}'), (6, NULL, 1, '{}');"))
    let folder = try TestFolder()
    let error = #expect(throws: AdoptionError.self) { try adopted.copy(to: folder.file("t.db")) }
    for line in [
      "t#5.at: has a text that is no date", "t#5.n: has a text that is no decimal",
      "t#5.l: has a text, and is a [string]",
    ] {
      #expect(error?.message.contains(line) == true, "\(line) is not in \(error?.message ?? "")")
    }
    #expect(try adopted.copy(to: folder.file("t.db"), allowingLoss: true).leftCount == 3)
  }

  @Test func `what a server has besides columns and keys is told`() throws {
    let adopted = try AdoptedDatabase(
      postgres: Self.database(
        """
        CREATE SEQUENCE invoice_numbers;
        CREATE TABLE person (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n integer GENERATED BY DEFAULT AS IDENTITY,
          old serial, name text, born date, email text UNIQUE NULLS NOT DISTINCT, UNIQUE (name, born) INCLUDE (n));
        CREATE INDEX by_born ON person (born) INCLUDE (name, email);
        CREATE UNIQUE INDEX one_name ON person (name) NULLS NOT DISTINCT;
        CREATE TABLE employee (salary numeric) INHERITS (person);
        ALTER TABLE person ENABLE ROW LEVEL SECURITY;
        CREATE POLICY mine ON person USING (name = current_user);
        INSERT INTO person (name) VALUES ('a');
        """), name: "Staff")
    let notes = adopted.notes.map(\.description)
    for note in [
      "left-out invoice_numbers: is a sequence, and has no rows",
      "ignored person.id: is counted by the database (GENERATED ALWAYS AS IDENTITY); a program gives new objects its values",
      "ignored person.n: is counted by the database (GENERATED BY DEFAULT AS IDENTITY); a program gives new objects its values",
      "ignored person.old: is counted by the database; a program gives new objects its values",
      "changed person: has the unique index person_email_key with NULLS NOT DISTINCT; here any number of objects may have nil "
        + "in a unique value",
      "ignored person: has the index person_name_born_n_key, which INCLUDEs n; here an index has its key alone",
      "ignored person: has the index by_born, which INCLUDEs name, email; here an index has its key alone",
      "left-out person: has row security with 1 policy; a program decides here which objects a user sees",
      "changed employee: inherits from person; here it is an entity of its own, and requests for person do not find its "
        + "objects; write \"parent\" instead",
    ] { #expect(notes.contains(note), "\(note) is not in \(notes)") }
    #expect(notes.contains { $0.hasPrefix("changed person: has the unique index one_name with NULLS NOT DISTINCT") })
    #expect(notes.filter { $0.contains("is a sequence") }.count == 1)
    let folder = try TestFolder()
    #expect(try adopted.copy(to: folder.file("s.db")).rows.map(\.rows) == [1, 0])
  }

  @Test func `a policy hides no rows silently`() throws {
    let cluster = try PostgresCluster.running()
    let name = try cluster.makeDatabase()
    let role = "reader_\(name)"
    _ = try cluster.psql(
      """
      CREATE ROLE "\(role)" LOGIN; CREATE TABLE note (id integer PRIMARY KEY, owner text);
      INSERT INTO note VALUES (1, 'a'), (2, 'b'); ALTER TABLE note ENABLE ROW LEVEL SECURITY;
      CREATE POLICY mine ON note USING (owner = 'a'); GRANT SELECT ON note TO "\(role)"; GRANT USAGE ON SCHEMA public TO "\(role)";
      """, database: name)
    let url = cluster.url(database: name)
    var parts = try #require(URLComponents(string: url))
    parts.user = role
    let address = try #require(parts.string)
    let folder = try TestFolder()
    #expect(throws: (any Error).self) { try AdoptedDatabase(postgres: address).copy(to: folder.file("n.db")) }
    #expect(try AdoptedDatabase(postgres: url).copy(to: folder.file("n.db")).rows.map(\.rows) == [2])
  }

  @Test func `a schema that is not there is refused`() throws {
    let address = try Self.database("")
    let error = #expect(throws: AdoptionError.self) { try AdoptedDatabase(postgres: address, schema: "none such") }
    #expect(error?.code == .unreadable)
    let empty = #expect(throws: AdoptionError.self) { try AdoptedDatabase(postgres: address) }
    #expect(empty?.code == .noTables)
  }
}
