"""Reads JSON documents by the mapping in a model file, as Docs/ModelFile.md says, and merges them into a store in memory.

It shares no code with Trellis: documents are read by Python's json, everything else is written down here once more.
A composite is a tree of nodes (Node) with attributes as leaves, which are named by their paths: price.amount. One that may be
nil has an attribute with its own name, which is True for a value, as in a store.
"""
import base64
import decimal
import json
import re
import struct
import uuid

ABSENT = object()


class Number(str):
    """A number of a document, as it is spelled."""


class Rejected(Exception):
    """An object is left out, with one of the codes. The names lead from it to the wrong value, if they are known."""

    def __init__(self, codes, names=None, property=None):
        super().__init__(f"{sorted(codes)} {property} {names}")
        self.codes, self.names, self.property = set(codes), names, property


class Ambiguous(Exception):
    """The documentation does not say what becomes of an object."""


def members(pairs):
    """An object. Of several values under one key the last counts, at its place."""
    found = {}
    for key, value in pairs:
        found.pop(key, None)
        found[key] = value
    return found


def parse(text):
    return json.loads(text, parse_int=Number, parse_float=Number, object_pairs_hook=members)


def order_of(value, order):
    """Notes the places of objects in a document, outer ones before inner ones."""
    if isinstance(value, dict):
        order[id(value)] = len(order)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        order_of(inner, order)


# ---- The model


def words_of(name):
    words = re.findall(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z][a-z0-9]*|[A-Z][0-9]*|[0-9]+", name)
    return [word.lower() for word in words]


def spelled(name, style):
    if style == "snake_case":
        return "_".join(words_of(name))
    if style == "kebab-case":
        return "-".join(words_of(name))
    if style == "PascalCase":
        return name[0].upper() + name[1:]
    return name


def read_path(text):
    """The steps of a path: ("name", n), ("*",), ("[*]",), ("[n]", n), ("[=]", names, text), ("^",), ("$key",), ("$value",)."""
    steps, place = [], 0

    def name():
        nonlocal place
        if text[place] == '"':
            place += 1
            found = ""
            while text[place] != '"':
                if text[place] == "\\":
                    place += 1
                found += text[place]
                place += 1
            place += 1
            return found
        start = place
        while place < len(text) and text[place] not in '.[]"=^*$':
            place += 1
        return text[start:place]

    while True:
        letter = text[place]
        if letter == "^":
            place += 1
            steps.append(("^",))
        elif letter == "*":
            place += 1
            steps.append(("*",))
        elif letter == "$":
            place += 1
            steps.append(("$" + name(),))
        elif letter != "[":
            steps.append(("name", name()))
        while place < len(text) and text[place] == "[":
            place += 1
            if text[place] == "*":
                steps.append(("[*]",))
                place += 2
            elif re.match(r"\d+\]", text[place:]):
                number = re.match(r"\d+", text[place:]).group()
                steps.append(("[n]", int(number)))
                place += len(number) + 1
            else:
                names = [name()]
                while text[place] == ".":
                    place += 1
                    names.append(name())
                place += 1
                if text[place] == '"':
                    value = name()
                else:
                    end = text.index("]", place)
                    value, place = text[place:end], end
                place += 1
                steps.append(("[=]", names, value))
        if place == len(text):
            return steps
        place += 1


class Property:
    """An attribute or a relationship with what its "json" says."""

    def __init__(self, name, declaration, model, is_attribute, node=None):
        self.name, self.is_attribute, self.node = name, is_attribute, node
        if isinstance(declaration, str):
            declaration = {"type": declaration}
        self.declaration = declaration
        words = declaration.get("json", True if is_attribute else False)
        self.is_mapped = words is not False
        if isinstance(words, str):
            words = {"path": words}
        if isinstance(words, bool):
            words = {}
        take = words.get("take", [])
        self.take = [take] if isinstance(take, str) else take
        self.path_text = words.get("path")
        self.keeps_on_null = words.get("null") == "keep"
        self.is_empty_null = words.get("empty") == "null"
        self.date = words.get("date", "iso8601")
        self.reference = words.get("reference")
        self.members = words.get("members", "replace")
        if is_attribute:
            type = declaration["type"]
            self.is_optional = declaration.get("optional", False) or type.endswith("?")
            self.type = stored_form(type.rstrip("?"), model)
            self.has_default = "default" in declaration
            self.enum = model["enums"].get(self.type) if "enums" in model else None
            # The composites around it that may be nil, the outermost one first.
            self.optional_above = [outer for outer in node.lineage if outer.is_optional] if node else []
        else:
            self.destination = declaration["destination"]
            self.to_many = declaration.get("toMany", False)
            self.ordered = declaration.get("ordered", False)
            self.inverse = declaration.get("inverse")
            self.is_required = not self.to_many and not declaration.get("optional", False)
            self.delete_rule = declaration.get("deleteRule", "nullify")

    def constant(self):
        return value_of_constant(self, self.declaration["default"]) if self.has_default else None

    def default(self):
        """The value in a new object: a composite that may be nil is nil."""
        return None if self.optional_above else self.constant()

    @property
    def is_inside(self):
        """Whether a field lies in the object of its composite."""
        return self.path[:len(self.node.path)] == self.node.path

    @property
    def names(self):
        """The keys that lead to it, if there are only keys on the way."""
        return [step[1] for step in self.path] if all(step[0] == "name" for step in self.path) else None


class Flag:
    """What a store keeps of a composite that may be nil, beside its fields."""

    is_attribute, is_mapped, is_optional, has_default, enum, type, take = True, False, True, False, None, "bool", []
    path_text, path = None, [("name", "")]

    def __init__(self, node):
        self.name, self.node = node.name, node

    def default(self):
        return None


class Node:
    """A composite as an attribute, or as a field of another one."""

    def __init__(self, name, declaration, style, model, outer=None):
        if isinstance(declaration, str):
            declaration = {"type": declaration}
        self.name, self.outer = name, outer
        self.is_optional = declaration.get("optional", False) or declaration["type"].endswith("?")
        self.lineage = [*(outer.lineage if outer else []), self]
        top = self.lineage[0]
        if outer is None:
            self.uses = declaration.get("fields", {})
        self.path = [*(outer.path if outer else []), ("name", spelled(name.split(".")[-1], style))]
        # Fields by name: attributes and nodes.
        self.fields = {}
        for field, inner in model["composites"][declaration["type"].rstrip("?")]["attributes"].items():
            inner = {"type": inner} if isinstance(inner, str) else inner
            path = f"{name}.{field}"
            if inner["type"].rstrip("?") in model["composites"]:
                self.fields[field] = Node(path, inner, style, model, self)
                continue
            use = top.uses.get(path[len(top.name) + 1:], {})
            inner = {**inner, **{key: use[key] for key in ("default", "json") if key in use}}
            leaf = self.fields[field] = Property(path, inner, model, True, self)
            leaf.path = read_path(leaf.path_text) if leaf.path_text else [*self.path, ("name", spelled(field, style))]

    def nodes(self):
        """This one and those inside, outer ones first."""
        return [self] + [node for field in self.fields.values() if isinstance(field, Node) for node in field.nodes()]

    def leaves(self):
        return [leaf for field in self.fields.values() for leaf in (
            field.leaves() if isinstance(field, Node) else [field])]

    def own_leaves(self):
        """Those that have a value if this one has: not those of a composite inside that may be nil."""
        return [leaf for field in self.fields.values() for leaf in (
            [field] if not isinstance(field, Node) else [] if field.is_optional else field.own_leaves())]

    def names_of_all(self):
        """The names of the attributes, in the order of the model."""
        return ([Flag(self)] if self.is_optional else []) + [attribute for field in self.fields.values() for attribute in (
            field.names_of_all() if isinstance(field, Node) else [field])]


def stored_form(type, model):
    """The type that a store keeps for a type of the model."""
    scalars = model.get("scalars", {})
    if type.startswith("["):
        return f"[{scalars.get(type[1:-1], type[1:-1])}]"
    return scalars.get(type, type)


class Entity:
    def __init__(self, name, model):
        self.name = name
        lineage = [name]
        while "parent" in model["entities"][lineage[-1]]:
            lineage.append(model["entities"][lineage[-1]]["parent"])
        self.lineage = lineage
        self.root = lineage[-1]
        declared = [model["entities"][ancestor] for ancestor in lineage]
        self.is_abstract = declared[0].get("abstract", False)
        jsons = [({} if entity["json"] is True else entity["json"]) for entity in declared if "json" in entity]
        self.is_mapped = bool(jsons)

        def nearest(key, otherwise):
            return next((words[key] for words in jsons if key in words), otherwise)

        self.style = nearest("style", "camelCase")
        key = nearest("key", [])
        self.key = [key] if isinstance(key, str) else key
        path = nearest("entity", None)
        self.entity_path = path and [step[1] for step in read_path(path)]
        own = declared[0].get("json")
        self.text = own.get("as", name) if isinstance(own, dict) else name
        # All attributes, with the fields of composites; those without; the outermost composites; what is in no document.
        self.attributes, self.plain, self.composites, self.derived, self.relationships = {}, {}, {}, {}, {}
        for entity in reversed(declared):
            for name, declaration in entity.get("attributes", {}).items():
                type = (declaration if isinstance(declaration, str) else declaration["type"]).rstrip("?")
                if "derived" in declaration:
                    self.derived[name] = declaration
                elif type in model.get("composites", {}):
                    node = self.composites[name] = Node(name, declaration, self.style, model)
                    self.attributes.update((attribute.name, attribute) for attribute in node.names_of_all())
                else:
                    self.attributes[name] = self.plain[name] = Property(name, declaration, model, True)
            for name, declaration in entity.get("relationships", {}).items():
                self.relationships[name] = Property(name, declaration, model, False)
        self.nodes = [node for top in self.composites.values() for node in top.nodes()]
        self.leaves = [leaf for top in self.composites.values() for leaf in top.leaves()]
        for property in [*self.plain.values(), *self.relationships.values()]:
            text = property.path_text
            property.path = [("name", spelled(property.name, self.style))] if text is None else read_path(text)
            if not property.is_attribute and property.to_many and not any(s[0] in ("*", "[*]") for s in property.path):
                property.path = property.path + [("[*]",)]
        # An entity whose objects are values that are no objects.
        inside = [p for p in [*self.attributes.values(), *self.relationships.values()]
                  if p.is_mapped and p.path[0][0] not in ("$key", "$value", "^")]
        self.is_scalar = not inside and any(p.path[0][0] == "$value" for p in self.attributes.values())


class Model:
    def __init__(self, text):
        self.source = json.loads(text)
        self.entities = {name: Entity(name, self.source) for name in self.source["entities"]}

    def subtree(self, name):
        return [entity for entity in self.entities.values() if name in entity.lineage]


# ---- Values


def value_of_constant(attribute, constant):
    """A default, in the form that values have here."""
    if attribute.enum:
        return enum_values(attribute.enum)[constant]
    return [*constant] if isinstance(constant, list) else constant


def enum_values(enum):
    """The stored values of the cases by name."""
    values, next_value = {}, 0
    cases = enum["cases"]
    if isinstance(cases, dict):
        return dict(cases)
    for case in cases:
        name = case if isinstance(case, str) else case["name"]
        value = None if isinstance(case, str) else case.get("value")
        if enum["type"] == "int":
            next_value = next_value if value is None else value
            values[name] = next_value
            next_value += 1
        else:
            values[name] = name if value is None else value
    return values


def whole(text):
    number = decimal.Decimal(text)
    if number != number.to_integral_value():
        raise ValueError(text)
    return int(number)


def canonical_decimal(text):
    context = decimal.Context(prec=100)
    text = format(context.create_decimal(text).normalize(context), "f")
    return "0" if text in ("-0", "0") else text


def days(year, month, day):
    """Days since 1970-01-01."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def zone_seconds(text):
    if text in ("Z", "z", None):
        return 0
    digits = text[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4] or 0) * 60
    return -seconds if text[0] == "-" else seconds


def microseconds(fields):
    seconds = days(int(fields.get("yyyy") or 1970), int(fields.get("MM") or 1), int(fields.get("dd") or 1)) * 86400
    seconds += int(fields.get("HH") or 0) * 3600 + int(fields.get("mm") or 0) * 60 + int(fields.get("ss") or 0)
    fraction = (fields.get("SSS") or "").ljust(6, "0")[:6]
    return (seconds - zone_seconds(fields.get("Z"))) * 1_000_000 + int(fraction or 0)


WIDTHS = {"yyyy": r"\d{4}", "MM": r"\d\d", "dd": r"\d\d", "HH": r"\d\d", "mm": r"\d\d", "ss": r"\d\d", "SSS": r"\d+",
          "Z": r"[Zz]|[+-]\d\d:?(?:\d\d)?"}
ISO = (r"(?P<yyyy>\d{4})-(?P<MM>\d\d)-(?P<dd>\d\d)(?:[Tt ](?P<HH>\d\d):(?P<mm>\d\d)"
       r"(?::(?P<ss>\d\d)(?:[.,](?P<SSS>\d+))?)?(?P<Z>[Zz]|[+-]\d\d:?(?:\d\d)?)?)?")


def date_pieces(pattern):
    """Fields, and texts that stand for themselves."""
    return [piece[1:-1] if piece[0] == "'" else piece
            for piece in re.findall(r"'[^']*'|yyyy|MM|dd|HH|mm|SSS|ss|Z|.", pattern)]


def read_date(text, pattern):
    if pattern in ("seconds", "milliseconds"):
        scale = 1_000_000 if pattern == "seconds" else 1_000
        return int(decimal.Decimal(text) * scale)
    expression = ISO
    if pattern != "iso8601":
        expression = "".join(
            f"(?P<{piece}>{WIDTHS[piece]})" if piece in WIDTHS else re.escape(piece) for piece in date_pieces(pattern))
    match = re.fullmatch(expression, text)
    if not match:
        raise ValueError(text)
    return microseconds(match.groupdict())


def taken(text, take):
    for word in take:
        if word == "lastPathComponent":
            text = re.split(r"[?#]", text)[0].rstrip("/").split("/")[-1]
        elif word == "lowercase":
            text = text.lower()
        elif word == "uppercase":
            text = text.upper()
        elif word == "trimmed":
            text = text.strip()
    return text


def scalar_text(value):
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return str(value)
    raise ValueError(value)


def read_value(value, attribute, take=None, item=False):
    """A value that is not null, in the form that values have here: dates as microseconds, decimals and data as text.

    None is the result for an empty text that counts as null.
    """
    try:
        return read_checked(value, attribute, attribute.take if take is None else take, item)
    except (ValueError, TypeError, AttributeError, ArithmeticError):
        raise Rejected({"bad-value"}, attribute.names, attribute.name) from None


def read_checked(value, attribute, take, item):
    type = attribute.type[1:-1] if item else attribute.type
    if take:
        if isinstance(value, Number) and not {"text", "number", "bool"} & set(take):
            raise ValueError(value)
        value = taken(scalar_text(value), take)
    # A truth value is the word of its JSON, and 1, 0 and texts with "take": "bool".
    if type == "bool" and "bool" in take:
        if attribute.is_empty_null and value == "":
            return None
        return {"true": True, "1": True, "false": False, "0": False}.get(value) if value in (
            "true", "false", "1", "0") else fail(value)
    if attribute.is_empty_null and value == "" and not isinstance(value, (Number, bool)):
        return None
    is_number = isinstance(value, Number) or bool(take)
    is_text = isinstance(value, str) and (not isinstance(value, Number) or bool(take))
    if attribute.enum:
        is_whole = attribute.enum["type"] == "int"
        if not (is_number if is_whole else is_text):
            raise ValueError(value)
        found = whole(value) if is_whole else str(value)
        if found not in enum_values(attribute.enum).values():
            raise ValueError(value)
        return found
    if type.startswith("["):
        if not isinstance(value, list):
            raise ValueError(value)
        found = [read_value(element, attribute, [], True) for element in value if element is not None]
        return [element for element in found if element is not None]
    if type == "bool":
        return value if value in (True, False) else fail(value)
    if type in WHOLE:
        number = whole(value) if is_number else fail(value)
        return number if -WHOLE[type] <= number < WHOLE[type] else fail(value)
    if type in ("float", "double"):
        number = float(value) if is_number else fail(value)
        return struct.unpack("f", struct.pack("f", number))[0] if type == "float" else number
    if type == "date" and attribute.date in ("seconds", "milliseconds"):
        return read_date(value, attribute.date) if is_number else fail(value)
    if type == "decimal":
        return canonical_decimal(value) if is_number or is_text else fail(value)
    if not is_text:
        raise ValueError(value)
    if type == "date":
        return read_date(value, attribute.date)
    if type == "uuid":
        return str(uuid.UUID(value)).upper()
    if type == "data":
        return base64.b64encode(base64.b64decode(value, validate=True)).decode()
    return str(value)


WHOLE = {"int16": 2 ** 15, "int32": 2 ** 31, "int64": 2 ** 63}


def fail(value):
    raise ValueError(value)


def broken_rules(attribute, value):
    """Whether a value is outside of the bounds and lengths of its attribute."""
    rules = attribute.declaration
    if value is None:
        return False
    if "min" in rules and value < rules["min"] or "max" in rules and value > rules["max"]:
        return True
    return "minLength" in rules and len(value) < rules["minLength"] or "maxLength" in rules and len(value) > rules["maxLength"]


# ---- Documents


class Record:
    """One object as a document has it."""

    def __init__(self, entity, parent, link, key, source):
        self.entity, self.parent, self.link, self.key, self.source = entity, parent, link, key, source
        self.values = {}
        # Of composites: ABSENT, None or the object at each node, and what the document has of fields.
        self.wholes, self.fields = {}, {}
        # Lists of ("record", Record) and ("key", value); empty for null.
        self.links = {}
        self.target = None
        # The place of the element in the document, if it is one.
        self.number = None

    def key_value(self, name):
        found = self.values.get(name, self.fields.get(name))
        if found is None:
            raise Rejected({"missing-key"})
        return found

    def apply(self, values):
        """Sets what the document says of attributes, unless the object has to be left out."""
        values.update(self.values)
        unknown, problems, fresh = None, [], []
        for node in self.entity.nodes:
            whole = self.wholes[node.name]
            above = [outer for outer in node.lineage[:-1] if outer.is_optional]
            if any(values[outer.name] is None for outer in above):
                continue
            if whole is None and not node.is_optional and node.outer not in self.nulls:
                # Null in the place of one that must be there. Is it one if all that is in it may be nil?
                if not any(not leaf.is_optional and not leaf.keeps_on_null and leaf.is_inside for leaf in node.own_leaves()):
                    unknown = f"null for {node.name}"
            elif whole is None and node.is_optional:
                for attribute in node.names_of_all():
                    values[attribute.name] = None
            elif whole is not ABSENT and whole is not None and node.is_optional and values[node.name] is None:
                values[node.name] = True
                fresh.append(node)
        for leaf in self.entity.leaves:
            value = self.fields.get(leaf.name, ABSENT)
            if value is ABSENT:
                continue
            nil = next((outer for outer in leaf.optional_above if values[outer.name] is None), None)
            if nil is None:
                if value is not None:
                    values[leaf.name] = value
                elif leaf.keeps_on_null:
                    pass
                elif leaf.is_optional:
                    values[leaf.name] = None
                else:
                    # A null for a field is no value of it, and it is a whole without one of its fields.
                    problems.append(Rejected({"bad-value", "broken-rule"} if leaf.optional_above else {"bad-value"}))
            elif value is not None and self.wholes[nil.name] is None and leaf in nil.own_leaves() and not leaf.is_optional:
                # A value without the whole.
                problems.append(Rejected({"broken-rule", "bad-value"}))
            elif value is not None or not leaf.is_optional and leaf.path[:len(nil.path)] != nil.path:
                unknown = f"{leaf.name} without {nil.name}"
        for node in fresh:
            for leaf in node.own_leaves():
                if values[leaf.name] is None and not leaf.is_optional:
                    problems.append(Rejected({"missing-values", "broken-rule"}))
                elif leaf.is_optional and leaf.has_default and leaf.name not in self.fields:
                    unknown = f"the default of {leaf.name}"
        for attribute in [*self.entity.plain.values(), *self.entity.leaves]:
            if broken_rules(attribute, values[attribute.name]):
                problems.append(Rejected({"broken-rule"}, attribute.names, attribute.name))
        if unknown:
            raise Ambiguous(unknown)
        if problems:
            one = problems[0]
            raise one if len(problems) == 1 else Rejected(set.union(*(problem.codes for problem in problems)))

    @property
    def nulls(self):
        return [node for node in self.entity.nodes if self.wholes[node.name] is None]


def lacks(entity, values):
    """Whether a new object has not all values that it needs."""
    return any(values[attribute.name] is None and not attribute.is_optional and not attribute.optional_above
               for attribute in [*entity.plain.values(), *entity.leaves])


def walk(value, steps, key=None):
    """The value of a path, ABSENT, or a list of (key, value) if it leads to several."""
    for place, step in enumerate(steps):
        if value is None:
            return None
        if step[0] == "name":
            value = value.get(step[1], ABSENT)
            if value is ABSENT:
                return ABSENT
        elif step[0] == "[n]":
            if step[1] >= len(value) or value[step[1]] is None:
                return ABSENT
            value = value[step[1]]
        elif step[0] == "[=]":
            found = ABSENT
            for element in value:
                if element is None:
                    continue
                text = element
                for name in step[1]:
                    text = text.get(name, ABSENT) if isinstance(text, dict) else ABSENT
                if text is not ABSENT and text is not None and not isinstance(text, (dict, list)) \
                        and scalar_text(text) == step[2]:
                    inner = walk(element, steps[place + 1:])
                    if inner is not ABSENT:
                        found = inner
            return found
        else:
            pairs = list(value.items()) if step[0] == "*" else [(None, element) for element in value]
            found = []
            for inner_key, element in pairs:
                if element is None:
                    continue
                inner = walk(element, steps[place + 1:])
                if inner is ABSENT or inner is None:
                    continue
                found.extend(inner if any(s[0] in ("*", "[*]") for s in steps[place + 1:]) else [(inner_key, inner)])
            return found
    return value


def is_plural(property):
    return any(step[0] in ("*", "[*]") for step in property.path)


def read_record(model, source, name, parent=None, link=None, key=None):
    entity = model.entities[name]
    if entity.entity_path and isinstance(source, dict):
        text = walk(source, [("name", step) for step in entity.entity_path])
        entity = next(other for other in model.subtree(name) if other.text == text and not other.is_abstract)
    record = Record(entity, parent, link, key, source)
    for attribute in entity.plain.values():
        if not attribute.is_mapped:
            continue
        value = read_attribute(record, attribute)
        if value is ABSENT or value is None and attribute.keeps_on_null:
            continue
        if value is None and not attribute.is_optional:
            if not is_plural(attribute):
                raise Rejected({"bad-value"}, attribute.names, attribute.name)
            value = []
        record.values[attribute.name] = value
    for node in entity.nodes:
        whole = source if isinstance(source, dict) else ABSENT
        for step in node.path:
            whole = whole.get(step[1], ABSENT) if isinstance(whole, dict) else whole
        if whole is not ABSENT and whole is not None and not isinstance(whole, dict):
            if not any(inner.is_optional for inner in node.nodes()) and not any(
                    leaf.is_mapped and leaf.path[:len(node.path)] == node.path for leaf in node.leaves()):
                raise Ambiguous(f"nothing is read from the object {node.name}, and it is none")
            raise Rejected({"bad-value"}, [step[1] for step in node.path])
        record.wholes[node.name] = whole
    for leaf in entity.leaves:
        if leaf.is_mapped:
            value = read_attribute(record, leaf)
            if value is not ABSENT:
                record.fields[leaf.name] = value
    for relationship in entity.relationships.values():
        if not relationship.is_mapped or not isinstance(source, dict):
            continue
        value = walk(source, relationship.path)
        if value is ABSENT or value is None and relationship.keeps_on_null:
            continue
        if not is_plural(relationship):
            value = [] if value is None else [(None, value)]
        destination = model.entities[relationship.destination]
        members = []
        for inner_key, member in value or []:
            is_object = isinstance(member, dict) or destination.is_scalar and not relationship.reference
            if is_object and not relationship.reference:
                try:
                    members.append(("record", read_record(
                        model, member, relationship.destination, record, relationship, inner_key)))
                except Rejected as reason:
                    raise Ambiguous(f"a nested object is left out: {reason}") from reason
            else:
                attribute = destination.attributes[relationship.reference or destination.key[0]]
                members.append(("key", attribute.name, read_value(
                    member, attribute, relationship.take or attribute.take)))
        record.links[relationship.name] = members
    return record


def read_attribute(record, attribute):
    """The value of a document: ABSENT, None, or a value."""
    source, first = record.source, attribute.path[0][0]
    if first == "$key":
        return ABSENT if record.key is None else value_of_text(record.key, attribute)
    if first == "$value":
        value = ABSENT if isinstance(source, dict) else source
    elif first == "^":
        outer, steps = record, attribute.path
        while steps[0][0] == "^":
            outer, steps = outer.parent, steps[1:]
        value = walk(outer.source, steps)
    else:
        value = walk(source, attribute.path) if isinstance(source, dict) else ABSENT
    if value is ABSENT or value is None:
        return value
    if is_plural(attribute):
        found = [read_value(element, attribute, None, True) for _, element in value]
        return [element for element in found if element is not None]
    return read_value(value, attribute)


def value_of_text(text, attribute):
    return read_value(Number(text) if attribute.type.startswith("int") else text, attribute)


# ---- The store


class Item:
    """An object of the store."""

    def __init__(self, entity):
        self.entity = entity
        self.values = {name: attribute.default() for name, attribute in entity.attributes.items()}
        self.links = {name: [] for name in entity.relationships}
        self.is_deleted = False


class Store:
    def __init__(self, model):
        self.model = model
        self.items = []
        # What has left the relationship that owns it, in the document that is read.
        self.lost = []
        # The number of objects of the last document that were refused, and the reasons to leave out elements by their places.
        self.refused, self.rejected = 0, {}

    # The import of one document, under the policy objectTrump.

    def take_in(self, elements, entity):
        records = []

        def flatten(record):
            records.append(record)
            for members in record.links.values():
                for member in members:
                    if member[0] == "record":
                        flatten(member[1])

        order = {}
        self.rejected = {}
        for number, element in enumerate(elements):
            order_of(element, order)
            try:
                record = read_record(self.model, element, entity)
            except Rejected as reason:
                self.rejected[number] = reason
                continue
            record.number = number
            flatten(record)
        # Values that are no objects come right after the object around them.
        records.sort(key=lambda record: order.get(id(record.source), order.get(record.parent and id(record.parent.source))))
        former = set(map(id, self.items))
        self.find(records, former)
        before = {id(item): dict(item.values) for item in self.items if id(item) in former}
        records = self.apply(records, former)
        self.refuse(records, before)
        for record in records:
            for name, members in record.links.items():
                relationship = record.entity.relationships[name]
                found = [self.partner(member, relationship) for member in members]
                # A reference that leads nowhere leaves a to-one as it is.
                if not relationship.to_many and members and not any(found):
                    continue
                self.link(record.target, relationship, [
                    partner for partner in found if partner is not None and not partner.is_deleted])
        for item, relationship in self.lost:
            if not item.is_deleted and self.is_orphan(item, relationship):
                self.delete(item)
        self.lost = []

    def apply(self, records, former):
        """Sets the attributes; the result is the records that are not left out."""
        present, values = list(self.items), {id(item): dict(item.values) for item in self.items}
        try:
            for record in records:
                try:
                    record.apply(record.target.values)
                except Rejected as reason:
                    if id(record.target) not in former and lacks(record.entity, record.target.values):
                        reason = Rejected({*reason.codes, "missing-values"})
                    self.leave_out(record, records, reason)
            for record in records:
                if id(record.target) not in former and record.number not in self.rejected and lacks(
                        record.entity, record.target.values):
                    self.leave_out(record, records, Rejected({"missing-values"}))
        except Ambiguous:
            self.items = [item for item in present if id(item) in former]
            for item in self.items:
                item.values = values[id(item)]
            raise
        for record in records:
            if record.number in self.rejected:
                record.target.values = values[id(record.target)]
                if id(record.target) not in former:
                    record.target.is_deleted = True
                    self.items.remove(record.target)
        return [record for record in records if record.number is None or record.number not in self.rejected]

    def leave_out(self, record, records, reason):
        """Elements with mistakes are alone: what else the document says of their objects, or in them, is another question."""
        if record.number is None or record.links or sum(other.target is record.target for other in records) > 1:
            raise Ambiguous(f"an object is left out that is not alone: {record.entity.name}, {reason}")
        self.rejected[record.number] = reason

    def judge(self, element, entity):
        """What an element would be without others: left out, without an effect on the object that is there, or a change."""
        try:
            record = read_record(self.model, element, entity)
            key = [record.key_value(name) for name in record.entity.key]
            present = next((item for item in self.items if item.entity.root == record.entity.root and [
                item.values[name] for name in record.entity.key] == key), None)
            values = dict((present or Item(record.entity)).values)
            record.apply(values)
            if present is None and lacks(record.entity, values):
                return "rejected"
        except Rejected:
            return "rejected"
        except Ambiguous:
            return "ambiguous"
        return "new" if present is None else "same" if present.values == values else "changed"

    def refuse(self, records, before):
        """Takes back what another object's values of a unique key forbid.

        An object that has had the values before the document keeps them. Of others, the first record's does.
        """
        self.refused = 0
        targets = []
        for record in records:
            if not any(record.target is target for target in targets):
                targets.append(record.target)
        keys = {name: [key for key in self.model.source["entities"][name].get("unique", []) if isinstance(key, list)]
                for name in self.model.entities if "email" in self.model.entities[name].attributes}
        while True:
            refused = None
            for name, unique in keys.items():
                for key in unique:
                    holders = {}
                    for item in self.items:
                        if item.entity.name == name and None not in [item.values[part] for part in key]:
                            holders.setdefault(tuple(item.values[part] for part in key), []).append(item)
                    for items in holders.values():
                        changed = [item for item in items if id(item) not in before or any(
                            before[id(item)][part] != item.values[part] for part in key)]
                        if len(items) > 1:
                            changed.sort(key=targets.index)
                            refused = changed[-1]
            if refused is None:
                return
            self.refused += 1
            if id(refused) in before:
                refused.values = dict(before[id(refused)])
            else:
                refused.is_deleted = True
                self.items.remove(refused)

    def is_orphan(self, item, relationship):
        """Whether nothing owns an object that has left a relationship: neither in it nor in another one with a cascade or
        that is required."""
        inverse = self.inverse(relationship)
        if inverse.is_required and not item.links[inverse.name]:
            return True
        for other in item.entity.relationships.values():
            back = self.inverse(other)
            is_owner = other is inverse or (
                other.name not in item.entity.key and (
                    other.is_required or back is not None and back.delete_rule == "cascade"))
            if is_owner and item.links[other.name]:
                return False
        return True

    def find(self, records, former):
        index = {}
        for item in self.items:
            if item.entity.key and not item.is_deleted:
                index[self.identity(item)] = item
        places = {}
        waiting = list(records)
        while waiting:
            later = []
            for record in waiting:
                if record.parent is not None and record.parent.target is None:
                    later.append(record)
                    continue
                item = None
                if record.entity.key:
                    key = [self.root_of_key(record.entity)]
                    for name in record.entity.key:
                        if name in record.entity.attributes:
                            key.append(record.key_value(name))
                        else:
                            key.append(id(self.owner_of(record, name)))
                    item = index.get(tuple(key))
                elif record.parent is not None and id(record.parent.target) in former:
                    present = [partner for partner in record.parent.target.links[record.link.name]]
                    if not record.link.ordered:
                        present.sort(key=self.items.index)
                    place = places.get((id(record.parent), record.link.name), 0)
                    places[id(record.parent), record.link.name] = place + 1
                    if place < len(present) and present[place].entity is record.entity:
                        item = present[place]
                if item is None:
                    item = Item(record.entity)
                    self.items.append(item)
                    if record.entity.key:
                        index[tuple(key)] = item
                record.target = item
            assert len(later) < len(waiting)
            waiting = later
        self.index = {}
        for item in self.items:
            self.index[id(item)] = item
        for record in records:
            for name, value in [*record.values.items(), *record.fields.items()]:
                self.index.setdefault((self.declarer(record.entity, name), name, repr(value)), record.target)
        for item in self.items:
            if not item.is_deleted:
                for name, value in item.values.items():
                    self.index.setdefault((self.declarer(item.entity, name), name, repr(value)), item)

    def root_of_key(self, entity):
        return self.declarer(entity, entity.key[-1])

    def declarer(self, entity, name):
        for ancestor in reversed(entity.lineage):
            declared, name = self.model.source["entities"][ancestor], name.split(".")[0]
            if name in declared.get("attributes", {}) or name in declared.get("relationships", {}):
                return ancestor

    def owner_of(self, record, name):
        if record.parent is not None and record.link.inverse == name:
            return record.parent.target
        return self.partner(record.links[name][0], record.entity.relationships[name])

    def identity(self, item):
        key = [self.root_of_key(item.entity)]
        for name in item.entity.key:
            if name in item.entity.attributes:
                key.append(item.values[name])
            else:
                key.append(id(item.links[name][0]) if item.links[name] else None)
        return tuple(key)

    def partner(self, member, relationship):
        if member[0] == "record":
            return member[1].target
        destination = self.model.entities[relationship.destination]
        return self.index.get((self.declarer(destination, member[1]), member[1], repr(member[2])))

    # Links

    def inverse(self, relationship):
        if not relationship.inverse:
            return None
        return self.model.entities[relationship.destination].relationships[relationship.inverse]

    def join(self, item, relationship, partner):
        inverse = self.inverse(relationship)
        if partner in item.links[relationship.name]:
            return
        if not relationship.to_many:
            for other in list(item.links[relationship.name]):
                self.part(item, relationship, other)
        if inverse is not None and not inverse.to_many:
            for other in list(partner.links[inverse.name]):
                self.part(other, relationship, partner)
        item.links[relationship.name].append(partner)
        if inverse is not None:
            partner.links[inverse.name].append(item)

    def part(self, item, relationship, partner):
        inverse = self.inverse(relationship)
        item.links[relationship.name].remove(partner)
        if inverse is not None:
            partner.links[inverse.name].remove(item)

    def link(self, item, relationship, partners):
        if item.is_deleted:
            return
        wanted = []
        for partner in partners:
            if partner not in wanted:
                wanted.append(partner)
        present = item.links[relationship.name]
        if relationship.to_many and relationship.members == "keep" and present:
            return
        if relationship.to_many and relationship.members == "add":
            for partner in wanted:
                self.join(item, relationship, partner)
            return
        if not relationship.to_many:
            wanted = wanted[-1:]
        gone = [partner for partner in present if partner not in wanted]
        for partner in gone:
            self.part(item, relationship, partner)
        for partner in wanted:
            self.join(item, relationship, partner)
        item.links[relationship.name].sort(key=wanted.index)
        inverse = self.inverse(relationship)
        # Those that belong to the object alone are deleted at the end, if no other one has them then.
        if inverse is not None and not inverse.to_many and (
                relationship.delete_rule == "cascade" or inverse.is_required):
            for partner in gone:
                # Without a key nothing can refer to it.
                if partner.entity.key:
                    self.lost.append((partner, relationship))
                else:
                    self.delete(partner)

    def delete(self, item):
        if item.is_deleted:
            return
        item.is_deleted = True
        self.items.remove(item)
        for relationship in item.entity.relationships.values():
            for partner in list(item.links[relationship.name]):
                inverse = self.inverse(relationship)
                item.links[relationship.name].remove(partner)
                if inverse is not None:
                    partner.links[inverse.name].remove(item)
                if relationship.delete_rule == "cascade":
                    self.delete(partner)
        for other in self.items:
            for name, partners in other.links.items():
                if item in partners:
                    partners.remove(item)
