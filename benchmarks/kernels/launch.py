"""A kernel of one element, many times over: what a launch costs when there is nothing to do."""
# pyright: standard, reportInvalidTypeForm=false

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run
from benchmarks.programs import program_of

LAUNCHES = 200
"""Launches per timed call: a single one is too short for the clock."""


def data(n: int) -> Arrays:
    return {"x": np.arange(n, dtype=np.float32)}


def define(data: Arrays) -> Arrays:
    return {"y": data["x"] + np.float32(1)}


def repeated(launch: Callable[[], object]) -> Callable[[], None]:
    """LAUNCHES launches, each complete before the next."""

    def launch_all() -> None:
        for _ in range(LAUNCHES):
            launch()

    return launch_all


def c(gcc: Any, data: Arrays) -> Run:
    y = np.zeros_like(data["x"])
    launch = gcc.function("launch", "one_element")(data["x"], y, y.size)
    return Run(repeated(launch), {"y": y})


def vyre(launcher: Any, data: Arrays) -> Run:
    y = np.zeros_like(data["x"])
    launch = launcher.bind(program_of("launch"), {"x": data["x"], "y": y}, (1,))
    return Run(repeated(launch), {"y": y})


def numpy(np_: Any, data: Arrays) -> Run:
    x, y, one = data["x"], np.zeros_like(data["x"]), np.float32(1)
    return Run(repeated(lambda: np_.add(x, one, out=y)), {"y": y})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def one_element(x: Array, y: Array) -> None:
        for i in nb.prange(x.size):
            y[i] = x[i] + np.float32(1)

    x, y = data["x"], np.zeros_like(data["x"])
    return Run(repeated(lambda: one_element(x, y)), {"y": y})


def taichi(ti: Any, data: Arrays) -> Run:
    floats = ti.types.ndarray(dtype=ti.f32, ndim=1)

    @ti.kernel
    def one_element(x: floats, y: floats):
        for i in range(x.shape[0]):
            y[i] = x[i] + 1.0

    x, y = data["x"], np.zeros_like(data["x"])
    return Run(repeated(lambda: one_element(x, y)), {"y": y})


def pyopencl(device: Any, data: Arrays) -> Run:
    y = np.zeros_like(data["x"])
    target = device.buffer(y)
    kernel = device.kernel("launch", "one_element", (y.size,), None)
    enqueue = kernel(device.buffer(data["x"]), target)

    def launch() -> None:
        enqueue()
        device.read((target, y))

    return Run(repeated(launch), {"y": y})


LAUNCH = Kernel(
    name="launch",
    title="launch of one element",
    sizes={"full": 1, "quick": 1, "tiny": 1},
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
    work=lambda n: float(LAUNCHES * n),
    unit="op/s",
)
