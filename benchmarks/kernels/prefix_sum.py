"""Inclusive prefix sum of u32, wrapping: two passes over the data."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run, random
from benchmarks.programs import groups, program_of

BLOCK = 1 << 12


def data(n: int) -> Arrays:
    return {"x": random().integers(0, 1 << 32, n, dtype=np.uint32)}


def define(data: Arrays) -> Arrays:
    return {"scan": np.cumsum(data["x"], dtype=np.uint64).astype(np.uint32)}


def c(gcc: Any, data: Arrays) -> Run:
    out = np.zeros_like(data["x"])
    return Run(gcc.function("prefix_sum", "prefix_sum")(data["x"], out, out.size), {"scan": out})


def vyre(launcher: Any, data: Arrays) -> Run:
    x, scan = data["x"], np.zeros_like(data["x"])
    blocks = groups(x.size, BLOCK)
    totals, block = np.zeros(blocks, np.uint32), np.array([BLOCK], np.uint32)
    bind, grid = launcher.bind, (groups(blocks, 64),)
    arrays = {"x": x, "totals": totals, "block": block}
    steps = (
        bind(program_of("prefix_sum_totals"), arrays, grid),
        bind(program_of("prefix_sum_offsets"), {"totals": totals}, (1,)),
        bind(program_of("prefix_sum_scan"), {**arrays, "scan": scan}, grid),
    )

    def launch() -> None:
        for step in steps:
            step()

    return Run(launch, {"scan": scan})


def numpy(np_: Any, data: Arrays) -> Run:
    x, out = data["x"], np.zeros_like(data["x"])
    return Run(lambda: np_.cumsum(x, dtype=np.uint32, out=out), {"scan": out})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def scan(x: Array, out: Array, totals: Array, block: int) -> None:
        for b in nb.prange(totals.size):
            s = np.uint32(0)
            for i in range(b * block, min((b + 1) * block, x.size)):
                s += x[i]
            totals[b] = s
        carried = np.uint32(0)
        for b in range(totals.size):
            carried, totals[b] = np.uint32(carried + totals[b]), carried
        for b in nb.prange(totals.size):
            s = totals[b]
            for i in range(b * block, min((b + 1) * block, x.size)):
                s += x[i]
                out[i] = s

    x, out = data["x"], np.zeros_like(data["x"])
    totals = np.zeros(groups(x.size, BLOCK), np.uint32)
    return Run(lambda: scan(x, out, totals, BLOCK), {"scan": out})


def taichi(ti: Any, data: Arrays) -> Run:
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)

    @ti.kernel
    def scan(x: words, out: words, totals: words, block: ti.i32):
        for b in range(totals.shape[0]):
            s = ti.u32(0)
            for i in range(b * block, ti.min((b + 1) * block, x.shape[0])):
                s += x[i]
            totals[b] = s
        ti.loop_config(serialize=True)
        for _once in range(1):
            carried = ti.u32(0)
            for b in range(totals.shape[0]):
                total = totals[b]
                totals[b] = carried
                carried += total
        for b in range(totals.shape[0]):
            s = totals[b]
            for i in range(b * block, ti.min((b + 1) * block, x.shape[0])):
                s += x[i]
                out[i] = s

    x, out = data["x"], np.zeros_like(data["x"])
    totals = np.zeros(groups(x.size, BLOCK), np.uint32)
    return Run(lambda: scan(x, out, totals, BLOCK), {"scan": out})


def pyopencl(device: Any, data: Arrays) -> Run:
    x, out = data["x"], np.zeros_like(data["x"])
    blocks = groups(x.size, BLOCK)
    source, target, total = device.buffer(x), device.buffer(out), device.scratch(blocks, np.uint32)
    block, count = np.uint32(BLOCK), np.uint32(x.size)
    steps = (
        device.kernel("prefix_sum", "totals", (blocks,), None)(source, total, block, count),
        device.kernel("prefix_sum", "offsets", (1,), None)(total, np.uint32(blocks)),
        device.kernel("prefix_sum", "scan", (blocks,), None)(source, total, target, block, count),
    )

    def launch() -> None:
        for step in steps:
            step()
        device.read((target, out))

    return Run(launch, {"scan": out})


KERNELS = (
    Kernel(
        name="prefix_sum",
        title="prefix sum, u32",
        sizes={"full": 1 << 24, "quick": 1 << 22, "tiny": 10_000},
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
        work=lambda n: 12.0 * n,
        unit="B/s",
    ),
)
