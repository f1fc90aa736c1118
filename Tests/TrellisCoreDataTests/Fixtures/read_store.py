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
        self.objects, self.top = plist["$objects"], plist["$top"]

    def at(self, value):
        return self.objects[value.data] if isinstance(value, plistlib.UID) else value

    def class_name(self, node):
        return self.at(node["$class"])["$classname"]

    def plain(self, value):
        """The value without classes; raises ValueError for a class that is not plain."""
        node = self.at(value)
        if node == "$null":
            return None
        if not isinstance(node, dict):
            return node.hex() if isinstance(node, bytes) else node
        name = self.class_name(node)
        if name in ("NSArray", "NSMutableArray", "NSSet", "NSMutableSet"):
            return [self.plain(item) for item in node["NS.objects"]]
        if name in ("NSDictionary", "NSMutableDictionary"):
            return {self.plain(k): self.plain(v) for k, v in zip(node["NS.keys"], node["NS.objects"])}
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
        table = archive.at(root["NSEntities"])
        self.entities = {}
        for name, node in zip(table["NS.keys"], table["NS.objects"]):
            entity = archive.at(node)
            parent = archive.at(entity["NSSuperentity"])
            properties = archive.at(entity["NSProperties"])
            items = []
            for reference in properties["NS.objects"]:
                item = archive.at(reference)
                kind = archive.class_name(item)
                entry = {"name": archive.at(item["NSPropertyName"])}
                if kind == "NSRelationshipDescription":
                    inverse = archive.at(item["_NSInverseRelationshipName"])
                    entry.update(to=archive.at(item["_NSDestinationEntityName"]), many=item["NSMaxCount"] != 1,
                                 ordered=bool(item.get("NSIsOrdered")), inverse=None if inverse == "$null" else inverse)
                else:
                    entry.update(type=item["NSAttributeType"], transient=bool(item.get("NSIsTransient")),
                                 external=bool(item["NSFlagsKey"] & 4))
                items.append(entry)
            self.entities[archive.at(name)] = {
                "parent": None if parent == "$null" else archive.at(parent["NSEntityName"]), "items": items}

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
        self.tables = {row[0]: [c[1] for c in self.db.execute("PRAGMA table_info(%s)" % row[0])]
                       for row in self.db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        self.columns = {}
        for root in [n for n, e in model.entities.items() if e["parent"] is None]:
            taken = {}
            members = [n for n in model.entities if model.line(n)[0] == root]
            for name in sorted(members, key=self.numbers.get):
                for item in model.entities[name]["items"]:
                    if item.get("many") or item.get("transient"):
                        continue
                    column = "Z" + item["name"].upper()
                    count = taken.get(column, 0)
                    taken[column] = count + 1
                    self.columns[name, item["name"]] = column + (str(count) if count else "")

    def value(self, item, raw):
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
            table, column = "Z" + self.model.line(to)[0].upper(), self.columns[declaring, inverse]
            order = "Z_FOK_" + column[1:] if item["ordered"] else "Z_PK"
            return [r[0] for r in self.db.execute(
                "SELECT Z_PK FROM %s WHERE %s = ? ORDER BY %s" % (table, column, order), (key,))]
        mine = "Z_%d%s" % (self.numbers[name], (inverse or name).upper())
        theirs = "Z_%d%s" % (self.numbers[to], item["name"].upper())
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
        root = self.model.line(entity)[0]
        row = self.db.execute("SELECT Z_ENT FROM Z%s WHERE Z_PK = ?" % root.upper(), (key,)).fetchone()
        names = {number: n for n, number in self.numbers.items()}
        return "%s/%d" % (names[row[0]], key) if row else None

    def rows(self):
        found = []
        for name in self.model.entities:
            line = self.model.line(name)
            for (key, version) in self.db.execute(
                    "SELECT Z_PK, Z_OPT FROM Z%s WHERE Z_ENT = ? ORDER BY Z_PK" % line[0].upper(), (self.numbers[name],)).fetchall():
                row = {"row": "%s/%d" % (name, key), "version": version, "values": {}, "ones": {}, "manys": {}}
                for declaring in line:
                    for item in self.model.entities[declaring]["items"]:
                        if "to" in item and item["many"]:
                            partners = [self.name(item["to"], k) for k in self.members(declaring, item, key)]
                            row["manys"][item["name"]] = [p for p in partners if p]
                        elif not item.get("transient"):
                            raw = self.db.execute("SELECT %s FROM Z%s WHERE Z_PK = ?" % (
                                self.columns[declaring, item["name"]], line[0].upper()), (key,)).fetchone()[0]
                            if "to" in item:
                                row["ones"][item["name"]] = self.name(item["to"], raw) if raw is not None else None
                            else:
                                row["values"][item["name"]] = self.value(item, raw)
                found.append(row)
        return found


class Given:
    """The model of the store that contains none, as its `contents` has it."""
    entities = {"Entry": {"parent": None, "items": [
        {"name": "at", "type": 900, "transient": False, "external": False},
        {"name": "title", "type": 700, "transient": False, "external": False}]}}

    def line(self, name):
        return [name]


result = {}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.sqlite"))):
    stem = os.path.splitext(os.path.basename(path))[0]
    result[stem] = Reader(path, Given() if stem == "nocache" else None).rows()
print(json.dumps(result, indent=1, ensure_ascii=False, sort_keys=True))
