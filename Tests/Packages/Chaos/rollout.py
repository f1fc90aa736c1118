"""Versions of the model that follow each other on one server, while programs of both work.

Version 2 adds to version 1; version 3 takes something away. A calm pass measures how long calls wait while the store is
migrated. In a rough pass programs are killed, sessions ended and the server restarted all the time.
"""

import argparse
import random
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

import clients
import report
from ledger import Journals
from report import Fault
from server import Server

PACKAGES = {"setpriv": "util-linux", "psql": "postgresql-client"}

# What Docs/Rollouts.md lets happen: a former program deletes what an object refers to that it does not know.
CALM_CODES = {("delete", "refused-by-server")}
# What Docs/PostgreSQL.md names for a server that is away for a moment.
ROUGH_CODES = {"cannot-open", "input-output", "busy"}


class Fleet:
    """Programs of several versions, each of which has its own name."""

    def __init__(self, server: Server, journals: Path, options: list[str]):
        self._server = server
        self._journals = journals
        self._options = options
        self._count = 0
        self.running: list[clients.Client] = []
        self.killed: set[str] = set()
        self.unfinished: list[str] = []
        # The disturbances use it from a thread of their own.
        self.lock = threading.Lock()

    def start(self, version: int) -> clients.Client:
        with self.lock:
            return self._start(version)

    def _start(self, version: int) -> clients.Client:
        self._count += 1
        client = clients.Client(
            f"v{version}-{self._count}", self._server.url, self._journals, self._options, version)
        self.running.append(client)
        return client

    def finish_one(self, version: int) -> None:
        """Ends a program as a deployment does."""
        with self.lock:
            client = next(client for client in self.running if client.version == version)
            self.running.remove(client)
        if not client.finish(240):
            self.unfinished.append(client.name)

    def kill_one(self, random_numbers: random.Random) -> str:
        """Kills a program and starts it anew, as a supervisor does."""
        with self.lock:
            if not self.running:
                return ""
            client = random_numbers.choice(self.running)
            self.running.remove(client)
            client.kill()
            self.killed.add(client.name)
            self._start(client.version)
            return client.name

    def wait_until_open(self, client: clients.Client, seconds: float = 1_200) -> tuple[float, float]:
        """The time at which a program began to open the store, and the time at which it had."""
        path = self._journals / f"{client.name}.journal"
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if path.exists():
                for line in path.read_text().splitlines():
                    words = line.split("\t")
                    if words[1:2] == ["open"] and words[3] == "acknowledged":
                        done = float(words[0])
                        return done - float(words[5]) / 1_000, done
            if client.name in self.killed:
                return time.time(), time.time()
            time.sleep(0.05)
        raise RuntimeError(f"{client.name} did not open the store")

    def finish_all(self) -> None:
        with self.lock:
            self.unfinished += clients.finish_all(self.running, 300)
            self.running = []


class Disturbances:
    """What goes wrong in a rough pass, until it is told to stop."""

    def __init__(self, server: Server, fleet: Fleet, random_numbers: random.Random):
        self._server = server
        self._fleet = fleet
        self._random = random_numbers
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.faults: list[Fault] = []
        self.error: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._is_over.wait(self._random.uniform(0.5, 3)):
                kind = self._random.choices(
                    ("session ended", "all sessions ended", "program killed", "server restarted fast",
                     "server restarted at once"), weights=(8, 2, 5, 3, 3))[0]
                fault = Fault(kind, time.time())
                self.faults.append(fault)
                self._make(kind)
                fault.end = time.time()
        except Exception as error:  # It is told at the end of the pass.
            self.error = error

    def _make(self, kind: str) -> None:
        match kind:
            case "session ended" | "all sessions ended":
                most = "LIMIT 1" if kind == "session ended" else ""
                self._server.psql(
                    "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity "
                    f"WHERE application_name = 'trellis' ORDER BY random() {most}) AS sessions")
            case "program killed": self._fleet.kill_one(self._random)
            case "server restarted fast": self._server.restart("fast")
            case "server restarted at once": self._server.restart("immediate")


class Pass:
    """One rollout from version 1 to version 3."""

    def __init__(self, arguments: argparse.Namespace, is_rough: bool):
        self._arguments = arguments
        self._is_rough = is_rough
        self._random = random.Random(arguments.seed + is_rough)
        self.server = Server()
        self.journals = self.server.folder / "journals"
        self.journals.mkdir()
        options = ["--workers", str(arguments.workers), "--connections", str(arguments.connections),
                   "--timeout", str(arguments.timeout), "--pause", str(arguments.pause)]
        self.fleet = Fleet(self.server, self.journals, options)
        self.disturbances = Disturbances(self.server, self.fleet, self._random)
        self.migrations: list[tuple[str, float, float]] = []
        self.findings: list[str] = []
        self.interrupted = 0

    def run(self) -> None:
        clients.copy_programs(self.server.folder / "programs", [1, 2, 3])
        self.server.start()
        clients.call("prepare", self.server.url, 1)
        self._fill()
        for _ in range(self._arguments.clients):
            self.fleet.wait_until_open(self.fleet.start(1))
        if self._is_rough:
            self.disturbances.start()
        self._load()
        self._interrupt(2)
        self._migrate("an additive one, beside version 1", 2)
        self._load()
        self._replace(1, 2)
        self._load()
        print("  version 2 is taken back", flush=True)
        self._replace(2, 1, ahead=0)
        self._load()
        self._migrate("none, version 2 again", 2)
        self._replace(1, 2)
        self._load()
        self._migrate("one that waits, beside version 2", 3)
        self._load()
        self._check_columns()
        self._replace(2, 3)
        self._load()
        self._interrupt(3)
        self._migrate("the one that has waited", 3)
        self._load()
        self.disturbances.stop()
        if self.disturbances.error is not None:
            raise self.disturbances.error
        # The last opening of all migrates for certain.
        self.fleet.wait_until_open(self.fleet.start(3))
        time.sleep(2)
        self.fleet.finish_all()
        clients.call("open", self.server.url, 3)
        if "note" in self._columns():
            self.findings.append("the column of the removed attribute is there")

    def _load(self) -> None:
        time.sleep(self._arguments.load)

    def _fill(self) -> None:
        rows = self._arguments.rows
        if rows == 0:
            return
        self.server.psql(
            f"WITH keys AS (UPDATE shop._keys SET next = next + {rows} RETURNING next - {rows} AS first) "
            'INSERT INTO shop."Item" (_id, _version, key, note, shelf) '
            "SELECT first + n, 1, 'filler.' || n, repeat('x', 60), "
            '(SELECT min(_id) FROM shop."Shelf") + n % 20 FROM keys, '
            f"generate_series(0, {rows} - 1) AS n; ANALYZE;")

    def _columns(self) -> list[str]:
        return self.server.psql(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'shop.\"Item\"'::regclass AND attnum > 0 "
            "AND NOT attisdropped").split()

    def _migrate(self, what: str, version: int) -> None:
        """Starts the first program of a version, and notes how long it takes."""
        start, end = self.fleet.wait_until_open(self.fleet.start(version))
        self.migrations.append((what, start, end))
        print(f"  version {version} opened the store in {end - start:.2f} s: {what}", flush=True)

    def _interrupt(self, version: int) -> None:
        """Kills programs while they migrate the store."""
        for _ in range(5 if self._is_rough else 0):
            opening = subprocess.Popen(
                [str(clients.program(version)), "open", "--url", self.server.url], stderr=subprocess.DEVNULL)
            # Half of them in the time that an opening without a migration takes.
            time.sleep(self._random.choice((0.1, self._arguments.rows / 200_000)) * self._random.random() + 0.03)
            opening.kill()
            self.interrupted += opening.wait() != 0

    def _replace(self, former: int, newer: int, ahead: int = 1) -> None:
        """Replaces programs one by one. Some of the newer version are there already."""
        count = sum(client.version == former for client in self.fleet.running)
        for number in range(count):
            if number >= ahead:
                self.fleet.wait_until_open(self.fleet.start(newer))
            self.fleet.finish_one(former)
            time.sleep(0.5)

    def _check_columns(self) -> None:
        """What each version writes, before one column goes."""
        for what, condition in (
                ("a note of versions 1 and 2", "key ~ '^v[12]-' AND note IS DISTINCT FROM key"),
                ("a weight of versions 2 and 3", "key ~ '^v[23]-' AND weight IS DISTINCT FROM length(key)"),
                ("the default of what version 1 has inserted", "key ~ '^v[12]-' AND state IS DISTINCT FROM 'new'"),
                ("a state of version 3", "key ~ '^v3-' AND state IS DISTINCT FROM 'complete'"),
                ("the default of former rows", "key LIKE 'filler.%' AND state IS DISTINCT FROM 'new'")):
            try:
                count = self.server.psql(f'SELECT count(*) FROM shop."Item" WHERE {condition}')
            except RuntimeError:
                # The server is away for a moment.
                time.sleep(5)
                count = self.server.psql(f'SELECT count(*) FROM shop."Item" WHERE {condition}')
            if count != "0":
                self.findings.append(f"{count} rows without {what}")

    def surprises(self, journals: Journals) -> list[str]:
        """Refusals that no page names."""
        found = []
        for name, call in [*journals.calls.items(), *((call.program, call) for call in journals.openings)]:
            if call.outcome != "refused" or (call.kind, call.code) in CALM_CODES:
                continue
            if self._is_rough and call.code in ROUGH_CODES:
                continue
            found.append(f"{name} {call.kind}: {call.code} {call.message[:200]}")
        return found

    def print_waits(self, journals: Journals) -> None:
        lines = []
        for what, start, end in self.migrations:
            call = journals.longest_call(start, end)
            text = f"opened in {end - start:7.2f} s"
            if call is not None:
                text += f", longest call meanwhile {call.milliseconds / 1_000:7.3f} s ({call.kind}, {call.program})"
            lines.append((what, text))
        if self._is_rough:
            lines.append(("openings that were killed", str(self.interrupted)))
        report.rows("migrations", lines)

    def stop(self) -> None:
        self.disturbances.stop()
        for client in self.fleet.running:
            if client.is_running:
                client.kill()
        self.server.stop()


def run(arguments: argparse.Namespace, stored, conclude) -> int:
    status = 0
    home = clients.folder
    for is_rough in (False, True):
        if arguments.passes == ("calm" if is_rough else "rough"):
            continue
        clients.folder = home
        rollout = Pass(arguments, is_rough)
        print(f"\n=== {'rough' if is_rough else 'calm'} rollout, seed {arguments.seed}, {arguments.rows} rows, "
              f"folder {rollout.server.folder}", flush=True)
        own = 1
        try:
            rollout.run()
            contents, from_sql = stored(rollout.server.psql, "shop", rollout.server.url, 3)
            journals = Journals().read(rollout.journals)
            own = conclude(journals, rollout.disturbances.faults, contents, from_sql, False, rollout.fleet.unfinished)
            rollout.print_waits(journals)
            surprises = rollout.surprises(journals)
            if surprises:
                counts = Counter(" ".join(text.split(" ")[1:3]) for text in surprises)
                print(f"\nrefusals that no page names: {dict(counts)}")
                for text in surprises[:12]:
                    print(f"  {text}")
            for finding in rollout.findings:
                print(f"finding: {finding}")
            own = own or bool(surprises or rollout.findings)
        finally:
            rollout.stop()
            if own == 0 and not arguments.keep:
                rollout.server.remove()
            else:
                print(f"logs and journals are in {rollout.server.folder}")
        status = status or own
    return int(status)
