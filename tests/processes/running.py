"""Runs a scenario in a process of its own, which has ended by a time limit, whatever it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 60.0
"""Seconds. All scenarios take one or two; what hangs takes as long as it is let."""


def outcome(scenario: str, cache: Path, plant: str | None = None, limit: float = LIMIT) -> str:
    """Nothing if all went well, else what is known of it."""
    words = [sys.executable, "-W", "error", "-m", "tests.processes", scenario]
    # Reproducers are for failures, and a scenario must not see those of another.
    reproducers = cache / "reproducers" / f"{scenario}-{plant}"
    environment = dict(os.environ, VYRE_CACHE_DIR=str(cache), VYRE_REPRODUCERS=str(reproducers))
    child = subprocess.Popen(
        [*words, *([plant] if plant else [])],
        cwd=ROOT,
        env=environment | {"VYRE_THREADS": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Its children are ended with it, and a Ctrl-C of its own group reaches no other process.
        start_new_session=True,
    )
    began = time.monotonic()
    try:
        printed = _printed(child, limit)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    took = time.monotonic() - began
    if child.returncode or printed:
        return f"{scenario} ended with {child.returncode} after {took:.1f} s:\n{printed}"
    return ""


def _printed(child: subprocess.Popen[str], limit: float) -> str:
    try:
        return child.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGUSR1)  # says where it is
        time.sleep(0.5)
        os.killpg(child.pid, signal.SIGKILL)
        return f"did not end within {limit:g} s\n" + child.communicate()[0]
