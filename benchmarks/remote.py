"""The parent's end of a peer's process."""

import json
import selectors
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any

from benchmarks.peers import ROOT, Peer, PeerMissingError

PATIENCE = 300.0
"""Seconds a peer may take for one command, compiling included, before it counts as failed."""


class PeerFailedError(Exception):
    """The peer raised, crashed or did not answer in time; the message is what it said."""


class Remote:
    """A peer's process: started on first use, and started again after it died."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.version = ""
        self._process: subprocess.Popen[str] | None = None
        self._complaints: IO[str] | None = None

    def start(self) -> None:
        """Starts the process and opens the peer; PeerMissingError when it is not installed."""
        if not self.peer.python.exists():
            raise PeerMissingError(
                f"{self.peer.python.parents[1].name} is not there: run `make bench-peers`"
            )
        self._complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed by stop
        self._process = subprocess.Popen(
            [str(self.peer.python), "-m", "benchmarks.worker", self.peer.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=ROOT,
        )
        self.version = str(self.ask("hello")["version"])

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Sends a command and waits for its answer."""
        process = self._process
        if process is None:
            self.start()
            process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise PeerFailedError("the process did not start")
        try:
            process.stdin.write(json.dumps({"command": command, "arguments": arguments}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(PATIENCE):
                self.stop(kill=True)
                raise PeerFailedError(f"no answer to {command} within {PATIENCE:.0f} s")
        line = process.stdout.readline()
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            self.stop()
            raise PeerMissingError(answer["missing"])
        if "error" in answer:
            raise PeerFailedError(answer["error"])
        return answer

    def load(self, kernel: str, folder: Path) -> float:
        """Loads a kernel; the seconds until its first result, compiling included."""
        return float(self.ask("load", kernel=kernel, folder=str(folder))["first"])

    def busy_seconds(self) -> float:
        """Processor time of all its threads so far, where the system tells; else 0."""
        if self._process is None:
            return 0.0
        total = 0
        for path in Path(f"/proc/{self._process.pid}/task").glob("*/schedstat"):
            try:
                total += int(path.read_text().split()[0])
            except OSError:  # the thread has ended
                continue
        return total * 1e-9

    def stop(self, *, kill: bool = False) -> None:
        """Ends the process by closing its pipe, or at once."""
        process, self._process = self._process, None
        if process is not None:
            if kill:
                process.kill()
            process.communicate()
        if self._complaints is not None:
            self._complaints.close()

    def _died(self) -> PeerFailedError:
        code, said = None, []
        if self._process is not None and self._complaints is not None:
            code = self._process.wait()
            self._complaints.seek(0)
            said = self._complaints.read().strip().splitlines()[-1:]
        self.stop()
        return PeerFailedError(": ".join([f"the process ended with status {code}", *said]))
