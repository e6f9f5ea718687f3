"""WebGPU devices and processes that fork: refused at once, never a wait without end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import vyre as vy
from tests.processes.kernels import check, churn, double, increase
from tests.processes.scenarios.forks import PATIENCE, Busy, ended_well, in_child
from tests.processes.scenarios.signals import Enough, after, ended_by, raises

DEVICE = "wgpu:0"
SOURCE = str(Path(vy.__file__).parent / "backends" / "wgsl")
PROMPT = 3.0


def refused(work: Callable[[], object]) -> None:
    """It is, with the code that says why, and at once."""
    began = time.monotonic()
    said = "nothing"
    try:
        work()
    except vy.VyreError as problem:
        said = str(problem)
    assert "[D041]" in said, said
    assert "spawn" in said
    assert time.monotonic() - began < PROMPT


def used_before_a_fork() -> None:
    """The child is told what to do; the CPU works in it, the device in parent and spawned ones."""
    check(DEVICE)
    x = vy.array(np.arange(1000, dtype=np.uint32), device=DEVICE)
    y = np.zeros(1000, np.uint32)
    double(x, y)

    def work() -> None:
        refused(lambda: check(DEVICE))
        refused(lambda: check(DEVICE, 77))
        refused(x.numpy)
        refused(lambda: x.write(y))
        refused(lambda: double(x, y))
        refused(lambda: churn(3, np.arange(100, dtype=np.uint32), device=DEVICE))
        refused(lambda: vy.array(y, device=DEVICE))
        refused(lambda: vy.zeros(10, vy.u32, device=DEVICE))
        check("cpu")
        check(None)
        (info,) = [info for info in vy.devices() if info.id == DEVICE]
        assert not info.available
        assert "forked" in info.reason
        assert "spawn" in info.remedy
        refused(lambda: check(info.aliases[0]))
        ended_well(in_child(lambda: refused(lambda: check(DEVICE))))
        x.free()

    ended_well(in_child(work))
    child = os.fork()
    if not child:
        refused(lambda: check(DEVICE))
        sys.exit(0)  # the interpreter is taken down, with all that it has of the device
    ended_well(child)
    with multiprocessing.get_context("fork").Pool(1) as workers:
        assert workers.map_async(told, range(4)).get(timeout=PATIENCE) == ["D041"] * 4
    with Busy(lambda number: check(DEVICE, 1 + number % 300)):
        for _ in range(3):
            time.sleep(0.02)
            ended_well(in_child(lambda: refused(lambda: check(DEVICE))))
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        assert workers.map_async(on_the_device, [10, 100]).get(timeout=PATIENCE) == [10, 100]
    check(DEVICE)
    assert x.numpy()[999] == 999


def told(_: int) -> str:
    """What a worker of a pool is told."""
    try:
        check(DEVICE)
    except vy.VyreError as problem:
        return problem.code
    return "nothing"


def used_after_a_fork_only() -> None:
    """Of a process in which it was never used, it works in both."""
    check("cpu")
    child = in_child(lambda: check(DEVICE))
    check(DEVICE)
    ended_well(child)


def on_the_device(count: int) -> int:
    """For processes that are spawned."""
    check(DEVICE, count)
    return count


def interrupted() -> None:
    """During a launch that takes seconds, and while the device is still busy with that one."""
    x = np.arange(1 << 14, dtype=np.uint32)
    for _ in range(3):  # the first times more is done than later
        churn(10, x, device=DEVICE)
    after(0.2, raises(Enough))
    with ended_by(Enough, 0.2, prompt=1.0):
        churn(60_000, x, device=DEVICE)
    after(0.1, signal.default_int_handler, signal.SIGINT)
    with ended_by(KeyboardInterrupt, 0.1, prompt=1.0):
        check(DEVICE)
    check(DEVICE)


def a_handler_launches_while_the_host_waits() -> None:
    """For the result of a launch that takes a while: both are right."""
    x = np.arange(1 << 14, dtype=np.uint32)
    churn(3000, x, device=DEVICE)
    expected = x.copy()
    started = time.perf_counter()
    churn(3000, x, device=DEVICE)
    duration = time.perf_counter() - started
    heard: list[int] = []

    def launch(number: int, _: object) -> None:
        check(DEVICE, 77)
        heard.append(number)

    for part in range(1, 10):
        heard.clear()
        x[:] = np.arange(1 << 14)
        after(part / 10 * duration, launch)
        churn(3000, x, device=DEVICE)
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert np.array_equal(x, expected), part


def a_handler_launches_at_any_line() -> None:
    """What is recorded is done once, whichever line a handler interrupts that launches."""
    with vy.array(np.zeros(100, np.uint32), device=DEVICE) as x:
        total = 0

        def count() -> None:
            nonlocal total
            increase(x)
            increase(x)
            total += 2
            x.numpy()

        def interrupt(number: int, _: object) -> None:
            nonlocal total
            total += 1
            increase(x)  # recorded only
            check(DEVICE, 77)

        count()
        count()
        signal.signal(signal.SIGALRM, interrupt)
        interrupt(0, None)
        for line in lines_of(count):
            traced_at(line, count)
            assert np.array_equal(x.numpy(), np.full(100, total, np.uint32)), line
    assert total > 100


def lines_of(work: Callable[[], None]) -> list[tuple[str, int]]:
    """The lines of the backend that some work comes to."""
    lines: dict[tuple[str, int], None] = {}
    _trace(work, lambda line: lines.setdefault(line))
    return list(lines)


def traced_at(line: tuple[str, int], work: Callable[[], None]) -> None:
    """Do it, and let a signal come when it comes to this line for the first time."""
    sent: list[None] = []

    def send(reached: tuple[str, int]) -> None:
        if reached == line and not sent:
            sent.append(None)
            signal.raise_signal(signal.SIGALRM)

    _trace(work, send)


def _trace(work: Callable[[], None], reached: Callable[[tuple[str, int]], object]) -> None:
    def look(frame: FrameType, event: str, _: object) -> Any:
        if event == "call":
            return look if frame.f_code.co_filename.startswith(SOURCE) else None
        if event == "line":
            reached((frame.f_code.co_filename, frame.f_lineno))
        return look

    sys.settrace(look)
    try:
        work()
    finally:
        sys.settrace(None)
