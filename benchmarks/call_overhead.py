"""What calls cost beside the work, in one process and in turns.

Run with `python -m benchmarks.call_overhead`. The first table has ordinary calls on short arrays of
the host; behind each stands its time above that of a kernel. The second has kernels with grid
barriers on bound arrays: each segment launched from the host, and all of them as one job.
"""

# The number of axes stands among types.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

import vyre as vy
from vyre.driver.backend import Argument
from vyre.driver.grid_sync import SplitExecutable
from vyre.driver.grid_sync.lowering import lower
from vyre.driver.sequence import prepare
from vyre.driver.stepwise import Stepwise
from vyre.examples import bfs, prefix_sum, radix_sort

CALLS, TURNS = 100, 60


@vy.kernel
def one(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + 1


@vy.kernel
def strided(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(y):
        y[i] = x[i] + 1


@vy.kernel
def two(x: vy.InOut[vy.u32], y: vy.Out[vy.u32]):
    i = vy.gid()
    if i < len(x):
        x[i] = x[i] + 1
    vy.grid_sync()
    if i < len(y):
        y[i] = x[len(x) - 1 - i]


@vy.pipeline(fuse=False)
def single(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    one(x, y)


@vy.pipeline(fuse=False)
def double(x: vy.In[vy.u32], y: vy.Out[vy.u32]):
    t = vy.scratch_like(x)
    one(x, t)
    one(t, y)


@vy.kernel(workgroup=128)
def jacobi(steps: vy.u32, x: vy.InOut[vy.f32], y: vy.InOut[vy.f32]):
    i, n = vy.gid(), len(x)
    for _ in range(steps):
        if i > 0 and i < n - 1:
            y[i] = 0.5 * (x[i - 1] + x[i + 1])
        vy.grid_sync()
        if i > 0 and i < n - 1:
            x[i] = 0.5 * (y[i - 1] + y[i + 1])
        vy.grid_sync()


def in_turns(calls: Mapping[str, Callable[[], object]], many: int, turns: int) -> dict[str, float]:
    """The least microseconds of each call."""
    best = dict.fromkeys(calls, float("inf"))
    for call in calls.values():
        for _ in range(8):
            call()
    for _ in range(turns):
        for name, call in calls.items():
            began = time.perf_counter()
            for _ in range(many):
                call()
            best[name] = min(best[name], (time.perf_counter() - began) / many * 1e6)
    return best


def calls() -> None:
    """Ordinary calls on short arrays."""
    count = itertools.count()
    x, y = np.zeros(64, np.uint32), np.zeros(64, np.uint32)
    gaps = np.zeros(128, np.uint32)[::2]
    matrix = np.zeros((64, 64), np.uint32)
    sizes = [(np.zeros(n, np.uint32), np.zeros(n, np.uint32)) for n in range(20, 60)]
    found = in_turns(
        {
            "a kernel": lambda: one(x, y, device="cpu"),
            "new lengths": lambda: one(*sizes[next(count) % 40], device="cpu"),
            "elements= that changes": lambda: one(
                x, y, elements=next(count) % 60 + 1, device="cpu"
            ),
            "a column, another each time": lambda: strided(
                matrix[:, next(count) % 64], y, device="cpu"
            ),
            "an output with gaps": lambda: strided(x, gaps, device="cpu"),
            "a kernel with a grid barrier": lambda: two(x, y, device="cpu"),
            "a bound pipeline of one stage": single.bind(x, y, device="cpu"),
            "a bound pipeline of two stages": double.bind(x, y, device="cpu"),
        },
        CALLS,
        TURNS,
    )
    base = found["a kernel"]
    for name, value in found.items():
        print(f"{name:34s} {value:8.2f} us  {value - base:+6.2f}")


def bound(
    kernel: Any, grid: int, *arrays: Any
) -> tuple[Callable[[], object], Callable[[], object]]:
    """A kernel on arrays, its segments launched by the host, and as one job."""
    compiled = kernel.compile(device="cpu")
    plan, device = compiled.compilation.plan, compiled.route.device
    shape = (grid, 1, 1)
    held = {
        name: Argument(device.adopt(memoryview(array).cast("B")), array.size)
        for name, array in zip(compiled.bound_names, arrays, strict=True)
    }
    job = SplitExecutable(plan, compiled.load(), device, compiled.bound_names)
    lanes = prod(plan.segments[0].workgroup_size)
    memory = dict(held)
    for spill in plan.spills:
        elements = spill.count(grid, lanes)
        size = elements * (spill.element.size_bytes or 0)
        memory[spill.buffer] = Argument(device.allocate(size), elements)
    sequence = lower(plan, compiled.load(), memory, shape, {}).sequence
    assert not isinstance(prepare(device, sequence), Stepwise)
    return Stepwise(sequence).run, job.bind(list(held.values()), shape)


def barriers() -> None:
    """Kernels with grid barriers on bound arrays."""
    draw = np.random.default_rng(0)
    cases: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {}
    x, y = np.zeros(1000, np.uint32), np.zeros(1000, np.uint32)
    cases["two segments, 1 000"] = bound(two, 16, x, y)
    for n in (50_000, 1_000_000):
        x, groups = draw.integers(0, 1000, n, dtype=np.uint32), prefix_sum.groups(n)
        arrays = (x, np.zeros(groups, np.uint32), np.zeros_like(x))
        cases[f"prefix sum, {n:,}"] = bound(prefix_sum.prefix_sum, groups, *arrays)
    for n in (2000, 65_536):
        keys, groups = draw.integers(0, 1 << 32, n, dtype=np.uint32), -(-n // radix_sort.GROUP)
        starts = np.zeros(radix_sort.DIGITS * groups, np.uint32)
        cases[f"radix sort, {n:,}"] = bound(
            radix_sort.radix_sort, groups, keys, np.zeros_like(keys), starts
        )
        first, edges = bfs.graph(n)
        levels = np.array([bfs.expected(first, edges).max()], np.uint32)
        distance = np.full(n, bfs.FAR, np.uint32)
        distance[0] = 0
        name = f"bfs, {n:,}, {levels[0]} levels"
        cases[name] = bound(bfs.distances, -(-n // 128), levels, first, edges, distance)
    for n in (1000, 100_000):
        x = draw.random(n, dtype=np.float32)
        steps = np.array([100], np.uint32)
        cases[f"Jacobi, {n:,}, 200 sweeps"] = bound(jacobi, -(-n // 128), steps, x, x.copy())
    for name, (apart, job) in cases.items():
        found = in_turns({"launches": apart, "one job": job}, 5, TURNS)
        ratio = found["launches"] / found["one job"]
        print(f"{name:34s} {found['launches']:9.1f} us → {found['one job']:8.1f}  {ratio:5.1f} x")


if __name__ == "__main__":
    calls()
    barriers()
