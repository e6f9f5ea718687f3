"""One process of the fuzzer: runs every n-th seed until the time limit."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.record import dataclass

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

_REPORT_EVERY = 0.5
_COLLECT_EVERY = 50_000
"""New objects between two searches for cycles, which programs do not have."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a worker does."""

    first: int
    step: int
    seconds: float
    checks: tuple[str, ...]
    mixture: str
    folder: Path
    end: int | None = None
    """The number to stop before, if that is what ends it."""
    fault: tuple[int, str] | None = None
    """The number of a program that ended the last process, and how: it is looked into first."""


@dataclass(slots=True)
class News:
    """What a worker tells: how many programs since it last told, and what it found."""

    programs: int = 0
    compared: Counter[str] = field(default_factory=Counter[str])
    """How many programs each check had something to compare for."""
    counted: Counter[str] = field(default_factory=Counter[str])
    """How many results of each kind were compared."""
    failures: list[str] = field(default_factory=list[str])
    over: bool = False


def work(
    task: Assignment, news: Queue[News], current: Synchronized[int] | None, stop: Event
) -> None:
    """Run in a process of its own; `current` holds the number of the program under test."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["VYRE_CACHE_BYTES"] = "0"
    os.environ.setdefault("VYRE_THREADS", "2")
    for latest in batches(task, current, stop.is_set):
        news.put(latest)
    news.put(News(over=True))


def batches(
    task: Assignment,
    current: Synchronized[int] | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[News]:
    """The news of a worker; the work is done while they are taken."""
    # Imported here: a process that only hands out work must start quickly.
    from vyre.conform.fuzz.checks import Tally, check_case
    from vyre.conform.fuzz.failures import keep, shrunk
    from vyre.conform.fuzz.seed_distribution import case_of

    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, 20, 100)
    started = told = time.monotonic()
    if task.fault is not None:
        yield News(failures=_fault(task, *task.fault))
    latest = News()
    number = task.first
    while time.monotonic() - started < task.seconds and (task.end is None or number < task.end):
        if is_stopped():
            break
        if current is not None:
            current.value = number
        case = case_of(number, task.mixture)
        tally = Tally(counted=latest.counted)
        for finding in check_case(case, number, task.checks, tally):
            small, how = shrunk(case, number, finding)
            kept = keep(small, number, how, task.folder)
            latest.failures.append(f"{finding.check} {case.label}: {how.problem}\n  {kept}")
        latest.programs += 1
        latest.compared.update(name for name in task.checks if name not in tally.refused)
        number += task.step
        if time.monotonic() - told > _REPORT_EVERY:
            yield latest
            latest, told = News(), time.monotonic()
    yield latest


def _fault(task: Assignment, number: int, how: str) -> list[str]:
    """The failure of a program that ends the process it runs in, by the checks that do it."""
    from vyre.conform.fuzz.checks import finding_of
    from vyre.conform.fuzz.failures import ends_process, keep, shrunk_fault
    from vyre.conform.fuzz.seed_distribution import case_of

    case = case_of(number, task.mixture)
    problem = f"the process was ended by {how}"
    for name in task.checks:
        if ends_process(case, number, name):
            finding = finding_of(name, number, problem)
            kept = keep(shrunk_fault(case, number, name), number, finding, task.folder)
            return [f"{name} {case.label}: {problem}\n  {kept}"]
    again = (
        f"python -m vyre.conform fuzz --number {number} "
        f"--what {','.join(task.checks)} --mixture {task.mixture}"
    )
    return [f"{case.label}: {problem}, but not when it ran again: {again}"]
