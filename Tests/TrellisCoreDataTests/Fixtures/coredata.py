"""Writes stores as Core Data lays them out: tables, bookkeeping, and the model as a keyed archive in raw deflate.

Nothing here reads a store; `read_store.py` does, and shares no code with this file.
"""
import os
import plistlib
import sqlite3
import zlib

CODES = {
    "int16": 100, "int32": 200, "int64": 300, "decimal": 400, "double": 500, "float": 600, "string": 700,
    "bool": 800, "date": 900, "binary": 1000, "uuid": 1100, "uri": 1200, "transformable": 1800, "undefined": 0,
    "composite": 2100,
}
SQL = {
    "int16": "INTEGER", "int32": "INTEGER", "int64": "INTEGER", "bool": "INTEGER", "decimal": "DECIMAL",
    "double": "FLOAT", "float": "FLOAT", "string": "VARCHAR", "uri": "VARCHAR", "date": "TIMESTAMP",
    "binary": "BLOB", "uuid": "BLOB", "transformable": "BLOB",
}


class Form:
    """How a release of Core Data archives a model. The defaults are those of most stores.

    Entities are values of a dictionary with known keys, whose keys may include some without a value; `known=False` is a
    dictionary as any other. What an entity inherits is archived in it again, as copies or as proxies of the original, or
    not at all. Old releases archive identifiers as mutable texts, and unused dictionaries as nil.
    """

    def __init__(self, known=True, inherited="copies", old=False, empty=0, names=False):
        self.known, self.inherited, self.old, self.empty, self.names = known, inherited, old, empty, names


class Archiver:
    """A keyed archive under construction: objects in a table, each by its number."""

    def __init__(self):
        self.objects = ["$null"]
        self.classes = {}

    def add(self, value):
        self.objects.append(value)
        return plistlib.UID(len(self.objects) - 1)

    def reserve(self):
        return self.add(None)

    def put(self, uid, value):
        self.objects[uid.data] = value

    def cls(self, *names):
        if names not in self.classes:
            self.classes[names] = self.add({"$classname": names[0], "$classes": list(names) + ["NSObject"]})
        return self.classes[names]

    def array(self, uids, name="NSArray"):
        return self.add({"$class": self.cls(name), "NS.objects": list(uids)})

    def dictionary(self, pairs):
        pairs = list(pairs)
        return self.add({
            "$class": self.cls("NSMutableDictionary", "NSDictionary"),
            "NS.keys": [key for key, _ in pairs], "NS.objects": [value for _, value in pairs],
        })

    def known_keys(self, pairs, empty=0):
        """Core Data's own dictionary, with keys that have no value."""
        pairs = list(pairs)
        token = self.add("__empty_slot_token_4c24_98dc_ac1e_b773__")
        keys = [key for key, _ in pairs] + [self.add("Unused%d" % place) for place in range(empty)]
        values = [value for _, value in pairs] + [token] * empty
        mapping = self.add({
            "$class": self.cls("NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy"), "version": 1,
            "length": len(keys), "keys": self.array(keys)})
        return self.add({
            "$class": self.cls("NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary"),
            "version": 1, "emptyToken": token, "searchMapping": mapping, "values": self.array(values)})

    def mutable_text(self, text):
        return self.add({"$class": self.cls("NSMutableString", "NSString"), "NS.string": text})

    def value(self, value):
        """Any plain value of Python."""
        import datetime
        import decimal
        import uuid
        if value is None:
            return plistlib.UID(0)
        if isinstance(value, (bool, int, float, str, bytes)):
            return self.add(value)
        if isinstance(value, datetime.datetime):
            base = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)
            return self.add({"$class": self.cls("NSDate"), "NS.time": (value - base).total_seconds()})
        if isinstance(value, uuid.UUID):
            return self.add({"$class": self.cls("NSUUID"), "NS.uuidbytes": value.bytes})
        if isinstance(value, decimal.Decimal):
            sign, digits, exponent = value.as_tuple()
            mantissa = int("".join(map(str, digits)))
            units = [(mantissa >> (16 * place)) & 0xFFFF for place in range(8)]
            length = max([place + 1 for place, unit in enumerate(units) if unit] or [0])
            raw = b"".join(unit.to_bytes(2, "little") for unit in units)
            return self.add({
                "$class": self.cls("NSDecimalNumber", "NSNumber", "NSValue"), "NS.mantissa": raw,
                "NS.exponent": exponent, "NS.length": length, "NS.negative": bool(sign), "NS.mantissa.bo": 1,
                "NS.compact": True,
            })
        if isinstance(value, Url):
            return self.add({
                "$class": self.cls("NSURL"), "NS.base": plistlib.UID(0), "NS.relative": self.add(value.text)})
        if isinstance(value, Alien):
            return self.add({"$class": self.cls(value.name), "inside": self.add("x")})
        if isinstance(value, KnownKeys):
            return self.known_keys(((self.value(k), self.value(v)) for k, v in value.items.items()), empty=1)
        if isinstance(value, OrderedSet):
            keys = {"NS.object.%d" % place: self.value(item) for place, item in enumerate(value.items)}
            return self.add({"$class": self.cls("NSOrderedSet"), **keys})
        if isinstance(value, (set, frozenset)):
            return self.array([self.value(item) for item in sorted(value)], "NSSet")
        if isinstance(value, (list, tuple)):
            return self.array([self.value(item) for item in value])
        if isinstance(value, dict):
            return self.dictionary((self.value(key), self.value(item)) for key, item in value.items())
        raise TypeError(value)

    def dump(self, root):
        return plistlib.dumps(
            {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": self.objects},
            fmt=plistlib.FMT_BINARY, sort_keys=False)


class Url:
    def __init__(self, text):
        self.text = text


class Alien:
    """An object of a class that only some program has."""

    def __init__(self, name):
        self.name = name


class OrderedSet:
    def __init__(self, items):
        self.items = items


class KnownKeys:
    """A dictionary that is archived in Core Data's own form."""

    def __init__(self, **items):
        self.items = items


def archive(value):
    archiver = Archiver()
    return archiver.dump(archiver.value(value))


class Attribute:
    def __init__(self, name, type, optional=False, default=None, transient=False, external=False, cls=None,
                 elements=(), derived=False, renamed=None, minimum=None, maximum=None, pattern=None, alien=None, odd=False):
        self.name, self.type, self.optional, self.default = name, type, optional, default
        self.transient, self.external, self.cls, self.elements = transient, external, cls, elements
        self.derived, self.renamed, self.minimum, self.maximum = derived, renamed, minimum, maximum
        self.pattern, self.alien, self.odd = pattern, alien, odd


class Relationship:
    def __init__(self, name, to, inverse=None, many=False, ordered=False, optional=True, rule=1, least=0, most=0,
                 renamed=None):
        self.name, self.to, self.inverse, self.many, self.ordered = name, to, inverse, many, ordered
        self.optional, self.rule, self.least, self.renamed = optional, rule, least, renamed
        self.most = most if many else 1


class Entity:
    def __init__(self, name, *properties, parent=None, abstract=False, unique=(), indexes=(), renamed=None):
        self.name, self.parent, self.abstract, self.unique, self.indexes = name, parent, abstract, unique, indexes
        self.renamed = renamed
        self.attributes = [p for p in properties if isinstance(p, Attribute)]
        self.relationships = [p for p in properties if isinstance(p, Relationship)]


class Model:
    def __init__(self, *entities, form=Form(), templates=()):
        self.form, self.templates = form, templates
        self.entities = {entity.name: entity for entity in entities}
        self.order = []
        for root in sorted(e.name for e in entities if e.parent is None):
            self._walk(root)
        self.number = {name: place + 1 for place, name in enumerate(self.order)}

    def _walk(self, name):
        self.order.append(name)
        for child in sorted(e.name for e in self.entities.values() if e.parent == name):
            self._walk(child)

    def root(self, name):
        while self.entities[name].parent:
            name = self.entities[name].parent
        return name

    def lineage(self, name):
        line = [name]
        while self.entities[line[-1]].parent:
            line.append(self.entities[line[-1]].parent)
        return line

    def has_children(self, name):
        return any(e.parent == name for e in self.entities.values())

    def relationship(self, entity, name):
        return next(r for r in self.entities[entity].relationships if r.name == name)

    # The model cache.

    def cache(self):
        """The archive as deflated bytes."""
        archiver, form = Archiver(), self.form
        root = archiver.reserve()
        nodes = {name: archiver.reserve() for name in self.order}
        properties = {}
        for name in self.order:
            for item in self.entities[name].attributes + self.entities[name].relationships:
                properties[name, item.name] = archiver.reserve()
        for name in self.order:
            self._archive_entity(archiver, name, nodes, properties, root)
        named = sorted((name, nodes[name]) for name in self.order)
        if form.known:
            entities = archiver.known_keys(((archiver.add(name), node) for name, node in named), form.empty)
        else:
            entities = archiver.dictionary((archiver.add(name), node) for name, node in named)
        archiver.put(root, {
            "$class": archiver.cls("NSManagedObjectModel"), "NSEntities": entities,
            "NSFetchRequestTemplates": archiver.dictionary(
                (archiver.add(name), archiver.add({"$class": archiver.cls("NSFetchRequest"), "NSEntity": nodes[entity]}))
                for name, entity in self.templates) if self.templates else plistlib.UID(0),
            "NSVersionIdentifiers": archiver.array([archiver.add("")], "NSMutableSet" if form.old else "NSSet"),
        })
        raw = archiver.dump(root)
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packer.compress(raw) + packer.flush()

    def _archive_entity(self, archiver, name, nodes, properties, root):
        entity, form = self.entities[name], self.form
        identity = entity.renamed or name
        items = [(archiver.add(item.name), properties[name, item.name])
                 for item in entity.attributes + entity.relationships]
        for ancestor in self.lineage(name)[1:]:
            for item in self.entities[ancestor].attributes + self.entities[ancestor].relationships:
                if form.inherited == "copies":
                    node = archiver.reserve()
                    self._archive_property(archiver, item, node, nodes[name], nodes, properties)
                    items.append((archiver.add(item.name), node))
                elif form.inherited == "proxies":
                    items.append((archiver.add(item.name), archiver.add({
                        "$class": archiver.cls("_NSPropertyDescriptionProxy"), "NSReferenceID": 7,
                        "NSUnderlyingProperty": properties[ancestor, item.name], "NSEntityDescription": nodes[name]})))
        subentities = [(archiver.add(e.name), nodes[e.name]) for e in self.entities.values() if e.parent == name]
        node = {
            "$class": archiver.cls("NSEntityDescription"),
            "NSEntityName": archiver.add(name),
            "NSClassNameForEntity": plistlib.UID(0) if form.names else archiver.add(name),
            "NSManagedObjectModel": root,
            "NSSuperentity": nodes[entity.parent] if entity.parent else plistlib.UID(0),
            "NSSubentities": archiver.dictionary(subentities) if subentities or not form.old else plistlib.UID(0),
            "NSProperties": archiver.dictionary(items),
            "NSUserInfo": archiver.add({"$class": archiver.cls("NSDictionary"), "NS.keys": [], "NS.objects": []}),
            "NSVersionHashModifier": plistlib.UID(0),
            "NSRenamingIdentifier": archiver.mutable_text(identity) if form.old else archiver.add(identity),
        }
        if entity.abstract:
            node["NSIsAbstract"] = True
        if entity.unique:
            node["NSUniqueTuples"] = archiver.array(
                (archiver.array((archiver.add(part) for part in key), "NSMutableArray") for key in entity.unique),
                "NSMutableArray")
        if entity.indexes:
            indexes = []
            for index_name, parts in entity.indexes:
                index = archiver.reserve()
                elements = archiver.array((archiver.add({
                    "$class": archiver.cls("NSFetchIndexElementDescription"), "NSPropertyName": archiver.add(part),
                    "NSFetchIndexElementType": 0, "NSFetchIndexDescription": index, "NSAscending": True,
                }) for part in parts), "NSMutableArray")
                archiver.put(index, {
                    "$class": archiver.cls("NSFetchIndexDescription"), "NSIndexName": archiver.add(index_name),
                    "NSEntity": nodes[name], "NSPartialIndexPredicate": plistlib.UID(0), "NSIndexElements": elements})
                indexes.append(index)
            node["NSFetchIndexDescriptions"] = archiver.array(indexes, "NSMutableArray")
            node["NSCompoundIndexes"] = archiver.array(
                (archiver.array((archiver.add(part) for part in parts), "NSMutableArray")
                 for _, parts in entity.indexes), "NSMutableArray")
        archiver.put(nodes[name], node)
        for item in entity.attributes + entity.relationships:
            self._archive_property(archiver, item, properties[name, item.name], nodes[name], nodes, properties)

    def _archive_property(self, archiver, item, uid, entity, nodes, properties):
        if isinstance(item, Attribute):
            archiver.put(uid, self._attribute(archiver, item, entity))
            return
        archiver.put(uid, {
            **self._property(archiver, item, entity, item.optional, False, item.ordered),
            "$class": archiver.cls("NSRelationshipDescription", "NSPropertyDescription"),
            "NSMinCount": item.least, "NSMaxCount": item.most, "NSDeleteRule": item.rule,
            "NSDestinationEntity": nodes[item.to], "_NSDestinationEntityName": archiver.add(item.to),
            "NSInverseRelationship": properties[item.to, item.inverse] if item.inverse else plistlib.UID(0),
            "_NSInverseRelationshipName": archiver.add(item.inverse) if item.inverse else plistlib.UID(0),
        })

    def _property(self, archiver, item, entity, optional, transient, ordered, rules=False):
        """What attributes and relationships have in common: flags by key where they are set, and all in a number."""
        identity = item.renamed or item.name
        bits = 1 | (2 if optional else 0) | (8 if transient else 0) | (0 if rules else 0x30) | 0x40 | 0x80
        node = {
            "NSPropertyName": archiver.add(item.name), "NSEntity": entity,
            "NSRenamingIdentifier": archiver.mutable_text(identity) if self.form.old else archiver.add(identity),
            "_P": bits | (0x400 if ordered else 0),
        }
        for key, flag in (("NSIsOptional", optional), ("NSIsTransient", transient), ("NSIsOrdered", ordered)):
            if flag:
                node[key] = True
        return node

    def _attribute(self, archiver, attribute, entity):
        name = {True: "NSDerivedAttributeDescription"}.get(attribute.derived, "NSAttributeDescription")
        if attribute.type == "composite":
            name = "NSCompositeAttributeDescription"
        names = (name, "NSAttributeDescription", "NSPropertyDescription") if name != "NSAttributeDescription" \
            else (name, "NSPropertyDescription")
        rules = [(3, attribute.minimum), (1, attribute.maximum), (6, attribute.pattern), (99, "x" if attribute.odd else None)]
        rules = [(kind, value) for kind, value in rules if value is not None]
        node = {
            **self._property(
                archiver, attribute, entity, attribute.optional, attribute.transient, False, bool(rules)),
            "$class": archiver.cls(*((attribute.alien,) if attribute.alien else names)),
            "NSAttributeType": CODES[attribute.type],
            "NSFlagsKey": 4 if attribute.external else 0,
            "NSDefaultValue": archiver.value(attribute.default), "NSValueTransformerName": plistlib.UID(0),
            "NSAttributeValueClassName": archiver.add(attribute.cls) if attribute.cls else plistlib.UID(0),
        }
        if rules:
            node["NSValidationPredicates"] = archiver.array(
                archiver.add({
                    "$class": archiver.cls("NSComparisonPredicate", "NSPredicate"),
                    "NSPredicateOperator": archiver.add({
                        "$class": archiver.cls("NSComparisonPredicateOperator", "NSPredicateOperator"),
                        "NSOperatorType": kind}),
                    "NSLeftExpression": archiver.add({
                        "$class": archiver.cls("NSSelfExpression", "NSExpression"), "NSExpressionType": 1}),
                    "NSRightExpression": archiver.add({
                        "$class": archiver.cls("NSConstantValueExpression", "NSExpression"), "NSExpressionType": 0,
                        "NSConstantValue": archiver.value(value)}),
                }) for kind, value in rules)
            node["NSValidationWarnings"] = archiver.array(archiver.add("") for _ in rules)
        if attribute.elements:
            node["NSCompositeElements"] = archiver.array(
                archiver.add(self._attribute(archiver, element, plistlib.UID(0))) for element in attribute.elements)
        return node


class Store:
    """A store file that is filled with rows."""

    def __init__(self, path, model, uuid="11111111-2222-3333-4444-555555555555", cache=True, numbers=None, last=None):
        for ending in ("", "-wal", "-shm"):
            if os.path.exists(path + ending):
                os.remove(path + ending)
        self.path, self.model = path, model
        self.number = numbers or model.number
        self.last = last
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute("PRAGMA page_size = 512")
        self.columns = {}
        self.next = {}
        self._bookkeeping(uuid, cache)
        self._tables()
        self.db.execute("BEGIN")

    def _bookkeeping(self, uuid, cache):
        db = self.db
        db.execute("CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
        db.execute("CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
        db.execute("INSERT INTO Z_METADATA VALUES (1, ?, ?)", (
            uuid, plistlib.dumps({"NSStoreType": "SQLite", "_NSAutoVacuumLevel": "2"}, fmt=plistlib.FMT_BINARY)))
        if cache:
            db.execute("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
            db.execute("INSERT INTO Z_MODELCACHE VALUES (?)", (self.model.cache(),))
        for name in self.model.order:
            parent = self.model.entities[name].parent
            db.execute("INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, 0)",
                       (self.number[name], name, self.number[parent] if parent else 0))

    def _tables(self):
        model = self.model
        self.joins = {}
        for root in [name for name in model.order if model.entities[name].parent is None]:
            definitions, taken = [], set()

            def column(name, type):
                unique, suffix = name, 0
                while unique in taken:
                    suffix += 1
                    unique = "%s%d" % (name, suffix)
                taken.add(unique)
                definitions.append("%s %s" % (unique, type))
                return unique

            for name in [n for n in model.order if model.root(n) == root]:
                for attribute in model.entities[name].attributes:
                    if attribute.transient:
                        continue
                    if attribute.type == "composite":
                        for element in attribute.elements:
                            self.columns[name, attribute.name, element.name] = column(
                                "Z%s_%s" % (attribute.name.upper(), element.name.upper()), SQL[element.type])
                    else:
                        self.columns[name, attribute.name] = column("Z" + attribute.name.upper(), SQL.get(attribute.type, ""))
                for item in model.entities[name].relationships:
                    inverse = model.relationship(item.to, item.inverse) if item.inverse else None
                    if not item.many:
                        self.columns[name, item.name] = column("Z" + item.name.upper(), "INTEGER")
                        if inverse and inverse.many and inverse.ordered:
                            fok = "Z_FOK_" + self.columns[name, item.name][1:]
                            self.columns[name, item.name, "order"] = column(fok, "INTEGER")
                        if model.has_children(item.to):
                            column("Z%d_%s" % (self.number[item.to], item.name.upper()), "INTEGER")
                    elif inverse is None or (inverse.many and (name, item.name) not in self.joins):
                        self._join(name, item, inverse)
            self.db.execute("CREATE TABLE Z%s (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER%s)" % (
                root.upper(), "".join(", " + d for d in definitions)))

    def _join(self, name, item, inverse):
        number = self.number
        table = "Z_%d%s" % (number[name], item.name.upper())
        back = inverse.name if inverse else name
        owner = "Z_%d%s" % (number[name], back.upper())
        member = "Z_%d%s" % (number[item.to], item.name.upper())
        if member == owner:
            owner += "1"
        columns = ["%s INTEGER" % owner, "%s INTEGER" % member]
        order = inverse_order = None
        if item.ordered:
            order = "Z_FOK_" + member[2:]
            columns.append("%s INTEGER" % order)
        if inverse and inverse.ordered and inverse is not item:
            inverse_order = "Z_FOK_" + owner[2:]
            columns.append("%s INTEGER" % inverse_order)
        self.db.execute("CREATE TABLE %s (%s, PRIMARY KEY (%s, %s))" % (table, ", ".join(columns), owner, member))
        self.joins[name, item.name] = (table, owner, member, order, inverse_order)
        if inverse:
            self.joins[item.to, inverse.name] = (table, member, owner, inverse_order, order)

    def insert(self, entity, pk=None, opt=1, number=None, **values):
        """A row. Values are those of the file, by property name; `x__order` is the position beside the to-one x."""
        root = self.model.root(entity)
        pk = pk if pk is not None else self.next.get(root, 1)
        self.next[root] = max(self.next.get(root, 1), pk + 1)
        columns, parameters = ["Z_PK", "Z_ENT", "Z_OPT"], [pk, number or self.number[entity], opt]
        for name, value in values.items():
            column = None
            parts = name.split("__")
            for owner in self.model.lineage(entity):
                column = column or self.columns.get((owner, *parts))
            if column is None:
                raise KeyError((entity, name))
            columns.append(column)
            parameters.append(value)
        self.db.execute("INSERT INTO Z%s (%s) VALUES (%s)" % (
            root.upper(), ", ".join(columns), ", ".join("?" * len(columns))), parameters)
        return pk

    def pair(self, entity, name, owner, member, order=None, inverse_order=None):
        table, owner_column, member_column, order_column, inverse_column = self.joins[entity, name]
        columns, values = [owner_column, member_column], [owner, member]
        for column, value in ((order_column, order), (inverse_column, inverse_order)):
            if column:
                columns.append(column)
                values.append(value)
        self.db.execute("INSERT INTO %s (%s) VALUES (%s)" % (
            table, ", ".join(columns), ", ".join("?" * len(columns))), values)

    def close(self):
        for root, next_key in self.next.items():
            last = next_key - 1 if self.last is None else self.last
            self.db.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = ?", (last, root))
        self.db.execute("COMMIT")
        self.db.close()
