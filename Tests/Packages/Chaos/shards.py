#!/usr/bin/env python3
"""Four stores of one model, each with some of the tenants, on four servers that are killed while programs work on all of them.

    swift build --package-path Tests/Packages/Chaos
    Tests/Packages/Chaos/shards.py --seconds 40 --seed 7

Each store keeps what it has acknowledged. A fifth server reads all of them by foreign tables. Meanwhile the stores get the next
version of the model, one after another, and then the programs do. The status is that of `chaos.py`.
"""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import clients
import report
from cluster import DATABASE, missing_packages
from ledger import CONTENTS_SQL, FIRST_BALANCE, Contents, Journals, Ledger
from server import Server

PACKAGES = {"setpriv": "util-linux", "psql": "postgresql-client", "pgrep": "procps"}
SHARDS = 4
ACCOUNTS = 40
TABLES = ("Item", "Account", "Transfer", "_models")
# What `Docs/PostgreSQL.md` names for a server that is away for a moment.
CODES = {"cannot-open", "input-output", "busy"}


class Fleet:
    """The stores, and the programs that work on all of them."""

    def __init__(self, tenants: int, options: list[str]):
        self.folder = Path(tempfile.mkdtemp(prefix="shards."))
        self.folder.chmod(0o755)
        self.servers = [Server() for _ in range(SHARDS)]
        self.tenants = {f"t{number:02}": number % SHARDS for number in range(tenants)}
        self.directory = self.folder / "directory"
        self._options = options
        self.running: list[clients.Client] = []
        self.unfinished: list[str] = []

    def journals(self, shard: int) -> Path:
        return self.folder / f"journals{shard}"

    def start(self) -> None:
        lines = []
        for shard, server in enumerate(self.servers):
            server.start()
            clients.call("prepare", server.url)
            self.journals(shard).mkdir()
            names = [tenant for tenant, place in self.tenants.items() if place == shard]
            lines.append("\t".join([server.url, str(self.journals(shard)), *names]))
        self.directory.write_text("\n".join(lines) + "\n")

    def start_program(self, name: str, version: int) -> None:
        self.running.append(clients.Client(
            name, "", self.folder, [*self._options, "--directory", str(self.directory)], version))

    def replace_program(self, name: str, version: int) -> None:
        self.unfinished += clients.finish_all([self.running.pop(0)], 120)
        self.start_program(name, version)

    def migrate(self, shard: int, version: int, seconds: float = 60) -> int:
        """Opens a store with a version of the model, until its server is there. Returns the number of attempts."""
        end = time.monotonic() + seconds
        attempts = 1
        while True:
            try:
                clients.call("open", self.servers[shard].url, version)
                return attempts
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                attempts += 1
                time.sleep(0.3)

    def end(self) -> None:
        self.unfinished += clients.finish_all(self.running, 120)
        self.running = []

    def stop(self) -> None:
        for client in self.running:
            if client.is_running:
                client.kill()
        for server in self.servers:
            server.stop()

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        for server in self.servers:
            server.remove()


class Kills:
    """Kills one server after another, until it is told to stop. All of them are there afterwards."""

    def __init__(self, servers: list[Server], random_numbers: random.Random):
        self._servers = servers
        self._random = random_numbers
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        # When each server was away.
        self.absences: list[list[tuple[float, float]]] = [[] for _ in servers]
        self.error: Exception | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        self._thread.join()
        if self.error:
            raise self.error

    def _run(self) -> None:
        try:
            waiting: list[int] = []
            while not self._is_over.wait(self._random.uniform(0.5, 2)):
                waiting = waiting or self._random.sample(range(len(self._servers)), len(self._servers))
                shard = waiting.pop()
                start = time.time()
                self._servers[shard].kill()
                time.sleep(self._random.uniform(0.1, 1.5))
                self._servers[shard].revive()
                self.absences[shard].append((start, time.time()))
        except Exception as error:  # noqa: BLE001, raised by the thread that stops
            self.error = error


class Reports:
    """A server that has no store, and reads all of them."""

    def __init__(self, shards: list[Server]):
        self.server = Server()
        self._shards = shards

    def start(self) -> None:
        self.server.start()
        self.server.psql("CREATE EXTENSION postgres_fdw")
        for shard, server in enumerate(self._shards):
            server.psql(
                "CREATE ROLE report_reader LOGIN; GRANT USAGE ON SCHEMA shop TO report_reader;"
                "GRANT SELECT ON ALL TABLES IN SCHEMA shop TO report_reader;"
                "ALTER DEFAULT PRIVILEGES IN SCHEMA shop GRANT SELECT ON TABLES TO report_reader")
            self.server.psql(
                f"CREATE SERVER shard{shard} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', "
                f"port '{server.port}', dbname '{DATABASE}', connect_timeout '3', async_capable 'true', "
                "updatable 'false', options '-c default_transaction_read_only=on');"
                f"CREATE USER MAPPING FOR CURRENT_USER SERVER shard{shard} "
                "OPTIONS (user 'report_reader', password_required 'false')")
        self.import_tables()

    def import_tables(self) -> None:
        """Imports the columns that the stores have now."""
        names = ", ".join(f'"{name}"' for name in TABLES)
        for shard in range(len(self._shards)):
            self.server.psql(
                f"DROP SCHEMA IF EXISTS shard{shard} CASCADE; CREATE SCHEMA shard{shard};"
                f"IMPORT FOREIGN SCHEMA shop LIMIT TO ({names}) FROM SERVER shard{shard} INTO shard{shard}")
        self.server.psql("CREATE SCHEMA IF NOT EXISTS report")
        for name in TABLES:
            parts = " UNION ALL ".join(
                f'SELECT {shard} AS shard, * FROM shard{shard}."{name}"' for shard in range(len(self._shards)))
            self.server.psql(f'CREATE VIEW report."{name}" AS {parts}')

    def rows(self, sql: str) -> list[list[str]]:
        return [line.split(" ") for line in self.server.psql(sql).splitlines()]

    def number(self, sql: str) -> int:
        return int(self.rows(sql)[0][0])

    def is_refused(self, sql: str) -> bool:
        try:
            self.server.psql(sql)
            return False
        except RuntimeError:
            return True


def stored(server: Server, version: int) -> tuple[Contents, Contents]:
    """What a store has, as Trellis and as SQL read it."""
    contents = Contents.parse(clients.call("dump", server.url, version, "--timeout", "600"))
    pairs = server.psql(
        "SELECT c.relname || ' ' || string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_class c "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
        "WHERE c.relnamespace = 'shop'::regnamespace AND c.relname LIKE '%abels%' AND c.relkind = 'r' "
        "GROUP BY c.relname").split()
    sql = CONTENTS_SQL.format(s="shop", pairs=pairs[0], item=pairs[1], label=pairs[2])
    return contents, Contents.parse(server.psql(sql))


def check_reports(reports: Reports, fleet: Fleet, contents: list[Contents]) -> list[str]:
    """Compares reports with the sums of what the stores have."""
    found = []

    def expect(what: str, value, expected) -> None:
        if value != expected:
            found.append(f"{what}: the report has {value}, the stores {expected}")

    by_tenant: Counter = Counter()
    for shard in contents:
        for key, rows in shard.table("item").items():
            by_tenant[key.split(".")[0]] += len(rows)
    per_tenant = reports.rows("SELECT split_part(key, '.', 1), count(*) FROM report.\"Item\" GROUP BY 1")
    expect("items of each tenant", {name: int(count) for name, count in per_tenant}, dict(by_tenant))
    places = reports.rows("SELECT DISTINCT split_part(key, '.', 1), shard FROM report.\"Item\"")
    expect("the store of each tenant", {name: int(shard) for name, shard in places},
           {tenant: shard for tenant, shard in fleet.tenants.items() if by_tenant[tenant]})
    moved = sum(int(rows[0][2]) for shard in contents for rows in shard.table("transfer").values())
    expect("the sum of all transfers", reports.number('SELECT sum(amount) FROM report."Transfer"'), moved)
    expect("the sum of all accounts", reports.number('SELECT sum(balance) FROM report."Account"'),
           SHARDS * ACCOUNTS * FIRST_BALANCE)
    # Each store counts its own keys, so a key alone names several objects.
    expect("rows with one name", reports.number('SELECT count(DISTINCT (shard, _id)) FROM report."Item"'),
           sum(by_tenant.values()))
    if not reports.number('SELECT count(*) FROM (SELECT _id FROM report."Account" GROUP BY 1 HAVING count(*) > 1) d'):
        found.append("no key is in two stores, which was expected")
    plan = reports.server.psql("EXPLAIN SELECT * FROM report.\"Item\" WHERE shard = 2")
    expect("servers that are asked for one shard", plan.count("Foreign Scan"), 1)
    for sql in ('DELETE FROM shard0."Item"', 'UPDATE shard1."Account" SET balance = 0'):
        if not reports.is_refused(sql):
            found.append(f"a report could write: {sql}")
    return found


def versions(reports: Reports) -> list[str]:
    """The version of the model that each store has."""
    return [version for _, version in reports.rows(
        "SELECT DISTINCT ON (shard) shard, version FROM report._models ORDER BY shard, number DESC")]


def run(arguments: argparse.Namespace) -> int:
    random_numbers = random.Random(arguments.seed)
    fleet = Fleet(arguments.tenants, ["--workers", "2", "--connections", "4", "--timeout", "10", "--pause", "100"])
    reports = Reports(fleet.servers)
    clients.copy_programs(fleet.folder / "programs", [1, 2])
    print(f"seed {arguments.seed}, {arguments.tenants} tenants, folder {fleet.folder}", flush=True)
    found: list[str] = []
    status = 1
    try:
        fleet.start()
        reports.start()
        kills = Kills(fleet.servers, random_numbers)
        for name in ("a", "b"):
            fleet.start_program(name, 1)
        time.sleep(2)
        kills.start()
        try:
            time.sleep(arguments.seconds / 3)
            for shard in range(SHARDS):
                attempts = fleet.migrate(shard, 2)
                print(f"store {shard} has version 2 of the model, at attempt {attempts}", flush=True)
                time.sleep(arguments.seconds / 3 / SHARDS)
            fleet.replace_program("c", 2)
            fleet.replace_program("d", 2)
            time.sleep(arguments.seconds / 3)
        finally:
            kills.stop()
        time.sleep(1)
        fleet.end()
        found += [f"{name} did not end well" for name in fleet.unfinished]

        contents = []
        for shard, server in enumerate(fleet.servers):
            of_store, from_sql = stored(server, 2)
            contents.append(of_store)
            journals = Journals().read(fleet.journals(shard))
            ledger = Ledger(journals, of_store).check()
            calls = Counter(call.outcome for call in journals.calls.values())
            codes = Counter(call.code for call in journals.calls.values() if call.outcome == "refused")
            absences = kills.absences[shard]
            elsewhere = [name for name, call in journals.calls.items() if call.code in CODES and not any(
                call.start <= end and (call.end or start) >= start for start, end in absences)]
            if elsewhere:
                found.append(f"store {shard}: {len(elsewhere)} calls were refused while its server was there")
            report.rows(f"store {shard}, killed {len(absences)} times", [
                ("calls", ", ".join(f"{count} {name}" for name, count in sorted(calls.items()))),
                ("refused", ", ".join(f"{count} {name}" for name, count in sorted(codes.items()))),
                ("objects", str(of_store.lines.total())),
                ("lost, twice, half, refused and there",
                 ", ".join(str(len(what)) for what in (ledger.lost, ledger.twice, ledger.half, ledger.refused_but_there))),
            ])
            found += [f"store {shard}: {reason}" for reason in report.failures(
                journals, ledger, of_store, from_sql, False)]
            # A former program cannot delete what an object of the newer model refers to (Docs/Rollouts.md).
            strange = codes.keys() - CODES - {"refused-by-server"}
            found += [f"store {shard}: calls were refused with {code}" for code in sorted(strange)]
        found += [f"server {shard} was not killed, take more seconds"
                  for shard in range(SHARDS) if not kills.absences[shard]]

        # Foreign tables of the former version go on. The new columns come with a new import.
        found += check_reports(reports, fleet, contents)
        if not reports.is_refused('SELECT state FROM report."Item" LIMIT 1'):
            found.append("a report had a column that it had not imported")
        if versions(reports) != ["2"] * SHARDS:
            found.append(f"the stores have the versions {versions(reports)}")
        reports.import_tables()
        found += check_reports(reports, fleet, contents)
        reports.server.psql('SELECT state FROM report."Item" LIMIT 1')
        # A report without one of the stores fails, and a report of the others does not.
        fleet.servers[1].kill()
        if not reports.is_refused('SELECT count(*) FROM report."Item"'):
            found.append("a report left out a store that was away")
        reports.server.psql('SELECT count(*) FROM report."Item" WHERE shard <> 1')
        report.rows("reports", [
            ("items of all stores", str(sum(len(shard.table("item")) for shard in contents))),
            ("versions of the model", " ".join("2" * SHARDS)),
        ])
        print("\nfailed: " + "; ".join(found) if found else "\nnothing was lost, and reports equal the sums")
        status = 1 if found else 0
    finally:
        fleet.stop()
        reports.server.stop()
        reports.server.remove()
        if status == 0 and not arguments.keep:
            fleet.remove()
        else:
            print("logs and journals are in", fleet.folder, *(server.folder for server in fleet.servers))
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=40, help="how long servers are killed")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--tenants", type=int, default=12)
    parser.add_argument("--programs", type=Path, default=clients.folder, help="the folder of the built programs")
    parser.add_argument("--keep", action="store_true", help="keep logs and journals")
    arguments = parser.parse_args()
    missing = missing_packages(PACKAGES)
    if missing:
        print(f"programs are missing: apt-get install --no-install-recommends {' '.join(missing)}", file=sys.stderr)
        return 69
    clients.folder = arguments.programs
    if not all(clients.program(version).exists() for version in (1, 2)):
        print(f"build first: swift build --package-path {clients.HERE}", file=sys.stderr)
        return 69
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
