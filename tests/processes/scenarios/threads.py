"""Threads that call kernels at once: the same, others, new ones, and of other lengths."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import numpy as np

import vyre as vy
from tests.processes.kernels import add_one, check, check_different, churn, churned, double


def together(*works: Callable[[], None]) -> None:
    """Do all of it at the same time."""
    start = threading.Barrier(len(works))
    problems: list[BaseException] = []

    def do(work: Callable[[], None]) -> None:
        try:
            start.wait()
            work()
        except BaseException as problem:
            problems.append(problem)
            raise

    threads = [threading.Thread(target=do, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def first_calls_of_one_kernel() -> None:
    """All of them come before it is compiled."""
    sys.setswitchinterval(1e-5)
    together(*[check] * 8)


def same_and_other_kernels_and_lengths() -> None:
    sys.setswitchinterval(1e-4)
    seed = os.getpid() * 1000

    def lengths(first: int) -> Callable[[], None]:
        def work() -> None:
            for count in range(first, first + 2000, 97):
                check(count=count)

        return work

    def kernels(first: int) -> Callable[[], None]:
        def work() -> None:
            for number in range(first, first + 4):
                check_different(seed + number)

        return work

    expected = churned(50, 5000)

    def larger() -> None:
        for _ in range(20):
            x = np.arange(5000, dtype=np.uint32)
            churn(50, x, device="cpu")
            assert np.array_equal(x, expected)

    together(lengths(0), lengths(31), kernels(0), kernels(2), larger)


def device_arrays() -> None:
    """Made, used by kernels of other threads, and freed."""
    shared = vy.array(np.arange(1000, dtype=np.uint32), device="cpu")

    def work() -> None:
        for count in range(1, 40):
            full = np.full(count * 25, count, np.uint32)
            with vy.array(full, device="cpu") as x, vy.zeros(full.size, vy.u32, device="cpu") as y:
                add_one(x, y)
                assert (y.numpy() == count + 1).all()
            z = np.zeros(1000, np.uint32)
            double(shared, z, device="cpu")
            assert z[999] == 1998

    together(*[work] * 4)


def one_array() -> None:
    """Atomics of launches that overlap are not lost."""
    total = vy.array(np.zeros(1, np.uint32), device="cpu")
    x = np.ones(10_000, np.uint32)

    def work() -> None:
        for _ in range(20):
            counted(x, total, device="cpu")

    together(*[work] * 4)
    assert total.numpy()[0] == 4 * 20 * 10_000


@vy.kernel
def counted(x: vy.In[vy.u32], total: vy.InOut[vy.u32]):
    i = vy.gid()
    if i < len(x):
        total.atomic_add(0, x[i])
