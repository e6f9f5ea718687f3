"""One process of the fuzzer: takes every so-manieth number until the time is up."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from multiprocessing.queues import Queue
from pathlib import Path
from typing import TYPE_CHECKING

from vyre.record import dataclass

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

_REPORT_EVERY = 0.5


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


@dataclass(slots=True)
class News:
    """What a worker tells: how many programs since it last told, and what it found."""

    programs: int = 0
    compared: Counter[str] = field(default_factory=Counter[str])
    """How many programs each check had something to compare for."""
    failures: list[str] = field(default_factory=list[str])
    over: bool = False


def work(task: Assignment, news: Queue[News], current: Synchronized[int] | None) -> None:
    """Run in a process of its own; `current` holds the number of the program under test."""
    os.environ["VYRE_CACHE_BYTES"] = "0"
    os.environ.setdefault("VYRE_THREADS", "2")
    for latest in batches(task, current):
        news.put(latest)
    news.put(News(over=True))


def batches(task: Assignment, current: Synchronized[int] | None = None) -> Iterator[News]:
    """The news of a worker; the work is done while they are taken."""
    # Imported here: a process that only hands out work must start quickly.
    from vyre.conform.fuzz.checks import check_case
    from vyre.conform.fuzz.failures import keep, shrunk
    from vyre.conform.fuzz.mixture import case_of

    started = told = time.monotonic()
    latest = News()
    number = task.first
    while time.monotonic() - started < task.seconds and (task.end is None or number < task.end):
        if current is not None:
            current.value = number
        case = case_of(number, task.mixture)
        refused: list[str] = []
        for finding in check_case(case, number, task.checks, refused):
            small, how = shrunk(case, number, finding)
            kept = keep(small, number, how, task.folder)
            latest.failures.append(f"{finding.check} {case.label}: {how.problem}\n  {kept}")
        latest.programs += 1
        latest.compared.update(name for name in task.checks if name not in refused)
        number += task.step
        if time.monotonic() - told > _REPORT_EVERY:
            yield latest
            latest, told = News(), time.monotonic()
    yield latest
