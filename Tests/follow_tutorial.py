#!/usr/bin/env python3
"""Follows Docs/Tutorial.md in a new package outside of the repository: writes the files of the page, runs its commands, and compares
what they print with the page.

    python3 Tests/follow_tutorial.py            with the modules that are built already, in .build
    python3 Tests/follow_tutorial.py --record   writes what the commands print into the page

A block of Swift or JSON is the file that the text before it names last. In a block of a console, lines that begin with `$ ` are
commands, and what follows is their output; what stands after `>` in it is typed. Each date of the page is read
as today's.
"""

import datetime
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "Docs", "Tutorial.md")
BUILD = os.path.join(ROOT, ".build")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.M | re.S)
QUESTION = re.compile(r"^(\w+ \([^\n]*\) >)(?: ([^\n]*))?\n", re.M)
# The folder of the diary on the page.
HOME = "/home/me/my-diary"
DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")


class Follower:
    """A reader who does what the page says, in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.files = self.commands = 0
        self.differences = []

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            # On the page, the folder of Trellis is beside that of the diary.
            file.write(text.replace('.package(path: "../trellis")', f'.package(name: "trellis", path: "{ROOT}")'))
        self.files += 1

    def console(self, block):
        """The block with what its commands print now."""
        shown = ""
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, expected = part.partition("\n")
            expected = DATE.sub(datetime.date.today().isoformat(), expected)
            printed = self.run(line, [answer for _, answer in QUESTION.findall(expected)])
            if printed != expected:
                self.differences.append(f"$ {line}\nthe page shows\n{expected}and this is printed\n{printed}")
            shown += f"$ {line}\n{printed}"
            self.commands += 1
        return shown

    def run(self, line, answers):
        """What a command shows in a terminal, where the answers that are typed appear as well."""
        words = shlex.split(line)
        if words[:2] != ["swift", "run"]:
            sys.exit(f"the page has the command '{line}', which is not followed here")
        command = ["swift", "run", "--scratch-path", BUILD, *words[2:]]
        typed = "".join(answer + "\n" for answer in answers)
        # SwiftPM itself crashes now and then; the programs of the page end with 0 or 1.
        for _ in range(2):
            done = subprocess.run(command, cwd=self.folder, input=typed, capture_output=True, encoding="utf-8")
            if done.returncode in (0, 1):
                break
        if done.returncode not in (0, 1) or "error: " in done.stderr:
            sys.exit(f"$ {line}\n{done.stdout}{done.stderr}")
        printed = done.stdout.replace(os.path.realpath(self.folder), HOME)
        waiting = iter(answers)
        return re.sub("> ", lambda _: f"> {next(waiting, '')}".rstrip() + "\n", printed) if answers else printed


def forget_plan():
    """SwiftPM takes the plan of the package that was built last in a folder for that of the next one."""
    plan = os.path.join(BUILD, "debug.yaml")
    if os.path.exists(plan):
        os.remove(plan)


def main():
    with open(PAGE, encoding="utf-8") as page:
        text = page.read()
    prose, shown = "", ""
    with tempfile.TemporaryDirectory() as folder:
        follower = Follower(folder)
        forget_plan()
        parts = BLOCK.split(text)
        for prose, language, block in zip(parts[0::3], parts[1::3] + [None], parts[2::3] + [None]):
            shown += prose
            if block is None:
                continue
            if language == "console":
                block = follower.console(block)
            elif language:
                name = re.search(r"`([\w/.-]+)`[^`]*\n\n$", prose)
                if not name:
                    sys.exit(f"the page does not say which file this is:\n{block}")
                follower.write(name[1], block)
            shown += f"```{language}\n{block}```\n"
        forget_plan()
    if sys.argv[1:] == ["--record"] and follower.differences:
        with open(PAGE, "w", encoding="utf-8") as page:
            page.write(shown)
    if follower.differences or follower.files < 8 or follower.commands < 10:
        print("\n".join(follower.differences))
        sys.exit(f"{len(follower.differences)} outputs differ; {follower.files} files, {follower.commands} commands")
    print(f"{follower.files} files, {follower.commands} commands, as the page shows")


main()
