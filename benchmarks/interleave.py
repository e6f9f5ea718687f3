"""Turns: every variant of a kernel is run in every round, so that noise hits all alike."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.kernel import random
from benchmarks.remote import PeerFailedError, Remote

SETTLE = 0.003
"""Seconds between turns, and between two looks at whether the last peer's threads still spin."""

SPINNING = 0.05
"""Part of the time between two looks that a thread which spins takes at least."""

PATIENCE = 0.5
"""Seconds until the next one starts anyhow."""

LONG = 0.05
"""A launch longer than this, in seconds, needs no untimed launch before it to warm the caches."""

FEWEST = 3


@dataclass(frozen=True)
class Plan:
    """How often to measure: at most `rounds` rounds, ending after `budget` seconds."""

    rounds: int
    budget: float


def measure(remotes: Sequence[Remote], plan: Plan) -> dict[str, list[float] | str]:
    """Seconds per round of every peer, or what it said when it failed.

    The order within a round is shuffled anew, so that nobody always follows the same neighbour.
    """
    times: dict[str, list[float]] = {remote.peer.name: [] for remote in remotes}
    failures: dict[str, str] = {}
    order = random()
    deadline = time.monotonic() + plan.budget
    for turn in range(plan.rounds):
        if turn >= FEWEST and time.monotonic() > deadline:
            break
        for index in order.permutation(len(remotes)):
            remote = remotes[int(index)]
            name = remote.peer.name
            if name in failures:
                continue
            warm = not times[name] or median(times[name]) < LONG
            settle(remotes)
            try:
                times[name].append(float(remote.ask("time", warm=warm)["seconds"]))
            except PeerFailedError as error:
                failures[name] = str(error)
    return {**times, **failures}


def settle(remotes: Sequence[Remote]) -> None:
    """Wait until nobody's threads spin any more: some do for a tenth of a second after their work.

    Whoever came next would share a core with them.
    """
    deadline = time.monotonic() + PATIENCE
    before = sum(remote.busy_seconds() for remote in remotes)
    while True:
        time.sleep(SETTLE)
        now = sum(remote.busy_seconds() for remote in remotes)
        if now - before < SPINNING * SETTLE or time.monotonic() > deadline:
            return
        before = now
