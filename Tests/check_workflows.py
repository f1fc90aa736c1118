#!/usr/bin/env python3
"""Checks the files in .github: their form, and that workflows run nothing which no script of this repository runs.

    python3 Tests/check_workflows.py

The workflows are for hosts that are not at hand here, so a wrong key or a command of their own would be found by nobody.
"""

import os
import re
import sys

try:
    import yaml
except ImportError:
    sys.exit("the files are read with PyYAML (Debian: python3-yaml)")

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, ".github")
JOB = {"runs-on", "container", "timeout-minutes", "strategy", "steps", "env", "needs", "if", "name", "permissions"}
TOP = {"name", "on", "permissions", "concurrency", "jobs", "env"}
STEP = {"uses", "with", "run", "name", "env", "if", "shell", "working-directory"}
FIELDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
# What prepares a host, and has no counterpart here.
PREPARATION = ("apt-get update", "apt-get install -y ", "xcodebuild build ")
problems = []


def text(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check(condition, place, problem):
    if not condition:
        problems.append(f"{place}: {problem}")


scripts = text(ROOT, "README.md") + text(ROOT, ".ci/run") + text(ROOT, ".ci/long")
parts = set(re.findall(r"^part (\w+)", text(ROOT, ".ci/long"), re.M))


def check_command(command, place, matrix):
    if command.startswith(PREPARATION):
        return
    program = command.split()[0]
    if program.startswith(".ci/"):
        check(os.access(os.path.join(ROOT, program), os.X_OK), place, f"{program} is no script")
        if program == ".ci/long":
            named = set(matrix.get("part", []))
            check(named <= parts, place, f".ci/long has no {', '.join(sorted(named - parts))}")
            check(named >= parts - {"participants"}, place, f"leaves out {', '.join(sorted(parts - {'participants'} - named))}")
        return
    known = command.removesuffix(" --static-swift-stdlib").removesuffix(" --product diary")
    check(known in scripts, place, f"'{command}' is in no script")


for name in sorted(os.listdir(os.path.join(FOLDER, "workflows"))):
    source = text(FOLDER, "workflows", name)
    check(re.match(r"# .*not run", source), name, "does not say at its head whether it has ever run")
    flow = yaml.safe_load(source)
    # YAML 1.1 reads the key `on` as true.
    keys = {"on" if key is True else key for key in flow}
    check(keys <= TOP and {"name", "on", "permissions", "jobs"} <= keys, name, f"has the keys {sorted(keys)}")
    for title, job in flow["jobs"].items():
        place = f"{name}, {title}"
        if "uses" in job:
            check(set(job) == {"uses", "with"}, place, f"has the keys {sorted(job)}")
            check(re.fullmatch(r"[\w.-]+/[\w.-]+/\.github/workflows/[\w.-]+\.yml@(v\d+|main)", job["uses"]), place, f"uses {job['uses']}")
            continue
        check(set(job) <= JOB and {"runs-on", "steps", "timeout-minutes"} <= set(job), place, f"has the keys {sorted(job)}")
        matrix = job.get("strategy", {}).get("matrix", {})
        used = set(re.findall(r"\$\{\{ *matrix\.(\w+)", str(job)))
        check(used <= set(matrix), place, f"uses {used - set(matrix)}, which is not in its matrix")
        for step in job["steps"]:
            check(set(step) <= STEP and len({"uses", "run"} & set(step)) == 1, place, f"has the step {step}")
            if "uses" in step:
                check(re.fullmatch(r"[\w.-]+/[\w.-]+@(v\d+|main)", step["uses"]), place, f"uses {step['uses']}")
            else:
                check_command(step["run"].strip(), place, matrix)

for name in sorted(os.listdir(os.path.join(FOLDER, "ISSUE_TEMPLATE"))):
    form = yaml.safe_load(text(FOLDER, "ISSUE_TEMPLATE", name))
    if name == "config.yml":
        check(set(form) <= {"blank_issues_enabled", "contact_links"}, name, f"has the keys {sorted(form)}")
        continue
    check({"name", "description", "body"} <= set(form), name, f"has the keys {sorted(form)}")
    names = [field.get("id") for field in form["body"]]
    check(len(names) == len(set(names)), name, "has one id twice")
    for field in form["body"]:
        check(field["type"] in FIELDS and "label" in field["attributes"], name, f"has the field {field}")

for folder, _, names in os.walk(FOLDER):
    for name in names:
        if name.endswith(".md"):
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text(folder, name)):
                check(os.path.exists(os.path.join(folder, target)), name, f"links to {target}, which is not there")

spi = yaml.safe_load(text(ROOT, ".spi.yml"))
declared = set(re.findall(r'\.(?:target|library)\(\s*name: "(\w+)"', text(ROOT, "Package.swift")))
for config in spi["builder"]["configs"]:
    for target in config["documentation_targets"]:
        check(target in declared, ".spi.yml", f"names {target}, which Package.swift does not have")

if problems:
    sys.exit("\n".join(problems))
print(f"{len(os.listdir(os.path.join(FOLDER, 'workflows')))} workflows and the other files of .github are in order")
