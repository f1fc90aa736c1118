"""Writes the stores of the tests into a folder: python3 make_stores.py FOLDER

Each has what its name says. The expected values are not from here, but from `read_store.py`.
"""
import datetime
import decimal
import os
import plistlib
import sqlite3
import struct
import sys
import uuid

from coredata import Alien, Attribute as A, Entity, Form, KnownKeys, Model, Relationship as R, Store, Url, archive

OUT = sys.argv[1]


# The forms of a model cache that the stores have in turn.
PROXIES = Form(inherited="proxies", empty=2)
OLD = Form(old=True)
FORMER = Form(known=False, inherited="none")


def path(name):
    return os.path.join(OUT, name + ".sqlite")


def scalars():
    """Every type of attribute, at its edges, nil and with defaults."""
    model = Model(Entity(
        "Thing", A("i16", "int16", True), A("i32", "int32", True), A("i64", "int64", True), A("dec", "decimal", True),
        A("dbl", "double", True), A("flt", "float", True), A("str", "string", True), A("flag", "bool", True),
        A("day", "date", True), A("raw", "binary", True), A("ident", "uuid", True), A("link", "uri", True),
        A("gone", "string", True, transient=True), A("count", "int32", False, default=7)))
    store = Store(path("scalars"), model)
    store.insert("Thing", i16=-32768, i32=2147483647, i64=-9223372036854775808, dec=12.75, dbl=0.1, flt=0.5,
                 str="커피 \U0001F30A é 'quoted'", flag=1, day=700000000.25, raw=b"\x00\x01\xff",
                 ident=uuid.UUID(int=5).bytes, link="https://example.org/a?b=c", count=1)
    store.insert("Thing", i16=32767, dec=-0.1, flt=-1.25, str="", flag=0, day=-3000000000.0, raw=b"", count=2)
    store.insert("Thing", count=3)
    store.insert("Thing", pk=17, opt=9, str="gap", count=4)
    store.close()


def dates_as_integers():
    """Dates that an older version wrote as whole numbers."""
    model = Model(Entity("Event", A("at", "date"), A("name", "string")), form=OLD)
    store = Store(path("dates"), model)
    store.db.execute("COMMIT")
    store.db.execute("DROP TABLE ZEVENT")
    store.db.execute("CREATE TABLE ZEVENT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAT, ZNAME VARCHAR)")
    store.db.execute("BEGIN")
    store.insert("Event", at=0, name="beginning")
    store.insert("Event", at=600000000, name="integer")
    store.insert("Event", at=600000000.123456, name="real")
    store.insert("Event", at=-978307200, name="1970")
    store.close()


def relationships():
    """To-ones, one-to-ones, one-to-manys with and without order, many-to-manys of each kind, to themselves too."""
    model = Model(
        Entity("Author", A("name", "string"), R("books", "Book", "author", many=True, rule=2),
               R("shelf", "Shelf", "owner"), R("friends", "Author", "friends", many=True)),
        Entity("Book", A("title", "string"), R("author", "Author", "books"),
               R("pages", "Page", "book", many=True, ordered=True, rule=2),
               R("tags", "Tag", "books", many=True), R("sequels", "Book", "prequels", many=True),
               R("prequels", "Book", "sequels", many=True)),
        Entity("Page", A("rank", "int32"), R("book", "Book", "pages")),
        Entity("Shelf", A("room", "string"), R("owner", "Author", "shelf"),
               R("best", "Book", None, many=False)),
        Entity("Tag", A("name", "string"), R("books", "Book", "tags", many=True, ordered=True)))
    store = Store(path("relationships"), model)
    ann, bob = store.insert("Author", name="Ann"), store.insert("Author", name="Bob")
    one = store.insert("Book", title="One", author=ann)
    two = store.insert("Book", title="Two", author=ann)
    three = store.insert("Book", title="Three")
    for number, order in ((3, 3072), (1, 7), (2, 2048), (4, 4096)):
        store.insert("Page", rank=number, book=one, book__order=order)
    store.insert("Page", rank=1, book=two, book__order=2048)
    shelf = store.insert("Shelf", room="attic", owner=bob, best=two)
    store.db.execute("UPDATE ZAUTHOR SET ZSHELF = ? WHERE Z_PK = ?", (shelf, bob))
    sea, sun = store.insert("Tag", name="sea"), store.insert("Tag", name="sun")
    for tag, book, order in ((sea, two, 1024), (sea, one, 2048), (sea, three, 512), (sun, one, 1024)):
        store.pair("Tag", "books", tag, book, order)
    store.pair("Author", "friends", ann, bob)
    store.pair("Author", "friends", bob, ann)
    store.pair("Book", "sequels", one, two)
    store.pair("Book", "sequels", two, three)
    store.close()


def ordered_both():
    """A many-to-many with an order at each end."""
    model = Model(
        Entity("List", A("name", "string"), R("songs", "Song", "lists", many=True, ordered=True)),
        Entity("Song", A("name", "string"), R("lists", "List", "songs", many=True, ordered=True)), form=FORMER)
    store = Store(path("ordered"), model)
    lists = [store.insert("List", name=n) for n in ("a", "b")]
    songs = [store.insert("Song", name=n) for n in ("x", "y", "z")]
    orders = {(0, 0): (3, 1), (0, 1): (1, 5), (0, 2): (2, 9), (1, 2): (1, 2), (1, 0): (2, 4)}
    for (owner, member), (order, inverse) in orders.items():
        store.pair("List", "songs", lists[owner], songs[member], order, inverse)
    store.close()


def inheritance(name, form):
    """One table for a hierarchy, with columns of one name in two branches, and references into it."""
    model = Model(
        Entity("Animal", A("name", "string"), R("home", "Place", "animals"), abstract=True),
        Entity("Cat", A("note", "string", True), A("lives", "int16", False, default=9), parent="Animal"),
        Entity("Dog", A("note", "string", True), parent="Animal"),
        Entity("Puppy", A("weeks", "int16"), parent="Dog"),
        Entity("Place", A("name", "string"), R("animals", "Animal", "home", many=True), R("guard", "Dog", None)),
        form=form)
    store = Store(path(name), model)
    home = store.insert("Place", name="farm")
    store.insert("Cat", name="Tom", note="of the cat", lives=8, home=home)
    dog = store.insert("Dog", name="Rex", note="of the dog", home=home)
    store.insert("Puppy", name="Bit", note="small", weeks=6)
    store.db.execute("UPDATE ZPLACE SET ZGUARD = ? WHERE Z_PK = ?", (dog, home))
    store.close()


def broken():
    """Required values that are nil, references that lead nowhere, pairs that come twice, a row of no entity."""
    model = Model(
        Entity("Owner", A("name", "string", False, default="nobody"), A("seen", "bool", False, default=False),
               A("code", "string"), R("things", "Thing", "owner", many=True),
               R("groups", "Group", "owners", many=True)),
        Entity("Thing", A("name", "string"), R("owner", "Owner", "things", optional=False),
               R("spare", "Owner", None)),
        Entity("Group", A("name", "string"), R("owners", "Owner", "groups", many=True)),
        Entity("Left", R("right", "Right", "left")), Entity("Right", R("left", "Left", "right")))
    store = Store(path("broken"), model)
    store.insert("Owner", name=None, seen=None, code="a")
    store.insert("Owner", name="second", seen=1, code=None)
    store.insert("Thing", name="good", owner=1, spare=2)
    store.insert("Thing", name="lost owner", owner=99)
    store.insert("Thing", name="lost spare", owner=2, spare=77)
    store.insert("Thing", name="no owner")
    store.insert("Owner", pk=50, number=90, name="of no entity", seen=0, code="z")
    group = store.insert("Group", name="g")
    table = store.joins["Owner", "groups"][0]
    store.db.execute("DROP TABLE %s" % table)
    store.db.execute("CREATE TABLE %s (%s INTEGER, %s INTEGER)" % (table, *store.joins["Owner", "groups"][1:3]))
    for owner in (1, 1, 2, 66):
        store.pair("Owner", "groups", owner, group)
    store.insert("Left", right=1)
    store.insert("Left", right=1)
    store.insert("Right", left=2)
    store.close()


def unique():
    """Rows with one unique key, as a store has them whose constraint came later."""
    model = Model(Entity("User", A("mail", "string"), A("nick", "string", True), A("rank", "int32"),
                         unique=(("mail",), ("nick",), ("rank",))))
    store = Store(path("unique"), model)
    store.insert("User", mail="a@x", nick="a", rank=1)
    store.insert("User", mail="a@x", nick="b", rank=2)
    store.insert("User", mail="c@x", nick="a", rank=3)
    store.insert("User", mail="d@x", nick=None, rank=3)
    store.insert("User", mail="e@x", nick=None, rank=5)
    store.close()


def transformables():
    """Lists, dictionaries and plain values in archives, an object of a foreign class, and one list of texts."""
    model = Model(Entity(
        "Note", A("words", "transformable", True), A("numbers", "transformable", True), A("mixed", "transformable", True),
        A("alien", "transformable", True)))
    store = Store(path("transformables"), model)
    moment = datetime.datetime(2026, 3, 2, 9, 30, tzinfo=datetime.timezone.utc)
    store.insert("Note", words=archive(["sea", "커피"]), numbers=archive([1, 2, 3]),
                 mixed=archive({"a": 1, "b": [True, "x"], "at": moment, "id": uuid.UUID(int=9), "u": Url("https://e.org")}),
                 alien=archive(Alien("MYColor")))
    store.insert("Note", mixed=archive(KnownKeys(kind="a", rank=3)))
    store.insert("Note", words=archive([]), numbers=archive([-5]), mixed=archive({}))
    store.insert("Note")
    store.close()


def external():
    """Data in the row, and in a file beside the store."""
    model = Model(Entity("Photo", A("name", "string"), A("image", "binary", True, external=True)))
    store = Store(path("external"), model)
    folder = os.path.join(OUT, ".external_SUPPORT", "_EXTERNAL_DATA")
    os.makedirs(folder, exist_ok=True)
    name = "0F7B3C52-9D6B-4D53-8F0E-6C4C3B1E9A77"
    with open(os.path.join(folder, name), "wb") as file:
        file.write(bytes(range(256)) * 40)
    store.insert("Photo", name="inline", image=b"\x01" + b"small")
    store.insert("Photo", name="file", image=b"\x02" + name.encode() + b"\x00")
    store.insert("Photo", name="lost", image=b"\x02" + b"AAAAAAAA-0000-0000-0000-000000000000\x00")
    store.insert("Photo", name="none")
    store.close()


def history_and_cloud():
    """Tables of the history and of CloudKit beside the app's own."""
    model = Model(Entity("Task", A("title", "string")))
    store = Store(path("history"), model)
    db = store.db
    for number, name in ((16001, "CHANGE"), (16002, "TRANSACTION"), (16003, "TRANSACTIONSTRING")):
        db.execute("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, 0, 1)", (number, name))
    db.execute("CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, "
               "ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB)")
    db.execute("CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT)")
    db.execute("CREATE TABLE ANSCKDATABASEMETADATA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)")
    db.execute("INSERT INTO ACHANGE VALUES (1, 16001, 1, 0, 1, 1, 1, NULL)")
    db.execute("INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 600000000)")
    store.insert("Task", title="first", opt=3)
    store.insert("Task", title="second")
    store.close()


def without_cache():
    """No model in the store: it has to be given."""
    model = Model(Entity("Entry", A("title", "string"), A("at", "date", True)))
    store = Store(path("nocache"), model, cache=False)
    store.insert("Entry", title="only", at=1.5)
    store.close()
    folder = os.path.join(OUT, "Entry.xcdatamodel")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "contents"), "w") as file:
        file.write('<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
                   '<model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\n'
                   '<entity name="Entry" representedClassName="Entry" codeGenerationType="class">\n'
                   '<attribute name="at" optional="YES" attributeType="Date" usesScalarValueType="NO"/>\n'
                   '<attribute name="title" attributeType="String"/>\n</entity>\n</model>\n')


def with_log():
    """Rows that are only in the write-ahead log."""
    model = Model(Entity("Entry", A("title", "string")))
    name = path("log")
    store = Store(name, model)
    store.insert("Entry", title="in the file")
    store.close()
    writer = sqlite3.connect(name, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("PRAGMA wal_autocheckpoint = 0")
    writer.execute("INSERT INTO ZENTRY VALUES (2, 1, 1, 'in the log')")
    for ending in ("", "-wal"):
        with open(name + ending, "rb") as source, open(name + ".kept" + ending, "wb") as target:
            target.write(source.read())
    writer.close()
    for ending in ("", "-wal"):
        os.replace(name + ".kept" + ending, name + ending)
    if os.path.exists(name + "-shm"):
        os.remove(name + "-shm")


def migrated():
    """What Core Data's own migration leaves: an entity, a hierarchy and properties under their former names, required
    values that are null, a last key below the real ones, whole numbers as dates, a subentity that is not listed."""
    model = Model(
        Entity("Message", A("text", "string"), A("delivered", "bool", False, default=False),
               A("sent", "date"), A("price", "decimal", True), A("urgency", "int16", False, default=2, renamed="rank"),
               R("sender", "Person", "messages", renamed="author"),
               R("labels", "Label", "messages", many=True, renamed="tags")),
        Entity("Picture", A("width", "int32"), parent="Message", renamed="Image"),
        Entity("Sound", A("length", "double"), parent="Message"),
        Entity("Label", A("name", "string"), R("messages", "Message", "labels", many=True)),
        Entity("Person", A("name", "string"), R("messages", "Message", "sender", many=True), renamed="Contact"),
        form=PROXIES)
    store = Store(path("migrated"), model, last=-1)
    ann, bob = store.insert("Person", name="Ann"), store.insert("Person", name="Bob")
    sea, sun = store.insert("Label", name="sea"), store.insert("Label", name="sun")
    one = store.insert("Message", text="one", delivered=None, sent=600000000, price=12.75, urgency=1, sender=ann)
    store.insert("Message", text="two", delivered=1, sent=600000000.5, price=3, urgency=None, sender=bob)
    store.insert("Message", text="three", delivered=None, sent=0, sender=ann)
    picture = store.insert("Picture", text="four", delivered=0, sent=1.5, urgency=4, width=640, sender=ann)
    store.insert("Sound", text="five", delivered=1, sent=-5, urgency=5, length=2.5)
    store.pair("Message", "labels", one, sea)
    store.pair("Message", "labels", picture, sea)
    store.pair("Message", "labels", picture, sun)
    store.close()
    db = sqlite3.connect(path("migrated"), isolation_level=None)
    for statement in (
            "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Image' WHERE Z_NAME = 'Picture'",
            "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Contact' WHERE Z_NAME = 'Person'",
            "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Sound'",
            "ALTER TABLE ZPERSON RENAME TO ZCONTACT",
            "ALTER TABLE ZMESSAGE RENAME COLUMN ZURGENCY TO ZRANK",
            "ALTER TABLE ZMESSAGE RENAME COLUMN ZSENDER TO ZAUTHOR",
            "CREATE TABLE Z_2TAGS (Z_2MESSAGES INTEGER, Z_1TAGS INTEGER, PRIMARY KEY (Z_2MESSAGES, Z_1TAGS))",
            "INSERT INTO Z_2TAGS SELECT Z_2MESSAGES, Z_1LABELS FROM Z_1MESSAGES",
            "DROP TABLE Z_1MESSAGES"):
        db.execute(statement)
    db.close()


def swiftdata():
    """A store as SwiftData has it: structs flattened into columns, lists as property lists, names without classes."""
    place = [A("city", "string", True), A("zip", "int64", True)]
    model = Model(
        Entity("Trip", A("title", "string"), A("start", "composite", False, elements=[
                   A("latitude", "double"), A("longitude", "double")]),
               A("home", "composite", True, elements=place), A("kind", "string"),
               A("stops", "transformable", True), A("counts", "transformable", True),
               A("ident", "uuid"), R("days", "Day", "trip", many=True, rule=2), unique=[("ident",)]),
        Entity("Day", A("note", "string", True), R("trip", "Trip", "days")), form=Form(names=True))
    store = Store(path("swiftdata"), model)
    plist = lambda value: plistlib.dumps(value, fmt=plistlib.FMT_BINARY)
    one = store.insert("Trip", title="north", start__latitude=52.5, start__longitude=13.4, home__city="Seoul",
                       home__zip=4524, kind="sea", stops=plist(["a", "커피"]), counts=plist([1, 2]),
                       ident=uuid.UUID(int=7).bytes)
    store.insert("Trip", title="south", start__latitude=-1.25, start__longitude=0, kind="land", stops=plist([]),
                 ident=uuid.UUID(int=8).bytes)
    store.insert("Day", note="first", trip=one)
    store.insert("Day", trip=one)
    store.close()


def rules():
    """Rows that break the rules of their model, which Core Data tests when it saves and its file does not."""
    model = Model(
        Entity("Game", A("name", "string", pattern="[a-z]+"), A("score", "int32", True, minimum=0, maximum=100),
               R("cheats", "Cheat", "game", many=True, optional=False, rule=2),
               R("players", "Player", "games", many=True, least=2, most=3),
               R("rounds", "Round", "game", many=True, ordered=True, optional=False, least=2)),
        Entity("Cheat", A("code", "string"), R("game", "Game", "cheats")),
        Entity("Player", A("name", "string"), R("games", "Game", "players", many=True)),
        Entity("Round", A("name", "string", odd=True), R("game", "Game", "rounds")),
        Entity("Odd", A("known", "string", True, alien="MYAttribute"), A("again", "int16", True, alien="MYAttribute")),
        templates=[("latest", "Game")])
    store = Store(path("rules"), model)
    games = [store.insert("Game", name=name, score=score) for name, score in
             (("chess", 5), ("Go", 101), ("ludo", -1), ("empty", None))]
    players = [store.insert("Player", name=name) for name in "abcd"]
    for game, count in ((0, 2), (1, 1), (2, 4)):
        for player in players[:count]:
            store.pair("Game", "players", games[game], player)
    store.insert("Cheat", code="x", game=games[0])
    for name, game, order in (("first", 0, 2048), ("second", 0, 1024), ("only", 1, 1024), ("lost", 7, 1024)):
        store.insert("Round", name=name, game=games[game] if game < 4 else 99, game__order=order)
    store.insert("Odd", known="k", again=3)
    store.close()


def ambiguous():
    """Two entities and two properties that both may be meant by one former name."""
    model = Model(
        Entity("Note", A("text", "string", True, renamed="body"), A("title", "string", True, renamed="body"), renamed="Page"),
        Entity("Memo", A("text", "string", True), renamed="Page"))
    store = Store(path("ambiguous"), model)
    store.insert("Note", text="one", title="first")
    store.insert("Memo", text="two")
    store.close()
    db = sqlite3.connect(path("ambiguous"), isolation_level=None)
    db.execute("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Page' WHERE Z_NAME = 'Memo'")
    db.execute("ALTER TABLE ZMEMO RENAME TO ZPAGE")
    db.execute("ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO ZBODY")
    db.close()


os.makedirs(OUT, exist_ok=True)
for make in (scalars, dates_as_integers, relationships, ordered_both, broken, unique, transformables, external,
             history_and_cloud, without_cache, with_log, migrated, swiftdata, rules, ambiguous):
    make()
for name, form in (("inheritance", PROXIES), ("copies", Form()), ("former", FORMER)):
    inheritance(name, form)
