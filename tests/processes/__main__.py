"""One scenario, in a process that it may do anything to: `python -m tests.processes NAME PLANT`."""

from __future__ import annotations

import faulthandler
import importlib
import signal
import sys


def main(name: str, plant: str | None = None) -> None:
    """Do what the function says that a scenario is named after."""
    # A shell that runs the tests in the background has them ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    module, _, function = name.partition(".")
    scenario = getattr(importlib.import_module(f"tests.processes.scenarios.{module}"), function)
    if plant is not None:
        from tests.processes.plants import PLANTS
        from tests.processes.scenarios import forks

        PLANTS[plant].plant()
        forks.PATIENCE = 3.0  # it is to hang
    scenario()


if __name__ == "__main__":
    main(*sys.argv[1:])
