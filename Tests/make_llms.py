#!/usr/bin/env python3
"""Writes Docs/llms.txt, the list of the pages for language models, from the tables of the README.

    python3 Tests/make_llms.py            writes it
    python3 Tests/make_llms.py --check    says whether it is current, and whether the samples of Docs/Agents.md are those of other pages

The format is that of https://llmstxt.org: a title, a summary, and lists of links.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "Docs", "llms.txt")


def text(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def plain(markdown):
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).strip()


def listing():
    readme = text("README.md")
    summary = " ".join(readme.split("\n\n")[1].split())
    parts = [
        "# Trellis", "> " + summary,
        "Begin with [Agents.md](Agents.md), which has the order of the work, samples and the rules that programs break.",
    ]
    section = readme[readme.index("## Read on"):]
    for title, table in re.findall(r"\*\*([^*]+)\*\*.*\n\n((?:\|.*\n)+)", section):
        rows = re.findall(r"\| \[Docs/([^\]]+)\]\([^)]*\) \| (.*) \|", table)
        parts.append(f"## {title}\n\n" + "\n".join(f"- [{page}]({page}): {plain(contents)}" for page, contents in rows))
    return "\n\n".join(parts) + "\n"


def samples(page):
    return [re.sub(r"\s+", " ", block) for block in re.findall(r"^```(?:swift|json)\n(.*?)^```", page, re.M | re.S)]


if sys.argv[1:] == ["--check"]:
    if text("Docs", "llms.txt") != listing():
        sys.exit("Docs/llms.txt is not what the README says: run `python3 Tests/make_llms.py`")
    others = [text("README.md")] + [
        text("Docs", name) for name in os.listdir(os.path.join(ROOT, "Docs")) if name.endswith(".md") and name != "Agents.md"]
    known = {sample for page in others for sample in samples(page)}
    strange = [sample for sample in samples(text("Docs", "Agents.md")) if sample not in known]
    if strange:
        sys.exit("these samples of Docs/Agents.md are on no other page, so no test runs them:\n" + "\n".join(strange))
else:
    with open(LIST, "w", encoding="utf-8") as file:
        file.write(listing())
