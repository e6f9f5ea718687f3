"""Settles which of two plans is faster, by timing them in turns on real calls.

A cost model predicts; it cannot promise that a fused plan is never slower. So a window that is
called often runs by its two best plans in turns, `TIMED` times each, and keeps the one with the
smaller median. The verdict is kept on disk: the next process begins with it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from statistics import median

from vyre.cache import cache_key, code_stamp, default_cache
from vyre.pipelines.steps import Buffer, Launch, Step

CALLS_BEFORE = 8
"""Calls until a window counts as hot."""
UNTIMED = 3
"""Turns of each plan before it is timed: its code is compiled, and compiled again when hot."""
TIMED = 7
"""Turns of each plan that count."""


class Contest:
    """Two plans of one window, by number: 0 is the predicted one, 1 its rival.

    Each call asks for its `turn` and says what it `took`. Threads may call at once.
    """

    __slots__ = ("_calls", "_lock", "_times", "verdict")

    def __init__(self, verdict: int | None = None) -> None:
        self.verdict = verdict
        """The plan that won; None while it is open."""
        self._calls = 0
        self._times: tuple[list[float], list[float]] = ([], [])
        self._lock = threading.Lock()

    def turn(self) -> int:
        """The plan of the next call."""
        if self.verdict is not None:
            return self.verdict
        with self._lock:
            late = self._calls - CALLS_BEFORE
            self._calls += 1
            # 0 1 1 0 0 1 1 0: neither always follows the other.
            return 0 if late < 0 else (late ^ (late >> 1)) & 1

    @property
    def is_timed(self) -> bool:
        """True if the latest turn counts: until a window is hot, the host need not wait for it."""
        return self._calls > CALLS_BEFORE

    def took(self, plan: int, seconds: float, *, is_improving: bool = False) -> bool:
        """Note the time of a call; True if it settles the contest.

        While better code for the plan is being made, its times say nothing of what comes.
        """
        with self._lock:
            if self.verdict is not None or not self.is_timed:
                return False
            if is_improving:
                self._times[plan].clear()
                return False
            self._times[plan].append(seconds)
            if min(len(each) for each in self._times) < UNTIMED + TIMED:
                return False
            self.verdict = int(self.ratio > 1.0)
            return True

    @property
    def ratio(self) -> float:
        """The median time of the predicted plan, relative to that of its rival."""
        one, two = (median(each[UNTIMED:]) for each in self._times)
        return one / two


def verdict_key(
    device: str, steps: Sequence[Step], buffers: Sequence[Buffer], plans: tuple[str, str]
) -> str:
    """What a verdict depends on: code, device, programs, wiring, and the order of magnitude.

    And on what the two plans join: lengths of one order may be predicted differently.
    """
    order = {id(buffer): number for number, buffer in enumerate(buffers)}
    parts = [f"{each.dtype}:{each.size.bit_length()}:{each.is_scratch}" for each in buffers]
    for step in steps:
        used = ",".join(str(order[id(buffer)]) for buffer, _ in step.uses())
        name = step.program.digest() if isinstance(step, Launch) else type(step).__name__
        parts.append(f"{name}({used})")
    return cache_key("pipeline verdict", code_stamp(), device, *plans, *parts)


def known_verdict(key: str) -> int | None:
    """The verdict of an earlier process."""
    found = default_cache().get(key)
    return {b"0": 0, b"1": 1}.get(bytes(found)) if found is not None else None


def keep_verdict(key: str, is_rival: bool) -> None:
    """Store for later processes whether the rival won."""
    default_cache().put(key, b"1" if is_rival else b"0")


__all__ = ["Contest", "keep_verdict", "known_verdict", "verdict_key"]
