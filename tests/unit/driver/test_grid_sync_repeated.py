"""Kernels with grid barriers, called again and again, on memory that is reused."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import DeadlineError, TrapError
from vyre.driver.backend import Argument
from vyre.driver.grid_sync import SplitExecutable, split
from vyre.driver.grid_sync.lowering import lower
from vyre.driver.sequence import Below, Branch, Jump, Launch, Load, RunsSequences, Store


@vy.kernel
def turned(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    kept = x[i] * 2
    if i < len(x):
        x[i] = x[i] + 1
    vy.grid_sync()
    if i < len(y):
        y[i] = x[len(x) - 1 - i] + kept


@vy.kernel
def some_return(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        if x[i] % 3 == 0:
            return
        x[i] = x[i] + 1
    vy.grid_sync()
    if i < len(y):
        y[i] = x[(i + 7) % len(x)]


@vy.kernel
def doubled(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    """Running sums, a doubling distance at a time."""
    i = vy.gid()
    step = vy.u32(1)
    while step < len(x):
        value = vy.u32(0)
        if i < len(x):
            value = x[i]
            if i >= step:
                value += x[i - step]
        vy.grid_sync()
        if i < len(x):
            x[i] = value
        vy.grid_sync()
        step *= 2
    if i < len(y):
        y[i] = x[i]


@vy.kernel
def counted(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    mine = vy.local(vy.u32, 4)
    for turn in range(len(x) % 5 + 2):
        if turn == 4:
            break
        if i < len(x):
            mine[turn] = mine[turn] + x[i] + turn
        vy.grid_sync()
        if turn == 1:
            continue
        if i < len(x):
            x[i] = x[i] + 1
        vy.grid_sync()
    if i < len(y):
        y[i] = mine[0] + 3 * mine[1] + 5 * mine[2] + 7 * mine[3]


@vy.kernel
def trapping(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        x[i] = x[i] + 1
    vy.grid_sync()
    if i < len(y):
        assert x[i] != 9, "nine"
        y[i] = x[i]


KERNELS = (turned, some_return, doubled, counted)


def made(count: int) -> tuple[Any, Any]:
    return np.arange(count, dtype=np.uint32) * 7 % 101, np.zeros(count, np.uint32)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("resident", [False, True])
def test_repeated_calls_agree_with_the_reference(kernel: Any, resident: bool) -> None:
    for count in (1, 63, 64, 65, 300, 300, 64, 300):
        x, y = made(count)
        expected, result = x.copy(), y.copy()
        ours: tuple[Any, Any] = (x, y)
        if resident:
            ours = vy.array(x, device="cpu"), vy.array(y, device="cpu")
        for _ in range(3):
            kernel(*ours, device="cpu")
            kernel.reference(expected, result, sanitize=False)
            assert np.array_equal(np.asarray(ours[0]), expected)
            assert np.array_equal(np.asarray(ours[1]), result)


def test_several_threads_call_one_kernel() -> None:
    x, y = made(500)
    for _ in range(3):
        some_return(x.copy(), y, device="cpu")
    expected = x.copy(), y.copy()
    some_return.reference(*expected, sanitize=False)
    failures: list[int] = []

    def work(number: int) -> None:
        for _ in range(40):
            own, out = x.copy(), np.zeros_like(y)
            some_return(own, out, device="cpu")
            if not (np.array_equal(own, expected[0]) and np.array_equal(out, expected[1])):
                failures.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_trap_names_its_segment_and_line_in_repeated_calls() -> None:
    for _ in range(4):
        x, y = np.zeros(50, np.uint32), np.zeros(50, np.uint32)
        trapping(x, y, device="cpu")
    for _ in range(2):
        x, y = np.full(50, 8, np.uint32), np.zeros(50, np.uint32)
        with pytest.raises(TrapError, match="segment 1 of 2") as caught:
            trapping(x, y, device="cpu")
        assert caught.value.location.span is not None


def test_a_deadline_holds_for_all_segments() -> None:
    x, y = made(1 << 21)
    for _ in range(3):
        with pytest.raises(DeadlineError):
            doubled(x, y, device="cpu", deadline=0.01)


def test_the_cpu_runs_split_programs_as_sequences() -> None:
    compiled = turned.compile(device="cpu")
    assert isinstance(compiled.route.device, RunsSequences)
    assert isinstance(compiled.takes_arrays, SplitExecutable)


def test_loops_are_lowered_to_branches_and_counters() -> None:
    compiled = counted.compile(device="cpu")
    plan = split(compiled.program)
    device = compiled.route.device
    names = [decl.name for segment in plan.segments for decl in segment.buffers]
    bound = {name: Argument(device.allocate(16), 2) for name in names}
    bound |= {spill.buffer: Argument(device.allocate(16), 2) for spill in plan.spills}
    lowered = lower(plan, compiled.load(), bound, (1, 1, 1), {})
    kinds = [type(step) for step in lowered.sequence.steps]
    for kind in (Load, Below, Store, Branch, Jump, Launch):
        assert kind in kinds
    assert lowered.sequence.has_loop
    assert set(lowered.segments.values()) == set(range(len(plan.segments))) - plan.empty
