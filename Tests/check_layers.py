#!/usr/bin/env python3
"""Checks which folder of a module uses which, by the list in Tests/layers.txt, and which files write the facts of relationships, by the
list in Tests/writers.txt.

    python3 Tests/check_layers.py            after `swift build`; fails if a folder uses one that the list does not allow
    python3 Tests/check_layers.py --print    prints what each folder uses, and the names

The compiler notes each definition and each use of a name in its index (`.build/debug/index/store`). This reads the index
with the toolchain's own library, so an edge is what the compiler saw, and no guess by text.
"""

import collections
import ctypes
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEFINITION, REFERENCE, IMPLICIT = 1 << 1, 1 << 2, 1 << 8


class Index:
    """The files of a build with the names that each defines and uses."""

    class Text(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

        def __str__(self):
            return ctypes.string_at(self.data, self.length).decode() if self.length else ""

    def __init__(self, library, path):
        self.library = ctypes.CDLL(library)
        self.each_text = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, Index.Text)
        self.each_item = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
        create = self.function("store_create", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.store = create(path.encode(), None)
        if not self.store:
            sys.exit(f"{path} is no index. Run `swift build` first.")

    def function(self, name, result, *arguments):
        function = getattr(self.library, "indexstore_" + name)
        function.restype, function.argtypes = result, list(arguments)
        return function

    def records(self):
        """The names of the records of each source file."""
        pointer, text = ctypes.c_void_p, Index.Text
        units = self.function("store_units_apply_f", ctypes.c_bool, pointer, ctypes.c_uint, pointer, self.each_text)
        reader = self.function("unit_reader_create", pointer, pointer, ctypes.c_char_p, pointer)
        main_file = self.function("unit_reader_get_main_file", text, pointer)
        dependencies = self.function(
            "unit_reader_dependencies_apply_f", ctypes.c_bool, pointer, pointer, self.each_item)
        kind = self.function("unit_dependency_get_kind", ctypes.c_int, pointer)
        name = self.function("unit_dependency_get_name", text, pointer)
        dispose = self.function("unit_reader_dispose", None, pointer)
        names = []
        units(self.store, 1, None, self.each_text(lambda _, unit: (names.append(str(unit)), True)[1]))
        found = collections.defaultdict(set)
        for unit in names:
            opened = reader(self.store, unit.encode(), None)
            if not opened:
                continue
            path = str(main_file(opened))

            def add(_, dependency):
                if kind(dependency) == 2:
                    found[path].add(str(name(dependency)))
                return True

            # Units of files that were moved or removed stay in the index.
            if path.startswith(ROOT + "/Sources/") and os.path.exists(path):
                dependencies(opened, None, self.each_item(add))
            dispose(opened)
        return found

    def newest(self, names, store):
        """Of several records of one file, the one that was written last."""
        def written(name):
            path = os.path.join(store, "v5", "records", name[-2:], name)
            return os.path.getmtime(path) if os.path.exists(path) else 0
        return max(names, key=written)

    def occurrences(self, record):
        """The defined and the used names of a record: sets of (identifier, name)."""
        pointer, text = ctypes.c_void_p, Index.Text
        reader = self.function("record_reader_create", pointer, pointer, ctypes.c_char_p, pointer)
        each = self.function("record_reader_occurrences_apply_f", ctypes.c_bool, pointer, pointer, self.each_item)
        symbol_of = self.function("occurrence_get_symbol", pointer, pointer)
        roles_of = self.function("occurrence_get_roles", ctypes.c_uint64, pointer)
        identifier = self.function("symbol_get_usr", text, pointer)
        name = self.function("symbol_get_name", text, pointer)
        dispose = self.function("record_reader_dispose", None, pointer)
        defined, used = set(), set()
        opened = reader(self.store, record.encode(), None)
        if not opened:
            return defined, used

        def add(_, occurrence):
            symbol, roles = symbol_of(occurrence), roles_of(occurrence)
            entry = (str(identifier(symbol)), str(name(symbol)))
            if roles & DEFINITION:
                defined.add(entry)
            elif roles & REFERENCE and not roles & IMPLICIT:
                used.add(entry)
            return True

        each(opened, None, self.each_item(add))
        dispose(opened)
        return defined, used


def edges_of(index, store):
    """For each module and folder, the folders that it uses, with the names; for each defined name, the files that use it."""
    home, uses, users = {}, collections.defaultdict(set), collections.defaultdict(set)
    definitions = {}
    for path, records in index.records().items():
        module, _, rest = os.path.relpath(path, os.path.join(ROOT, "Sources")).partition("/")
        place = (module, os.path.dirname(rest) or ".")
        defined, used = index.occurrences(index.newest(records, store))
        for identifier, name in defined:
            home[identifier] = place
            definitions[identifier] = (f"{module}/{rest}", name)
        for identifier, _ in used:
            users[identifier].add(f"{module}/{rest}")
        uses[place] |= used
    edges = collections.defaultdict(lambda: collections.defaultdict(set))
    for place, used in uses.items():
        for identifier, name in used:
            other = home.get(identifier)
            if other and other[0] == place[0] and other != place:
                edges[place][other].add(name)
    writers = collections.defaultdict(set)
    for identifier, files in users.items():
        if identifier in definitions:
            writers[definitions[identifier]] |= files
    return edges, writers


def foreign_writers(writers):
    """What Tests/writers.txt does not allow: lines `Module/File.swift name: Folder, File.swift`. A folder or file is in the module."""
    failures = []
    with open(os.path.join(ROOT, "Tests", "writers.txt"), encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if not line:
                continue
            definition, _, others = line.rpartition(": ")
            path, _, name = definition.partition(" ")
            module = path.partition("/")[0]
            known = writers.get((path, name))
            if known is None:
                failures.append(f"Tests/writers.txt names {name} of {path}, which nothing uses")
                continue
            places = [f"{module}/{other.strip()}" for other in others.split(",")]
            for file in sorted(known):
                if file != path and not any(file == place or file.startswith(place + "/") for place in places):
                    failures.append(f"{file} uses {name} of {path}")
            for place in places:
                if not any(file == place or file.startswith(place + "/") for file in known):
                    failures.append(f"Tests/writers.txt allows {place} to use {name}, which it does not")
    return failures


def allowed():
    """The list: lines `Module/Folder: Folder, Folder`."""
    rules = {}
    with open(os.path.join(ROOT, "Tests", "layers.txt"), encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if not line:
                continue
            place, _, others = line.partition(":")
            module, _, folder = place.strip().partition("/")
            rules[(module, folder)] = {other.strip() for other in others.split(",") if other.strip()}
    return rules


def circles(rules):
    """The groups of folders that use each other in a circle."""
    reach = {place: {(place[0], other) for other in others} for place, others in rules.items()}
    isGrowing = True
    while isGrowing:
        isGrowing = False
        for place, known in reach.items():
            further = set().union(*(reach.get(other, set()) for other in known)) - known
            if further:
                known |= further
                isGrowing = True
    return {frozenset(other for other in known if place in reach.get(other, set())) for place, known in reach.items()
            if place in known}


def main():
    compiler = shutil.which("swiftc")
    if not compiler:
        sys.exit("swiftc is not on the path.")
    libraries = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(compiler))), "lib")
    library = os.path.join(libraries, "libIndexStore.so")
    if not os.path.exists(library):
        sys.exit(f"The toolchain has no {library}.")
    build = subprocess.run(
        ["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    store = os.path.join(build, "index", "store")
    edges, writers = edges_of(Index(library, store), store)
    if "--print" in sys.argv:
        for (module, folder), others in sorted(edges.items()):
            for (_, other), names in sorted(others.items(), key=lambda entry: -len(entry[1])):
                print(f"{module}/{folder} -> {other} {len(names)}: {', '.join(sorted(names)[:8])}")
        return
    rules = allowed()
    failures = []
    for (module, folder), others in sorted(edges.items()):
        for (_, other), names in sorted(others.items()):
            if other not in rules.get((module, folder), set()):
                failures.append(f"{module}/{folder} uses {other}: {', '.join(sorted(names)[:6])}")
    for (module, folder), others in sorted(rules.items()):
        for other in sorted(others):
            if (module, other) not in edges.get((module, folder), {}):
                failures.append(f"Tests/layers.txt allows {module}/{folder} to use {other}, which it does not")
    if failures:
        print("\n".join(failures), file=sys.stderr)
        sys.exit("Move the name to a folder that both may use, or say in Tests/layers.txt why it may be used there.")
    failures = foreign_writers(writers)
    if failures:
        print("\n".join(failures), file=sys.stderr)
        sys.exit("Write the fact by a function of its owner, or say in Tests/writers.txt why it may be written there.")
    for group in sorted(circles(rules), key=len):
        print("use each other:", ", ".join("/".join(place) for place in sorted(group)))
    print(f"{sum(map(len, rules.values()))} uses between folders, each of them allowed")


main()
