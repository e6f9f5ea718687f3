"""The process a peer runs in: reads one command per line, answers with one line of JSON.

Timing happens here, around the launch alone; the parent decides whose turn it is.
"""

import gc
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernel import Run
from benchmarks.kernels import kernel_named
from benchmarks.peers import PeerMissingError, peer_named

Answer = dict[str, Any]


class Worker:
    """One peer with at most one kernel loaded."""

    def __init__(self, peer: str) -> None:
        self._peer = peer_named(peer)
        self._tool: Any = None
        self._run: Run | None = None

    def hello(self) -> Answer:
        """Opens the peer's tool and says what it is."""
        self._tool = self._peer.open()
        return {"version": self._peer.version()}

    def load(self, kernel: str, folder: str) -> Answer:
        """Builds the peer's implementation on private copies of the data and runs it once.

        Private copies, because ordinary memory is what everybody's arrays live in: shared memory
        has other page sizes.
        """
        implementation = kernel_named(kernel).peers[self._peer.name]
        data = {path.stem: np.load(path) for path in sorted(Path(folder).glob("*.npy"))}
        started = time.perf_counter()
        self._run = implementation(self._tool, data)
        self._run.prepare()
        self._run.launch()
        return {"first": time.perf_counter() - started}

    def time(self, warm: bool) -> Answer:
        """One timed launch, after an untimed one when `warm`: the caches were somebody else's."""
        run = self._loaded()
        if warm:
            run.prepare()
            run.launch()
        run.prepare()
        launch = run.launch
        started = time.perf_counter()
        launch()
        return {"seconds": time.perf_counter() - started}

    def result(self, folder: str) -> Answer:
        """Runs again over spoiled outputs and saves them for the parent to compare.

        Spoiled, so that a launch which writes nothing cannot pass with an earlier result.
        """
        run = self._loaded()
        for array in run.outputs.values():
            array.view(np.uint8).fill(0xA5)
        run.prepare()
        run.launch()
        for name, array in run.outputs.items():
            np.save(Path(folder) / f"{name}.npy", array)
        settle: Callable[[Callable[[], object]], None] | None
        if (settle := getattr(self._tool, "settle", None)) is not None:
            settle(lambda: (run.prepare(), run.launch()))
        return {}

    def unload(self) -> Answer:
        """Lets go of the data."""
        self._run = None
        gc.collect()
        return {}

    def answer(self, command: str, arguments: Answer) -> Answer:
        """The command's answer, or what went wrong as an answer."""
        try:
            return getattr(self, command)(**arguments)
        except PeerMissingError as error:
            return {"missing": str(error)}
        except Exception:  # noqa: BLE001  # a peer may raise anything, and the parent reports it
            return {"error": traceback.format_exc()}

    def _loaded(self) -> Run:
        if self._run is None:
            raise RuntimeError("no kernel is loaded")
        return self._run


def main() -> None:
    """Serves commands until the parent closes the pipe.

    Peers print greetings; the protocol keeps the real standard output for itself.
    """
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    worker = Worker(sys.argv[1])
    gc.disable()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(worker.answer(request["command"], request["arguments"])), file=replies)


if __name__ == "__main__":
    main()
