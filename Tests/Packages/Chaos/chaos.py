#!/usr/bin/env python3
"""Lets programs work on a store while its servers fail, and compares what they were told with what is stored.

    swift build --package-path Tests/Packages/Chaos
    sudo Tests/Packages/Chaos/chaos.py --faults 70 --seed 7 --mode synchronous
    sudo Tests/Packages/Chaos/chaos.py --rollout --rows 100000

The status is 0 if nothing was lost, 1 if something was, and 69 if a program is missing.
"""

import argparse
import os
import random
import signal
import sys
import time
from pathlib import Path

import clients
import report
import rollout
from cluster import NODES, PACKAGES, Cluster, missing_packages
from ledger import CONTENTS_SQL, Contents, Journals, Ledger
from report import Fault

KILLS = ("server killed", "server crashed", "node killed")
CUTS = ("node frozen", "node cut off", "node cut off from nodes", "node cut off from clients", "answers dropped")
EXTRAS = ("switchover", "replica killed")
# Two things at once, which a single fault does not do: an administrator ends the sessions, or the statements, whose
# commits wait for a replica that cannot be reached; or a former primary, whose Patroni hangs, can be written to for a
# while after its successor has died.
ASKED_FOR = ("waiting sessions ended", "waiting commits cancelled", "former primary returns")


def plan(faults: int, random_numbers: random.Random, only: list[str]) -> list[str]:
    """Five of seven faults kill the primary and two cut it off; between them others happen."""
    kills = round(faults * 5 / 7)
    kinds = [KILLS[number % len(KILLS)] for number in range(kills)]
    kinds += [CUTS[number % len(CUTS)] for number in range(faults - kills)]
    kinds += [EXTRAS[number % len(EXTRAS)] for number in range(faults // 7 * 2)]
    if only:
        kinds = [only[number % len(only)] for number in range(faults)]
    random_numbers.shuffle(kinds)
    return kinds


class Chaos:
    """A run on a cluster."""

    def __init__(self, cluster: Cluster, arguments: argparse.Namespace):
        self.cluster = cluster
        self.random = random.Random(arguments.seed)
        self.faults: list[Fault] = []
        self.kinds = plan(arguments.faults, self.random, arguments.only)
        self.hold: float = arguments.hold

    def run(self) -> None:
        for number, kind in enumerate(self.kinds):
            # A primary that has nobody beside it yet fails as well.
            is_hasty = number > 0 and kind in KILLS and self.random.random() < 0.2
            primary = self.cluster.wait_for_primary(120) if is_hasty else self.cluster.wait_until_well(240)
            time.sleep(self.random.uniform(0.5, 3))
            fault = Fault(kind, time.time())
            self.faults.append(fault)
            note = self.make(kind, primary)
            if not is_hasty and self.random.random() < 0.8:
                self.cluster.wait_until_well(240)
            else:
                self.cluster.revive()
                self.cluster.wait_for_primary(120)
            fault.end = time.time()
            with open(self.cluster.folder / "faults", "a") as log:
                log.write(f"{fault.start:.3f}\t{fault.end:.3f}\t{kind}\t{primary}\n")
            seconds = f"{fault.end - fault.start:.1f} s"
            print(f"{number + 1:3}/{len(self.kinds)} {kind}: {primary}, {seconds} {note}".rstrip(), flush=True)
        self.cluster.wait_until_well(240)

    def make(self, kind: str, primary: str) -> str:
        cluster, duration = self.cluster, self.hold or self.random.uniform(4, 14)
        match kind:
            case "server killed":
                cluster.set_restart_in_place(False)
                cluster.kill_server(primary)
            case "server crashed":
                cluster.set_restart_in_place(True)
                cluster.kill_server(primary)
            case "node killed":
                cluster.kill_node(primary)
                time.sleep(duration / 2)
            case "node frozen":
                cluster.freeze(primary)
                time.sleep(duration)
                cluster.thaw(primary)
            case "node cut off":
                cluster.cut_off(primary)
                time.sleep(duration)
                cluster.heal(primary)
            case "node cut off from nodes":
                cluster.drop(primary, sources=cluster.others(primary), targets=cluster.others(primary))
                time.sleep(duration)
                cluster.heal(primary)
            case "node cut off from clients":
                cluster.drop(primary, sources=[cluster.client_address], targets=[cluster.client_address])
                time.sleep(duration)
                cluster.heal(primary)
            case "answers dropped":
                cluster.drop(primary, targets=[cluster.client_address])
                time.sleep(duration)
                cluster.heal(primary)
            case "waiting sessions ended" | "waiting commits cancelled":
                function = "pg_terminate_backend" if kind == "waiting sessions ended" else "pg_cancel_backend"
                cluster.drop(primary, sources=cluster.others(primary), targets=cluster.others(primary))
                time.sleep(1)
                ended = cluster.psql(
                    f"SELECT count({function}(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
                    node=primary, seconds=8)
                time.sleep(duration + cluster.ttl)
                cluster.heal(primary)
                return f"{ended} sessions"
            case "former primary returns":
                cluster.freeze(primary)
                successor = cluster.wait_until_followed(60, other_than=primary)
                # Until all programs have found it.
                time.sleep(25)
                third = next(node for node in NODES if node not in (primary, successor))
                # Commits wait for the third node, which gets them, and their answers are lost.
                cluster.drop(successor, sources=[cluster.addresses[third]], targets=[cluster.addresses[third]])
                time.sleep(1.5)
                cluster.heal(successor)
                cluster.drop(successor, targets=[cluster.client_address])
                time.sleep(3)
                cluster.thaw_server(primary)
                cluster.kill_node(successor)
                cluster.heal(successor)
                time.sleep(3)
                cluster.thaw(primary)
                return f"{successor} has died"
            case "switchover":
                synchronous = [m["name"] for m in cluster.members() if m["role"] == "sync_standby"]
                candidate = self.random.choice(synchronous or [node for node in NODES if node != primary])
                answer = cluster.switch_over(primary, candidate)
                return "" if "Successfully" in answer else " ".join(answer.split())[-100:]
            case "replica killed":
                cluster.kill_node(self.random.choice([node for node in NODES if node != primary]))
                time.sleep(duration / 2)
        return ""


def stored(database, schema: str, url: str, version: int) -> tuple[Contents, Contents]:
    """What is stored, as Trellis and as SQL read it."""
    contents = Contents.parse(clients.call("dump", url, version, "--timeout", "600"))
    pairs = database(
        "SELECT c.relname || ' ' || string_agg(a.attname, ' ' ORDER BY a.attnum) FROM pg_class c "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
        f"WHERE c.relnamespace = '{schema}'::regnamespace AND c.relname LIKE '%abels%' AND c.relkind = 'r' "
        "GROUP BY c.relname").split()
    sql = CONTENTS_SQL.format(s=schema, pairs=pairs[0], item=pairs[1], label=pairs[2])
    return contents, Contents.parse(database(sql))


def conclude(journals: Journals, faults: list[Fault], contents: Contents, from_sql: Contents, may_lose: bool,
             unfinished: list[str]) -> int:
    ledger = Ledger(journals, contents).check()
    report.rows("faults", report.outages_by_kind(journals, faults))
    report.print_calls(journals)
    report.print_messages(journals)
    report.print_ledger(ledger, contents, from_sql)
    found = report.failures(journals, ledger, contents, from_sql, may_lose)
    if unfinished:
        found.append(f"{len(unfinished)}: did not end well: {', '.join(unfinished)}")
    print("\nfailed: " + "; ".join(found) if found else "\nnothing was lost" + (
        f", but {len(ledger.lost)} saves by asynchronous replication" if may_lose else ""))
    return 1 if found else 0


def run_cluster(arguments: argparse.Namespace) -> int:
    cluster = Cluster(arguments.mode, arguments.ttl)
    running: list[clients.Client] = []
    journal_folder = cluster.folder / "journals"
    journal_folder.mkdir()
    clients.copy_programs(cluster.folder / "programs", [1])
    print(f"seed {arguments.seed}, {arguments.mode}, {arguments.faults} faults, folder {cluster.folder}", flush=True)
    status = 1
    try:
        cluster.start()
        url = cluster.url + arguments.url_options
        clients.call("prepare", url)
        options = ["--workers", str(arguments.workers), "--connections", str(arguments.connections),
                   "--timeout", str(arguments.timeout), "--pause", str(arguments.pause)]
        running = [clients.Client(f"c{number}", url, journal_folder, options)
                   for number in range(arguments.clients)]
        chaos = Chaos(cluster, arguments)
        unfinished: list[str] = []
        try:
            chaos.run()
            time.sleep(3)
        except RuntimeError as error:
            # What was done until then is compared nevertheless.
            unfinished.append(f"the cluster, because {error}")
        finally:
            unfinished += clients.finish_all(running, 120 + 12 * arguments.timeout)
        contents, from_sql = stored(cluster.psql, "shop", url, 1)
        status = conclude(Journals().read(journal_folder), chaos.faults, contents, from_sql,
                          arguments.mode == "asynchronous", unfinished)
    finally:
        for client in running:
            if client.is_running:
                client.kill()
        cluster.stop()
        if status == 0 and not arguments.keep:
            cluster.remove()
        else:
            print(f"logs and journals are in {cluster.folder}")
    return status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=7)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--mode", choices=("synchronous", "asynchronous"), default="synchronous")
    parser.add_argument("--only", action="append", default=[], choices=KILLS + CUTS + EXTRAS + ASKED_FOR,
                        help="faults of this kind alone; may be given several times")
    parser.add_argument("--hold", type=float, default=0, help="seconds that a node stays as it is, if not random ones")
    parser.add_argument("--clients", type=int, default=3)
    parser.add_argument("--workers", type=int, default=6, help="of each client")
    parser.add_argument("--connections", type=int, default=4, help="of each client")
    parser.add_argument("--timeout", type=float, default=30, help="of the store, in seconds")
    parser.add_argument("--pause", type=int, default=60, help="between two operations of a worker, in milliseconds")
    parser.add_argument("--ttl", type=int, default=6, help="seconds until the cluster gives up a silent primary")
    parser.add_argument("--url-options", default="", help="more of the address, such as &connect_timeout=3")
    parser.add_argument("--programs", type=Path, default=clients.folder, help="the folder of the built programs")
    parser.add_argument("--rollout", action="store_true", help="versions of the model, on one server")
    parser.add_argument("--rows", type=int, default=0, help="rows to fill in before a rollout")
    parser.add_argument("--load", type=float, default=6, help="seconds between the steps of a rollout")
    parser.add_argument("--passes", choices=("calm", "rough", "both"), default="both", help="of a rollout")
    parser.add_argument("--keep", action="store_true", help="keep logs and journals")
    arguments = parser.parse_args()

    missing = missing_packages(rollout.PACKAGES if arguments.rollout else PACKAGES)
    if missing:
        print(f"programs are missing: apt-get install --no-install-recommends {' '.join(missing)}", file=sys.stderr)
        return 69
    clients.folder = arguments.programs
    if not all(clients.program(version).exists() for version in (1, 2, 3)):
        print(f"build first: swift build --package-path {clients.HERE}", file=sys.stderr)
        return 69
    if not arguments.rollout and os.geteuid() != 0:
        print("network namespaces need root", file=sys.stderr)
        return 69

    # The processes that it has started end in any case.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return rollout.run(arguments, stored, conclude) if arguments.rollout else run_cluster(arguments)


if __name__ == "__main__":
    sys.exit(main())
