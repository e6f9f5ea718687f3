"""256-bin histogram of bytes: private tables, then a merge."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run, random
from benchmarks.programs import program_of

BINS = 256
BLOCK = 1 << 18
GROUPS = 64


def data(n: int) -> Arrays:
    return {"x": random().integers(0, BINS, n, dtype=np.uint8)}


def define(data: Arrays) -> Arrays:
    return {"bins": np.bincount(data["x"], minlength=BINS).astype(np.uint32)}


def c(gcc: Any, data: Arrays) -> Run:
    bins = np.zeros(BINS, np.uint32)
    launch = gcc.function("histogram", "histogram")(data["x"], bins, data["x"].size)
    return Run(launch, {"bins": bins})


def vyre(launcher: Any, data: Arrays) -> Run:
    bins = np.zeros(BINS, np.uint32)
    fill = launcher.bind(program_of("histogram"), {"x": data["x"], "bins": bins}, (GROUPS,))

    def launch() -> None:
        bins.fill(0)
        fill()

    return Run(launch, {"bins": bins})


def numpy(np_: Any, data: Arrays) -> Run:
    x, bins = data["x"], np.zeros(BINS, np.uint32)

    def launch() -> None:
        bins[:] = np_.bincount(x, minlength=BINS)

    return Run(launch, {"bins": bins})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def histogram(x: Array, bins: Array, block: int) -> None:
        blocks = (x.size + block - 1) // block
        private = np.zeros((blocks, 256), np.uint32)
        for b in nb.prange(blocks):
            for i in range(b * block, min((b + 1) * block, x.size)):
                private[b, x[i]] += np.uint32(1)
        bins[:] = 0
        for b in range(blocks):
            bins += private[b]

    x, bins = data["x"], np.zeros(BINS, np.uint32)
    return Run(lambda: histogram(x, bins, BLOCK), {"bins": bins})


def taichi(ti: Any, data: Arrays) -> Run:
    codes = ti.types.ndarray(dtype=ti.u8, ndim=1)
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)
    tables = ti.types.ndarray(dtype=ti.u32, ndim=2)

    @ti.kernel
    def histogram(x: codes, bins: words, private: tables, block: ti.i32):
        for b in range(private.shape[0]):
            for k in range(BINS):
                private[b, k] = 0
            for i in range(b * block, ti.min((b + 1) * block, x.shape[0])):
                private[b, ti.cast(x[i], ti.i32)] += 1
        for k in range(BINS):
            s = ti.u32(0)
            for b in range(private.shape[0]):
                s += private[b, k]
            bins[k] = s

    x, bins = data["x"], np.zeros(BINS, np.uint32)
    private = np.zeros((-(-x.size // BLOCK), BINS), np.uint32)
    return Run(lambda: histogram(x, bins, private, BLOCK), {"bins": bins})


def pyopencl(device: Any, data: Arrays) -> Run:
    x, bins = data["x"], np.zeros(BINS, np.uint32)
    source, target = device.buffer(x), device.buffer(bins)
    clear = device.kernel("histogram", "clear", (BINS,), None)(target)
    count = device.kernel("histogram", "histogram", (256 * GROUPS,), (256,))
    fill = count(source, target, np.uint32(x.size))

    def launch() -> None:
        clear()
        fill()
        device.read((target, bins))

    return Run(launch, {"bins": bins})


KERNELS = (
    Kernel(
        name="histogram",
        title="256-bin histogram of bytes",
        sizes={"full": 1 << 26, "quick": 1 << 23, "tiny": 10000},
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
        work=lambda n: float(n),
        unit="B/s",
        bound=1.1,
    ),
)
