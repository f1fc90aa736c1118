#!/usr/bin/env python3
"""Compares the bytes of object code that the compiler has emitted for each module with those in Tests/weight.json.

    python3 Tests/check_weight.py            after `swift build`; fails if a module differs by more than 2 percent
    python3 Tests/check_weight.py --write    writes Tests/weight.json anew

The time of a first build goes with these bytes, and they are the same on a busy machine. A module whose name ends in `-tool` is the
copy that the build tool is made of, which programs that use the plugin compile as well.
"""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RECORD = os.path.join(ROOT, "Tests", "weight.json")
ALLOWED_PERCENT = 2
# Objects contain the path of the package a few times, so small modules differ from folder to folder.
ALLOWED_BYTES = 30_000
LIBRARY = ["TrellisModel", "TrellisStorage", "TrellisRuntime", "Trellis"]
TOOL = ["TrellisModel-tool", "TrellisModelFile-tool", "TrellisGenerator-tool", "trellis_gen-tool"]
BESIDE = ["TrellisModelFile", "TrellisJSON", "TrellisCSV", "TrellisPostgres", "TrellisFoundationPredicates", "TrellisUI", "TrellisStoreTesting", "TrellisTesting", "TrellisForeignFiles", "TrellisCoreData", "TrellisTimeTravel", "TrellisAdoption", "TrellisPostgresAdoption", "TrellisDynamic", "TrellisSync", "TrellisBrowser", "TrellisDiagram", "TrellisTool"]
FOLDERS = {"trellis_gen": "trellis-gen", "TrellisTool": "trellis-tool"}


def sources(module):
    """The names of a module's files; objects of files that were removed stay in the folder of a build."""
    name = module.removesuffix("-tool")
    folder = os.path.join(ROOT, "Sources", FOLDERS.get(name, name))
    return {file for _, _, files in os.walk(folder) for file in files if file.endswith(".swift")}


def emitted(build, module):
    """The bytes of a module's objects."""
    folder = os.path.join(build, module + ".build")
    if not os.path.isdir(folder):
        sys.exit(f"{folder} is not there. Run `swift build` first.")
    known = sources(module)
    return sum(
        entry.stat().st_size for entry in os.scandir(folder)
        if entry.name.endswith(".swift.o") and entry.name.removesuffix(".o") in known)


def main():
    build = subprocess.run(
        ["swift", "build", "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    now = {module: emitted(build, module) for module in LIBRARY + TOOL + BESIDE}
    if "--write" in sys.argv:
        with open(RECORD, "w", encoding="utf-8") as record:
            json.dump(now, record, indent=1)
            record.write("\n")
    with open(RECORD, encoding="utf-8") as record:
        before = json.load(record)
    faults = []
    for module, count in now.items():
        recorded = before.get(module, 0)
        percent = 100 * (count - recorded) / recorded if recorded else 100
        print(f"{count / 1e6:7.2f} MB  {module}" + (f"  {percent:+.1f} %" if abs(percent) >= 0.05 else ""))
        if abs(percent) > ALLOWED_PERCENT and abs(count - recorded) > ALLOWED_BYTES:
            faults.append(f"{module} emits {count:,} bytes, {percent:+.1f} % since the record.")
    library, tool = (sum(now[module] for module in group) for group in (LIBRARY, TOOL))
    print(f"{library / 1e6:7.2f} MB  a program without the plugin, {(library + tool) / 1e6:.2f} MB one with it, besides its own code")
    if faults:
        sys.exit("\n".join(faults) + "\nIf this is wanted, record it: python3 Tests/check_weight.py --write")


if __name__ == "__main__":
    main()
