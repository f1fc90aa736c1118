#!/usr/bin/env python3
"""Breaks the object graph on purpose, one condition or call at a time, and prints which test notices each.

    python3 Tests/mutate.py FOLDER [--seed N] [--count N] [--minutes N] [--workers N] [--list]

FOLDER is made, gets a copy of the sources, and keeps the builds and results, so that a second run goes on where the first one ended.

A mutant leaves out a call, an early exit, or the condition of a guard in the files that decide what a merge, an undo, a rollback or
a child's save does. All mutants are compiled at once, each behind a comparison with the environment variable TRELLIS_MUTANT; what does
not compile is taken back. --list prints the results so far and runs nothing.

A mutant that survives is either a statement that changes nothing but the speed, or a rule that no test has.
"""

import argparse
import collections
import glob
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TESTS = "TrellisGraphTests"
FILES = """
Children/ChildSave Deleting/Undeleting Links/Couples Links/Hiding Links/MemberList Links/MemberOrder Links/Pairs Links/Positions
Links/References Links/ReinsertedObjects Links/StaleViews Links/UnsavedLinks Merging/Merging Merging/Rollback Merging/RowMerge
Merging/Settling Undo/ChangeReverter
""".split()

# The package with these tests and what they need, since that of all tests takes long to build with optimisation.
REDUCTION = """
do {
  var kept: Set<String> = []
  var left = ["%s", "trellis-gen"]
  while let name = left.popLast() {
    guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): left.append(name)
      default: break
      }
    }
  }
  package.targets = package.targets.filter { kept.contains($0.name) || $0.name == "TrellisPlugin" }
  package.products = []
}
""" % TESTS

SWITCH = """import Foundation

let mutantNumber = Int(ProcessInfo.processInfo.environment["TRELLIS_MUTANT"] ?? "") ?? 0
@inline(never) func isMutant(_ number: Int) -> Bool { mutantNumber == number }
"""

Mutant = collections.namedtuple("Mutant", "number file line kind text")

# MARK: - Making


def is_plain(condition):
    """Whether a condition binds nothing, has no parts behind commas, and throws nothing."""
    outer = re.sub(r"\([^()]*\)|\{[^{}]*\}", "", condition)
    return not re.search(r"\b(let|case|var|try)\b", condition) and ", " not in outer


def mutated(line, before, after):
    """The kind of a line's mutant and the line with it, in which NUMBER stands for the mutant's; None if the line has none."""
    text = line.strip()
    indent = line[:len(line) - len(line.lstrip())]
    if len(indent) < 4 or text.startswith(("//", "@")) or before.endswith((",", "(", "=", "&&", "||", "?", ":")):
        return None
    if found := re.match(r"if (.+) \{( .*\})?$", text):
        if is_plain(found[1]) and not text.startswith("if #"):
            return "if", f"{indent}if !isMutant(NUMBER), {text[3:]}"
    elif found := re.match(r"guard (.+) else \{(.*)$", text):
        if is_plain(found[1]):
            return "guard", f"{indent}guard isMutant(NUMBER) || ({found[1]}) else {{{found[2]}"
    elif re.match(r"(try )?[\w.?]+(\([^{}]*\)|\[[^{}]*\])?\.?[\w.]*\([^{}]*\)$", text):
        is_left_out = text.startswith(("return", "throw", "super", "init", "self.init", "case ", "assert", "checkInvariants"))
        is_left_out = is_left_out or re.search(r"watch|announce|willChange|report\(|noteListChanged|reserveCapacity", text)
        if not is_left_out and not after.startswith((".", "?", "+", "&&", "||", ")")):
            return "call", f"{indent}if !isMutant(NUMBER) {{ {text} }}"
    return None


def path_of(folder, name):
    return os.path.join(folder, "Sources", "TrellisRuntime", name + ".swift")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def mutate(folder, sources, refused):
    """Writes the sources with all mutants but those that do not compile."""
    mutants = []
    for name, source in sources.items():
        lines, written = source.split("\n"), []
        for place, line in enumerate(lines):
            around = [lines[other].strip() if 0 <= other < len(lines) else "" for other in (place - 1, place + 1)]
            found = mutated(line, *around)
            # A number counts all lines, so that it stays the same if another mutant is taken back.
            number = len(FILES) * (place + 1) + FILES.index(name)
            if found and number not in refused:
                mutants.append(Mutant(number, name, place + 1, found[0], line.strip()))
                line = found[1].replace("NUMBER", str(number))
            written.append(line)
        with open(path_of(folder, name), "w", encoding="utf-8") as target:
            target.write("\n".join(written))
    with open(path_of(folder, "Mutants"), "w", encoding="utf-8") as target:
        target.write(SWITCH)
    return mutants


def build(folder):
    done = subprocess.run(["swift", "build", "--build-tests", "-Xswiftc", "-O"], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def refused_lines(folder, output):
    """The numbers of the mutants at or beside the lines of the compiler's errors."""
    numbers = set()
    for path, line in set(re.findall(r"(\S+\.swift):(\d+):\d+: error: ", output)):
        lines = read(os.path.join(folder, path)).split("\n")
        for distance in (0, -1, 1, -2, 2, -3):
            place = int(line) - 1 + distance
            if 0 <= place < len(lines) and (found := re.search(r"isMutant\((\d+)\)", lines[place])):
                numbers.add(int(found[1]))
                break
    return numbers


def make(folder):
    """The mutants of a folder, which are built if they are not yet."""
    record = os.path.join(folder, "mutants.json")
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    if os.path.exists(record):
        made = json.loads(read(record))
        if made["commit"] != commit:
            raise SystemExit(f"{folder} has the sources of another commit; remove it")
        return [Mutant(*mutant) for mutant in made["mutants"]]
    os.makedirs(folder, exist_ok=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], check=True, input=archive)
    with open(os.path.join(folder, "Package.swift"), "a", encoding="utf-8") as manifest:
        manifest.write(REDUCTION)
    sources, refused = {name: read(path_of(folder, name)) for name in FILES}, set()
    while True:
        mutants = mutate(folder, sources, refused)
        print(f"building with {len(mutants)} mutants", flush=True)
        code, output = build(folder)
        if code == 0:
            break
        more = refused_lines(folder, output) - refused
        # SwiftPM itself crashes now and then.
        if not more and code < 128:
            raise SystemExit(output[-4000:])
        refused |= more
    with open(record, "w", encoding="utf-8") as file:
        json.dump({"commit": commit, "mutants": mutants}, file)
    return mutants


# MARK: - Running

FAILURE = re.compile(r'Test "?(.*?)"? recorded an issue.*? at (\w+)\.swift')


def verdict(folder, mutant, seconds):
    """What notices a mutant; None for a survivor. The tests end at the first failure."""
    log = os.path.join(folder, "logs", str(mutant.number))
    program = glob.glob(os.path.join(folder, ".build", "debug", "*.xctest"))[0]
    environment = dict(os.environ, TRELLIS_MUTANT=str(mutant.number))
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [program, "--testing-library", "swift-testing", "--filter", TESTS], cwd=folder, stdout=output,
            stderr=subprocess.STDOUT, env=environment, start_new_session=True)
    end = time.monotonic() + seconds
    try:
        while True:
            time.sleep(0.5)
            code = process.poll()
            with open(log, encoding="utf-8", errors="replace") as output:
                text = output.read()
            if found := FAILURE.search(text):
                return found[2]
            if code is not None:
                return None if code == 0 else "a trap"
            if time.monotonic() > end:
                return "a loop without end"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def results(folder):
    path = os.path.join(folder, "results.json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {record["number"]: record for record in map(json.loads, file)}


def run(folder, mutants, arguments):
    os.makedirs(os.path.join(folder, "logs"), exist_ok=True)
    known = results(folder)
    chosen = list(mutants)
    random.Random(arguments.seed).shuffle(chosen)
    left = [mutant for mutant in chosen[:arguments.count] if mutant.number not in known][::-1]
    end, lock = time.monotonic() + 60 * arguments.minutes, threading.Lock()

    def work():
        while time.monotonic() < end:
            with lock:
                if not left:
                    return
                mutant = left.pop()
            noticed = verdict(folder, mutant, 600)
            with lock, open(os.path.join(folder, "results.json"), "a", encoding="utf-8") as file:
                file.write(json.dumps({**mutant._asdict(), "noticed": noticed}) + "\n")

    workers = [threading.Thread(target=work) for _ in range(arguments.workers)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def show(folder):
    records = sorted(results(folder).values(), key=lambda record: (record["file"], record["line"]))
    survivors = [record for record in records if not record["noticed"]]
    print(f"{len(records)} mutants, {len(survivors)} of them survive")
    for name, count in collections.Counter(record["noticed"] for record in records if record["noticed"]).most_common():
        print(f"{count:6} noticed by {name}")
    for record in survivors:
        print(f"Sources/TrellisRuntime/{record['file']}.swift:{record['line']}: survives without: {record['text']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.folder)
    if not arguments.list:
        mutants = make(folder)
        print(f"{len(mutants)} mutants, of which --seed {arguments.seed} --count {arguments.count} are chosen", flush=True)
        run(folder, mutants, arguments)
    show(folder)


if __name__ == "__main__":
    main()
