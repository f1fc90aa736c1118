#!/usr/bin/env python3
"""Compares imports and exports of JSON by `trellis` with an independent reading of the same documents.

    python3 Tests/Import/compare.py TRELLIS [--seed N] [--models N] [--seconds N] [--mutations N]

TRELLIS is the built program. Each seed is a random model with documents (generate.py), which are imported and also read by
read_json.py. Then: the same documents again, which change nothing; the elements in another order; an export, which is
imported into a new store; and broken documents, which must not end the program by a signal. Documents with mistakes are
compared by the elements that are left out, with code, place and property; derived attributes by counts of objects. Differences
are printed with their seed, and their files are kept.
"""
import argparse
import collections
import decimal
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import traceback

import generate
import read_json

parser = argparse.ArgumentParser()
parser.add_argument("trellis")
parser.add_argument("--seed", type=int, default=None)
parser.add_argument("--models", type=int, default=1_000_000)
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--mutations", type=int, default=6)
parser.add_argument("--keep", default=None)
options = parser.parse_args()
trellis = pathlib.Path(options.trellis).resolve()


class Difference(Exception):
    pass


def run(*arguments, codes=(0,), input=None):
    result = subprocess.run([trellis, *map(str, arguments)], capture_output=True, input=input, timeout=300)
    if result.returncode not in codes:
        raise Difference(f"{' '.join(map(str, arguments))}: exit {result.returncode}\n"
                         + result.stderr.decode(errors="replace")[-3000:] + result.stdout.decode(errors="replace")[-3000:])
    return result


# ---- A store as plain values: names of objects, which do not depend on keys of rows, with values and links


class Node:
    def __init__(self, entity):
        self.entity, self.values, self.links = entity, {}, {name: [] for name in entity.relationships}


def nodes_of_dump(text, model):
    dump = json.loads(text, parse_float=read_json.Number, parse_int=read_json.Number)
    nodes, rows = {}, {}
    for name, objects in dump["entities"].items():
        for row in objects:
            node = Node(model.entities[name])
            nodes[row["_key"]], rows[row["_key"]] = node, row
            known = {*node.entity.attributes, *node.entity.relationships, "_key", "_version"}
            for key in row:
                if key not in known and not (key.startswith("_") and key.endswith("_order")):
                    raise Difference(f"an unknown key of {name} in a dump: {key}")
            for attribute in node.entity.attributes.values():
                node.values[attribute.name] = value_of_dump(row.get(attribute.name), attribute)
    pairs = []
    for key, row in rows.items():
        node = nodes[key]
        for relationship in node.entity.relationships.values():
            if not relationship.to_many and relationship.name in row:
                pairs.append((key, relationship, row[relationship.name], row.get(f"_{relationship.name}_order")))
    for name, list in dump.get("pairs", {}).items():
        entity, relationship = name.split(".")
        relationship = model.entities[entity].relationships[relationship]
        for pair in list:
            pairs.append((pair["from"], relationship, pair["to"], None))
    ordered = []
    for name, list in dump.get("pairs", {}).items():
        entity, label = name.split(".")
        relationship = model.entities[entity].relationships[label]
        for pair in list:
            source, target = nodes[pair["from"]], nodes[pair["to"]]
            for key, value in pair.items():
                if key == "place":
                    ordered.append((source, label, target, int(value)))
                elif key == "inversePlace":
                    ordered.append((target, relationship.inverse, source, int(value)))
                elif key not in ("from", "to"):
                    raise Difference(f"an unknown key of pairs: {key}")
    for source, relationship, target, order in pairs:
        nodes[source].links[relationship.name].append(nodes[target])
        if relationship.inverse:
            nodes[target].links[relationship.inverse].append(nodes[source])
            if order is not None:
                ordered.append((nodes[target], relationship.inverse, nodes[source], int(order)))
    orders = {(id(node), name, id(member)): place for node, name, member, place in ordered}
    for node in nodes.values():
        for name, members in node.links.items():
            members.sort(key=lambda member: orders.get((id(node), name, id(member)), 0))
    return list_of(nodes)


def list_of(nodes):
    return list(nodes.values())


def value_of_dump(value, attribute):
    if value is None:
        return None
    if attribute.enum:
        return int(value) if attribute.enum["type"] == "int" else value
    if attribute.type == "date":
        return read_json.read_date(value, "iso8601") if value[0] not in "+-" else value
    if attribute.type.startswith("["):
        return [element_of_dump(element, attribute.type[1:-1]) for element in value]
    return element_of_dump(value, attribute.type)


def element_of_dump(value, type):
    if type.startswith("int"):
        return int(value)
    if type in ("double", "float"):
        number = float(value)
        return struct.unpack("f", struct.pack("f", number))[0] if type == "float" else number
    if type == "decimal":
        return read_json.canonical_decimal(value)
    # In lists dates are seconds since 2001.
    return value if type != "date" else int((decimal.Decimal(value) + 978_307_200) * 1_000_000)


def plain(nodes, unordered=(), left_out=()):
    """Names of objects with their values and links.

    Some relationships are compared without their order, and others not at all.
    """
    names = {}

    def name(node):
        if id(node) in names:
            return names[id(node)]
        entity = node.entity
        if entity.key and all(part in entity.attributes for part in entity.key):
            found = f"{entity.root}({', '.join(repr(node.values[part]) for part in entity.key)})"
        else:
            owners = node.links["owner"]
            if not owners:
                found = f"{entity.name} without an owner {node.values!r}"
            else:
                label = entity.relationships["owner"].inverse
                siblings = owners[0].links[label]
                if not owners[0].entity.relationships[label].ordered:
                    siblings = sorted(siblings, key=lambda sibling: repr(sorted(sibling.values.items())))
                place = repr(node.values["kind"]) if entity.key else next(
                    number for number, sibling in enumerate(siblings) if sibling is node)
                found = f"{name(owners[0])}.{label}[{place}]"
        names[id(node)] = found
        return found

    result = {}
    for node in nodes:
        key = name(node)
        if key in result:
            raise Difference(f"twice: {key}")
        values = {f"{node.entity.name}.{label}": value for label, value in node.values.items()}
        for label, members in node.links.items():
            relationship = node.entity.relationships[label]
            if label in left_out:
                continue
            listed = [name(member) for member in members]
            if relationship.to_many and (not relationship.ordered or label in unordered):
                listed.sort()
            values[label] = listed
        result[key] = values
    return result


def compare(found, wanted, what):
    lines = []
    for key in sorted({*found, *wanted}):
        if key not in found:
            lines.append(f"  {key} is missing")
        elif key not in wanted:
            lines.append(f"  {key} should not be there: {found[key]}")
        else:
            for label in wanted[key]:
                one, other = found[key].get(label), wanted[key][label]
                if repr(one) != repr(other):
                    lines.append(f"  {key}.{label}: {one!r}, and not {other!r}")
    if lines:
        raise Difference(f"{what}:\n" + "\n".join(lines[:12]))


# ---- One seed


class Trial:
    def __init__(self, seed, folder):
        self.seed, self.folder = seed, folder
        self.maker, self.files = generate.make(seed)
        self.model = self.maker.model
        self.model_file = folder / "Random.model.json"
        self.model_file.write_text(self.maker.text)
        self.random = random.Random(seed)
        self.count = self.mistakes = 0

    def write(self, name, file, elements=None):
        text, at = generate.document(file["form"], elements or file["elements"])
        path = self.folder / name
        path.write_bytes(text.encode())
        arguments = ["--lines"] if file["form"] == "lines" else []
        return path, text, at, arguments + (["--at", at] if at else [])

    def take_in(self, store, entity, path, arguments, codes=(0,), writes=True):
        new = [] if store.exists() else ["--model", self.model_file]
        result = run("import-json", store, entity, path, *arguments, *new, *(["--write"] if writes else []), "--json",
                     codes=codes)
        return json.loads(result.stdout)

    def nodes(self, store):
        return nodes_of_dump(run("dump", store).stdout, self.model)

    def run(self):
        run("check", self.model_file)
        store = self.folder / "first.sqlite"
        expected = read_json.Store(self.model)
        documents = []
        for number, file in enumerate(self.files):
            path, text, at, arguments = self.write(f"{number}.json", file)
            documents.append((file["entity"], path, arguments))
            told = self.take_in(store, file["entity"], path, arguments, codes=(0, 1, 2), writes=False) if number else None
            done = self.take_in(store, file["entity"], path, arguments, codes=(0, 1))
            self.count += len(file["elements"])
            if told and told["entities"] != done["entities"]:
                raise Difference(f"{path.name}: a dry run tells {told['entities']}, and it is {done['entities']}")
            expected.take_in(elements_of(text, file["form"], at), file["entity"])
            self.rejected(path, file["form"], at, text, done, expected)
            if sum(failure["code"] == "unique" for failure in done["rejected"]) != expected.refused:
                raise Difference(f"{path.name}: {expected.refused} should be refused: {done['rejected'][:6]}")
        self.same(store, expected)
        # References to objects of later documents are found now.
        for (entity, path, arguments), file in zip(documents, self.files):
            text, at = generate.document(file["form"], file["elements"])
            try:
                expected.take_in(elements_of(text, file["form"], at), entity)
            except read_json.Ambiguous:
                # Of what later documents have changed it says something else.
                continue
            done = self.take_in(store, entity, path, arguments, codes=(0, 1))
            self.rejected(path, file["form"], at, text, done, expected)
        dump, found = self.same(store, expected)
        run("doctor", store)
        self.derived(store, dump)
        self.again(store, documents, dump)
        if not self.maker.conflicts:
            self.other_order(found)
        self.export(store, found)
        for number in range(options.mutations):
            self.mutated(store, number)

    def rejected(self, path, form, at, text, done, expected):
        """The elements that are left out are those that the documentation tells, for its reasons."""
        found = collections.defaultdict(list)
        for failure in done["rejected"]:
            if failure["code"] != "unique":
                found[element_of(failure, form, at, text)].append(failure)
        self.mistakes += len(expected.rejected)
        for number in sorted({*found, *expected.rejected}):
            reason, failures = expected.rejected.get(number), found.get(number, [])
            if reason is None or not failures:
                told = [(failure["code"], failure["pointer"], failure["message"]) for failure in failures]
                raise Difference(f"{path.name}: element {number} is rejected for {told}, and the documentation says: {reason}")
            codes = {failure["code"] for failure in failures}
            if not codes <= reason.codes:
                raise Difference(
                    f"{path.name}: element {number} is rejected for {sorted(codes)}, and not {sorted(reason.codes)}")
            if reason.names and form != "lines":
                end = "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in reason.names)
                if not any(failure["pointer"].endswith(f"/{number}{end}") for failure in failures):
                    raise Difference(f"{path.name}: the pointer of element {number} does not end with {end}: {failures}")
            if reason.property and not any(failure["property"] == reason.property for failure in failures):
                raise Difference(f"{path.name}: the property of element {number} is not {reason.property}: {failures}")

    def derived(self, store, dump):
        """Counts of objects by their derived attributes, which SQLite computes or keeps."""
        nodes = nodes_of_dump(dump, self.model)
        for entity, name, kind, label in self.maker.derived:
            objects = [node for node in nodes if entity in node.entity.lineage]
            if kind is None or not objects:
                continue
            if kind == "count":
                values = [len(node.links[label]) for node in objects]
            elif kind == "flag":
                own = [node.links[label] or None if label in node.links else node.values[label] for node in objects]
                values = [value is not None for value in own]
            else:
                values = [None if node.values[label] is None else node.values[label] + "!" for node in objects]
            value = self.random.choice(values)
            word = "nil" if value is None else "YES" if value is True else "NO" if value is False else value
            arguments = [f"{name} == {word}"] if kind != "text" or value is None else [f"{name} == %@", value]
            found = int(run("query", store, entity, *arguments, "--count").stdout)
            if found != values.count(value):
                raise Difference(f"{entity}.{name}: {found} objects have {value!r}, and not {values.count(value)}")

    def same(self, store, expected):
        dump = run("dump", store).stdout
        # An object that comes in a later batch than its reference is added at the end.
        unordered = self.relationships("add") if self.maker.is_large else ()
        found = plain(nodes_of_dump(dump, self.model), unordered)
        compare(found, plain(expected.items, unordered), "the import differs from the reading by Python")
        return dump, found

    def again(self, store, documents, dump):
        """Nothing changes, unless the documents contradict each other."""
        for entity, path, arguments in documents:
            done = self.take_in(store, entity, path, arguments, codes=(0, 1))
            if not self.maker.moves and any(failure["code"] == "unique" for failure in done["rejected"]):
                raise Difference(f"{path.name} again: rejected: {done['rejected'][:3]}")
            counts = done["entities"].values()
            if not self.maker.conflicts and any(count["inserted"] or count["updated"] for count in counts):
                raise Difference(f"{path.name} again: {done['entities']}")
        after = run("dump", store).stdout
        if self.maker.conflicts:
            return
        if any(file.get("is_update") for file in self.files):
            # A new object that is refused at the save has had a key.
            dump, after = (re.sub(rb'"nextKey": \d+', b"", text) for text in (dump, after))
        if after != dump:
            lines = zip(dump.decode().splitlines(), after.decode().splitlines())
            raise Difference("the same documents again change rows:\n" + "\n".join(
                f"  {one}\n  {other}" for one, other in lines if one != other)[:2000])

    def other_order(self, found):
        store, expected = self.folder / "shuffled.sqlite", read_json.Store(self.model)
        for number, file in [*enumerate(self.files), *enumerate(self.files)]:
            elements = list(file["elements"])
            self.random.shuffle(elements)
            path, text, at, arguments = self.write(f"shuffled{number}.json", file, elements)
            done = self.take_in(store, file["entity"], path, arguments, codes=(0, 1))
            expected.take_in(elements_of(text, file["form"], at), file["entity"])
            self.rejected(path, file["form"], at, text, done, expected)
        # The order of members that are added is that of the documents.
        loose = self.relationships("add")
        one = plain(nodes_of_dump(run("dump", self.folder / "first.sqlite").stdout, self.model), loose)
        compare(plain(self.nodes(store), loose), one, "the elements in another order differ")

    def relationships(self, *members):
        found = [relationship for entity in self.model.entities.values()
                 for relationship in entity.relationships.values() if relationship.members in members]
        return {relationship.name for relationship in found} | {relationship.inverse for relationship in found}

    def export(self, store, found):
        names = list(dict.fromkeys(file["entity"] for file in self.files))
        target = self.folder / "exported.sqlite"
        lines = self.random.choice([[], ["--lines"]])
        # All that hangs together would be nested in one object.
        nesting = ["--nest", "none"] if self.maker.is_large else self.random.choice([[], [], ["--nest", "none"]])
        # What requires an owner comes with another document than one with its other partners, which is then rejected.
        for turn in range(0 if self.maker.moves else 2):
            for name in names:
                first = run("export-json", store, name, *lines, *nesting).stdout
                if turn == 0 and run("export-json", store, name, *lines, *nesting).stdout != first:
                    raise Difference(f"two exports of {name} differ")
                path = self.folder / f"exported-{name}.json"
                path.write_bytes(first)
                self.without_derived(path)
                done = self.take_in(target, name, path, lines)
                if done["rejected"]:
                    raise Difference(f"{path.name}: rejected: {done['rejected'][:3]}")
        for name in names:
            path = self.folder / f"exported-{name}.json"
            path.write_bytes(run("export-json", store, name, *lines, *nesting).stdout)
            done = self.take_in(store, name, path, lines, codes=(0, 2), writes=False)
            if any(count["inserted"] or count["updated"] for count in done["entities"].values()):
                raise Difference(f"an export of {name} into its own store changes it: {done['entities']}")
        if self.maker.moves:
            return
        # Members that were not there yet come too late where former ones are kept, and at the end where they are added.
        left_out, unordered = self.relationships("keep") - {"owner"}, self.relationships("add")
        compare(plain(self.nodes(target), unordered, left_out), plain(self.nodes(store), unordered, left_out),
                "an export, imported, differs")

    def without_derived(self, path):
        names = {read_json.spelled(name, entity.style) for entity in self.model.entities.values() for name in entity.derived}

        def keys(value):
            if isinstance(value, dict):
                yield from value
            for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
                yield from keys(inner)

        for line in [path.read_text()] if path.read_text().startswith("[\n") else path.read_text().split("\n")[:-1]:
            if wrong := names & set(keys(json.loads(line))):
                raise Difference(f"an export has derived attributes: {wrong}")

    def mutated(self, store, number):
        file = self.random.choice(self.files)
        path, text, at, arguments = self.write("mutated.json", file)
        content = bytearray(text.encode())
        for _ in range(self.random.randint(1, 4)):
            place = self.random.randrange(len(content) + 1)
            way = self.random.randint(0, 4)
            if way == 0 and place < len(content):
                content[place] ^= 1 << self.random.randint(0, 7)
            elif way == 1 and self.random.random() < 0.3:
                del content[place:]
            elif way == 2:
                end = min(len(content), place + self.random.randint(1, 40))
                del content[place:end]
            elif way == 3:
                content[place:place] = self.random.choice([
                    b"\"", b"{", b"]", b",", b"\\", b"null", b"\\ud800", b"1e999", b"\xff", b"[[[[", b"-", b"0", b"\x00", b":{}",
                    b"\"a\":", b"99999999999999999999", b"{}", b"[]", b"true", b"\"x\""])
            else:
                other = self.random.randrange(len(content) + 1)
                content[place:place] = content[other:other + self.random.randint(1, 60)]
            if not content:
                break
        path.write_bytes(content)
        (self.folder / "mutated-arguments").write_text(f"{file['entity']} {arguments}")
        into = store if number % 2 else self.folder / f"mutated{number}.sqlite"
        rejecting = self.random.choice(["objects", "everything"])
        done = self.take_in(into, file["entity"], path, [*arguments, "--rejecting", rejecting], codes=(0, 1, 2), writes=False)
        check_pointers(bytes(content), file["form"], done)


def elements_of(text, form, at):
    if form == "lines":
        return [read_json.parse(line) for line in text.split("\n") if line.strip()]
    document = read_json.parse(text)
    if at is None:
        return document if isinstance(document, list) else [document]
    return [element for _, element in read_json.walk(document, read_json.read_path(at))]


def element_of(failure, form, at, text):
    """The place of the element with a failure, among those of the document."""
    if form == "lines":
        return len([line for line in text.split("\n")[:failure["line"] - 1] if line.strip()])
    depth = 0 if at is None else len(read_json.read_path(at)) - 1
    return int(failure["pointer"].split("/")[1 + depth])


def check_pointers(content, form, done):
    """Each reported pointer leads to a value, if the text is JSON."""
    try:
        texts = content.decode().split("\n") if form == "lines" else [content.decode()]
        documents = [json.loads(text, object_pairs_hook=Pairs) if text.strip() else None for text in texts]
    except (ValueError, RecursionError):
        return
    for failure in done["rejected"] + done["unresolved"]:
        if failure["pointer"] is None or form == "lines" and failure["line"] is None:
            raise Difference(f"a failure without a place: {failure}")
        values = [documents[failure["line"] - 1 if form == "lines" else 0]]
        for part in failure["pointer"].split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            # A key may be there several times.
            values = [inner for value in values for inner in (
                [v for k, v in value.pairs if k == part] if isinstance(value, Pairs)
                else [value[int(part)]] if isinstance(value, list) and part.isdigit() and int(part) < len(value) else [])]
            if not values:
                raise Difference(f"the pointer leads to nothing: {failure}")


class Pairs:
    def __init__(self, pairs):
        self.pairs = pairs


def main():
    start = time.monotonic()
    seed = options.seed if options.seed is not None else random.randrange(1_000_000)
    print(f"seed {seed}", flush=True)
    models = documents = objects = mistakes = featured = failures = 0
    while models < options.models and time.monotonic() - start < options.seconds:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="trellis-json-"))
        try:
            trial = Trial(seed + models, folder)
            trial.run()
        except Exception as difference:
            failures += 1
            if not isinstance(difference, Difference):
                traceback.print_exc()
            print(f"\nseed {seed + models}: {difference}\n  the files are in {folder}", flush=True)
        else:
            shutil.rmtree(folder)
        objects += trial.count
        mistakes += trial.mistakes
        featured += trial.maker.has_features
        documents += len(trial.files)
        models += 1
    print(f"{featured} models with composites, scalar types or derived attributes, {mistakes} elements with mistakes")
    print(f"{models} models from seed {seed}, {documents} documents, {objects} elements, {failures} with differences,"
          f" {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


sys.exit(main())
