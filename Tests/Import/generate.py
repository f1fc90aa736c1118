#!/usr/bin/env python3
"""Makes random models with mappings of JSON, and documents for them.

    python3 Tests/Import/generate.py SEED FOLDER

writes Model.model.json and the documents into a folder. The same seed makes the same files. About half of the models have
composites, scalar types and derived attributes, and then documents with parts of objects and with mistakes, each in an element
of its own.
"""
import base64
import json
import pathlib
import random
import struct
import sys
import uuid

from read_json import (Model, Node, Store, WHOLE, WIDTHS, canonical_decimal, date_pieces, enum_values, parse, read_path,
                       spelled, stored_form)

PATTERNS = ["yyyy-MM-dd", "dd.MM.yyyy", "yyyy/MM/dd HH:mm", "yyyy-MM-dd'T'HH:mm:ss.SSSZ", "dd.MM.yyyy 'at' HH:mm:ss Z",
            "yyyyMMddHHmmss", "iso8601", "iso8601", "seconds", "milliseconds"]
# The relationships to objects that have no documents of their own.
MOVED = ("pets", "device", "gear")
OWNED = ("kids", "bits", "detail", *MOVED)
# Few values, so that objects take them from each other.
EMAILS = {"email": [None, None, "a@x.test", "b@x.test", "c@x.test", "커피@x.test", "d@x.test"], "realm": [None, 1, 1, 2]}
NAMES = ["title", "imageURL", "baseExperience", "hp2Max", "isBaby", "flavorTextEntries", "x", "aB", "urlPath", "level",
         "genderRate", "note", "order2", "capturedIn", "fooBarBaz", "q1", "someHTMLText", "zeta"]
TEXTS = ["", "plain", "naïve café", "cafe\u0301", "caf\u00e9", "커피 window", "quote \" and \\ back", "line\nbreak\ttab", "🦊 fox",
         "a/b?c#d", "  spaces  ", "null", "true", "0", "\u0001\u001f", "\u2028", "ß İ", "\U0001F468\u200D\U0001F469"]
SCALARS = {"ISBN": "string", "OrderID": "uuid", "Day": "date", "Grams": "double", "Serial": "int64", "Share": "decimal",
           "Link": "url", "Small": "int16", "Checked": "bool", "Ratio": "float", "Code": "int32"}
DEFAULTS = {"string": "std", "int16": 7, "int32": -7, "int64": 9007199254740993, "double": 1.5, "bool": True, "Mood": "sad",
            "Rank": "high", "[string]": ["d"], "[int64]": [], "float": 0.5}
# Within the values that are made, and values beyond them.
RULES = {"int16": ({"max": 30_000}, 30_001), "int32": ({"min": -2_000_000_000}, -2_000_000_001),
         "string": ({"maxLength": 80}, "x" * 81), "[string]": ({"minLength": 0, "maxLength": 3}, ["a", "b", "", "d"])}
# What Trellis does otherwise than its guide says, and which is therefore left out. Take out what is corrected.
OPEN = set()
WORDS = ["red", "green", "blue", "sea", "winter", "lamp", "bridge", "naïve", "über", "커피", "x1"]


class Token(str):
    """JSON text."""


class Tree:
    """A JSON object in the making."""

    def __init__(self, keeps_order=False):
        self.pairs, self.keeps_order = [], keeps_order

    def get(self, key):
        return next((value for name, value in self.pairs if name == key), None)

    def set(self, key, value):
        self.pairs = [(name, old) for name, old in self.pairs if name != key] + [(key, value)]


class Thing:
    """An object of the truth that documents tell parts of."""

    def __init__(self, entity):
        self.entity, self.values, self.links, self.owner = entity, {}, {}, None

    def value(self, name):
        """That of an attribute, or of a field of a composite."""
        found = self.values
        for part in name.split("."):
            found = found[part]
        return found


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.conflicts = self.random.random() < 0.25
        self.has_duplicates = self.random.random() < 0.4
        # More elements than a batch of an import has.
        self.is_large = self.random.random() < 0.03
        # Documents move objects between owners, and take the values of unique keys from each other.
        self.moves = self.random.random() < 0.4
        self.conflicts = self.conflicts or self.moves
        # Other random numbers, so that models without them are as they were before there were any.
        features = random.Random(f"features {seed}")
        self.has_features = features.random() < 0.5
        self.has_composites, self.has_scalars, self.has_derived = (
            self.has_features and features.random() < share for share in (0.85, 0.7, 0.7))
        # Composites by name, with the number of composites that are inside each other; derived attributes.
        self.depths, self.derived = {}, []

    def chance(self, probability):
        return self.random.random() < probability

    # ---- The model

    def make_model(self):
        self.source = {"model": "Random", "enums": {
            "Mood": {"type": "string", "cases": ["happy", {"name": "sad", "value": "SAD-ü"}, "calm"]},
            "Rank": {"type": "int", "cases": {"low": 1, "high": 5, "negative": -3}}}, "entities": {}}
        if self.has_scalars:
            self.source["scalars"] = SCALARS
        if self.has_composites:
            self.composites()
        self.roots, self.home = [], {}
        for number in range(self.random.randint(1, 3)):
            self.roots.append(self.keyed_entity(f"Root{number}"))
        if self.chance(0.5):
            self.hierarchy()
        for name in list(self.roots):
            for number in range(self.random.randint(0, 3)):
                self.relationship(name, f"{self.random.choice(NAMES)}L{number}", self.random.choice(self.roots))
            if self.chance(0.5):
                self.children(name, "Kid")
            if self.chance(0.4):
                self.children(name, "Bit")
            if self.chance(0.3):
                self.detail(name)
            if self.moves:
                self.movable(name)
        if self.moves and not self.is_large and self.chance(0.6):
            self.account()
        if self.has_derived:
            self.derive()
        self.text = json.dumps(self.source, ensure_ascii=False, indent=2)
        self.model = Model(self.text)
        return self.text

    def keyed_entity(self, name):
        kind = self.random.choice(["int64", "int64", "int32", "string", "uuid"])
        key = {"int64": "number", "int32": "number", "string": "slug", "uuid": "code"}[kind]
        own_type = {"int64": "Serial", "string": "ISBN", "uuid": "OrderID"}.get(kind) if self.has_scalars else None
        words = self.random.choice([None, "id", {"path": "meta.id"}, {"path": "url", "take": ["lastPathComponent"]}])
        if kind == "string" and isinstance(words, dict) and self.chance(0.3):
            words = {"path": "url", "take": ["lastPathComponent", "lowercase"]}
        if isinstance(words, dict) and "take" in words and kind.startswith("int"):
            words["take"].append("number")
        declaration = {"type": own_type if own_type and self.chance(0.4) else kind}
        if words:
            declaration["json"] = words
        style = self.random.choice([None, "camelCase", "snake_case", "kebab-case", "PascalCase"])
        entity = {"json": {"key": key, **({"style": style} if style else {})}, "unique": [key],
                  "attributes": {key: declaration}, "relationships": {}}
        self.source["entities"][name] = entity
        if self.has_composites and self.chance(0.25):
            self.key_inside(name, key)
        self.attributes(entity, self.random.randint(1, 7))
        return name

    def key_inside(self, name, key):
        """The key becomes a field of a composite."""
        entity = self.source["entities"][name]
        declaration = entity["attributes"].pop(key)
        fields = {key: declaration["type"]}
        for number in range(self.random.randint(0, 2)):
            fields[f"x{number}"] = self.attribute(f"{number}", is_field=True)
        self.source["composites"][f"Ident{name}"] = {"attributes": fields}
        entity["attributes"]["ident"] = {"type": f"Ident{name}"}
        if "json" in declaration:
            entity["attributes"]["ident"]["fields"] = {key: {"json": declaration["json"]}}
        entity["json"]["key"] = f"ident.{key}"
        entity["unique"] = [f"ident.{key}"]

    def hierarchy(self):
        name = self.keyed_entity("Base")
        self.roots.append(name)
        entity = self.source["entities"][name]
        entity["json"]["entity"] = self.random.choice(["kind", "meta2.kind", "info.kind"])
        if self.chance(0.5):
            entity["abstract"] = True
        for number in range(2):
            child = {"parent": name, "attributes": {}}
            if self.chance(0.5):
                child["json"] = {"as": f"kind {number} ü"}
            self.attributes(child, self.random.randint(0, 3), f"C{number}", entity["json"].get("style"))
            self.source["entities"][f"Child{number}"] = child

    def attributes(self, entity, count, suffix="", style=None):
        names = self.random.sample(NAMES, count)
        json = entity.get("json")
        style = json.get("style", style) if isinstance(json, dict) else style
        for number, name in enumerate(names):
            if self.has_composites and self.chance(0.35):
                entity["attributes"][name + suffix] = self.composite(name + suffix, f"{number}{suffix}", style)
            else:
                entity["attributes"][name + suffix] = self.attribute(f"{number}{suffix}")

    def composites(self):
        """Up to three levels of them."""
        for level, names in enumerate([["Money", "Position"], ["Place"], ["Journey"]]):
            for name in names[:self.random.randint(1, 2) if level == 0 else 1 if self.chance(0.7) else 0]:
                fields = {}
                inner = [other for other, depth in self.depths.items() if depth == level]
                if level and not inner:
                    break
                for number, field in enumerate(self.random.sample(NAMES, self.random.randint(1, 4))):
                    if inner and (number == 0 or self.chance(0.3)):
                        # One of the level below is among the fields.
                        choices = inner if number == 0 else list(self.depths)
                        fields[field] = self.random.choice(choices) + self.random.choice(["", "?"])
                    else:
                        fields[field] = self.attribute(f"{number}", is_field=True)
                self.source["composites"] = {**self.source.get("composites", {}), name: {"attributes": fields}}
                self.depths[name] = level + 1

    def composite(self, name, number, style):
        """An attribute with a composite, and what it says about single fields."""
        random = self.random
        type = random.choice(list(self.depths))
        is_optional = self.chance(0.5)
        declaration = {"type": type}
        if is_optional:
            declaration = random.choice([{"type": type + "?"}, {"type": type, "optional": True}])
        if self.chance(0.5):
            return declaration["type"] if len(declaration) == 1 else declaration
        node = Node(name, declaration, style, self.source)
        fields = {}
        for place, leaf in enumerate(node.leaves()):
            words = leaf.declaration.get("json")
            use, is_certain = {}, not leaf.optional_above
            kind = random.choice([None, None, "path", "path", "inside", "words", "unmapped", "keep"])
            plain = leaf.name[len(name) + 1:]
            # What stands at the field of the composite is said again: the guide leaves open whether it would count.
            known = dict(words) if isinstance(words, dict) else {}
            may_have_default = words is not False and leaf.declaration["type"].rstrip("?") in DEFAULTS and (
                "uppercase" not in leaf.take and not (leaf.is_optional and "defaults of optional fields" in OPEN))
            if may_have_default and self.chance(0.25):
                use["default"] = {"string": "other", "bool": False, "Mood": "calm", "Rank": "negative", "[string]": [],
                                  "[int64]": [3], "double": -0.25, "float": 2.5}.get(leaf.type, 11)
            if words is False:
                pass
            elif kind == "path":
                path = self.path(f"{number}f{place}", leaf.type.startswith("["))
                # A null in a list is no element, and what the default of such a field means is open.
                if path and not (leaf.optional_above and leaf.is_optional and "[" in path and (
                        leaf.has_default or "default" in use)):
                    use["json"] = {**known, "path": path} if known or self.chance(0.3) else path
            elif kind == "inside":
                keys = [step[1] for step in node.path if step[0] == "name"]
                if leaf.node.outer and self.chance(0.5):
                    keys = [step[1] for step in leaf.node.path]
                # Nothing that the style makes of a name.
                path = ".".join([*keys, random.choice([f"r{place}_R", f"größe{place}"])])
                use["json"] = {**known, "path": path} if known else path
            elif kind == "words" and leaf.type == "date":
                use["json"] = {**known, "date": random.choice(PATTERNS)}
            elif kind == "unmapped" and is_certain and (leaf.has_default or "default" in use or leaf.is_optional):
                use["json"] = False
            elif kind == "keep" and is_certain:
                use["json"] = {**known, "null": "keep"}
            if use:
                fields[plain] = use
        if fields:
            declaration["fields"] = fields
        return declaration

    def path(self, number, is_list):
        """Somewhere in the object of the entity; None for the place by the name."""
        random = self.random
        kind = random.choice(["plain", "nested", "nested", "filter", "position", "row", "plural", "entries"])
        if kind == "plain":
            return f"k{number}"
        if kind == "nested":
            return random.choice(["info", "info.deep", "info.deep.er", "größe"]) + f".n{number}"
        if kind == "filter":
            return f"stats[stat.name=s{number}].base"
        if kind == "position":
            return f"rows[{random.randint(0, 2)}].n{number}"
        if kind == "row":
            return f"row{number}[{random.randint(0, 3)}]"
        if not is_list:
            return None
        if kind == "plural":
            return random.choice([f"l{number}[*]", f"l{number}[*].t.n", f"info.l{number}[*].v", f"ll{number}[*][*]"])
        return random.choice([f"m{number}.*", f"m{number}.*.v", f"m{number}.*[*]"])

    def derive(self):
        """Attributes that no document has, of what documents have."""
        random = self.random
        for name, entity in self.source["entities"].items():
            attributes, relationships = entity["attributes"], entity.get("relationships", {})
            many = [label for label, declared in relationships.items() if declared.get("toMany")]
            one = [label for label, declared in relationships.items() if not declared.get("toMany")]
            found = []
            for label, declared in list(attributes.items()):
                declared = {"type": declared} if isinstance(declared, str) else declared
                type = declared["type"].rstrip("?")
                is_optional = declared.get("optional", False) or declared["type"].endswith("?")
                plain = stored_form(type, self.source)
                if is_optional:
                    found.append(("flag", label, {"type": "bool", "derived": f"TERNARY({label} == nil, NO, YES)"}))
                if type in self.source.get("composites", {}):
                    for leaf in Node(label, declared, None, self.source).leaves():
                        is_certain = not leaf.optional_above and not leaf.is_optional
                        if leaf.type == "string":
                            found.append(("text", leaf.name, {
                                "type": "string" if is_certain else "string?", "derived": f"{leaf.name} + '!'"}))
                        elif leaf.type in WHOLE:
                            found.append((None, leaf.name, {"type": "int64?", "derived": f"{leaf.name} / 2"}))
                elif plain == "string":
                    found.append(("text", label, {"type": "string?" if is_optional else "string", "derived": f"{label} + '!'"}))
                elif plain == "decimal":
                    found.append((None, label, {"type": "decimal?", "derived": f"{label} / 4"}))
            for label in many:
                found.append(("count", label, {"type": "int64", "derived": f"{label}.@count"}))
            for label in one:
                other = self.source["entities"][relationships[label]["destination"]]["attributes"]
                texts = [inner for inner, declared in other.items() if declared == {"type": "string"} or declared == "string"]
                if texts:
                    found.append((None, label, {"type": "string?", "derived": f"{label}.{random.choice(texts)}"}))
            for number, (kind, label, declaration) in enumerate(random.sample(found, min(len(found), random.randint(0, 3)))):
                own = random.choice(["derivedValue", "isDerived", "totalOf", "URLCount", "sumX"]) + f"{name}D{number}"
                own = own[0].lower() + own[1:]
                if self.chance(0.5):
                    declaration["stored"] = True
                    if self.chance(0.5):
                        entity.setdefault("indexes", []).append([own])
                attributes[own] = declaration
                self.derived.append((name, own, kind, label))

    def attribute(self, number, is_field=False):
        random = self.random
        types = ["string", "string", "int16", "int32", "int64", "int64", "double", "float", "decimal", "bool",
                 "date", "date", "date", "url", "uuid", "data", "Mood", "Rank", "[string]", "[int64]",
                 "[double]", "[bool]"]
        if self.has_features:
            types += ["[int16]", "[int32]", "[float]", "[decimal]", "[uuid]", "[url]", "[data]", "[date]"]
        if self.has_scalars:
            types += [*SCALARS] * 2 + [f"[{name}]" for name in SCALARS]
        if is_field and "dates in plain lists" in OPEN:
            types = [name for name in types if name not in ("[date]", "[Day]")]
        own_type = random.choice(types)
        type = stored_form(own_type, self.source)
        declaration = {"type": own_type}
        is_optional = self.chance(0.5)
        if is_optional:
            declaration["type" if self.chance(0.5) else "optional"] = own_type + "?" if declaration.get("optional") else True
            if declaration["type"] is True:
                declaration["type"] = own_type + "?"
        elif self.chance(0.3):
            default = DEFAULTS.get(type)
            if default is not None:
                declaration["default"] = default
        if is_field and is_optional and type in DEFAULTS and self.chance(0.2):
            declaration["default"] = DEFAULTS[type]
        # A new value of a composite that may be nil needs all of its fields, so only one that may be nil is not mapped.
        if self.chance(0.07) and (is_optional and not is_field or "default" in declaration and not is_field
                                  or is_optional and "default" not in declaration):
            declaration["json"] = False
            return declaration
        words = {}
        path = None
        is_list = type.startswith("[")
        if self.has_features and type in RULES and self.chance(0.4):
            declaration.update(RULES[type][0])
        if is_field:
            return self.with_words(declaration, type, is_optional, words, True)
        kind = random.choice(["name", "name", "plain", "nested", "nested", "quoted", "filter", "filter", "numbered", "position",
                              "row", "plural", "plural", "entries"])
        if kind == "plain":
            path = f"k{number}"
        elif kind == "nested":
            path = random.choice(["info", "info.deep", "info.deep.er", "größe"]) + f".n{number}"
        elif kind == "quoted":
            path = random.choice(['"a.b"', '"x[*]"', '"q\\"uote"', '"$key"', '"=^"']) + f".n{number}"
        elif kind == "filter":
            path = f"stats[stat.name=s{number}].base"
        elif kind == "numbered":
            path = f"slots[slot={random.choice(['7', '1', 'true'])}].v.n{number}"
        elif kind == "position":
            path = f"rows[{random.randint(0, 2)}].n{number}"
        elif kind == "row":
            path = f"row{number}[{random.randint(0, 3)}]"
        if is_list:
            if kind == "plural":
                path = random.choice([f"l{number}[*]", f"l{number}[*].t.n", f"info.l{number}[*].v", f"ll{number}[*][*]"])
            elif kind == "entries":
                path = random.choice([f"m{number}.*", f"m{number}.*.v", f"m{number}.*[*]"])
        if type == "[date]" and "dates in plain lists" in OPEN and not (
                path and any(step[0] in ("*", "[*]") for step in read_path(path))):
            path = f"l{number}[*]"
        if path:
            words["path"] = path
        return self.with_words(declaration, type, is_optional, words)

    def with_words(self, declaration, type, is_optional, words, is_field=False):
        """The attribute with its "json"."""
        random = self.random
        if type == "date":
            words["date"] = random.choice(PATTERNS)
        if is_optional and not is_field and self.chance(0.15):
            words["null"] = "keep"
        if self.has_features and is_optional and not type.startswith("[") and self.chance(0.15):
            words["empty"] = "null"
        if self.has_features and type == "bool" and self.chance(0.3):
            words["take"] = random.choice([["bool"], ["trimmed", "bool"], ["lowercase", "bool"], ["lastPathComponent", "bool"]])
        elif self.chance(0.4):
            if type == "string" or type == "url":
                words["take"] = random.choice(["lowercase", "uppercase", ["trimmed"], ["text"], ["lastPathComponent"],
                                               ["trimmed", "lowercase"]]) if type == "string" else ["trimmed"]
            elif type in ("int16", "int32", "int64", "decimal", "double"):
                words["take"] = random.choice([["number"], ["lastPathComponent", "number"], ["trimmed", "number"]])
            elif type == "Mood":
                words["take"] = ["trimmed"]
        if "uppercase" in words.get("take", []) and "default" in declaration:
            # An import of the default would change it.
            declaration["default"] = declaration["default"].upper()
        if words:
            declaration["json"] = words if len(words) > 1 or "path" not in words or self.chance(0.3) else words["path"]
        return declaration

    def key_of(self, name):
        return self.source["entities"][name]["json"]["key"]

    def key_declaration(self, name):
        """The attribute that is the key, as it stands at the entity."""
        attributes, key = self.source["entities"][name]["attributes"], self.key_of(name)
        if "." not in key:
            return attributes[key]
        outer, field = key.split(".")
        type = self.source["composites"][attributes[outer]["type"]]["attributes"][field]
        use = attributes[outer].get("fields", {}).get(field, {})
        style = self.source["entities"][name]["json"].get("style")
        return {"type": type, "json": use.get("json", f"{spelled(outer, style)}.{spelled(field, style)}")}

    def relationship(self, name, label, destination):
        random = self.random
        owner, other = self.source["entities"][name], self.source["entities"][destination]
        inverse = f"inverse{name}{label[0].upper()}{label[1:]}"
        kind = random.choice(["one", "one", "many", "many", "own", "own", "pair"])
        words, path = {}, None
        if self.chance(0.5):
            path = random.choice([f"links.{label}", f"r-{label}"])
        if kind in ("one", "many") and self.chance(0.4):
            key = self.key_of(destination)
            words["reference"] = key
            path = f"refs.{label}" if kind == "one" else f"refs.{label}[*].url"
            if kind == "one" and self.chance(0.5):
                path += ".url"
            take = random.choice([None, ["lastPathComponent"]])
            if take:
                if stored_form(self.key_declaration(destination)["type"], self.source).startswith("int"):
                    take = take + ["number"]
                words["take"] = take
        elif kind in ("many", "own") and path and self.chance(0.3):
            path += random.choice(["[*].item", "[*]"])
        if path:
            words["path"] = path
        declaration = {"destination": destination, "inverse": inverse, "json": words or True}
        back = {"destination": name, "inverse": label}
        if kind in ("many", "own"):
            declaration["toMany"] = True
            if self.chance(0.5):
                declaration["ordered"] = True
            words["members"] = random.choice(["replace", "replace", "add", "keep"])
            if words["members"] == "replace" and self.chance(0.5):
                del words["members"]
            declaration["json"] = words or True
        else:
            declaration["optional"] = True
            if self.chance(0.15):
                words["null"] = "keep"
                declaration["json"] = words
        if kind in ("one", "many"):
            back["toMany"] = True
        else:
            back["optional"] = True
            if kind == "own" and "ordered" not in declaration and self.chance(0.3) and words.get("members") is None:
                back["json"] = {"path": f"back{label}"}
        if kind == "one" and self.chance(0.2):
            del declaration["inverse"]
        else:
            other["relationships"][inverse] = back
        owner["relationships"][label] = declaration

    def children(self, name, kind):
        """Objects with a key that contains their owner, or without any key."""
        random = self.random
        child = f"{kind}Of{name}"
        label = f"{kind.lower()}s"
        is_keyed = kind == "Kid"
        is_dictionary = self.chance(0.5)
        relationship = {"destination": child, "toMany": True, "inverse": "owner"}
        if self.chance(0.5):
            relationship["ordered"] = True
        if self.chance(0.5):
            relationship["deleteRule"] = "cascade"
        entity = {"json": {"key": ["owner", "kind"]} if is_keyed else True, "attributes": {},
                  "relationships": {"owner": {"destination": name, "inverse": label}}}
        if is_keyed:
            entity["unique"] = [["owner", "kind"]]
            entity["attributes"]["kind"] = {"type": "string"}
        if is_dictionary:
            relationship["json"] = random.choice([f"{label}.*", f"in.{label}.*", f"{label}.*.obj"])
            has_key = is_keyed or self.chance(0.5)
            if has_key:
                entity["attributes"]["kind"] = {"type": "string", "json": "$key"}
            if self.chance(0.5) and not relationship["json"].endswith("obj"):
                entity["attributes"]["value"] = {"type": random.choice(["string", "int64", "double?", "bool"]),
                                                 "json": "$value"}
            else:
                self.attributes(entity, random.randint(1, 3))
        else:
            relationship["json"] = random.choice([True, f"in.{label}", f"{label}[*]", f"{label}[*].obj"])
            self.attributes(entity, random.randint(1, 4))
        is_scalar = "value" in entity["attributes"]
        if self.chance(0.3) and not is_scalar:
            key = self.key_declaration(name)
            path = key.get("json", {})
            path = path if isinstance(path, str) else path.get("path")
            if path:
                entity["attributes"]["outerKey"] = {
                    "type": key["type"],
                    "json": {"path": "^." + path, **({"take": key["json"]["take"]} if "take" in (
                        key["json"] if isinstance(key["json"], dict) else {}) else {})}}
        if is_keyed and self.chance(0.3):
            relationship["json"] = {"path": relationship["json"] if isinstance(relationship["json"], str) else label,
                                    "members": random.choice(["add", "keep"])}
            style = self.source["entities"][name]["json"].get("style")
        self.source["entities"][child] = entity
        self.source["entities"][name]["relationships"][label] = relationship

    def detail(self, name):
        child = f"DetailOf{name}"
        entity = {"json": True, "attributes": {}, "relationships": {"owner": {"destination": name, "inverse": "detail"}}}
        self.attributes(entity, self.random.randint(1, 3))
        self.source["entities"][child] = entity
        self.source["entities"][name]["relationships"]["detail"] = {
            "destination": child, "inverse": "owner", "optional": True, "json": self.random.choice([True, "info.detail"])}

    def movable(self, name):
        """Objects with a key of their own, which documents give to other owners."""
        random, root = self.random, self.source["entities"][name]
        pet = f"PetOf{name}"
        self.keyed_entity(pet)
        key = self.key_of(pet)

        def words(label):
            found = {"path": random.choice([label, f"in.{label}"])} if self.chance(0.5) else {}
            if self.chance(0.2):
                found["reference"] = key
                declared = self.key_declaration(pet).get("json", {})
                if isinstance(declared, dict) and "take" in declared:
                    found["take"] = declared["take"]
                found.setdefault("path", label)
            return found

        is_required = self.chance(0.4)
        members = random.choice(["replace", "replace", "replace", "add"])
        pets = {"destination": pet, "toMany": True, "inverse": "owner", "json": {**words("pets"), "members": members}}
        if self.chance(0.5):
            pets["ordered"] = True
        if self.chance(0.5):
            pets["deleteRule"] = "cascade"
        if is_required and "reference" in pets["json"]:
            # Only what is nested has an owner from the start.
            del pets["json"]["reference"]
            pets["json"].pop("take", None)
        root["relationships"]["pets"] = pets
        owner = {"destination": name, "inverse": "pets"}
        if not is_required:
            owner["optional"] = True
        self.source["entities"][pet]["relationships"]["owner"] = owner
        if self.chance(0.6):
            root["relationships"]["device"] = {"destination": pet, "inverse": "holder", "optional": True,
                                               "json": words("device") or True}
            if self.chance(0.5):
                root["relationships"]["device"]["deleteRule"] = "cascade"
            self.source["entities"][pet]["relationships"]["holder"] = {
                "destination": name, "inverse": "device", "optional": True}
        if self.chance(0.5):
            gear = f"GearOf{name}"
            self.keyed_entity(gear)
            root["relationships"]["gear"] = {"destination": gear, "inverse": "user", "optional": True, "json": True}
            if self.chance(0.5):
                root["relationships"]["gear"]["deleteRule"] = "cascade"
            user = {"destination": name, "inverse": "gear"}
            if self.chance(0.4):
                user["optional"] = True
            self.source["entities"][gear]["relationships"]["user"] = user

    def account(self):
        """An entity with a second unique key, by which nothing is found."""
        self.keyed_entity("Account")
        entity = self.source["entities"]["Account"]
        entity["attributes"]["email"] = {"type": "string?", "json": "email"}
        if self.chance(0.4):
            entity["attributes"]["realm"] = {"type": "int64?", "json": "realm"}
            entity["unique"].append(["realm", "email"])
        else:
            entity["unique"].append(["email"])
        self.roots.append("Account")

    # ---- The truth

    def value(self, attribute, number=None):
        """One within the rules of the model."""
        value, rules = self.any_value(attribute), attribute.declaration
        if "max" in rules:
            value = min(value, rules["max"])
        if "min" in rules:
            value = max(value, rules["min"])
        return value[:3] if "maxLength" in rules and isinstance(value, list) else value

    def any_value(self, attribute):
        random = self.random
        type = attribute.type
        if attribute.enum:
            return random.choice(sorted(enum_values(attribute.enum).values(), key=str))
        if type == "string":
            take = attribute.take
            if "lastPathComponent" in take or "lowercase" in take or "uppercase" in take or "text" in take:
                text = random.choice(WORDS) + str(random.randint(0, 99))
                return text.upper() if "uppercase" in take else text
            text = random.choice(TEXTS) + random.choice(["", random.choice(WORDS)])
            text = text.strip() if "trimmed" in take else text
            # An empty one would be null.
            return text or "full" if attribute.is_empty_null else text
        if type == "url":
            return "https://x.test/" + random.choice(WORDS[:5]) + f"/{random.randint(0, 9)}?a=b#c"
        if type.startswith("int"):
            bits = int(type[3:])
            edges = [0, 1, -1, 10, 100, 2 ** (bits - 1) - 1, -2 ** (bits - 1), random.randint(-2 ** (bits - 1), 2 ** (bits - 1) - 1)]
            if bits == 64:
                edges += [2 ** 53 + 1, -2 ** 53 - 1, 2 ** 60]
            return random.choice(edges)
        if type == "double":
            return random.choice([0.0, 1.0, -2.5, 0.1, 1e300, -1e-300, 123456789.125, random.uniform(-1e6, 1e6), 5e-324])
        if type == "float":
            return struct.unpack("f", struct.pack("f", random.choice([0.0, 0.1, -2.5, 1e30, random.uniform(-1e3, 1e3)])))[0]
        if type == "decimal":
            digits = str(random.randint(0, 10 ** random.randint(1, 38) - 1))
            point = random.randint(0, min(len(digits), 20))
            text = (digits[:len(digits) - point] or "0") + ("." + digits[len(digits) - point:] if point else "")
            return canonical_decimal(random.choice(["", "-"]) + text)
        if type == "bool":
            return self.chance(0.5)
        if type == "date":
            fields = set(date_pieces(attribute.date))
            seconds = random.choice([0, -1, 1_700_000_000, random.randint(-30_000_000_000, 30_000_000_000),
                                     random.randint(0, 2_000_000_000)])
            if attribute.date in ("iso8601", "seconds", "milliseconds") or "SSS" in fields:
                return seconds * 1_000_000 + random.choice([0, 0, 250_000, 1, random.randint(0, 999_999)])
            if "ss" not in fields:
                seconds -= seconds % (60 if "mm" in fields else 86400)
            return seconds * 1_000_000
        if type == "uuid":
            return str(uuid.UUID(int=random.getrandbits(128))).upper()
        if type == "data":
            return base64.b64encode(random.randbytes(random.randint(0, 20))).decode()
        element = type[1:-1]
        count = random.choice([0, 1, 2, 3])
        makers = {"string": lambda: random.choice(TEXTS), "int64": lambda: random.choice([0, -5, 2 ** 53 + 1, 2 ** 63 - 1]),
                  "double": lambda: random.choice([0.5, 1.0, -1e10]), "bool": lambda: self.chance(0.5),
                  "int16": lambda: random.choice([0, -2 ** 15, 2 ** 15 - 1]), "int32": lambda: random.choice([3, -2 ** 31]),
                  "float": lambda: random.choice([0.5, -2.5, struct.unpack("f", struct.pack("f", 0.1))[0]]),
                  "decimal": lambda: random.choice(["0", "-1.25", "0.1", "12345678901234567890123456789012345678"]),
                  "uuid": lambda: str(uuid.UUID(int=random.getrandbits(128))).upper(),
                  "url": lambda: f"https://x.test/{random.randint(0, 9)}?a=b#c",
                  "data": lambda: base64.b64encode(random.randbytes(random.randint(0, 5))).decode(),
                  "date": lambda: random.choice([0, 1_700_000_000_250_000, -86_400_000_000])}
        return [makers[element]() for _ in range(count)]

    def fill(self, thing, key_number):
        for attribute in thing.entity.plain.values():
            if attribute.name == "outerKey":
                continue
            if not attribute.is_mapped:
                thing.values[attribute.name] = attribute.default()
            elif attribute.name in thing.entity.key:
                thing.values[attribute.name] = self.key_value(attribute, key_number)
            elif attribute.path[0][0] == "$key":
                thing.values[attribute.name] = f"key {key_number} {self.random.choice(TEXTS[1:5])}"
            elif attribute.is_optional and self.chance(0.3) and attribute.path[0][0] != "$value":
                thing.values[attribute.name] = None
            elif attribute.has_default and self.chance(0.3):
                thing.values[attribute.name] = attribute.default()
            else:
                thing.values[attribute.name] = self.value(attribute)

        for node in thing.entity.composites.values():
            thing.values[node.name] = self.composite_value(node, thing.entity.key, key_number)

    def composite_value(self, node, key=(), key_number=None):
        """A value by the name of each field; None for no value."""
        if node.is_optional and self.chance(0.3):
            return None
        found = {}
        for name, field in node.fields.items():
            if isinstance(field, Node):
                found[name] = self.composite_value(field)
            elif field.name in key:
                found[name] = self.key_value(field, key_number)
            elif not field.is_mapped:
                found[name] = field.default()
            elif field.is_optional and self.chance(0.3):
                found[name] = None
            elif field.has_default and self.chance(0.3):
                found[name] = field.constant()
            else:
                found[name] = self.value(field)
        return found

    def key_value(self, attribute, number):
        if attribute.type.startswith("int"):
            return number * 10 if number < 5 or attribute.type != "int64" else number + 2 ** 53
        if attribute.type == "uuid":
            return str(uuid.UUID(int=self.random.getrandbits(128))).upper()
        plain = "lastPathComponent" in attribute.take
        pool = ["red", "green", "naïve", "커피"] if plain else ["cafe\u0301", "caf\u00e9", "a b", "ü\"x\\", "Red", "red"]
        return (pool[number] if number < len(pool) else f"key{number}")

    @staticmethod
    def is_plural(property):
        return any(step[0] in ("*", "[*]") for step in property.path)

    def make_truth(self):
        self.things = {}
        for name in self.roots:
            concrete = [entity for entity in self.model.subtree(name) if not entity.is_abstract]
            self.things[name] = []
            count = self.random.randint(1, 7)
            if self.is_large and name == self.roots[0]:
                count = self.random.randint(900, 1500)
            for number in range(count):
                thing = Thing(self.random.choice(concrete))
                self.fill(thing, number)
                self.things[name].append(thing)
        # The relationships of which documents may say anything.
        self.free = set()
        for name in self.roots:
            # The relationships are those of the root, in every child.
            for relationship in self.model.entities[name].relationships.values():
                if not relationship.is_mapped or relationship.name in OWNED:
                    continue
                if relationship.inverse and relationship.name.startswith("inverse"):
                    continue
                self.link(name, relationship)
            for thing in self.things[name]:
                for label in ("kids", "bits", "detail"):
                    relationship = thing.entity.relationships.get(label)
                    if relationship is None:
                        continue
                    count = self.random.randint(0, 4) if relationship.to_many else self.random.randint(0, 1)
                    members = []
                    for number in range(count):
                        member = Thing(self.model.entities[relationship.destination])
                        member.owner = thing
                        self.fill(member, number)
                        members.append(member)
                    if relationship.to_many:
                        self.random.shuffle(members)
                    thing.links[label] = members
                for label, relationship in thing.entity.relationships.items():
                    if label not in MOVED:
                        continue
                    if relationship.destination not in self.things:
                        self.things[relationship.destination] = [
                            Thing(self.model.entities[relationship.destination])
                            for _ in range(self.random.randint(1, 6))]
                        for number, member in enumerate(self.things[relationship.destination]):
                            self.fill(member, number)
                    thing.links[label] = []

    def link(self, name, relationship):
        if not relationship.inverse or self.model.entities[relationship.destination].relationships[
                relationship.inverse].to_many:
            self.free.add(relationship.name)
        things, others = self.things[name], list(self.things[relationship.destination])
        back = relationship.inverse and self.model.entities[relationship.destination].relationships[relationship.inverse]
        self.random.shuffle(others)
        used = set()
        for place, thing in enumerate(things):
            pool = others
            if back is not None and not back.to_many:
                pool = [other for other in others if id(other) not in used]
                if name == relationship.destination:
                    # No circles, so that all can be nested.
                    pool = [other for other in pool if things.index(other) > place]
            count = self.random.randint(0, min(len(pool), 4 if relationship.to_many else 1))
            members = pool[:count] if back is not None and not back.to_many else self.random.sample(pool, count)
            used.update(map(id, members))
            thing.links[relationship.name] = members
            if back is not None and back.is_mapped:
                for member in members:
                    member.links[back.name] = [thing]
        if back is not None and back.is_mapped:
            for other in others:
                other.links.setdefault(back.name, [])

    # ---- Documents

    def make_files(self):
        order = list(self.roots)
        self.random.shuffle(order)
        self.told = set()
        files = []
        for name in order:
            elements = []
            for thing in self.things[name]:
                elements.append((thing, True))
            for _ in range(self.random.randint(0, 3)):
                elements.append((self.random.choice(self.things[name]), False))
            self.random.shuffle(elements)
            self.at_home = {id(thing) for thing in self.things[name]} | self.told
            texts = [self.write(self.record(thing, is_full, [])) for thing, is_full in elements]
            self.told |= {id(thing) for thing in self.things[name]}
            files.append({"entity": name, "elements": texts, "form": self.form()})
        return files + self.make_updates(files) if self.has_features else files

    def form(self):
        return self.random.choice(["list", "lines", "results[*]", "data.items[*]", '"odd.key".x[*]', "pages[1][*]", "[*]"])

    def record(self, thing, is_full, enclosing):
        """The JSON of a thing. All that a new object needs is there if it may be new."""
        entity = thing.entity
        if entity.is_scalar:
            return self.spelled(entity.attributes["value"], thing.values["value"])
        tree = Tree()
        # What was lost in one document is made again by another one.
        needs_all = is_full or self.moves or id(thing) not in self.at_home
        if entity.entity_path:
            place = tree
            for name in entity.entity_path[:-1]:
                place = self.inner(place, name)
            place.set(entity.entity_path[-1], quoted(entity.text, self.random))
        for attribute in entity.plain.values():
            if not attribute.is_mapped or attribute.path[0][0] in ("$key", "^"):
                continue
            value = thing.values[attribute.name]
            is_key = attribute.name in entity.key
            if not is_full and not is_key and self.chance(0.5) and (
                    not needs_all or attribute.is_optional or attribute.has_default):
                if attribute.keeps_on_null and self.chance(0.3) and not self.is_plural(attribute):
                    self.put(tree, attribute.path, Token("null"))
                continue
            if self.conflicts and not is_full and not is_key and self.chance(0.5):
                value = self.value(attribute)
            if entity.name == "Account" and attribute.name in ("email", "realm"):
                value = self.random.choice(EMAILS[attribute.name])
            if value is None:
                if self.chance(0.5):
                    self.put_null(tree, attribute)
                continue
            if attribute.path[0][0] == "$value":
                continue
            if is_full and attribute.has_default and value == attribute.default() and self.chance(0.3) and not self.conflicts:
                continue
            self.put_value(tree, attribute, value)
        for node in entity.composites.values():
            value = thing.values[node.name]
            if self.conflicts and not is_full and self.chance(0.5) and not any(
                    name.startswith(f"{node.name}.") for name in entity.key):
                value = self.composite_value(node)
            self.put_composite(tree, node, value, is_full, needs_all, entity.key)
        for relationship in entity.relationships.values():
            if relationship.is_mapped and relationship.name in thing.links and (is_full or self.chance(0.5)):
                self.put_link(tree, relationship, thing, enclosing + [thing])
        if self.conflicts and not needs_all:
            self.put_nulls(tree, entity)
        self.add_noise(tree, entity)
        return tree

    def put_null(self, tree, attribute):
        steps = attribute.path
        if attribute.is_empty_null and not self.is_plural(attribute) and self.chance(0.5) and "number" not in attribute.take:
            return self.put(tree, steps, Token('""'))
        if self.is_plural(attribute):
            steps = steps[:next(place for place, step in enumerate(steps) if step[0] in ("*", "[*]"))]
        self.put(tree, steps, Token("null"))

    def put_value(self, tree, attribute, value):
        if self.is_plural(attribute):
            self.put_list(tree, attribute, value)
        else:
            self.put(tree, attribute.path, self.spelled(attribute, value))

    def put_composite(self, tree, node, value, is_full, needs_all, key=()):
        """The object of a composite, and its fields elsewhere.

        A value that may be nil is written as a whole, because the store may have none; otherwise fields may be absent.
        """
        is_whole = any(outer.is_optional for outer in node.lineage)
        if node.is_optional:
            if value is None or not is_full and self.chance(0.4) and len(node.lineage) == 1:
                if value is None and self.chance(0.5) and self.may_be_null(node):
                    self.put(tree, node.path, Token("null"))
                return
        if is_whole or self.chance(0.7):
            self.put_object(tree, node)
        for name, field in node.fields.items():
            inner = value[name]
            if isinstance(field, Node):
                self.put_composite(tree, field, inner, is_full, needs_all)
                continue
            if not field.is_mapped:
                continue
            if field.name not in key and not is_whole:
                if not is_full and self.chance(0.5) and (not needs_all or field.is_optional or field.has_default):
                    if field.keeps_on_null and self.chance(0.3) and not self.is_plural(field) and not needs_all:
                        self.put(tree, field.path, Token("null"))
                    continue
                if is_full and field.has_default and inner == field.default() and self.chance(0.3) and not self.conflicts:
                    continue
            if inner is not None:
                self.put_value(tree, field, inner)
            elif (field.has_default or self.chance(0.5)) and not field.keeps_on_null:
                self.put_null(tree, field)

    def may_be_null(self, node):
        return not self.conflicts or "null beside fields elsewhere" not in OPEN or all(
            leaf.path[:len(node.path)] == node.path for leaf in node.leaves() if leaf.is_mapped)

    def put_object(self, tree, node):
        for step in node.path:
            tree = self.inner(tree, step[1])

    # Documents about parts of objects, and with mistakes

    def make_updates(self, files):
        """Documents in which each object comes once, with parts of composites and with mistakes.

        Without conflicts, what they say is true or rejected.
        """
        state = Store(self.model)
        for file in files:
            state.take_in([parse(text) for text in file["elements"]], file["entity"])
        found = []
        for name in self.roots:
            elements, concrete = [], [entity for entity in self.model.subtree(name) if not entity.is_abstract]
            things = [thing for thing in self.things[name][:20] if self.chance(0.7)]
            for number in range(self.random.randint(0, 3)):
                thing = Thing(self.random.choice(concrete))
                self.fill(thing, 100_000 + number)
                things.append(thing)
            for thing in things:
                for _ in range(6):
                    text = self.write(self.update(thing))
                    effect = state.judge(parse(text), name)
                    if effect in ("rejected", "same", "new") or effect == "changed" and self.conflicts:
                        elements.append(text)
                        break
            if elements:
                self.random.shuffle(elements)
                found.append({"entity": name, "elements": elements, "form": self.form(), "is_update": True})
                state.take_in([parse(text) for text in elements], name)
        return found

    def update(self, thing):
        """Some values of an object, in most cases with a mistake or a part of a composite."""
        random, entity, tree = self.random, thing.entity, Tree()
        if entity.entity_path:
            place = tree
            for name in entity.entity_path[:-1]:
                place = self.inner(place, name)
            place.set(entity.entity_path[-1], quoted(entity.text, random))
        share = random.choice([0, 0.5, 0.9, 1])
        for attribute in [*entity.plain.values(), *entity.leaves]:
            if attribute.name in entity.key:
                self.put_value(tree, attribute, thing.value(attribute.name))
        for attribute in entity.plain.values():
            if attribute.is_mapped and attribute.name not in (*entity.key, "email", "realm") and self.chance(share):
                value = thing.values[attribute.name]
                if value is not None:
                    self.put_value(tree, attribute, value)
                elif not attribute.keeps_on_null:
                    self.put_null(tree, attribute)
        for node in entity.composites.values():
            value = thing.values[node.name]
            is_key = any(name.startswith(f"{node.name}.") for name in entity.key)
            if self.conflicts and self.chance(0.5) and not is_key:
                value = self.composite_value(node)
            self.put_part(tree, node, value, random.choice([0, 0.3, 0.8, 1, 1]), entity.key)
        if self.chance(0.4):
            try:
                self.put_mistake(tree, entity)
            except (AttributeError, TypeError):
                # A null is in the way.
                pass
        self.add_noise(tree, entity)
        return tree

    def put_part(self, tree, node, value, share, key=()):
        """Each field with a chance."""
        if not self.chance(share + 0.3):
            return
        if node.is_optional and self.conflicts and self.chance(0.3):
            value = None
        if value is None:
            if self.chance(0.6):
                return self.put(tree, node.path, Token("null")) if self.may_be_null(node) else None
            # Of one that is nil: too little for a value.
            value, share = self.composite_value_of(node), 0.3
        self.put_object(tree, node)
        for name, field in node.fields.items():
            if isinstance(field, Node):
                self.put_part(tree, field, value[name], share)
            elif field.is_mapped and field.name not in key and self.chance(share):
                if value[name] is not None:
                    self.put_value(tree, field, value[name])
                elif not field.keeps_on_null:
                    self.put_null(tree, field)

    def composite_value_of(self, node):
        value = None
        while value is None:
            value = self.composite_value(node)
        return value

    def put_mistake(self, tree, entity):
        random = self.random
        nodes = [node for node in entity.nodes if not any(name.startswith(f"{node.name}.") for name in entity.key)]
        attributes = [attribute for attribute in [*entity.plain.values(), *entity.leaves]
                      if attribute.is_mapped and attribute.name not in (*entity.key, "email", "realm")
                      and not self.is_plural(attribute) and attribute.path[0][0] == "name"]
        if nodes and self.chance(0.4):
            node = random.choice(nodes)
            if not all(self.may_be_null(inner) for inner in node.nodes() if inner.is_optional):
                return self.put(tree, node.path, random.choice([Token("3"), Token('"x"'), Token("true")]))
            return self.put(tree, node.path, random.choice([
                Token("null"), Token("null"), Token("3"), Token('"x"'), Token("true"), [], [Tree()], Token('""')]))
        if attributes:
            attribute = random.choice(attributes)
            self.put(tree, attribute.path, self.wrong(attribute))

    def wrong(self, attribute):
        """What is none of the values of an attribute."""
        random, type = self.random, attribute.type
        found = [Tree(), [Token("[]")], Token("null")]
        if type.startswith("["):
            found = [Token("5"), Token("true"), Tree(), [Tree()], Token('"x"'), Token("null")]
            if type in RULES and "maxLength" in attribute.declaration:
                found += [[quoted(text, random) for text in RULES[type][1]]] * 3
            return random.choice(found)
        if attribute.take:
            return random.choice(found)
        if type in RULES and ("maxLength" in attribute.declaration or {"min", "max"} & set(attribute.declaration)):
            found += [quoted(RULES[type][1], random) if type == "string" else Token(str(RULES[type][1]))] * 8
        if attribute.enum:
            found += [Token("77"), quoted("nobody", random), Token("true")]
        elif type in WHOLE:
            found += [quoted("5", random), Token("2.5"), Token("true"), Token(str(WHOLE[type])), Token(str(-WHOLE[type] - 1))]
        elif type in ("double", "float"):
            found += [quoted("1.5", random), Token("false")]
        elif type == "bool":
            found += [Token("1"), quoted("true", random), Token("0")]
        elif type == "date" and attribute.date in ("seconds", "milliseconds"):
            found += [quoted("2020-01-01", random), Token("true")]
        elif type == "date":
            found += [quoted("never", random), Token("true"), Token("5")]
        elif type == "decimal":
            found += [quoted("abc", random), Token("true")]
        elif type == "uuid":
            found += [quoted("123", random), Token("5")]
        elif type == "data":
            found += [quoted("%%%", random), Token("5")]
        else:
            found += [Token("5"), Token("true")]
        return random.choice(found)

    def put_nulls(self, tree, entity):
        """A null in the place of an object or a list with values that may be nil."""
        for name, value in list(tree.pairs):
            below = [property for property in [*entity.attributes.values(), *entity.relationships.values()]
                     if property.is_mapped and property.path[0] == ("name", name)]
            if any(node.path[0] == ("name", name) for node in entity.composites.values()):
                continue
            if isinstance(value, (Tree, list)) and below and self.chance(0.1) and all(
                    property.is_optional and property.name not in entity.key if property.is_attribute
                    else property.name in self.free for property in below) and (
                        not entity.entity_path or entity.entity_path[0] != name):
                tree.set(name, Token("null"))

    def put_link(self, tree, relationship, thing, enclosing):
        members = list(thing.links[relationship.name])
        if relationship.name in MOVED:
            pool = self.things[relationship.destination]
            members = self.random.sample(pool, self.random.randint(0, min(len(pool), 3 if relationship.to_many else 1)))
        if self.conflicts and relationship.name in self.free and self.chance(0.4):
            pool = self.things[relationship.destination]
            members = self.random.sample(pool, self.random.randint(0, min(len(pool), 3 if relationship.to_many else 1)))
        if not relationship.to_many:
            if not members:
                if self.chance(0.5):
                    self.put(tree, relationship.path, Token("null"))
                return
            if relationship.keeps_on_null and self.chance(0.2):
                return self.put(tree, relationship.path, Token("null"))
            return self.put(tree, relationship.path, self.member(members[0], relationship, enclosing))
        if relationship.members == "add":
            members = [member for member in members if self.chance(0.8)]
        # Members without a key are told apart by their places.
        if not relationship.ordered and all(member.entity.key for member in members):
            self.random.shuffle(members)
        values = [(self.entry_key(member), self.member(member, relationship, enclosing)) for member in members]
        self.put_plural(tree, relationship.path, values)

    @staticmethod
    def entry_key(member):
        for attribute in member.entity.attributes.values():
            if attribute.is_mapped and attribute.path[0][0] == "$key":
                return member.values[attribute.name]
        return None

    def member(self, member, relationship, enclosing):
        if member.owner is not None:
            return self.record(member, True, enclosing)
        if relationship.name == "device" and member.entity.relationships["owner"].is_required:
            # A new one would have no owner.
            is_nested = False
        else:
            is_nested = relationship.reference is None and member not in enclosing and len(enclosing) < 4 and self.chance(0.5)
        if is_nested:
            return self.record(member, False, enclosing)
        key = relationship.reference or member.entity.key[0]
        attribute = member.entity.attributes[key]
        return self.spelled(attribute, member.value(key), relationship.take or attribute.take)

    # Paths

    def inner(self, tree, name):
        found = tree.get(name)
        if found is None:
            found = Tree()
            tree.set(name, found)
        return found

    def put(self, tree, steps, value):
        place = tree
        for number, step in enumerate(steps):
            is_last = number == len(steps) - 1
            after = None if is_last else steps[number + 1][0]
            if step[0] == "name":
                if is_last:
                    return place.set(step[1], value)
                found = place.get(step[1])
                if found is None:
                    found = Tree() if after == "name" else []
                    place.set(step[1], found)
                place = found
            elif step[0] == "[n]":
                while len(place) <= step[1]:
                    place.append(Token("null"))
                if is_last:
                    place[step[1]] = value
                    return
                if isinstance(place[step[1]], Token):
                    place[step[1]] = Tree()
                place = place[step[1]]
            else:
                found = next((element for element in place if isinstance(element, Tree) and element.match == step[1:]), None)
                if found is None:
                    found = Tree()
                    found.match = step[1:]
                    inner = found
                    for name in step[1][:-1]:
                        inner = self.inner(inner, name)
                    text = step[2]
                    is_plain = text in ("7", "1", "true") and self.chance(0.5)
                    inner.set(step[1][-1], Token(text) if is_plain else quoted(text, self.random))
                    place.insert(self.random.randint(0, len(place)), found)
                    if self.chance(0.3):
                        other = Tree()
                        other.match = None
                        other.set(step[1][0], self.random.choice([Token("null"), Token("3"), Token('"s"'), Tree()]))
                        place.append(other)
                place = found

    def put_plural(self, tree, steps, values):
        """Pairs of a key, or None, and a value."""
        start = next(place for place, step in enumerate(steps) if step[0] in ("*", "[*]"))
        rest = steps[start + 1:]
        is_entries = steps[start][0] == "*"
        if any(step[0] == "[*]" for step in rest):
            # A list of lists.
            groups = []
            for pair in values:
                if not groups or self.chance(0.5):
                    groups.append([])
                groups[-1].append(pair[1])
            values = [(None, group) for group in groups]
        else:
            values = [(key, self.wrapped(rest, value)) for key, value in values]
        if is_entries:
            collection = Tree(keeps_order=True)
            for number, (key, value) in enumerate(values):
                key = f"e{number}" if key is None else key
                if self.has_duplicates and self.chance(0.1):
                    junk = [Token("null"), value] + [other for _, other in values]
                    collection.pairs.append((key, self.random.choice(junk)))
                collection.pairs.append((key, value))
                if self.chance(0.1):
                    collection.pairs.append((f"null{number}", self.nothing(rest)))
        else:
            collection = []
            for _, value in values:
                if self.chance(0.1):
                    collection.append(self.nothing(rest))
                collection.append(value)
        self.put(tree, steps[:start], collection)

    def nothing(self, steps):
        """An element without a value: a null, or an object with a null or nothing on the way to the value."""
        if any(step[0] == "[*]" for step in steps):
            return Token("null")
        count = self.random.randint(0, len(steps))
        is_short = 0 < count < len(steps)
        return self.wrapped(steps[:count], Tree() if is_short and self.chance(0.3) else Token("null"))

    def wrapped(self, steps, value):
        for step in reversed(steps):
            tree = Tree()
            tree.set(step[1], value)
            value = tree
        return value

    def put_list(self, tree, attribute, values):
        self.put_plural(tree, attribute.path, [
            (None, self.spelled_scalar(attribute, value, attribute.type[1:-1], attribute.take)) for value in values])

    def add_noise(self, tree, entity):
        """What no path leads to."""
        for name in entity.derived:
            if self.chance(0.5):
                tree.set(self.random.choice([spelled(name, entity.style), name]), self.random.choice([
                    Token("null"), Token("7"), Token('"text"'), Token("[1]"), Tree(), Token("true")]))
        for node in entity.nodes:
            found = tree
            for step in node.path:
                found = found.get(step[1]) if isinstance(found, Tree) else None
            if isinstance(found, Tree) and self.chance(0.2):
                found.set(self.random.choice(["noise", "Amount", "__typename"]), self.random.choice([
                    Token("null"), Token("0"), Token('"x"'), Tree(), Token("[{}]")]))
        for number in range(self.random.randint(0, 2)):
            tree.set(f"noise {number}", self.random.choice([
                Token("null"), Token("[[],{},[1,{\"a\":\"]}\"}]]"), Token('"\\ud83e\\udd8a"'), Token("-1.5E-7"), Tree()]))

    # Values

    def spelled(self, attribute, value, take=None):
        if attribute.type.startswith("["):
            inner = attribute.type[1:-1]
            found = [self.spelled_scalar(attribute, element, inner, []) for element in value]
            if inner == "decimal" and "texts in plain lists of decimals" in OPEN:
                found = [Token(element) for element in value]
            if self.has_features and self.chance(0.1):
                found.insert(self.random.randint(0, len(found)), Token("null"))
            return found
        return self.spelled_scalar(attribute, value, attribute.type, attribute.take if take is None else take)

    def spelled_scalar(self, attribute, value, type, take):
        random = self.random
        if attribute.enum:
            type = "string" if attribute.enum["type"] == "string" else "int64"
        if take:
            return self.spelled_taken(attribute, value, type, take)
        if type.startswith("int"):
            texts = [str(value)] * 4
            if type != "int64" or not attribute.type.startswith("["):
                texts += [f"{value}.0", f"{value}e0", f"{value}.000E+00"] + ([f"{value}0e-1"] if value else [])
                if value % 10 == 0 and value:
                    texts.append(f"{value // 10}e1")
            return Token(random.choice(texts))
        if type in ("double", "float"):
            text = repr(value) if type == "double" else repr(value)
            if value == int(value) and abs(value) < 1e6 and self.chance(0.5):
                text = str(int(value))
            return Token(text)
        if type == "decimal":
            zeros = "0" if "." in value and len(value.replace(".", "").replace("-", "")) < 38 else ""
            text = value + random.choice(["", zeros])
            return random.choice([Token(text), quoted(text, random)])
        if type == "bool":
            return Token("true" if value else "false")
        if type == "date":
            return self.spelled_date(value, attribute.date)
        if type == "uuid":
            return quoted(random.choice([value, value.lower()]), random)
        return quoted(value, random)

    def spelled_taken(self, attribute, value, type, take):
        random = self.random
        if type == "bool":
            text = random.choice(["true", "1"] if value else ["false", "0"])
            if take == ["bool"]:
                return Token(random.choice([text, f'"{text}"']))
            if "trimmed" in take:
                text = random.choice([text, f" {text}\n"])
            if "lowercase" in take:
                text = random.choice([text, text.upper(), text.capitalize()])
            if "lastPathComponent" in take:
                text = random.choice([text, f"/flags/{text}/"])
            return quoted(text, random)
        text = canonical_decimal(repr(value)) if type == "double" and abs(value) < 1e15 and abs(value) > 1e-5 else str(value)
        if type == "double":
            text = repr(value)
        if type.startswith("int") and "text" not in take and take == ["number"] and self.chance(0.3):
            return Token(text)
        if "lowercase" in take:
            text = random.choice([text, text.upper()]) if text.upper().lower() == text else text
        if "uppercase" in take:
            text = random.choice([text, text.lower()]) if text.lower().upper() == text else text
        if "lastPathComponent" in take:
            text = random.choice([text, f"https://x.test/api/v2/{text}/", f"/a/{text}", f"https://x.test/{text}?q=1/2",
                                  f"a//{text}//#x"])
        if "trimmed" in take:
            text = random.choice([text, f"  {text}\n", f"\t{text}"])
        return quoted(text, random)

    def spelled_date(self, value, pattern):
        random = self.random
        if pattern in ("seconds", "milliseconds"):
            scale = 1_000_000 if pattern == "seconds" else 1_000
            whole, rest = divmod(abs(value), scale)
            text = ("-" if value < 0 else "") + str(whole)
            if rest:
                text += "." + str(rest).rjust(6 if scale == 1_000_000 else 3, "0").rstrip("0")
            return Token(text)
        offset = random.choice([0, 0, 540, -330, 60])
        pieces = date_pieces(pattern)
        has_zone = "Z" in pieces or pattern == "iso8601"
        if not has_zone:
            offset = 0
        fields = fields_of(value + offset * 60_000_000)
        sign = "-" if offset < 0 else "+"
        hours, minutes = divmod(abs(offset), 60)
        zone = random.choice(["Z", "+00:00"]) if offset == 0 else random.choice(
            [f"{sign}{hours:02}:{minutes:02}", f"{sign}{hours:02}{minutes:02}"])
        fraction = f"{fields['us']:06}"
        if pattern == "iso8601":
            text = f"{fields['yyyy']:04}-{fields['MM']:02}-{fields['dd']:02}"
            if value % 86_400_000_000 == 0 and offset == 0 and self.chance(0.5):
                return quoted(text, random)
            text += random.choice("T ") + f"{fields['HH']:02}:{fields['mm']:02}"
            if fields["ss"] or fields["us"] or self.chance(0.7):
                text += f":{fields['ss']:02}"
                if fields["us"]:
                    text += "." + fraction.rstrip("0")
            return quoted(text + ("" if offset == 0 and self.chance(0.3) else zone), random)
        text = ""
        for piece in pieces:
            if piece == "SSS":
                text += fraction if fields["us"] % 1000 else fraction[:3]
            elif piece == "Z":
                text += zone
            elif piece in WIDTHS:
                text += f"{fields[piece]:0{len(piece)}}"
            else:
                text += piece
        return quoted(text, random)

    # Text

    def write(self, value):
        if isinstance(value, Token):
            return value
        space = self.random.choice(["", "", " ", "  "])
        if isinstance(value, list):
            return "[" + space + ("," + space).join(map(self.write, value)) + "]"
        pairs = list(value.pairs)
        if not value.keeps_order:
            self.random.shuffle(pairs)
            if self.has_duplicates and pairs and self.chance(0.15):
                place = self.random.randrange(len(pairs))
                junk = self.random.choice([Token("null"), Token("0"), Token('"x"'), Tree(), [], pairs[place][1]])
                pairs.insert(self.random.randint(0, place), (pairs[place][0], junk))
        return "{" + space + ("," + space).join(
            quoted(key, self.random) + space + ":" + self.write(value) for key, value in pairs) + space + "}"


Tree.match = None


def fields_of(value):
    seconds, us = divmod(value, 1_000_000)
    day, second = divmod(seconds, 86400)
    # From days to a date, by Howard Hinnant.
    day += 719468
    era, of_era = divmod(day, 146097)
    year = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    return {"yyyy": year + era * 400 + (month >= 10), "MM": month + 3 if month < 10 else month - 9,
            "dd": of_year - (153 * month + 2) // 5 + 1, "HH": second // 3600, "mm": second // 60 % 60, "ss": second % 60,
            "us": us}


def quoted(text, random):
    """A JSON string: as it is, in ASCII, or with needless escapes."""
    way = random.randint(0, 3)
    if way == 0:
        return Token(json.dumps(text))
    plain = json.dumps(text, ensure_ascii=False)
    if way == 1 and text:
        place = random.randrange(len(text))
        if ord(text[place]) < 0x10000:
            return Token('"' + json.dumps(text[:place], ensure_ascii=False)[1:-1] + f"\\u{ord(text[place]):04x}"
                         + json.dumps(text[place + 1:], ensure_ascii=False)[1:-1] + '"')
    if way == 2:
        plain = plain.replace("/", "\\/")
    return Token(plain)


def document(form, elements):
    """The text of a document, and its --at; None without."""
    if form == "lines":
        return "\n".join(text.replace("\n", " ") for text in elements) + "\n", None
    body = "[" + ",\n".join(elements) + "]"
    if form in ("list", "[*]"):
        return body, None if form == "list" else form
    if form == "pages[1][*]":
        return '{"pages": [["no"], ' + body + ", null]}", form
    names = [step[1] for step in read_path(form) if step[0] == "name"]
    for name in reversed(names):
        body = '{"n": [{"results": 1}], ' + json.dumps(name) + ": " + body + ', "z": {}}'
    return body, form


def make(seed):
    maker = Maker(seed)
    maker.make_model()
    maker.make_truth()
    return maker, maker.make_files()


if __name__ == "__main__":
    seed, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    maker, files = make(seed)
    (folder / "Random.model.json").write_text(maker.text)
    for number, file in enumerate(files):
        text, at = document(file["form"], file["elements"])
        (folder / f"{number}-{file['entity']}.json").write_text(text)
        print(f"{number}-{file['entity']}.json", file["form"])
    print("seed", seed)
