"""Device arrays that are freed while another thread uses them: memory goes back after the last use.

The kernel takes some milliseconds, so that it is surely under way when its array is freed. What is
made next has the size of the array that was freed, and must stay as it was made.
"""
# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import vyre as vy
from vyre.diagnostics import VyreError
from vyre.driver import routing
from vyre.runtime.memory_pool import MemoryPool, pool_of

SIZE = 4096
DEVICES = [info.id for info in vy.devices() if info.available and info.id in ("cpu", "wgpu:0")]


@vy.kernel
def worked(rounds: vy.u32, x: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        for _ in range(rounds):
            x[i] = x[i] * 3 + 1


@vy.kernel
def filled(rounds: vy.u32, x: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        for _ in range(rounds):
            x.atomic_add(i, 1)


def _long_enough(device: str) -> int:
    """Rounds that take some milliseconds."""
    x = vy.zeros(SIZE, np.uint32, device)
    rounds = 64
    while True:
        started = time.perf_counter()
        worked(rounds, x)
        x.numpy()
        if time.perf_counter() - started > 0.005:
            return rounds
        rounds *= 2


def _by_call(kernel: Any) -> Callable[[int, Any], object]:
    return lambda rounds, x: kernel(rounds, x)


def _by_run(rounds: int, x: Any) -> object:
    given = {"rounds": rounds, "x": x}
    return vy.run(worked.program(), given, device=x.device.info.id)


USES: dict[str, Callable[[int, Any], object]] = {
    "kernel": _by_call(worked),
    "kernel that clears": _by_call(filled),
    "run": _by_run,
}


def _end(x: Any) -> None:
    with x:
        pass


@pytest.mark.parametrize("end", [lambda x: x.free(), _end], ids=["free", "with"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("device", DEVICES)
def test_memory_is_kept_until_the_launch_has_ended(
    device: str, use: str, end: Callable[[Any], None]
) -> None:
    rounds = _long_enough(device)
    pool = pool_of(routing.choose(device).device)
    USES[use](rounds, vy.zeros(SIZE, np.uint32, device))  # makes what is kept for such calls
    gc.collect()
    before = pool.counters.in_use
    for _ in range(4):
        x = vy.zeros(SIZE, np.uint32, device)
        USES[use](rounds, x)  # the second time it is a call like one before
        thread = threading.Thread(target=_tolerant(USES[use]), args=(rounds, x))
        thread.start()
        time.sleep(random.Random(use).random() * 0.004)
        end(x)
        end(x)
        assert x.is_free
        others = [vy.zeros(SIZE, np.uint32, device) for _ in range(3)]
        thread.join(60)
        assert not thread.is_alive()
        assert not any(other.numpy().any() for other in others)
        del others, thread
    gc.collect()
    assert pool.counters.in_use == before


def _tolerant(use: Callable[[int, Any], object]) -> Callable[[int, Any], None]:
    """A use that may come too late, and is then refused."""

    def run(rounds: int, x: Any) -> None:
        try:
            use(rounds, x)
        except VyreError as error:
            if error.code != "D017":
                raise

    return run


def _is_left_alone(x: Any) -> None:
    own = vy.zeros(SIZE, np.uint32, "cpu")
    worked(100, x)
    assert not own.numpy().any()


ACTIONS: list[Callable[[Any], object]] = [
    lambda x: x.free(),
    lambda x: x.write(np.zeros(SIZE, np.uint32)),
    lambda x: x.numpy(),
    lambda x: filled(3, x),
    lambda x: worked(300, x),
    lambda x: _by_run(200, x),
    _is_left_alone,
]


def test_threads_that_use_free_and_make_arrays_at_random() -> None:
    """All uses at once, on memory that goes back to the system: a mistake ends the process."""
    pool = pool_of(routing.choose("cpu").device)
    pool.drop_idle()
    cap, pool.cap = pool.cap, 0
    until = time.monotonic() + 1.5
    shared: list[Any] = [vy.zeros(SIZE, np.uint32, "cpu") for _ in range(4)]
    wrong: list[BaseException] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)
        while time.monotonic() < until:
            place = dice.randrange(4)
            try:
                dice.choice(ACTIONS)(shared[place])
            except VyreError as error:
                if error.code != "D017":
                    wrong.append(error)
                shared[place] = vy.zeros(SIZE, np.uint32, "cpu")
            except AssertionError as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    pool.cap = cap
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong


def test_memory_that_the_collector_gives_back_while_the_pool_is_at_work() -> None:
    """Arrays in cycles are collected at any moment: also inside of the pool, in the same thread."""
    device = routing.choose("cpu").device
    pool = MemoryPool(device, cap=1 << 16)

    class Cycle:
        def __init__(self) -> None:
            self.own = self
            self.memory = pool.take(1000)

        def __del__(self) -> None:
            pool.give(self.memory)

    threshold = gc.get_threshold()
    gc.set_threshold(3, 2, 2)
    try:
        for _ in range(2000):
            Cycle()
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    pool.give(pool.take(1))  # settles what waits
    assert pool.counters.in_use == 0
    assert pool.counters.idle <= 1 << 16


def test_an_array_freed_twice_by_two_threads_is_given_back_once() -> None:
    pool = pool_of(routing.choose("cpu").device)
    before = pool.counters.in_use
    for _ in range(200):
        x = vy.zeros(SIZE, np.uint32, "cpu")
        gate = threading.Barrier(2)

        def free(x: Any = x, gate: threading.Barrier = gate) -> None:
            gate.wait()
            x.free()

        threads = [threading.Thread(target=free) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        one, two = vy.zeros(SIZE, np.uint32, "cpu"), vy.zeros(SIZE, np.uint32, "cpu")
        one.write(np.ones(SIZE, np.uint32))
        assert not two.numpy().any()
        del one, two, threads, free
    gc.collect()
    assert pool.counters.in_use == before
