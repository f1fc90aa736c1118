#!/usr/bin/env python3
"""Compares imports and exports of CSV by `trellis` with Python's csv module, which writes and reads the same tables.

    python3 Tests/Import/tables.py TRELLIS [--seed N] [--rounds N]

TRELLIS is the built program. Each round writes a table of random values in a random form, imports it into a new store, once
straight and once into a store that has half of the rows, exports it in another form, and compares the rows.
"""
import argparse
import base64
import csv
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

MODEL = {
    "model": "Tables",
    "entities": {
        "Row": {
            "json": {"key": "id", "style": "snake_case"},
            "attributes": {
                "id": "int64", "title": "string", "note": "string?", "count": "int32?", "share": "double?", "fee": "decimal?",
                "isOpen": "bool?", "savedAt": "date?", "bytes": "data?", "tags": {"type": "[string]", "default": []},
            },
            "relationships": {"next": {"destination": "Row", "inverse": "previous", "optional": True, "json": True},
                              "previous": {"destination": "Row", "inverse": "next", "toMany": True}},
            "unique": ["id"],
        }
    },
}
NAMES = ["id", "title", "note", "count", "share", "fee", "is_open", "saved_at", "bytes", "tags", "next"]
TEXTS = ["", "a", "plain text", "a,b", "a;b", "a\tb", 'with "quotes"', '"', '""', "line\nbreak", "cr\r\nlf", " spaces ", "=1+1", "+4", "-x",
         "@home", "'tis", "Größe", "NULL", "\\N", "a\\b", "sep=;", "null", "0", "|", "tab\t", "x" * 200]


def row(generator, number, count):
    pick = generator.random
    return {
        "id": number, "title": generator.choice(TEXTS), "note": generator.choice(TEXTS + [None] * 9),
        "count": None if pick() < 0.3 else generator.randint(-2**31, 2**31 - 1),
        "share": None if pick() < 0.3 else generator.choice([0.5, -1e300, 5e-324, 1.0, generator.uniform(-1, 1)]),
        "fee": None if pick() < 0.3 else generator.choice(["1", "-0.5", "12345678901234567890.25"]),
        "is_open": generator.choice([None, True, False]),
        "saved_at": None if pick() < 0.3 else f"20{generator.randint(10, 30)}-0{generator.randint(1, 9)}-1{generator.randint(0, 9)}T09:30:00Z",
        "bytes": None if pick() < 0.3 else base64.b64encode(generator.randbytes(generator.randint(0, 9) or 1)).decode(),
        "tags": [generator.choice(["a", "b c", 'q"q', "ü"]) for _ in range(generator.randint(0, 3))],
        "next": None if pick() < 0.5 else generator.randrange(count),
    }


def form(generator):
    return {
        "delimiter": generator.choice(",;\t|"), "lines": generator.choice(["\n", "\r\n"]),
        "encoding": generator.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
        "quoting": generator.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]), "comma": generator.random() < 0.3,
    }


def spelled(value, name, kind):
    if value is None:
        return ""
    if name == "is_open":
        return str(value)
    if name == "tags":
        return json.dumps(value)
    if name in ("share", "fee") and kind["comma"]:
        return str(value).replace(".", ",")
    return value


def written(rows, kind):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=kind["delimiter"], lineterminator=kind["lines"], quoting=kind["quoting"])
    writer.writerow(NAMES)
    for entry in rows:
        writer.writerow([spelled(entry[name], name, kind) for name in NAMES])
    return text.getvalue().encode(kind["encoding"])


def options(kind):
    return ((["--encoding", "windows-1252"] if kind["encoding"] == "cp1252" else []) + (["--decimal-commas"] if kind["comma"] else []))


def run(*arguments, data=None):
    found = subprocess.run(arguments, input=data, capture_output=True)
    if found.returncode != 0:
        raise SystemExit(f"seed {seed}, round {number}, kept in {folder}: {arguments} ended with {found.returncode}:\n"
                         f"{found.stderr.decode()}{found.stdout.decode()}")
    return found.stdout


def expected(entry, kind):
    """What an export must have: csv writes None and the empty text alike, as an empty cell, in quotes or not."""
    note = entry["note"]
    if note in ("", None):
        # In quotes it is the empty text; QUOTE_MINIMAL and QUOTE_NONNUMERIC differ in what they quote.
        note = "" if kind["quoting"] != csv.QUOTE_MINIMAL else None
    return {**entry, "note": note or ""}


def value(text, name):
    if name == "tags":
        return json.loads(text)
    if name in ("title", "note"):
        return text
    if text == "":
        return None
    return {"id": int, "count": int, "next": int, "share": float, "is_open": lambda word: word == "true"}.get(name, str)(text)


parser = argparse.ArgumentParser()
parser.add_argument("trellis")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--rounds", type=int, default=40)
arguments = parser.parse_args()
seed, number = arguments.seed, 0
trellis = str(pathlib.Path(arguments.trellis).resolve())
generator = random.Random(seed)
folder = pathlib.Path(tempfile.mkdtemp(prefix="tables-"))
model = folder / "Tables.model.json"
model.write_text(json.dumps(MODEL))
cells = 0
for number in range(arguments.rounds):
    count = generator.randint(1, 60)
    rows = [row(generator, place, count) for place in range(count)]
    kind = form(generator)
    for is_split in (False, True):
        store = folder / f"{number}-{is_split}.sqlite"
        file = folder / f"{number}.csv"
        if is_split:
            half = [{**entry, "next": None, "title": "old"} for entry in rows[: count // 2]]
            file.write_bytes(written(half, kind))
            run(trellis, "import-csv", str(store), "Row", str(file), "--model", str(model), "--write", *options(kind))
        file.write_bytes(written(rows, kind))
        target = [] if is_split else ["--model", str(model)]
        run(trellis, "import-csv", str(store), "Row", str(file), *target, "--write", *options(kind))
        again = run(trellis, "import-csv", str(store), "Row", "-", *options(kind), data=file.read_bytes())
        assert again.split()[-4:] == [b"0", b"0", str(count).encode(), b"0"], (seed, number, again)
        run(trellis, "doctor", str(store))
        separator = generator.choice([(",", ","), (";", ";"), ("tab", "\t"), ("|", "|")])
        text = run(trellis, "export-csv", str(store), "Row", "--sort", "id", "--separator", separator[0]).decode()
        found = [{name: value(cell, name) for name, cell in entry.items()}
                 for entry in csv.DictReader(io.StringIO(text, newline=""), delimiter=separator[1])]
        for wanted, present in zip([expected(entry, kind) for entry in rows], found, strict=True):
            if wanted != present:
                raise SystemExit(f"seed {seed}, round {number}, {kind}, kept in {folder}:\n{wanted}\n{present}")
        cells += count * len(NAMES)
print(f"tables: seed {seed}, {arguments.rounds} rounds, {cells} cells alike")
