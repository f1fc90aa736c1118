#!/usr/bin/env python3
"""Pulls databases with their rows, and reads each value of the new store again by itself.

    python3 Tests/Adoption/check_pull.py [--trellis PROGRAM] [DATABASE ...]

Without a DATABASE, three are made whose schemas have the forms of well-known samples (a music shop, a wholesaler, a rental of
films) with random rows: TRELLIS_ADOPTION_SEED says which, TRELLIS_ADOPTION_ROWS how many. Usual questions are asked at both
sides and have to have the same answers.
"""
import argparse
import datetime
import decimal
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import uuid

SEED = int(os.environ.get("TRELLIS_ADOPTION_SEED", os.environ.get("TRELLIS_SEED", "2026")))
ROWS = int(os.environ.get("TRELLIS_ADOPTION_ROWS", "60"))

MUSIC = """
CREATE TABLE [Artist] ([ArtistId] INTEGER  NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Artist] PRIMARY KEY  ([ArtistId]));
CREATE TABLE [Album] ([AlbumId] INTEGER  NOT NULL, [Title] NVARCHAR(160)  NOT NULL, [ArtistId] INTEGER  NOT NULL,
    CONSTRAINT [PK_Album] PRIMARY KEY  ([AlbumId]),
    FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Employee] ([EmployeeId] INTEGER  NOT NULL, [LastName] NVARCHAR(20)  NOT NULL, [ReportsTo] INTEGER,
    [BirthDate] DATETIME, CONSTRAINT [PK_Employee] PRIMARY KEY  ([EmployeeId]),
    FOREIGN KEY ([ReportsTo]) REFERENCES [Employee] ([EmployeeId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Track] ([TrackId] INTEGER  NOT NULL, [Name] NVARCHAR(200)  NOT NULL, [AlbumId] INTEGER,
    [Composer] NVARCHAR(220), [Milliseconds] INTEGER  NOT NULL, [Bytes] INTEGER, [UnitPrice] NUMERIC(10,2)  NOT NULL,
    CONSTRAINT [PK_Track] PRIMARY KEY  ([TrackId]),
    FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Playlist] ([PlaylistId] INTEGER  NOT NULL, [Name] NVARCHAR(120),
    CONSTRAINT [PK_Playlist] PRIMARY KEY  ([PlaylistId]));
CREATE TABLE [PlaylistTrack] ([PlaylistId] INTEGER  NOT NULL, [TrackId] INTEGER  NOT NULL,
    CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY  ([PlaylistId], [TrackId]),
    FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId]) ON DELETE NO ACTION ON UPDATE NO ACTION,
    FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE INDEX [IFK_AlbumArtistId] ON [Album] ([ArtistId]);
"""

WHOLESALE = """
CREATE TABLE [Categories] ([CategoryID] INTEGER PRIMARY KEY AUTOINCREMENT, [CategoryName] TEXT, [Description] TEXT, [Picture] BLOB);
CREATE TABLE [Customers] ([CustomerID] TEXT, [CompanyName] TEXT, [City] TEXT, [Country] TEXT, PRIMARY KEY (`CustomerID`));
CREATE TABLE [Employees] ([EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT, [LastName] TEXT, [BirthDate] DATE, [Photo] BLOB,
    [ReportsTo] INTEGER, FOREIGN KEY ([ReportsTo]) REFERENCES [Employees] ([EmployeeID]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Territories] ([TerritoryID] TEXT NOT NULL, [TerritoryDescription] TEXT NOT NULL, PRIMARY KEY ([TerritoryID]));
CREATE TABLE [EmployeeTerritories] ([EmployeeID] INTEGER NOT NULL, [TerritoryID] TEXT NOT NULL,
    PRIMARY KEY ([EmployeeID],[TerritoryID]), FOREIGN KEY ([EmployeeID]) REFERENCES [Employees] ([EmployeeID]),
    FOREIGN KEY ([TerritoryID]) REFERENCES [Territories] ([TerritoryID]));
CREATE TABLE [Products] ([ProductID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [ProductName] TEXT NOT NULL, [CategoryID] INTEGER,
    [UnitPrice] NUMERIC DEFAULT 0, [UnitsInStock] INTEGER DEFAULT 0, [Discontinued] TEXT NOT NULL DEFAULT '0',
    CHECK ([UnitPrice]>=(0)), CHECK ([UnitsInStock]>=(0)),
    FOREIGN KEY ([CategoryID]) REFERENCES [Categories] ([CategoryID]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Orders] ([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CustomerID] TEXT, [EmployeeID] INTEGER,
    [OrderDate] DATETIME, [Freight] NUMERIC DEFAULT 0, [ShipCountry] TEXT,
    FOREIGN KEY ([EmployeeID]) REFERENCES [Employees] ([EmployeeID]), FOREIGN KEY ([CustomerID]) REFERENCES [Customers] ([CustomerID]));
CREATE TABLE [Order Details] ([OrderID] INTEGER NOT NULL, [ProductID] INTEGER NOT NULL, [UnitPrice] NUMERIC NOT NULL DEFAULT 0,
    [Quantity] INTEGER NOT NULL DEFAULT 1, [Discount] REAL NOT NULL DEFAULT 0, PRIMARY KEY ("OrderID","ProductID"),
    CHECK ([Discount]>=(0) AND [Discount]<=(1)), CHECK ([Quantity]>(0)), CHECK ([UnitPrice]>=(0)),
    FOREIGN KEY ([OrderID]) REFERENCES [Orders] ([OrderID]), FOREIGN KEY ([ProductID]) REFERENCES [Products] ([ProductID]));
CREATE VIEW [Products Above Average Price] AS SELECT ProductName, UnitPrice FROM Products
    WHERE UnitPrice > (SELECT AVG(UnitPrice) FROM Products);
"""

RENTAL = """
CREATE TABLE actor (actor_id numeric NOT NULL, first_name VARCHAR(45) NOT NULL, last_name VARCHAR(45) NOT NULL,
    last_update TIMESTAMP NOT NULL, PRIMARY KEY (actor_id));
CREATE TABLE language (language_id SMALLINT NOT NULL, name CHAR(20) NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (language_id));
CREATE TABLE film (film_id int NOT NULL, title VARCHAR(255) NOT NULL, description BLOB SUB_TYPE TEXT DEFAULT NULL,
    release_year VARCHAR(4) DEFAULT NULL, language_id SMALLINT NOT NULL, original_language_id SMALLINT DEFAULT NULL,
    rental_duration SMALLINT DEFAULT 3 NOT NULL, rental_rate DECIMAL(4,2) DEFAULT 4.99 NOT NULL, length SMALLINT DEFAULT NULL,
    rating VARCHAR(10) DEFAULT 'G', special_features VARCHAR(100) DEFAULT NULL, last_update TIMESTAMP NOT NULL,
    PRIMARY KEY (film_id),
    CONSTRAINT CHECK_special_features CHECK(special_features is null or special_features like '%Trailers%'
        or special_features like '%Commentaries%'),
    CONSTRAINT CHECK_special_rating CHECK(rating in ('G','PG','PG-13','R','NC-17')),
    CONSTRAINT fk_film_language FOREIGN KEY (language_id) REFERENCES language (language_id),
    CONSTRAINT fk_film_language_original FOREIGN KEY (original_language_id) REFERENCES language (language_id));
CREATE TABLE film_actor (actor_id INT NOT NULL, film_id INT NOT NULL, last_update TIMESTAMP NOT NULL,
    PRIMARY KEY (actor_id,film_id),
    CONSTRAINT fk_film_actor_actor FOREIGN KEY (actor_id) REFERENCES actor (actor_id) ON DELETE NO ACTION ON UPDATE CASCADE,
    CONSTRAINT fk_film_actor_film FOREIGN KEY (film_id) REFERENCES film (film_id) ON DELETE NO ACTION ON UPDATE CASCADE);
CREATE TABLE staff (staff_id SMALLINT NOT NULL, first_name VARCHAR(45) NOT NULL, picture BLOB DEFAULT NULL, store_id INT NOT NULL,
    active SMALLINT DEFAULT 1 NOT NULL CHECK (active IN (0, 1)), last_update TIMESTAMP NOT NULL, PRIMARY KEY (staff_id),
    CONSTRAINT fk_staff_store FOREIGN KEY (store_id) REFERENCES store (store_id) ON DELETE NO ACTION ON UPDATE CASCADE);
CREATE TABLE store (store_id INT NOT NULL, manager_staff_id SMALLINT NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (store_id),
    CONSTRAINT fk_store_staff FOREIGN KEY (manager_staff_id) REFERENCES staff (staff_id));
CREATE TABLE rental (rental_id INT NOT NULL, rental_date TIMESTAMP NOT NULL, film_id INT NOT NULL, return_date TIMESTAMP DEFAULT NULL,
    staff_id SMALLINT NOT NULL, PRIMARY KEY (rental_id),
    CONSTRAINT fk_rental_staff FOREIGN KEY (staff_id) REFERENCES staff (staff_id),
    CONSTRAINT fk_rental_film FOREIGN KEY (film_id) REFERENCES film (film_id));
CREATE UNIQUE INDEX idx_rental_uq ON rental (rental_date, film_id);
CREATE INDEX idx_title ON film(title);
CREATE VIEW film_list AS SELECT film.film_id AS FID, film.title AS title FROM film;
CREATE TRIGGER film_trigger_ai AFTER INSERT ON film BEGIN UPDATE film SET last_update = last_update WHERE rowid = new.rowid; END;
"""

NAMES = ["Ann", "Björk", "김민수", "O'Hara", "Zoë", "", "Lee 😀", "AC/DC", "Łukasz", "de la Cruz"]


def some(dice, options, null=0.2):
    return None if dice.random() < null else dice.choice(options)


def moment(dice):
    at = datetime.datetime(2000, 1, 1) + datetime.timedelta(seconds=dice.randrange(10**9))
    return at.strftime(dice.choice(["%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.000"]))


def price(dice):
    return dice.randrange(0, 3000) / 100


def fill_music(db, dice, n):
    for i in range(1, n + 1):
        db.execute("INSERT INTO Artist VALUES (?, ?)", (i, some(dice, NAMES)))
        db.execute("INSERT INTO Album VALUES (?, ?, ?)", (i * 3, dice.choice(NAMES), dice.randint(1, i)))
        db.execute("INSERT INTO Employee VALUES (?, ?, ?, ?)", (i, dice.choice(NAMES)[:20], some(dice, range(1, i + 1)), some(dice, [moment(dice)])))
        db.execute("INSERT INTO Playlist VALUES (?, ?)", (i, some(dice, NAMES)))
    for i in range(1, n * 5 + 1):
        db.execute(
            "INSERT INTO Track VALUES (?, ?, ?, ?, ?, ?, ?)",
            (i, dice.choice(NAMES), some(dice, [dice.randint(1, n) * 3]), some(dice, NAMES), dice.randrange(10**6), some(dice, [2**40, 1]), price(dice)))
    for playlist in range(1, n + 1):
        for track in dice.sample(range(1, n * 5 + 1), dice.randrange(8)):
            db.execute("INSERT INTO PlaylistTrack VALUES (?, ?)", (playlist, track))


def fill_wholesale(db, dice, n):
    for i in range(1, n + 1):
        db.execute("INSERT INTO Categories VALUES (?, ?, ?, ?)", (i, some(dice, NAMES), some(dice, NAMES), some(dice, [dice.randbytes(300), b""])))
        db.execute("INSERT INTO Customers VALUES (?, ?, ?, ?)", (f"C{i:04}", some(dice, NAMES), some(dice, NAMES), some(dice, ["Germany", "한국", "USA"])))
        db.execute(
            "INSERT INTO Employees VALUES (?, ?, ?, ?, ?)",
            (i, some(dice, NAMES), some(dice, [moment(dice)[:10]]), some(dice, [dice.randbytes(30)]), some(dice, range(1, i + 1))))
        db.execute("INSERT INTO Territories VALUES (?, ?)", (f"{i:05}", dice.choice(NAMES)))
        db.execute(
            "INSERT INTO Products VALUES (?, ?, ?, ?, ?, ?)",
            (i, dice.choice(NAMES), some(dice, range(1, i + 1)), some(dice, [price(dice), 7]), some(dice, range(50)), dice.choice("01")))
    for i in range(1, n * 3 + 1):
        db.execute(
            "INSERT INTO Orders VALUES (?, ?, ?, ?, ?, ?)",
            (10_000 + i, some(dice, [f"C{dice.randint(1, n):04}"]), some(dice, range(1, n + 1)), some(dice, [moment(dice)]), price(dice), some(dice, NAMES)))
        for product in dice.sample(range(1, n + 1), dice.randrange(4)):
            db.execute('INSERT INTO "Order Details" VALUES (?, ?, ?, ?, ?)', (10_000 + i, product, price(dice), dice.randint(1, 99), dice.choice([0, 0.05, 0.25, 1])))
    for employee in range(1, n + 1):
        for territory in dice.sample(range(1, n + 1), dice.randrange(5)):
            db.execute("INSERT INTO EmployeeTerritories VALUES (?, ?)", (employee, f"{territory:05}"))


def fill_rental(db, dice, n):
    for i in range(1, 7):
        db.execute("INSERT INTO language VALUES (?, ?, ?)", (i, dice.choice(NAMES), moment(dice)))
    for i in range(1, n + 1):
        db.execute("INSERT INTO actor VALUES (?, ?, ?, ?)", (i, dice.choice(NAMES), dice.choice(NAMES), moment(dice)))
        db.execute(
            "INSERT INTO film VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (i, dice.choice(NAMES), some(dice, NAMES), some(dice, ["2006", "1999"]), dice.randint(1, 6), some(dice, range(1, 7)), dice.randint(1, 9),
             price(dice), some(dice, range(200)), some(dice, ["G", "PG", "PG-13", "R", "NC-17"]), some(dice, ["Trailers", "Commentaries,Trailers"]), moment(dice)))
    for i in range(1, 4):
        # Each needs the other.
        db.execute("INSERT INTO staff VALUES (?, ?, ?, ?, ?, ?)", (i, dice.choice(NAMES), some(dice, [dice.randbytes(9)]), 4 - i, dice.randint(0, 1), moment(dice)))
        db.execute("INSERT INTO store VALUES (?, ?, ?)", (i, i, moment(dice)))
    for film in range(1, n + 1):
        for actor in dice.sample(range(1, n + 1), dice.randrange(6)):
            db.execute("INSERT INTO film_actor VALUES (?, ?, ?)", (actor, film, moment(dice)))
    for i in range(1, n * 4 + 1):
        db.execute("INSERT OR IGNORE INTO rental VALUES (?, ?, ?, ?, ?)", (i, moment(dice), dice.randint(1, n), some(dice, [moment(dice)]), dice.randint(1, 3)))


# Each question: SQL that gives a number, and the entity, format and values that count the same objects.
QUESTIONS = {
    "Music": [
        ("SELECT count(*) FROM Track JOIN Album USING (AlbumId) JOIN Artist USING (ArtistId) WHERE Artist.Name = 'AC/DC'", "Track", "album.artist.name == %@", "AC/DC"),
        ("SELECT count(*) FROM Track WHERE Milliseconds BETWEEN 100000 AND 400000", "Track", "milliseconds BETWEEN {100000, 400000}"),
        ("SELECT count(*) FROM Track WHERE Composer IS NULL", "Track", "composer == nil"),
        ("SELECT count(*) FROM Track WHERE UnitPrice > 14.99", "Track", "unitPrice > 14.99"),
        ("SELECT count(*) FROM Employee WHERE BirthDate >= '2010-01-01'", "Employee", "birthDate >= %@", "2010-01-01"),
        ("SELECT count(*) FROM Employee e WHERE (SELECT count(*) FROM Employee r WHERE r.ReportsTo = e.EmployeeId) > 1", "Employee", "employees.@count > 1"),
        ("SELECT count(*) FROM Playlist p WHERE EXISTS (SELECT 1 FROM PlaylistTrack JOIN Track USING (TrackId) WHERE PlaylistId = p.PlaylistId AND Name = 'Ann')", "Playlist", "ANY tracks.name == 'Ann'"),
        ("SELECT count(*) FROM Artist WHERE ArtistId NOT IN (SELECT ArtistId FROM Album)", "Artist", "albums.@count == 0"),
        ("SELECT count(*) FROM Track t WHERE (SELECT count(*) FROM PlaylistTrack WHERE TrackId = t.TrackId) >= 2", "Track", "playlists.@count >= 2"),
    ],
    "Wholesale": [
        ("SELECT count(*) FROM Orders JOIN Customers USING (CustomerID) WHERE Country = 'Germany'", "Order", "customer.country == 'Germany'"),
        ("SELECT count(*) FROM \"Order Details\" WHERE Discount > 0 AND Quantity >= 50", "OrderDetail", "discount > 0 AND quantity >= 50"),
        ("SELECT count(*) FROM Products p JOIN Categories c USING (CategoryID) WHERE c.CategoryName = 'Ann'", "Product", "category.categoryName == 'Ann'"),
        ("SELECT count(*) FROM Orders o WHERE (SELECT count(*) FROM \"Order Details\" d WHERE d.OrderID = o.OrderID) = 3", "Order", "orderDetails.@count == 3"),
        ("SELECT count(*) FROM Orders o WHERE (SELECT max(Quantity) FROM \"Order Details\" d WHERE d.OrderID = o.OrderID) > 90", "Order", "orderDetails.@max.quantity > 90"),
        ("SELECT count(*) FROM Employees e WHERE EXISTS (SELECT 1 FROM EmployeeTerritories t JOIN Territories USING (TerritoryID) WHERE t.EmployeeID = e.EmployeeID AND TerritoryDescription = 'Ann')", "Employee", "ANY territories.territoryDescription == 'Ann'"),
        ("SELECT count(*) FROM Orders WHERE OrderDate < '2015-06-01' AND ShipCountry LIKE 'Z%'", "Order", "orderDate < %@ AND shipCountry BEGINSWITH 'Z'", "2015-06-01"),
    ],
    "Rental": [
        ("SELECT count(*) FROM film WHERE rating = 'PG-13'", "Film", "rating == %@", "PG-13"),
        ("SELECT count(*) FROM film JOIN language l ON l.language_id = film.original_language_id WHERE l.name = 'Ann'", "Film", "originalLanguage.name == 'Ann'"),
        ("SELECT count(*) FROM actor a WHERE (SELECT count(*) FROM film_actor WHERE actor_id = a.actor_id) > 2", "Actor", "filmActors.@count > 2"),
        ("SELECT count(*) FROM rental JOIN film USING (film_id) WHERE return_date IS NULL AND rental_rate < 15", "Rental", "returnDate == nil AND film.rentalRate < 15"),
        ("SELECT count(*) FROM store s JOIN staff m ON m.staff_id = s.manager_staff_id WHERE m.active = 1", "Store", "managerStaff.active == true"),
        ("SELECT count(*) FROM film f WHERE EXISTS (SELECT 1 FROM film_actor JOIN actor USING (actor_id) WHERE film_id = f.film_id AND first_name = 'Ann')", "Film", "ANY filmActors.actor.firstName == 'Ann'"),
    ],
}


def microseconds(value):
    if isinstance(value, (int, float)):
        # The unit is that of its magnitude; Julian days are real and small.
        if isinstance(value, float) and 1_721_425 < value < 5_373_485:
            return round((value - 2_440_587.5) * 86_400_000) * 1000
        for limit, factor in ((1e11, 1_000_000), (1e14, 1_000)):
            if abs(value) < limit:
                return round(value * factor)
        return round(value)
    at = datetime.datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    if at.tzinfo is None:
        at = at.replace(tzinfo=datetime.timezone.utc)
    return (at - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def expected(value, kind, enums):
    if value is None:
        return None
    if kind in enums:
        kind = enums[kind]["type"]
    if kind == "string":
        return value if isinstance(value, str) else repr(value)
    if kind in ("int", "int16", "int32", "int64"):
        return int(value)
    if kind == "bool":
        return {"true": 1, "t": 1, "yes": 1, "false": 0, "f": 0, "no": 0}.get(value.lower(), value) if isinstance(value, str) else int(value)
    if kind in ("float", "double"):
        return float(value)
    if kind == "decimal":
        return decimal.Decimal(repr(value) if isinstance(value, float) else value)
    if kind == "date":
        return microseconds(value)
    if kind == "data":
        return value if isinstance(value, bytes) else str(value).encode()
    if kind == "uuid":
        return value if isinstance(value, bytes) else uuid.UUID(value).bytes
    raise SystemExit(f"no reading of {kind}")


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def order(db, table):
    """The rows of a table in the order of their numbers, or of their key."""
    columns = db.execute(f"SELECT name, pk FROM pragma_table_xinfo({quoted(table)})").fetchall()
    is_numbered = not db.execute("SELECT wr FROM pragma_table_list WHERE name = ? AND schema = 'main'", (table,)).fetchone()[0]
    return "rowid" if is_numbered else ", ".join(quoted(n) for n, pk in sorted(columns, key=lambda c: c[1]) if pk)


def compare(source_path, model_path, target_path):
    """Each value, reference and pair. Returns the numbers of values and pairs."""
    with open(model_path, encoding="utf-8") as file:
        model = json.load(file)
    enums = model.get("enums", {})
    source, target = sqlite3.connect(source_path), sqlite3.connect(target_path)
    tables, keys = {}, {}
    for name, entity in model["entities"].items():
        tables[name] = entity.get("userInfo", {}).get("table", name)
        keys[tables[name]] = [row[0] for row in target.execute(f"SELECT _id FROM {quoted(name)} ORDER BY _id")]
    count = pairs = 0

    def places(table, column):
        """The key in the store of the row with a value."""
        rows = source.execute(f"SELECT {quoted(column)} FROM {quoted(table)} ORDER BY {order(source, table)}")
        return {row[0]: key for row, key in zip(rows, keys[table])}

    def references(table):
        found = {}
        for _, _, goal, column, goal_column, *_ in source.execute(f"SELECT * FROM pragma_foreign_key_list({quoted(table)})"):
            found[column.lower()] = (goal, goal_column)
        return found

    def goal(table, column):
        goal_table, goal_column = references(table)[column.lower()]
        goal_table = next(t for t in tables.values() if t.lower() == goal_table.lower())
        if goal_column is None:
            goal_column = source.execute("SELECT name FROM pragma_table_info(?) WHERE pk = 1", (goal_table,)).fetchone()[0]
        return places(goal_table, goal_column)

    for name, entity in model["entities"].items():
        table = tables[name]
        total = source.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()[0]
        assert len(keys[table]) == total, f"{table}: {len(keys[table])} of {total} rows"
        columns = {c[0].lower() for c in source.execute(f"SELECT name FROM pragma_table_xinfo({quoted(table)})")}
        for property_name, attribute in entity.get("attributes", {}).items():
            if isinstance(attribute, str):
                attribute = {"type": attribute}
            column = attribute.get("userInfo", {}).get("column", property_name)
            kind = attribute["type"].rstrip("?")
            rows = source.execute(f"SELECT {quoted(column)} FROM {quoted(table)} ORDER BY {order(source, table)}")
            copies = target.execute(f"SELECT {quoted(property_name)} FROM {quoted(name)} ORDER BY _id")
            for (value,), (copy,) in zip(rows, copies):
                wanted = expected(value, kind, enums)
                copy = decimal.Decimal(copy) if kind == "decimal" and copy is not None else copy
                assert wanted == copy, f"{table}.{column}: {value!r} became {copy!r} ({kind})"
                count += 1
        for property_name, relationship in entity.get("relationships", {}).items():
            info = relationship.get("userInfo", {})
            if "table" in info:
                pairs += compare_pairs(source, target, goal, name, relationship, info["table"])
                continue
            column = info.get("column", property_name)
            if relationship.get("toMany") or column.lower() not in columns or column.lower() not in references(table):
                continue
            found = goal(table, column)
            rows = source.execute(f"SELECT {quoted(column)} FROM {quoted(table)} ORDER BY {order(source, table)}")
            copies = target.execute(f"SELECT {quoted(property_name)} FROM {quoted(name)} ORDER BY _id")
            for (value,), (copy,) in zip(rows, copies):
                wanted = None if value is None else found[value]
                assert wanted == copy, f"{table}.{column}: {value!r} became {copy!r}"
                count += 1
    return count, pairs


def compare_pairs(source, target, goal, name, relationship, table):
    columns = [row[0] for row in source.execute(f"SELECT name FROM pragma_table_info({quoted(table)})")]
    ends = [goal(table, column) for column in columns]
    rows = source.execute(f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)}")
    wanted = {(ends[0][one], ends[1][other]) for one, other in rows}
    candidates = [f"_{name}_{property}" for property in (relationship["inverse"],)]
    joins = target.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE '!_%!_%' ESCAPE '!'").fetchall()
    for (join,) in joins:
        copies = {tuple(row[:2]) for row in target.execute(f"SELECT * FROM {quoted(join)}") if len(row) >= 2}
        if copies in (wanted, {(b, a) for a, b in wanted}):
            return len(wanted)
    raise AssertionError(f"{table}: its pairs are in none of {joins} ({candidates})")


def ask(program, store, question):
    _, entity, text, *values = question
    result = subprocess.run([program, "query", "--count", store, entity, text, *values], capture_output=True, text=True)
    assert result.returncode == 0, f"{text}: {result.stderr}"
    return int(result.stdout.split()[0].replace(",", ""))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--trellis", default=".build/debug/trellis")
    arguments.add_argument("--ask", choices=sorted(QUESTIONS), help="ask these questions of a DATABASE, too")
    arguments.add_argument("databases", nargs="*")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = [(path, given.ask) for path in given.databases]
        if not cases:
            print(f"TRELLIS_ADOPTION_SEED={SEED} TRELLIS_ADOPTION_ROWS={ROWS}")
            for name, schema, fill in (("Music", MUSIC, fill_music), ("Wholesale", WHOLESALE, fill_wholesale), ("Rental", RENTAL, fill_rental)):
                path = os.path.join(folder, name + ".sqlite")
                with sqlite3.connect(path) as db:
                    db.executescript(schema)
                    fill(db, random.Random(f"{SEED} {name}"), ROWS)
                db.close()
                cases.append((path, name))
        for number, (path, questions) in enumerate(cases):
            model, store = (os.path.join(folder, f"{number}{ending}") for ending in (".model.json", ".db"))
            pulled = subprocess.run(
                [given.trellis, "pull", "sqlite:" + path, "--output", model, "--rows", store], capture_output=True, text=True)
            assert pulled.returncode == 0, pulled.stderr
            for command in (["check", model], ["doctor", store]):
                result = subprocess.run([given.trellis, *command], capture_output=True, text=True)
                assert result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
            values, pairs = compare(path, model, store)
            answers = 0
            for question in QUESTIONS.get(questions, []):
                with sqlite3.connect(path) as db:
                    wanted = db.execute(question[0]).fetchone()[0]
                found = ask(given.trellis, store, question)
                assert wanted == found, f"{question}: {wanted} at the source, {found} in the store"
                answers += 1
            print(f"{os.path.basename(path)}: {values} values, {pairs} pairs and {answers} answers are equal")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as failure:
        sys.exit(f"error: {failure}")
