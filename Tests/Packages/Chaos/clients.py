"""The programs that use the store."""

import shutil
import signal
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


# Where the programs are. A run uses copies, so that a build beside it changes nothing.
folder = HERE / ".build" / "debug"


def program(version: int = 1) -> Path:
    return folder / ("chaos-client" if version == 1 else f"chaos-client-{version}")


def copy_programs(target: Path, versions: list[int]) -> None:
    global folder
    target.mkdir()
    for version in versions:
        shutil.copy2(program(version), target)
    folder = target


class Client:
    """A process that works on a store until its input ends."""

    def __init__(self, name: str, url: str, folder: Path, options: list[str], version: int = 1):
        self.name = name
        self.version = version
        self._log = open(folder / f"{name}.log", "ab")
        self.process = subprocess.Popen(
            [str(program(version)), "load", "--url", url, "--name", name,
             "--journal", str(folder / f"{name}.journal"), *options],
            stdin=subprocess.PIPE, stdout=self._log, stderr=self._log)

    def finish(self, seconds: float) -> bool:
        """Lets the calls end that are under way. False if they do not."""
        self.ask_to_finish()
        try:
            return self.process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def ask_to_finish(self) -> None:
        if self.process.stdin is not None and not self.process.stdin.closed:
            self.process.stdin.close()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None


def finish_all(clients: list[Client], seconds: float) -> list[str]:
    """Ends programs. Returns the names of those that did not end, or not well."""
    for client in clients:
        client.ask_to_finish()
    end = time.monotonic() + seconds
    return [client.name for client in clients if not client.finish(max(0.1, end - time.monotonic()))]


def call(command: str, url: str, version: int = 1, *options: str) -> str:
    done = subprocess.run(
        [str(program(version)), command, "--url", url, *options], capture_output=True, text=True,
        timeout=1_800)
    if done.returncode != 0:
        raise RuntimeError(f"chaos-client {command}: {done.stderr.strip()}")
    return done.stdout
