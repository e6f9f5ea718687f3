"""Timing of one operation inside this process, for what needs no peers."""

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import TypeVar

T = TypeVar("T")


def median_seconds(
    operation: Callable[[T], object], fresh: Callable[[], T], rounds: int, budget: float = 5.0
) -> float:
    """The median time of `operation` on a value made anew each time.

    Anew, because programs remember what was computed about them: only the first time counts. At
    least one round is done, and none is started once the budget of seconds is used up.
    """
    times: list[float] = []
    deadline = time.monotonic() + budget
    while len(times) < rounds and (not times or time.monotonic() < deadline):
        value = fresh()
        gc.collect()
        started = time.perf_counter()
        operation(value)
        times.append(time.perf_counter() - started)
    return median(times)


def seconds_per_call(
    operation: Callable[[], object], rounds: int = 7, budget: float = 0.05
) -> float:
    """The median over rounds of the mean time of one call, each round filling its budget.

    For operations of microseconds, where the clock itself costs too much for single calls.
    """
    operation()
    started = time.perf_counter()
    operation()
    once = max(time.perf_counter() - started, 1e-8)
    calls = max(1, int(budget / once))
    times: list[float] = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(calls):
            operation()
        times.append((time.perf_counter() - started) / calls)
    return median(times)
