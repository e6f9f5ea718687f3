"""Mandelbrot iteration counts: a divergent loop, bound by arithmetic."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import mostly
from benchmarks.kernel import Array, Arrays, Kernel, Run
from benchmarks.programs import groups, program_of

LIMIT = 256


def data(n: int) -> Arrays:
    return {"size": np.array([n], np.uint32)}


def side(data: Arrays) -> int:
    return int(data["size"][0])


def define(data: Arrays) -> Arrays:
    return {"counts": vectorised(side(data))}


def vectorised(n: int) -> Array:
    """Counts by numpy, dropping the points that have escaped."""
    steps = np.arange(n, dtype=np.float32)
    one, three, size = np.float32(1.5), np.float32(3), np.float32(n)
    cx = np.tile(np.float32(-2) + three * steps / size, n)
    cy = np.repeat(-one + three * steps / size, n)
    counts = np.zeros(n * n, np.uint32)
    alive = np.arange(n * n)
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    for _ in range(LIMIT):
        inside = x * x + y * y <= np.float32(4)
        alive, cx, cy = alive[inside], cx[inside], cy[inside]
        x, y = x[inside], y[inside]
        x, y = x * x - y * y + cx, np.float32(2) * x * y + cy
        counts[alive] += np.uint32(1)
    return counts


def c(gcc: Any, data: Arrays) -> Run:
    n = side(data)
    counts = np.zeros(n * n, np.uint32)
    return Run(gcc.function("mandelbrot", "mandelbrot")(counts, n, LIMIT), {"counts": counts})


def vyre(launcher: Any, data: Arrays) -> Run:
    n = side(data)
    counts = np.zeros(n * n, np.uint32)
    grid = (groups(n, 16), groups(n, 16))
    launch = launcher.bind(program_of("mandelbrot"), {"counts": counts, **data}, grid)
    return Run(launch, {"counts": counts})


def numpy(np_: Any, data: Arrays) -> Run:
    n = side(data)
    counts = np_.zeros(n * n, np.uint32)

    def launch() -> None:
        counts[:] = vectorised(n)

    return Run(launch, {"counts": counts})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def mandelbrot(out: Array, n: int, limit: int) -> None:
        three, size = np.float32(3), np.float32(n)
        for row in nb.prange(n):
            for column in range(n):
                cx = np.float32(-2) + three * np.float32(column) / size
                cy = np.float32(-1.5) + three * np.float32(row) / size
                x = np.float32(0)
                y = np.float32(0)
                k = 0
                while k < limit and x * x + y * y <= np.float32(4):
                    t = x * x - y * y + cx
                    y = np.float32(2) * x * y + cy
                    x = t
                    k += 1
                out[row * n + column] = k

    n = side(data)
    counts = np.zeros(n * n, np.uint32)
    return Run(lambda: mandelbrot(counts, n, LIMIT), {"counts": counts})


def taichi(ti: Any, data: Arrays) -> Run:
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)

    @ti.kernel
    def mandelbrot(out: words, n: ti.i32, limit: ti.i32):
        for row, column in ti.ndrange(n, n):
            cx = -2.0 + 3.0 * ti.cast(column, ti.f32) / ti.cast(n, ti.f32)
            cy = -1.5 + 3.0 * ti.cast(row, ti.f32) / ti.cast(n, ti.f32)
            x, y, k = 0.0, 0.0, 0
            while k < limit and x * x + y * y <= 4.0:
                t = x * x - y * y + cx
                y = 2.0 * x * y + cy
                x = t
                k += 1
            out[row * n + column] = k

    n = side(data)
    counts = np.zeros(n * n, np.uint32)
    return Run(lambda: mandelbrot(counts, n, LIMIT), {"counts": counts})


def pyopencl(device: Any, data: Arrays) -> Run:
    n = side(data)
    counts = np.zeros(n * n, np.uint32)
    out = device.buffer(counts)
    kernel = device.kernel("mandelbrot", "mandelbrot", (n, n), None)
    mandelbrot = kernel(out, np.uint32(n), np.uint32(LIMIT))

    def launch() -> None:
        mandelbrot()
        device.read((out, counts))

    return Run(launch, {"counts": counts})


KERNELS = (
    Kernel(
        name="mandelbrot",
        title=f"mandelbrot, {LIMIT} iterations",
        sizes={"full": 1024, "quick": 256, "tiny": 32},
        data=data,
        define=define,
        compare=mostly(0.01),
        peers={
            "c": c,
            "vyre": vyre,
            "numpy": numpy,
            "numba": numba,
            "taichi": taichi,
            "pyopencl": pyopencl,
        },
        work=lambda n: float(n * n),
        unit="op/s",
        bound=0.2,
    ),
)
