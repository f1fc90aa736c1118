"""Reads JSON documents by the mapping in a model file, as Docs/ModelFile.md says, and merges them into a store in memory.

It shares no code with Trellis: documents are read by Python's json, everything else is written down here once more.
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

    def __init__(self, name, declaration, entity, model, is_attribute):
        self.name, self.is_attribute = name, is_attribute
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
        self.date = words.get("date", "iso8601")
        self.reference = words.get("reference")
        self.members = words.get("members", "replace")
        if is_attribute:
            type = declaration["type"]
            self.is_optional = declaration.get("optional", False) or type.endswith("?")
            self.type = type.rstrip("?")
            self.has_default = "default" in declaration
            self.enum = model["enums"].get(self.type) if "enums" in model else None
        else:
            self.destination = declaration["destination"]
            self.to_many = declaration.get("toMany", False)
            self.ordered = declaration.get("ordered", False)
            self.inverse = declaration.get("inverse")
            self.is_required = not self.to_many and not declaration.get("optional", False)
            self.delete_rule = declaration.get("deleteRule", "nullify")

    def default(self):
        return value_of_constant(self, self.declaration["default"]) if self.has_default else None


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
        self.attributes, self.relationships = {}, {}
        for entity in reversed(declared):
            for name, declaration in entity.get("attributes", {}).items():
                self.attributes[name] = Property(name, declaration, entity, model, True)
            for name, declaration in entity.get("relationships", {}).items():
                self.relationships[name] = Property(name, declaration, entity, model, False)
        for property in [*self.attributes.values(), *self.relationships.values()]:
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
    """A value that is not null, in the form that values have here: dates as microseconds, decimals and data as text."""
    take = attribute.take if take is None else take
    type = attribute.type[1:-1] if item else attribute.type
    if take:
        if isinstance(value, Number) and not {"text", "number"} & set(take):
            raise ValueError(value)
        value = taken(scalar_text(value), take)
    is_number = isinstance(value, Number) or bool(take)
    if attribute.enum:
        found = whole(value) if attribute.enum["type"] == "int" else str(value)
        if found not in enum_values(attribute.enum).values():
            raise ValueError(value)
        return found
    if type.startswith("["):
        return [read_value(element, attribute, [], True) for element in value]
    if type == "bool":
        if value not in (True, False):
            raise ValueError(value)
        return value
    if type.startswith("int"):
        if not is_number:
            raise ValueError(value)
        return whole(value)
    if type in ("float", "double"):
        number = float(value)
        return struct.unpack("f", struct.pack("f", number))[0] if type == "float" else number
    if type == "decimal":
        return canonical_decimal(value)
    if type == "date":
        return read_date(value, attribute.date)
    if type == "uuid":
        return str(uuid.UUID(value)).upper()
    if type == "data":
        return base64.b64encode(base64.b64decode(value)).decode()
    if isinstance(value, Number) and not take:
        raise ValueError(value)
    return str(value)


# ---- Documents


class Record:
    """One object as a document has it."""

    def __init__(self, entity, parent, link, key, source):
        self.entity, self.parent, self.link, self.key, self.source = entity, parent, link, key, source
        self.values = {}
        # Lists of ("record", Record) and ("key", value); empty for null.
        self.links = {}
        self.target = None


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
    for attribute in entity.attributes.values():
        if not attribute.is_mapped:
            continue
        first = attribute.path[0][0]
        if first == "$key":
            value = ABSENT if key is None else key
            if value is not ABSENT:
                record.values[attribute.name] = value_of_text(value, attribute)
            continue
        if first == "$value":
            value = ABSENT if isinstance(source, dict) else source
        elif first == "^":
            outer, steps = record, attribute.path
            while steps[0][0] == "^":
                outer, steps = outer.parent, steps[1:]
            value = walk(outer.source, steps)
        else:
            value = walk(source, attribute.path) if isinstance(source, dict) else ABSENT
        if value is ABSENT:
            continue
        if value is None:
            if not attribute.keeps_on_null:
                record.values[attribute.name] = [] if is_plural(attribute) and not attribute.is_optional else None
        elif is_plural(attribute):
            record.values[attribute.name] = [read_value(element, attribute, None, True) for _, element in value]
        else:
            record.values[attribute.name] = read_value(value, attribute)
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
                members.append(("record", read_record(
                    model, member, relationship.destination, record, relationship, inner_key)))
            else:
                attribute = destination.attributes[relationship.reference or destination.key[0]]
                members.append(("key", attribute.name, read_value(
                    member, attribute, relationship.take or attribute.take)))
        record.links[relationship.name] = members
    return record


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
        # The number of objects of the last document that were refused.
        self.refused = 0

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
        for element in elements:
            order_of(element, order)
            flatten(read_record(self.model, element, entity))
        # Values that are no objects come right after the object around them.
        records.sort(key=lambda record: order.get(id(record.source), order.get(record.parent and id(record.parent.source))))
        former = set(map(id, self.items))
        self.find(records, former)
        before = {id(item): dict(item.values) for item in self.items if id(item) in former}
        for record in records:
            record.target.values.update(record.values)
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
                            key.append(record.values[name])
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
            for name in record.values:
                self.index.setdefault((self.declarer(record.entity, name), name, repr(record.values[name])), record.target)
        for item in self.items:
            if not item.is_deleted:
                for name, value in item.values.items():
                    self.index.setdefault((self.declarer(item.entity, name), name, repr(value)), item)

    def root_of_key(self, entity):
        return self.declarer(entity, entity.key[-1])

    def declarer(self, entity, name):
        for ancestor in reversed(entity.lineage):
            declared = self.model.source["entities"][ancestor]
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
