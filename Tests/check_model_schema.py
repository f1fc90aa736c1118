#!/usr/bin/env python3
"""Validates model files against Models/model.schema.json with PyPI's jsonschema.

Files under Models/, files in folders named `Good` and repaired samples must be valid; samples whose code a schema can
see must be invalid. If jsonschema is missing, pip puts it into .build/python.
"""
import importlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = ROOT / "Tests/TrellisModelFileTests/Cases"

# What a schema can see: the shape of the file, not whether its names lead anywhere.
SCHEMA_CODES = [
    "bad-count", "bad-name", "composite-grammar", "composite-options", "derived-words", "empty-composite", "empty-enum",
    "missing-key", "name-clash", "reserved-case", "scalar-forms", "stored-derivations", "unknown-key", "unknown-word", "wrong-type",
    "unknown-type", "history-grammar", "sync-grammar",
]


def load_jsonschema():
    try:
        return importlib.import_module("jsonschema")
    except ImportError:
        target = ROOT / ".build/python"
        sys.path.insert(0, str(target))
    try:
        return importlib.import_module("jsonschema")
    except ImportError:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target), "jsonschema"]
        subprocess.run(command, check=True)
        importlib.invalidate_caches()
        return importlib.import_module("jsonschema")


def valid_files():
    files = list((ROOT / "Models").glob("**/*.model.json"))
    files += (ROOT / "Tests").glob("**/Good/*.model.json")
    files += CASES.glob("*/repaired.model.json")
    return sorted(file for file in files if ".build" not in file.parts)


def invalid_files():
    files = [CASES / code / "broken.model.json" for code in SCHEMA_CODES]
    files += (ROOT / "Tests").glob("**/Broken-schema/*.model.json")
    return sorted(file for file in files if file.exists() and ".build" not in file.parts)


def main():
    jsonschema = load_jsonschema()
    schema = json.loads((ROOT / "Models/model.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    passed = failed = 0
    for files, should_be_valid in ((valid_files(), True), (invalid_files(), False)):
        if not files:
            print("no files to check: the search has lost its folders")
            failed += 1
        for file in files:
            errors = list(validator.iter_errors(json.loads(file.read_text(encoding="utf-8"))))
            if (not errors) == should_be_valid:
                passed += 1
                continue
            failed += 1
            print(f"{file.relative_to(ROOT)}: " + ("should be invalid, but is valid" if not errors else "should be valid"))
            for error in errors[:5]:
                print(f"  {'/'.join(map(str, error.absolute_path))}: {error.message}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
