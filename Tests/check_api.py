#!/usr/bin/env python3
"""Compares the public declarations with those in Tests/api.txt, and fails if one of them has no doc comment.

    python3 Tests/check_api.py            after `swift build`
    python3 Tests/check_api.py --write    writes Tests/api.txt anew; name a changed or removed declaration in Docs/Changelog.md

The list is made by the toolchain's `swift symbolgraph-extract`. Declarations for generated code (`@_spi(Generated)`) are no
part of it.
"""

import difflib
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASELINE = os.path.join(ROOT, "Tests", "api.txt")
MODULES = ["TrellisModel", "TrellisStorage", "TrellisJSON", "TrellisCSV", "TrellisRuntime", "TrellisUI", "TrellisFoundationPredicates", "TrellisStoreTesting", "TrellisTesting", "TrellisCoreData", "TrellisAdoption", "TrellisPostgres", "TrellisPostgresAdoption", "TrellisTimeTravel", "TrellisSync", "TrellisLinkedSQLite"]


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def symbols(module, build, target, folder):
    """The public declarations of a module, with those that extend types of other modules."""
    output(
        "swift", "symbolgraph-extract", "-module-name", module, "-I", os.path.join(build, "Modules"), "-Xcc",
        "-fmodule-map-file=" + os.path.join(build, "CDigest.build", "module.modulemap"), "-Xcc",
        "-fmodule-map-file=" + os.path.join(build, "CSQLite.build", "module.modulemap"), "-Xcc",
        "-fmodule-map-file=" + os.path.join(build, "CLinkedSQLite.build", "module.modulemap"), "-Xcc",
        "-I" + os.path.join(ROOT, "Sources", "CSQLiteFunctions", "include"), "-Xcc",
        "-fmodule-map-file=" + os.path.join(build, "CPQ.build", "module.modulemap"), "-target", target,
        "-output-dir", folder, "-minimum-access-level", "public", "-skip-synthesized-members")
    for name in sorted(os.listdir(folder)):
        if name.split("@")[0].removesuffix(".symbols.json") == module:
            with open(os.path.join(folder, name), encoding="utf-8") as graph:
                yield from json.load(graph)["symbols"]


def main():
    build = output("swift", "build", "--show-bin-path").strip()
    target = json.loads(output("swift", "-print-target-info"))["target"]["triple"]
    lines, undocumented = set(), []
    with tempfile.TemporaryDirectory() as folder:
        for module in MODULES:
            for symbol in symbols(module, build, target, folder):
                path = ".".join(symbol["pathComponents"])
                text = "".join(part["spelling"] for part in symbol["declarationFragments"])
                lines.add(f"{module} {path}: {' '.join(text.split())}")
                # What a protocol of Swift's asks for is documented there.
                if "docComment" not in symbol and "::SYNTHESIZED::" not in symbol["identifier"]["precise"]:
                    undocumented.append(f"{module} {path}")
    lines = sorted(lines)
    if "--undocumented" in sys.argv:
        print("\n".join(sorted(undocumented)))
    if "--write" in sys.argv:
        with open(BASELINE, "w", encoding="utf-8") as baseline:
            baseline.write("\n".join(lines) + "\n")
        print(f"{len(lines)} public declarations, {len(undocumented)} without a comment of their own")
        return
    with open(BASELINE, encoding="utf-8") as baseline:
        before = baseline.read().splitlines()
    changes = [line for line in difflib.unified_diff(before, lines, n=0, lineterm="")
               if not line.startswith(("---", "+++", "@@"))]
    if changes:
        print("\n".join(changes))
        sys.exit("The public declarations have changed. If they should, run `python3 Tests/check_api.py --write`, and name "
                 "what programs have to change in Docs/Changelog.md.")
    if undocumented:
        print("\n".join(sorted(undocumented)))
        sys.exit("These public declarations have no doc comment.")
    print(f"{len(lines)} public declarations, as in Tests/api.txt")


main()
