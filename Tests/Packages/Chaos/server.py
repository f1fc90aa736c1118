"""A PostgreSQL server of its own, without anything around it."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from cluster import DATABASE, as_postgres, server_programs


class Server:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="chaos."))
        self.folder.chmod(0o755)
        with socket.socket() as place:
            place.bind(("127.0.0.1", 0))
            self.port = place.getsockname()[1]
        self._data = self.folder / "server"
        self._data.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._data, "postgres", "postgres")

    @property
    def url(self) -> str:
        return f"postgresql://chaos@127.0.0.1:{self.port}/{DATABASE}"

    def _run(self, program: str, *options: str, check: bool = True) -> None:
        done = subprocess.run(
            as_postgres([str((server_programs() or Path("/usr/bin")) / program), "-D", str(self._data / "data"),
                         *options]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd="/")
        if check and done.returncode != 0:
            raise RuntimeError(f"{program}: {done.stderr.strip()}")

    def start(self) -> None:
        if not (self._data / "data").exists():
            self._run("initdb", "-U", "chaos", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
            # The machine does not crash.
            with open(self._data / "data" / "postgresql.conf", "a") as settings:
                settings.write(
                    f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = '{self._data}'\n"
                    "fsync = off\nmax_connections = 150\nshared_buffers = 128MB\nmax_wal_size = 2GB\n")
            self._launch()
            self.psql(f"CREATE DATABASE {DATABASE} TEMPLATE template0", database="postgres")
        else:
            self._launch()

    def _launch(self) -> None:
        self._run("pg_ctl", "-s", "-w", "-t", "120", "-l", str(self._data / "log"), "start")

    def restart(self, mode: str) -> None:
        self._run("pg_ctl", "-s", "-w", "-t", "120", "-m", mode, "stop")
        self._launch()

    def kill(self) -> None:
        """Kills the server's processes, as the loss of its machine does."""
        parent = int((self._data / "data" / "postmaster.pid").read_text().split()[0])
        children = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()
        for process in (parent, *map(int, children)):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def revive(self, seconds: float = 60) -> None:
        """Starts a killed server, as soon as its processes are gone."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self._launch()
            except RuntimeError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def stop(self) -> None:
        self._run("pg_ctl", "-s", "-w", "-m", "immediate", "stop", check=False)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def psql(self, sql: str, database: str = DATABASE) -> str:
        done = subprocess.run(
            ["psql", "-X", "-A", "-t", "-q", "-F", " ", "-v", "ON_ERROR_STOP=1", "-f", "-",
             f"postgresql://chaos@127.0.0.1:{self.port}/{database}"],
            input=sql, capture_output=True, text=True, timeout=1_800, cwd="/")
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()
