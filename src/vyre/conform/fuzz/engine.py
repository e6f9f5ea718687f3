"""The fuzzer on all cores: hands out numbers, gathers what is found, survives crashes."""

from __future__ import annotations

import multiprocessing
import os
import queue
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from vyre.conform.fuzz.worker import Assignment, News, work
from vyre.record import dataclass


@dataclass(slots=True)
class FuzzReport:
    """What a run of the fuzzer saw."""

    seed: int
    checks: tuple[str, ...]
    programs: int = 0
    compared: Counter[str] = field(default_factory=Counter[str])
    """By check, the programs that it had something to compare for: a device may refuse some."""
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        """Whether nothing was found and something was tried."""
        return not self.failures and self.programs > 0

    def line(self) -> str:
        """One line for people."""
        rate = self.programs / self.seconds if self.seconds else 0.0
        compared = ", ".join(f"{name} {self.compared[name]:,}" for name in self.checks)
        return (
            f"{self.programs:,} programs in {self.seconds:.0f} s ({rate:.1f}/s), "
            f"compared: {compared}; {len(self.failures)} failures"
        )


def fuzz(
    seconds: float,
    seed: int = 0,
    checks: Sequence[str] = ("cpu", "opt", "fuse", "split", "wire"),
    *,
    processes: int | None = None,
    mixture: str = "thorough",
    programs: int | None = None,
    folder: Path = Path("fuzz-failures"),
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Run random programs on all cores for so many seconds, and no more than so many programs."""
    workers = processes or len(os.sched_getaffinity(0))
    report = FuzzReport(seed, tuple(checks))
    started = time.monotonic()
    first = seed * 1_000_000
    end = None if programs is None else first + programs
    tasks = [
        Assignment(first + rank, workers, seconds, report.checks, mixture, folder, end)
        for rank in range(workers)
    ]
    team = [_Member(task) for task in tasks]
    while any(member.is_working for member in team):
        for member in team:
            member.gather(report)
        report.seconds = time.monotonic() - started
        if progress is not None:
            progress(report)
        time.sleep(0.1)
    report.seconds = time.monotonic() - started
    return report


class _Member:
    """One process, started again behind the program on which it died."""

    def __init__(self, task: Assignment) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._task = task
        self._until = time.monotonic() + task.seconds
        self._news: Any = self._context.Queue()
        self._current: Any = self._context.Value("q", task.first)
        self.is_working = True
        self._process = self._start(task.first)

    def _start(self, first: int) -> BaseProcess:
        left = max(self._until - time.monotonic(), 0.0)
        task = replace(self._task, first=first, seconds=left)
        process = self._context.Process(target=work, args=(task, self._news, self._current))
        process.start()
        return process

    def gather(self, report: FuzzReport) -> None:
        """Take the news, and notice when the process is gone."""
        while True:
            try:
                latest: News = self._news.get_nowait()
            except queue.Empty:
                break
            report.programs += latest.programs
            report.compared += latest.compared
            report.failures += latest.failures
            self.is_working = self.is_working and not latest.over
        if self._process.is_alive() or not self.is_working:
            return
        if self._process.exitcode == 0:
            # It said that it is done; the last news are still on their way.
            return
        number = int(self._current.value)
        report.failures.append(
            f"the process died (exit code {self._process.exitcode}) on program {number}; to see "
            f"it: python -m vyre.conform fuzz --number {number} "
            f"--what {','.join(self._task.checks)} --mixture {self._task.mixture}"
        )
        if time.monotonic() < self._until:
            self._process = self._start(number + self._task.step)
        else:
            self.is_working = False
