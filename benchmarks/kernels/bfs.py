"""Breadth-first levels of a random graph in CSR form: irregular loads, one sweep per level."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run, random
from benchmarks.programs import groups, program_of

DEGREE = 8
UNSEEN = np.uint32(0xFFFFFFFF)


def data(n: int) -> Arrays:
    """Node 0 reaches nearly everything: uneven degrees of 8 on average, targets anywhere."""
    source = random()
    degrees = source.integers(0, 2 * DEGREE + 1, n)
    degrees[0] = DEGREE
    starts = np.zeros(n + 1, np.uint32)
    starts[1:] = np.cumsum(degrees)
    return {"starts": starts, "targets": source.integers(0, n, int(starts[-1]), dtype=np.uint32)}


def define(data: Arrays) -> Arrays:
    return {"levels": by_frontier(data["starts"], data["targets"])}


def by_frontier(starts: Array, targets: Array) -> Array:
    """Levels by numpy, gathering the edges of the whole frontier at once."""
    levels = np.full(starts.size - 1, UNSEEN)
    levels[0] = 0
    frontier = np.zeros(1, np.int64)
    level = 0
    while frontier.size:
        first, last = starts[frontier].astype(np.int64), starts[frontier + 1].astype(np.int64)
        counts = last - first
        ends = np.cumsum(counts)
        edges = np.arange(ends[-1]) + np.repeat(first - (ends - counts), counts)
        near = targets[edges]
        level += 1
        levels[near[levels[near] == UNSEEN]] = level
        frontier = np.flatnonzero(levels == level)
    return levels


def result(data: Arrays) -> Array:
    return np.zeros(data["starts"].size - 1, np.uint32)


def c(gcc: Any, data: Arrays) -> Run:
    levels = result(data)
    bfs = gcc.function("bfs", "bfs")
    return Run(bfs(data["starts"], data["targets"], levels, levels.size), {"levels": levels})


def vyre(launcher: Any, data: Arrays) -> Run:
    """A sweep like the others', with atomics where nodes are looked at while others claim them."""
    levels = result(data)
    more, level = np.zeros(1, np.uint32), np.zeros(1, np.uint32)
    arrays = {**data, "levels": levels, "more": more, "level": level}
    sweep = launcher.bind(program_of("bfs"), arrays, (groups(levels.size, 256),))

    def launch() -> None:
        levels.fill(UNSEEN)
        levels[0] = level[0] = 0
        more[0] = 1
        while more[0]:
            more[0] = 0
            sweep()
            level[0] += 1

    return Run(launch, {"levels": levels})


def numpy(np_: Any, data: Arrays) -> Run:
    levels = result(data)

    def launch() -> None:
        np_.copyto(levels, by_frontier(data["starts"], data["targets"]))

    return Run(launch, {"levels": levels})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def sweep(starts: Array, targets: Array, levels: Array, level: int) -> Any:
        more = 0
        for node in nb.prange(levels.size):
            found = 0  # numba sees no reduction in a sum written inside the inner loop
            if levels[node] == level:
                for edge in range(starts[node], starts[node + 1]):
                    near = targets[edge]
                    if levels[near] == UNSEEN:
                        levels[near] = level + 1
                        found = 1
            more += found
        return more

    starts, targets, levels = data["starts"], data["targets"], result(data)

    def launch() -> None:
        levels.fill(UNSEEN)
        levels[0] = 0
        level = 0
        while sweep(starts, targets, levels, level):
            level += 1

    return Run(launch, {"levels": levels})


def taichi(ti: Any, data: Arrays) -> Run:
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)
    unseen = int(UNSEEN)

    @ti.kernel
    def sweep(starts: words, targets: words, levels: words, level: ti.u32) -> ti.i32:
        more = 0
        for node in range(levels.shape[0]):
            found = 0
            if levels[node] == level:
                for edge in range(ti.cast(starts[node], ti.i32), ti.cast(starts[node + 1], ti.i32)):
                    near = ti.cast(targets[edge], ti.i32)
                    if levels[near] == ti.u32(unseen):
                        levels[near] = level + 1
                        found = 1
            if found:
                more = 1
        return more

    starts, targets, levels = data["starts"], data["targets"], result(data)

    def launch() -> None:
        levels.fill(UNSEEN)
        levels[0] = 0
        level = 0
        while sweep(starts, targets, levels, level):
            level += 1

    return Run(launch, {"levels": levels})


def pyopencl(device: Any, data: Arrays) -> Run:
    levels, more = result(data), np.zeros(1, np.uint32)
    out, flag = device.buffer(levels), device.buffer(more)
    start = device.kernel("bfs", "start", (levels.size,), None)(out)
    bind = device.kernel("bfs", "sweep", (levels.size,), None)
    arrays = device.buffer(data["starts"]), device.buffer(data["targets"]), out, flag

    def launch() -> None:
        more[0] = 0
        start()
        level = 0
        while level == more[0]:
            bind(*arrays, np.uint32(level))()
            device.read((flag, more))
            level += 1
        device.read((out, levels))

    return Run(launch, {"levels": levels})


KERNELS = (
    Kernel(
        name="bfs",
        title="breadth-first search, CSR",
        sizes={"full": 1 << 20, "quick": 1 << 17, "tiny": 1 << 10},
        data=data,
        define=define,
        compare=exact,
        peers={
            "c": c,
            "vyre": vyre,
            "numpy": numpy,
            "numba": numba,
            "taichi": taichi,
            "pyopencl": pyopencl,
        },
        work=lambda n: float(n * DEGREE),
        unit="op/s",
    ),
)
