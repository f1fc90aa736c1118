"""Reads Core Data stores on its own: python3 read_store.py FOLDER > expected.json

It shares no code with the library under test, nor with the script that writes the stores. Values are texts: whole numbers in digits,
dates as microseconds since 1970, bytes in hexadecimal, lists and dictionaries in archives as JSON besides their bytes.
"""
import datetime
import decimal
import glob
import json
import os
import plistlib
import sqlite3
import sys
import uuid
import zlib

ROUNDED = decimal.Decimal(1)


class Archive:
    def __init__(self, data):
        plist = plistlib.loads(data)
        # SwiftData has lists without an archive.
        self.bare = not (isinstance(plist, dict) and "$objects" in plist)
        self.objects, self.top = ([], {"root": plist}) if self.bare else (plist["$objects"], plist["$top"])

    def at(self, value):
        return self.objects[value.data] if isinstance(value, plistlib.UID) else value

    def class_name(self, node):
        return self.at(node["$class"])["$classname"]

    def text(self, value):
        node = self.at(value)
        return node["NS.string"] if isinstance(node, dict) else None if node == "$null" else node

    def pairs(self, value):
        """The entries of a dictionary in either form."""
        node = self.at(value)
        if "searchMapping" in node:
            keys = self.at(self.at(node["searchMapping"])["keys"])["NS.objects"]
            values = self.at(node["values"])["NS.objects"]
            empty = self.at(node["emptyToken"])
            return [(key, item) for key, item in zip(keys, values) if self.at(item) != empty]
        return list(zip(node["NS.keys"], node["NS.objects"]))

    def plain(self, value):
        """The value without classes; raises ValueError for a class that is not plain."""
        if self.bare:
            return value
        node = self.at(value)
        if node == "$null":
            return None
        if not isinstance(node, dict):
            return node.hex() if isinstance(node, bytes) else node
        name = self.class_name(node)
        if name in ("NSArray", "NSMutableArray", "NSSet", "NSMutableSet"):
            return [self.plain(item) for item in node["NS.objects"]]
        if name in ("NSDictionary", "NSMutableDictionary", "NSKnownKeysDictionary1"):
            return {self.plain(k): self.plain(v) for k, v in self.pairs(value)}
        if name == "NSDate":
            return "date " + str(microseconds(node["NS.time"]))
        if name == "NSUUID":
            return str(uuid.UUID(bytes=node["NS.uuidbytes"])).upper()
        if name == "NSURL":
            return self.plain(node["NS.relative"])
        raise ValueError(name)


def microseconds(seconds):
    exact = decimal.Decimal(seconds) * 1000000
    return int(exact.quantize(ROUNDED, rounding=decimal.ROUND_HALF_EVEN)) + 978307200 * 1000000


class Model:
    """The entities of a model cache."""

    def __init__(self, data):
        archive = Archive(zlib.decompress(data, -15))
        root = archive.at(archive.top["root"])
        self.entities = {}
        for name, node in archive.pairs(root["NSEntities"]):
            entity = archive.at(node)
            parent = archive.at(entity["NSSuperentity"])
            items = []
            for _, reference in archive.pairs(entity["NSProperties"]):
                item = archive.at(reference)
                if "NSUnderlyingProperty" not in item:
                    items += self.items(archive, item, [])
            self.entities[archive.at(name)] = {
                "parent": None if parent == "$null" else archive.at(parent["NSEntityName"]), "items": items,
                "former": archive.text(entity["NSRenamingIdentifier"])}
        # An entity may archive what it inherits as copies.
        own = {name: list(entity["items"]) for name, entity in self.entities.items()}
        for name, entity in self.entities.items():
            inherited = {item["name"] for ancestor in self.line(name)[:-1] for item in own[ancestor]}
            entity["items"] = [item for item in entity["items"] if item["name"] not in inherited]

    def items(self, archive, item, path):
        name = archive.at(item["NSPropertyName"])
        if item.get("NSAttributeType") == 2100:
            return [leaf for element in archive.at(item["NSCompositeElements"])["NS.objects"]
                    for leaf in self.items(archive, archive.at(element), path + [name])]
        words = path + [name]
        entry = {"name": ".".join(words), "column": "_".join(words).upper(), "former": archive.text(item["NSRenamingIdentifier"]).upper()}
        if archive.class_name(item) == "NSRelationshipDescription":
            inverse = archive.at(item["_NSInverseRelationshipName"])
            entry.update(to=archive.at(item["_NSDestinationEntityName"]), many=item["NSMaxCount"] != 1,
                         ordered=bool(item.get("NSIsOrdered")), inverse=None if inverse == "$null" else inverse)
        else:
            default = archive.at(item["NSDefaultValue"])
            entry.update(type=item["NSAttributeType"], transient=bool(item.get("NSIsTransient")),
                         external=bool(item["NSFlagsKey"] & 4), optional=bool(item.get("NSIsOptional")),
                         default=None if default == "$null" else default)
        return [entry]

    def line(self, name):
        line = [name]
        while self.entities[line[0]]["parent"]:
            line.insert(0, self.entities[line[0]]["parent"])
        return line


class Reader:
    def __init__(self, path, model=None):
        self.folder = os.path.dirname(path)
        self.stem = os.path.splitext(os.path.basename(path))[0]
        self.db = sqlite3.connect(path)
        self.numbers = dict(self.db.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
        if model is None:
            model = Model(self.db.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()[0])
        self.model = model
        for name, entity in model.entities.items():
            if name not in self.numbers and entity.get("former") in self.numbers:
                self.numbers[name] = self.numbers.pop(entity["former"])
        self.tables = {row[0]: [c[1] for c in self.db.execute("PRAGMA table_info(%s)" % row[0])]
                       for row in self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        for name in model.entities:
            if name not in self.numbers:
                found = {row[0] for row in self.db.execute("SELECT Z_ENT FROM " + self.table(name))}
                (self.numbers[name],) = found - set(self.numbers.values())
        self.columns = {}
        for root in [n for n, e in model.entities.items() if e["parent"] is None]:
            taken = {}
            members = [n for n in model.entities if model.line(n)[0] == root]
            for name in sorted(members, key=self.numbers.get):
                for item in model.entities[name]["items"]:
                    if item.get("many") or item.get("transient"):
                        continue
                    column = "Z" + item["column"]
                    if column not in self.tables[self.table(root)]:
                        column = "Z" + item["former"]
                    count = taken.get(column, 0)
                    taken[column] = count + 1
                    self.columns[name, item["name"]] = column + (str(count) if count else "")

    def table(self, entity):
        """The table of a hierarchy, which may have the former name of its root."""
        root = self.model.line(entity)[0]
        name = "Z" + root.upper()
        return name if name in self.tables else "Z" + self.model.entities[root]["former"].upper()

    def value(self, item, raw):
        # A copy has the default where a required value is missing.
        if raw is None and not item.get("optional", True):
            raw = item.get("default")
        if raw is None:
            return None
        kind = item["type"]
        if kind in (100, 200, 300, 800):
            return str(int(raw))
        if kind == 400:
            return format(decimal.Decimal(repr(float(raw))).normalize(), "f")
        if kind in (500, 600):
            return repr(float(raw))
        if kind == 900:
            return str(microseconds(raw))
        if kind == 1000:
            if item["external"]:
                if raw[0] == 1:
                    return raw[1:].hex()
                place = os.path.join(self.folder, ".%s_SUPPORT" % self.stem, "_EXTERNAL_DATA", raw[1:].rstrip(b"\0").decode())
                return open(place, "rb").read().hex() if os.path.exists(place) else None
            return raw.hex()
        if kind == 1100:
            return raw.hex()
        if kind == 1800:
            archive = Archive(raw)
            try:
                plain = json.dumps(archive.plain(archive.top["root"]), sort_keys=True, ensure_ascii=False)
            except ValueError:
                plain = None
            return {"json": plain, "hex": raw.hex()}
        return raw

    def members(self, owner, item, key):
        """The primary keys at the other end, in order, or sorted."""
        name, to, inverse = owner, item["to"], item["inverse"]
        back = next((i for n in self.model.line(to) for i in self.model.entities[n]["items"] if i["name"] == inverse), None)
        if inverse and not back["many"]:
            declaring = next(n for n in self.model.line(to) if any(
                i["name"] == inverse for i in self.model.entities[n]["items"]))
            table, column = self.table(to), self.columns[declaring, inverse]
            order = "Z_FOK_" + column[1:] if item["ordered"] else "Z_PK"
            return [r[0] for r in self.db.execute(
                "SELECT Z_PK FROM %s WHERE %s = ? ORDER BY %s" % (table, column, order), (key,))]
        for mine, theirs in ((inverse or name, item["name"]), (inverse or name, item["former"]),
                             ((back or {}).get("former", name), item["name"])):
            mine = "Z_%d%s" % (self.numbers[name], mine.upper())
            theirs = "Z_%d%s" % (self.numbers[to], theirs.upper())
            for table, columns in self.tables.items():
                if not table.startswith("Z_") or theirs not in columns:
                    continue
                own = mine if mine in columns and mine != theirs else mine + "1" if mine + "1" in columns else None
                if own:
                    order = "Z_FOK_" + theirs[2:] if item["ordered"] else theirs
                    return [r[0] for r in self.db.execute(
                        "SELECT DISTINCT %s FROM %s WHERE %s = ? ORDER BY %s" % (theirs, table, own, order), (key,))]
        raise KeyError((owner, item["name"]))

    def name(self, entity, key):
        """The row that a reference leads to, by its own entity; None if there is none."""
        row = self.db.execute("SELECT Z_ENT FROM %s WHERE Z_PK = ?" % self.table(entity), (key,)).fetchone()
        names = {number: n for n, number in self.numbers.items()}
        return "%s/%d" % (names[row[0]], key) if row else None

    def rows(self):
        found = []
        for name in self.model.entities:
            line = self.model.line(name)
            for (key, version) in self.db.execute(
                    "SELECT Z_PK, Z_OPT FROM %s WHERE Z_ENT = ? ORDER BY Z_PK" % self.table(name), (self.numbers[name],)).fetchall():
                row = {"row": "%s/%d" % (name, key), "version": version, "values": {}, "ones": {}, "manys": {}}
                for declaring in line:
                    for item in self.model.entities[declaring]["items"]:
                        if "to" in item and item["many"]:
                            partners = [self.name(item["to"], k) for k in self.members(declaring, item, key)]
                            row["manys"][item["name"]] = [p for p in partners if p]
                        elif not item.get("transient"):
                            raw = self.db.execute("SELECT %s FROM %s WHERE Z_PK = ?" % (
                                self.columns[declaring, item["name"]], self.table(name)), (key,)).fetchone()[0]
                            if "to" in item:
                                row["ones"][item["name"]] = self.name(item["to"], raw) if raw is not None else None
                            else:
                                row["values"][item["name"]] = self.value(item, raw)
                found.append(row)
        return found


class Given:
    """The model of the store that contains none, as its `contents` has it."""
    entities = {"Entry": {"parent": None, "former": "Entry", "items": [
        {"name": "at", "column": "AT", "former": "AT", "type": 900, "transient": False, "external": False},
        {"name": "title", "column": "TITLE", "former": "TITLE", "type": 700, "transient": False, "external": False}]}}

    def line(self, name):
        return [name]


result = {}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.sqlite"))):
    stem = os.path.splitext(os.path.basename(path))[0]
    result[stem] = Reader(path, Given() if stem == "nocache" else None).rows()
print(json.dumps(result, indent=1, ensure_ascii=False, sort_keys=True))
