"""The fuzzer on all cores: hands out numbers, gathers what is found, survives crashes."""

from __future__ import annotations

import multiprocessing
import os
import queue
import signal
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
    counted: Counter[str] = field(default_factory=Counter[str])
    """By check and kind of result, how many were compared."""
    seconds: float = 0.0
    interrupted: bool = False
    failures: list[str] = field(default_factory=list[str])

    @property
    def ok(self) -> bool:
        """Whether nothing was found and every check had something to compare."""
        return not self.failures and not self.idle

    @property
    def idle(self) -> tuple[str, ...]:
        """The checks that compared nothing: what they did not find says nothing."""
        return tuple(name for name in self.checks if not self.compared[name])

    def line(self) -> str:
        """One line for people."""
        rate = self.programs / self.seconds if self.seconds else 0.0
        compared = ", ".join(f"{name} {self.compared[name]:,}" for name in self.checks)
        return (
            f"{self.programs:,} programs in {self.seconds:.0f} s ({rate:.1f}/s), "
            f"compared: {compared}; {len(self.failures)} failures"
            f"{', interrupted' if self.interrupted else ''}"
        )

    def details(self) -> list[str]:
        """A line per check that has several kinds of results."""
        lines: list[str] = []
        for name in self.checks:
            kinds = [
                f"{kind.removeprefix(name + ' ')} {count:,}"
                for kind, count in sorted(self.counted.items())
                if kind.startswith(name + " ")
            ]
            lines += [f"{name}: {', '.join(kinds)}"] if kinds else []
        return lines


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
    """Run random programs on all cores, up to a number of seconds and of programs."""
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
    try:
        try:
            while any(member.is_working for member in team) and not report.interrupted:
                _gather(team, report, started, progress)
        except KeyboardInterrupt:
            report.interrupted = True
        for member in team:
            member.stop()
        until = time.monotonic() + _LEAVE
        while any(member.is_working for member in team) and time.monotonic() < until:
            _gather(team, report, started, progress)
    finally:
        for member in team:
            member.end()
    report.seconds = time.monotonic() - started
    return report


_ASKED_TO_END = frozenset(
    -getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if hasattr(signal, name)
)
"""Exits of processes that were ended from outside, as a shell ends a job: no program did it."""

_LEAVE = 10.0
"""Seconds in which processes finish the program they are at when everything is to stop."""


def _gather(
    team: Sequence[_Member],
    report: FuzzReport,
    started: float,
    progress: Callable[[FuzzReport], None] | None,
) -> None:
    for member in team:
        member.gather(report)
    report.seconds = time.monotonic() - started
    if progress is not None:
        progress(report)
    time.sleep(0.1)


class _Member:
    """One process, started again behind the program on which it died."""

    def __init__(self, task: Assignment) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._task = task
        self._until = time.monotonic() + task.seconds
        self._news: Any = self._context.Queue()
        self._current: Any = self._context.Value("q", task.first)
        self._stop = self._context.Event()
        self._fault: int | None = None
        """The last program that ended a process."""
        self.is_working = True
        self._process = self._start(task.first)

    def _start(self, first: int, fault: tuple[int, str] | None = None) -> BaseProcess:
        left = max(self._until - time.monotonic(), 0.0)
        task = replace(self._task, first=first, seconds=left, fault=fault)
        arguments = (task, self._news, self._current, self._stop)
        process = self._context.Process(target=work, args=arguments)
        process.start()
        return process

    def stop(self) -> None:
        """Ask the process to end after the program it is at."""
        self._stop.set()

    def end(self) -> None:
        """No process is left behind, whatever happened."""
        if self.is_working and self._process.is_alive():
            self._process.terminate()
        self._process.join()

    def gather(self, report: FuzzReport) -> None:
        """Take the news, and notice when the process is gone."""
        while True:
            try:
                latest: News = self._news.get_nowait()
            except queue.Empty:
                break
            report.programs += latest.programs
            report.compared += latest.compared
            report.counted += latest.counted
            report.failures += latest.failures
            self.is_working = self.is_working and not latest.over
        if self._process.is_alive() or not self.is_working:
            return
        if self._process.exitcode == 0:
            # It said that it is done; the last news are still on their way.
            return
        if self._process.exitcode in _ASKED_TO_END:
            self.is_working = False
            report.interrupted = True
            return
        number = int(self._current.value)
        if number == self._fault:
            # It died again, while it looked into how it died.
            report.failures.append(f"program {number} ends every process that looks into it")
            self.is_working = False
            return
        self._fault = number
        self._process = self._start(number + self._task.step, (number, self._death()))

    def _death(self) -> str:
        code = self._process.exitcode or 0
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"
