"""Three PostgreSQL servers under Patroni, each in a network namespace of its own, and an etcd beside them.

A namespace holds all processes of a node, so a node can be killed, frozen and cut off as a machine can, and nothing
else is touched. The namespaces, and what runs in them, go with the program.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

NODES = ("n1", "n2", "n3")
PASSWORD = "chaos"
DATABASE = "chaos"

PACKAGES = {
    "patroni": "patroni",
    "patronictl": "patroni",
    "etcd": "etcd-server",
    "ip": "iproute2",
    "iptables": "iptables",
    "setpriv": "util-linux",
    "psql": "postgresql-client",
}


def server_programs() -> Path | None:
    """The folder of PostgreSQL's programs, of the newest version that is there."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


def missing_packages(programs: dict[str, str]) -> list[str]:
    """The Debian packages whose programs are not there."""
    missing = {package for program, package in programs.items() if shutil.which(program) is None}
    if server_programs() is None:
        missing.add("postgresql")
    return sorted(missing)


def run(*command: str, check: bool = True, timeout: float = 60) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd="/")
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def as_postgres(command: list[str]) -> list[str]:
    """PostgreSQL does not run as root."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]


class Unreachable(Exception):
    pass


class Cluster:
    """The nodes, their network, and the faults that they can have."""

    def __init__(self, mode: str, ttl: int):
        self.mode = mode
        self.ttl = ttl
        self.folder = Path(tempfile.mkdtemp(prefix="chaos."))
        self.folder.chmod(0o755)
        number = os.getpid() % 250 + 1
        self.prefix = f"ch{os.getpid() % 100_000}"
        self.network = f"10.213.{number}"
        # etcd has another address than the clients, so a node can be cut off from one of them alone.
        self.client_address = f"{self.network}.1"
        self.etcd_address = f"{self.network}.2"
        self.addresses = {node: f"{self.network}.{11 + place}" for place, node in enumerate(NODES)}
        self.patroni: dict[str, subprocess.Popen] = {}
        self.etcd: subprocess.Popen | None = None

    @property
    def url(self) -> str:
        hosts = ",".join(self.addresses[node] for node in NODES)
        return f"postgresql://postgres:{PASSWORD}@{hosts}/{DATABASE}?target_session_attrs=read-write"

    # Starting and ending

    def start(self) -> None:
        self._make_network()
        etcd_log = open(self.folder / "etcd.log", "ab")
        self.etcd = subprocess.Popen(
            ["etcd", "--name", "etcd", "--data-dir", str(self.folder / "etcd"),
             "--listen-client-urls", f"http://{self.etcd_address}:2379",
             "--advertise-client-urls", f"http://{self.etcd_address}:2379",
             "--listen-peer-urls", f"http://{self.etcd_address}:2380",
             "--initial-advertise-peer-urls", f"http://{self.etcd_address}:2380",
             "--initial-cluster", f"etcd=http://{self.etcd_address}:2380", "--unsafe-no-fsync"],
            stdout=etcd_log, stderr=etcd_log, cwd="/")
        for node in NODES:
            self._write_settings(node)
        self.start_patroni(NODES[0])
        self.wait_for_primary(90)
        for node in NODES[1:]:
            self.start_patroni(node)
        self.wait_until_well(120)
        self.psql(f"CREATE DATABASE {DATABASE} ENCODING 'UTF8' TEMPLATE template0", database="postgres")

    def stop(self) -> None:
        for node in NODES:
            self._signal(self._processes(node), signal.SIGKILL)
        for process in [*self.patroni.values(), *filter(None, [self.etcd])]:
            process.kill()
            process.wait()
        for node in NODES:
            run("ip", "netns", "delete", f"{self.prefix}{node}", check=False)
        run("ip", "link", "delete", f"{self.prefix}b", check=False)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _make_network(self) -> None:
        bridge = f"{self.prefix}b"
        run("ip", "link", "add", bridge, "type", "bridge")
        for address in (self.client_address, self.etcd_address):
            run("ip", "address", "add", f"{address}/24", "dev", bridge)
        run("ip", "link", "set", bridge, "up")
        for node in NODES:
            space, inner, outer = f"{self.prefix}{node}", f"{self.prefix}{node}i", f"{self.prefix}{node}o"
            run("ip", "netns", "add", space)
            run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
            run("ip", "link", "set", inner, "netns", space)
            run("ip", "link", "set", outer, "master", bridge)
            run("ip", "link", "set", outer, "up")
            self._inside(node, "ip", "address", "add", f"{self.addresses[node]}/24", "dev", inner)
            self._inside(node, "ip", "link", "set", inner, "up")
            self._inside(node, "ip", "link", "set", "lo", "up")

    def _inside(self, node: str, *command: str, check: bool = True) -> str:
        return run("ip", "netns", "exec", f"{self.prefix}{node}", *command, check=check)

    def _write_settings(self, node: str) -> None:
        address = self.addresses[node]
        home = self.folder / node
        home.mkdir()
        settings = {
            "scope": "chaos",
            "name": node,
            "restapi": {"listen": f"{address}:8008", "connect_address": f"{address}:8008"},
            "etcd3": {"host": f"{self.etcd_address}:2379"},
            "bootstrap": {
                "dcs": {
                    "ttl": self.ttl, "loop_wait": 1, "retry_timeout": max(2, (self.ttl - 1) // 2),
                    "maximum_lag_on_failover": 33_554_432, "synchronous_mode": self.mode == "synchronous",
                    "primary_start_timeout": 0,
                    "postgresql": {
                        "use_pg_rewind": True, "use_slots": True,
                        "parameters": {
                            # The machine does not crash, so what a killed server has written stays.
                            "fsync": "off", "wal_keep_size": "512MB", "max_connections": 120,
                            "shared_buffers": "64MB", "checkpoint_timeout": "60s", "wal_log_hints": "on",
                            "hot_standby_feedback": "on", "max_wal_size": "512MB",
                            "log_line_prefix": "%m [%p] %u %x ", "log_min_messages": "warning",
                            "wal_sender_timeout": "10s", "wal_receiver_timeout": "10s",
                            "wal_retrieve_retry_interval": "500ms",
                        },
                    },
                },
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "no-sync"],
                "pg_hba": [f"host all all {self.network}.0/24 trust", "local all all trust",
                           f"host replication all {self.network}.0/24 trust"],
            },
            "postgresql": {
                "listen": f"{address}:5432", "connect_address": f"{address}:5432",
                "data_dir": str(home / "data"), "bin_dir": str(server_programs()), "pgpass": str(home / "pgpass"),
                "basebackup": [{"checkpoint": "fast"}],
                "parameters": {"unix_socket_directories": str(home)},
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
                "authentication": {
                    name: {"username": role, "password": PASSWORD, "connect_timeout": 3}
                    for name, role in
                    (("superuser", "postgres"), ("replication", "replicator"), ("rewind", "rewinder"))
                },
            },
            "watchdog": {"mode": "off"},
        }
        # JSON is YAML, too.
        (home / "patroni.yml").write_text(json.dumps(settings, indent=1))
        if os.geteuid() == 0:
            shutil.chown(home, "postgres", "postgres")

    def start_patroni(self, node: str) -> None:
        old = self.patroni.get(node)
        if old is not None:
            old.wait(10)
        log = open(self.folder / f"{node}.log", "ab")
        command = as_postgres(["patroni", str(self.folder / node / "patroni.yml")])
        self.patroni[node] = subprocess.Popen(
            ["ip", "netns", "exec", f"{self.prefix}{node}", *command], stdout=log, stderr=log, cwd="/")

    # Looking

    def _get(self, node: str, path: str) -> dict:
        try:
            with urllib.request.urlopen(f"http://{self.addresses[node]}:8008/{path}", timeout=2) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            raise Unreachable(str(error)) from error

    def members(self) -> list[dict]:
        for node in NODES:
            try:
                return self._get(node, "cluster").get("members", [])
            except Unreachable:
                continue
        return []

    def primary(self) -> str | None:
        """The node that has the lock of the cluster, and whose server can be written to."""
        leaders = [member for member in self.members() if member["role"] in ("leader", "sync_leader")]
        if len(leaders) != 1 or leaders[0].get("state") != "running":
            return None
        name = leaders[0]["name"]
        try:
            answer = self.psql("SELECT pg_is_in_recovery()", node=name, database="postgres", seconds=8)
            return name if answer == "f" else None
        except RuntimeError:
            return None

    def wait_for_primary(self, seconds: float, other_than: str | None = None) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            primary = self.primary()
            if primary is not None and primary != other_than:
                return primary
            time.sleep(0.2)
        raise RuntimeError(f"there is no primary after {seconds:.0f} seconds: {self.members()}")

    def wait_until_well(self, seconds: float) -> str:
        """Waits until there is a primary and all others follow it, one of them synchronously."""
        end = time.monotonic() + seconds
        repair = time.monotonic() + 25
        while time.monotonic() < end:
            primary = self.primary()
            if primary is not None and not (lame := self._lame(primary)):
                return primary
            self.revive()
            if primary is not None and time.monotonic() > repair:
                # What an administrator does with a replica whose log has left that of the primary, and with a Patroni
                # that has lost its place in etcd's stream of changes, and so never names a synchronous replica.
                for node in lame:
                    if node in NODES:
                        self._reinitialize(node)
                    else:
                        print(f"        Patroni of {primary} is started anew", flush=True)
                        self.patroni[primary].kill()
                repair = time.monotonic() + 45
            time.sleep(0.3)
        raise RuntimeError(f"the cluster is not well after {seconds:.0f} seconds: {self.members()}")

    def wait_until_followed(self, seconds: float, other_than: str) -> str:
        """Waits until another node is the primary, and one follows it synchronously."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            primary = self.primary()
            followers = [member for member in self.members() if member["role"] == "sync_standby"]
            if primary not in (None, other_than) and any(member["name"] != other_than for member in followers):
                return str(primary)
            time.sleep(0.3)
        raise RuntimeError(f"no other primary is followed after {seconds:.0f} seconds: {self.members()}")

    def _lame(self, primary: str) -> list[str]:
        """The nodes that do not follow the primary, or a question mark."""
        others = [node for node in NODES if node != primary]
        if self.mode == "synchronous" and not any(member["role"] == "sync_standby" for member in self.members()):
            # Patroni lets only a node take over of which etcd knows that it follows synchronously.
            return ["?"]
        try:
            followers = self.psql(
                "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'",
                node=primary, database="postgres", seconds=8).splitlines()
        except RuntimeError:
            return ["?"]
        return [node for node in others if node not in followers]

    def _reinitialize(self, node: str) -> None:
        body = json.dumps({"force": True}).encode()
        request = urllib.request.Request(
            f"http://{self.addresses[node]}:8008/reinitialize", data=body, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=15):
                print(f"        {node} gets a new copy of the primary", flush=True)
        except OSError as error:
            print(f"        {node} does not get a new copy of the primary: {error}", flush=True)

    def psql(self, sql: str, node: str | None = None, database: str = DATABASE, seconds: float = 1_800) -> str:
        """The rows of a query, at a node or at the primary."""
        if node is None:
            node = self.wait_for_primary(60)
        address = f"postgresql://postgres:{PASSWORD}@{self.addresses[node]}/{database}?connect_timeout=2"
        try:
            done = subprocess.run(
                ["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, address],
                capture_output=True, text=True, timeout=seconds, cwd="/")
        except subprocess.TimeoutExpired as error:
            raise RuntimeError(f"{node} did not answer for {seconds} seconds") from error
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    def set_restart_in_place(self, is_wanted: bool) -> None:
        """Whether Patroni starts a server that has crashed again, or lets another one take its place."""
        value = 60 if is_wanted else 0
        body = json.dumps({"primary_start_timeout": value}).encode()
        for node in NODES:
            request = urllib.request.Request(
                f"http://{self.addresses[node]}:8008/config", data=body, method="PATCH")
            try:
                with urllib.request.urlopen(request, timeout=3):
                    break
            except OSError:
                continue
        # Each node learns it in its next round.
        time.sleep(1.5)

    # Faults

    def _processes(self, node: str) -> list[int]:
        return [int(word) for word in run("ip", "netns", "pids", f"{self.prefix}{node}", check=False).split()]

    def _servers(self, node: str) -> list[int]:
        """The processes of PostgreSQL."""
        found = []
        for process in self._processes(node):
            try:
                if Path(f"/proc/{process}/comm").read_text().strip() == "postgres":
                    found.append(process)
            except OSError:
                continue
        return found

    @staticmethod
    def _signal(processes: list[int], number: signal.Signals) -> None:
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                continue

    def kill_server(self, node: str) -> None:
        # The first one is the postmaster, which would start the others again.
        self._signal(sorted(self._servers(node)), signal.SIGKILL)

    def kill_node(self, node: str) -> None:
        # Twice, for processes that were being made.
        for _ in range(2):
            self._signal(self._processes(node), signal.SIGKILL)

    def freeze(self, node: str) -> None:
        for _ in range(2):
            self._signal(self._processes(node), signal.SIGSTOP)

    def thaw(self, node: str) -> None:
        self._signal(self._processes(node), signal.SIGCONT)

    def thaw_server(self, node: str) -> None:
        """Lets PostgreSQL go on, and not Patroni."""
        self._signal(self._servers(node), signal.SIGCONT)

    def revive(self) -> None:
        """Starts what was killed, as a supervisor does."""
        for node, process in self.patroni.items():
            if process.poll() is not None:
                self.start_patroni(node)

    def cut_off(self, node: str) -> None:
        """Drops all that a node gets and sends, without telling anybody."""
        self._drop(node, [("INPUT", "!", "-i", "lo"), ("OUTPUT", "!", "-o", "lo")])

    def drop(self, node: str, *, sources: Sequence[str] = (), targets: Sequence[str] = ()) -> None:
        """Drops what a node gets from some addresses and sends to some."""
        self._drop(node, [("INPUT", "-s", source) for source in sources]
                   + [("OUTPUT", "-d", target) for target in targets])

    def _drop(self, node: str, rules: list[tuple[str, ...]]) -> None:
        for chain, *rule in rules:
            self._inside(node, "iptables", "-w", "-A", chain, *rule, "-j", "DROP")

    def heal(self, node: str) -> None:
        self._inside(node, "iptables", "-w", "-F")

    def others(self, node: str) -> list[str]:
        """The addresses of the other nodes and of etcd."""
        return [self.etcd_address, *(address for name, address in self.addresses.items() if name != node)]

    def switch_over(self, primary: str, candidate: str) -> str:
        return run(
            "patronictl", "-c", str(self.folder / primary / "patroni.yml"), "switchover", "--leader", primary,
            "--candidate", candidate, "--force", check=False)
