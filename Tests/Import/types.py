#!/usr/bin/env python3
"""Checks what `trellis types` writes, by the compilers and validators of others.

    python3 Tests/Import/types.py TRELLIS [--seed N] [--models N]

TRELLIS is the built program. Each seed is a random model with documents (generate.py), which are imported. What is exported then
must be valid by the JSON Schema of the model, and the types must compile: `tsc`, `kotlinc`, the packages `jsonschema` and
`openapi-spec-validator` of PyPI. What this machine does not have is left out, and named.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

import generate

try:
    import jsonschema
except ImportError:
    jsonschema = None
try:
    import openapi_spec_validator
except ImportError:
    openapi_spec_validator = None

# What kotlinx.serialization declares, as far as the types need it.
STUBS = {
    "Serialization.kt": """package kotlinx.serialization
@Target(AnnotationTarget.CLASS) annotation class Serializable
@Target(AnnotationTarget.PROPERTY, AnnotationTarget.VALUE_PARAMETER, AnnotationTarget.FIELD) annotation class SerialName(val value: String)
""",
    "Json.kt": "package kotlinx.serialization.json\nopen class JsonElement\n",
}


def run(*command, codes=(0,)):
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode not in codes:
        raise SystemExit(f"seed {seed}, kept in {folder}: {command} ended with {found.returncode}:\n{found.stdout}{found.stderr}")
    return found.stdout


def types(model, language, *options):
    return run(trellis, "types", str(model), "--language", language, *options)


def exported(model, documents):
    """Appends the documents of a store that has taken in what fits the model."""
    _, files = generate.make(seed)
    store = folder / "store.sqlite"
    done = {}
    for number, file in enumerate(files):
        text, at = generate.document(file["form"], file["elements"])
        path = folder / f"{number}.{'ndjson' if file['form'] == 'lines' else 'json'}"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        new = [] if store.exists() else ["--model", str(model)]
        place = ["--at", at] if at else []
        run(trellis, "import-json", str(store), file["entity"], str(path), *place, *new, "--write", codes=(0, 1))
        done[file["entity"]] = None
    for entity in done:
        for nesting in ([], ["--nest", "none"]):
            documents.append((entity, json.loads(run(trellis, "export-json", str(store), entity, *nesting, codes=(0, 1)) or "[]")))


parser = argparse.ArgumentParser()
parser.add_argument("trellis")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--models", type=int, default=6)
arguments = parser.parse_args()
trellis = str(pathlib.Path(arguments.trellis).resolve())
tsc, kotlinc = shutil.which("tsc"), shutil.which("kotlinc")
for name, found in (("tsc", tsc), ("kotlinc", kotlinc), ("jsonschema", jsonschema), ("openapi-spec-validator", openapi_spec_validator)):
    if not found:
        print(f"types: left out, because this machine has no {name}")
objects = 0
for seed in range(arguments.seed, arguments.seed + arguments.models):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"types-{seed}-"))
    subprocess.run(["python3", str(pathlib.Path(__file__).parent / "generate.py"), str(seed), str(folder)], check=True, capture_output=True)
    model = folder / "Random.model.json"
    documents = []
    exported(model, documents)
    if jsonschema:
        for entity, elements in documents:
            schema = json.loads(types(model, "json-schema", "--entity", entity))
            jsonschema.Draft202012Validator.check_schema(schema)
            faults = list(jsonschema.Draft202012Validator(schema).iter_errors(elements))
            if faults:
                deepest = jsonschema.exceptions.best_match(faults)
                raise SystemExit(f"seed {seed}, kept in {folder}: {entity}: {deepest.json_path}: {deepest.message[:600]}")
            objects += len(elements)
    if openapi_spec_validator:
        openapi_spec_validator.validate(json.loads(types(model, "openapi")))
    if tsc:
        (folder / "types.ts").write_text(types(model, "typescript"))
        run(tsc, "--strict", "--noEmit", str(folder / "types.ts"))
    if kotlinc and seed < arguments.seed + 2:
        for name, text in {**STUBS, "Types.kt": types(model, "kotlin")}.items():
            (folder / name).write_text(text)
        run(kotlinc, *[str(folder / name) for name in (*STUBS, "Types.kt")], "-d", str(folder / "types.jar"))
    shutil.rmtree(folder)
print(f"types: seeds {arguments.seed} to {seed}, {objects} objects are valid")
