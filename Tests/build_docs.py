#!/usr/bin/env python3
"""Builds the documentation: the pages in Docs/ and the public declarations, as a DocC archive.

    python3 Tests/build_docs.py [FOLDER]    after `swift build`; the archive lies in FOLDER, or nowhere after the check

A warning of DocC's is an error: a link that leads nowhere, a parameter without its text. The pages stay as GitHub shows them;
their links are rewritten for DocC in a copy. All modules are shown as one, since programs import only `Trellis`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULES = ["TrellisModel", "TrellisStorage", "TrellisJSON", "TrellisCSV", "TrellisRuntime", "TrellisUI", "TrellisFoundationPredicates", "TrellisStoreTesting", "TrellisTesting", "TrellisCoreData", "TrellisAdoption", "TrellisPostgres", "TrellisPostgresAdoption", "TrellisTimeTravel", "TrellisSync", "TrellisLinkedSQLite"]
GROUPS = [
    ("First steps", ["Tutorial"]),
    ("How-to", [
        "GeneratedCode", "Fetching", "Dates", "Values", "Derived", "Searching", "Validation", "ChildContexts", "Undo",
        "LiveResults", "Screens", "Conflicts", "History", "Sync", "SyncConflicts", "ImportingJSON", "ImportingCSV", "OtherLanguages", "Migration", "MigrationSteps", "Rehearsing",
        "ExternalStorage", "Extensions", "Testing", "Integrations", "Xcode", "Rollouts", "Sharding", "WritingAStore", "Adopting",
        "ComingFromCoreData", "ComingFromSwiftData", "MCP", "Agents",
    ]),
    ("Reference", [
        "ModelFile", "ModelErrors", "Predicates", "Relationships", "DeleteRules", "Tool", "SQLite", "Encryption", "PostgreSQL",
        "JSONStore", "SyncProtocol", "Limits", "Platforms", "Releases", "Changelog",
    ]),
    ("Explanation", ["Reliability", "Performance"]),
]
# The pages for those who change the code: all of this folder, in the order of their names after the first one.
INSIDE, FIRST = "Contributing/", "Contributing/Architecture"
# DocC has no two entries of one name. Pages with the name of a type have another one there.
OTHER_NAMES = {"LiveResults": "LiveResultsGuide"}


def article(page):
    return OTHER_NAMES.get(page, page.replace("/", "-"))


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def headings(text):
    """The headings of a page: what GitHub calls each in a link, and what DocC does."""
    found = {}
    for line in re.sub(r"^```.*?^```", "", text, flags=re.M | re.S).splitlines():
        match = re.match(r"#+ (.*)", line)
        if not match:
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).replace("`", "").strip()
        github = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found[github] = re.sub(r"['\"]", "", re.sub(r"\s+", "-", plain))
    return found


def rewritten(text, page, pages):
    """The text of a page with links that DocC follows. Links into the repository become their text."""
    def link(match):
        words, target = match[1], match[2]
        if re.match(r"https?:", target):
            return match[0]
        path, _, anchor = target.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(page), path))[:-len(".md")] if path else page
        if path.endswith("README.md"):
            return f"[{words}](doc:Trellis)"
        if name not in pages or (path and not path.endswith(".md")):
            return words
        if not anchor:
            return f"[{words}](doc:{article(name)})"
        known = pages[name][1]
        if anchor not in known:
            sys.exit(f"Docs/{page}.md links to {target}, which has no such heading.")
        return f"[{words}](doc:{article(name)}#{known[anchor]})"

    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(
        part if part.startswith("```") else re.sub(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)", link, part)
        for part in parts)


def check_names(pages):
    """Fails if a page for those who change the code names a file, a folder, a type or a member that is not there."""
    words, paths = set(), []
    for top in ("Sources", "Plugins", "Tests", "Models", "Docs"):
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders[:] = [name for name in folders if not name.startswith(".")]
            paths.append(folder + "/")
            for name in files:
                paths.append(os.path.join(folder, name))
                words.update(re.findall(r"\w+", name))
                if name.endswith((".swift", ".c", ".h")):
                    with open(os.path.join(folder, name), encoding="utf-8") as source:
                        words.update(re.findall(r"\w+", source.read()))
            words.add(os.path.basename(folder))
    for page, (text, _) in pages.items():
        named = re.findall(r"`((?:[\w+-]+/)+[\w+.-]*|[\w+]+\.swift)`", text)
        wrong = [path for path in named if not any(path in p for p in paths)]
        named = [word for code in re.findall(r"`(\w+(?:\.\w+)*)`", text) for word in code.split(".")]
        wrong += [word for word in named if re.match(r"[A-Z]|[a-z]+[A-Z]", word) and word not in words]
        if wrong:
            sys.exit(f"Docs/{page}.md names what is not there: {', '.join(sorted(set(wrong)))}.")


def read_pages():
    """The pages of Docs/, by their path without the ending: the text, and the headings."""
    pages, docs = {}, os.path.join(ROOT, "Docs")
    for folder, folders, files in os.walk(docs):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".md"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as page:
                    text = page.read()
                pages[os.path.relpath(path, docs)[:-len(".md")].replace(os.sep, "/")] = (text, headings(text))
    return pages


def write_pages(folder):
    pages = read_pages()
    inside = {name: page for name, page in pages.items() if name.startswith(INSIDE)}
    groups = GROUPS + [("Work on Trellis", sorted(inside, key=lambda name: (name != FIRST, name)))]
    grouped = {name for _, names in groups for name in names}
    if grouped != set(pages):
        sys.exit(f"Tests/build_docs.py and Docs/ differ in {', '.join(sorted(grouped ^ set(pages)))}.")
    check_names(inside)
    for name, (text, _) in pages.items():
        with open(os.path.join(folder, article(name) + ".md"), "w", encoding="utf-8") as page:
            page.write(rewritten(text, name, pages))
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as readme:
        start = readme.read()
    missing = [name for name in pages if start.count(f"| [Docs/{name}.md](Docs/{name}.md) |") != 1]
    if missing:
        sys.exit(f"The index in README.md does not list each page once: {', '.join(missing)}.")
    summary = " ".join(start.split("\n\n")[1].split())
    with open(os.path.join(folder, "Trellis.md"), "w", encoding="utf-8") as landing:
        landing.write(f"# ``Trellis``\n\n{summary}\n\n## Topics\n")
        for title, names in groups:
            landing.write(f"\n### {title}\n\n" + "".join(f"- <doc:{article(name)}>\n" for name in names))


def write_symbols(folder):
    """The symbol graphs of the modules, all of them in the name of one."""
    build = output("swift", "build", "--show-bin-path").strip()
    target = json.loads(output("swift", "-print-target-info"))["target"]["triple"]
    for module in MODULES:
        output(
            "swift", "symbolgraph-extract", "-module-name", module, "-I", os.path.join(build, "Modules"), "-Xcc",
            "-fmodule-map-file=" + os.path.join(build, "CDigest.build", "module.modulemap"), "-Xcc",
            "-fmodule-map-file=" + os.path.join(build, "CSQLite.build", "module.modulemap"), "-Xcc",
            "-fmodule-map-file=" + os.path.join(build, "CLinkedSQLite.build", "module.modulemap"), "-Xcc",
            "-I" + os.path.join(ROOT, "Sources", "CSQLiteFunctions", "include"), "-Xcc",
            "-fmodule-map-file=" + os.path.join(build, "CPQ.build", "module.modulemap"), "-target", target,
            "-output-dir", folder, "-minimum-access-level", "public", "-skip-synthesized-members")
    for number, name in enumerate(sorted(os.listdir(folder))):
        path = os.path.join(folder, name)
        with open(path, encoding="utf-8") as graph:
            content = json.load(graph)
        content["module"]["name"] = "Trellis"
        extended = name.removesuffix(".symbols.json").partition("@")[2]
        os.remove(path)
        # What one module adds to a type of another one belongs to that type.
        ending = f"@{extended}" if extended and extended not in MODULES else ""
        with open(os.path.join(folder, f"Trellis{ending}-{number}.symbols.json"), "w", encoding="utf-8") as graph:
            json.dump(content, graph)


def main():
    with tempfile.TemporaryDirectory() as home:
        catalogue, graphs = os.path.join(home, "Trellis.docc"), os.path.join(home, "graphs")
        archive = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(home, "Trellis.doccarchive")
        os.mkdir(catalogue)
        os.mkdir(graphs)
        write_pages(catalogue)
        write_symbols(graphs)
        result = subprocess.run(
            ["docc", "convert", catalogue, "--fallback-display-name", "Trellis", "--fallback-bundle-identifier", "trellis",
             "--additional-symbol-graph-dir", graphs, "--output-path", archive, "--warnings-as-errors"],
            capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(result.stdout + result.stderr)
        pages = sum(len(files) for _, _, files in os.walk(os.path.join(archive, "data", "documentation")))
        print(f"{pages} pages, no warning")


main()
