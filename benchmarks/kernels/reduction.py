"""Sum of an array, u32 and f32: one value out, bound by memory."""
# pyright: standard, reportInvalidTypeForm=false

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from benchmarks.compare import close, exact
from benchmarks.kernel import Array, Arrays, Implementation, Kernel, Run, random
from benchmarks.programs import program_of

Element = Literal["u32", "f32"]
DTYPES: dict[Element, type[np.generic]] = {"u32": np.uint32, "f32": np.float32}
GROUPS, GROUP = 256, 256


def data_u32(n: int) -> Arrays:
    return {"x": random().integers(0, 1 << 32, n, dtype=np.uint32)}


def data_f32(n: int) -> Arrays:
    return {"x": random().random(n, dtype=np.float32)}


def define(data: Arrays) -> Arrays:
    x = data["x"]
    wide = np.float64 if x.dtype == np.float32 else np.uint64
    with np.errstate(over="ignore"):
        return {"sum": np.sum(x, dtype=wide, keepdims=True).astype(x.dtype)}


def c(element: Element) -> Implementation:
    def implement(gcc: Any, data: Arrays) -> Run:
        out = np.zeros(1, data["x"].dtype)
        launch = gcc.function("reduction", f"sum_{element}")(data["x"], out, data["x"].size)
        return Run(launch, {"sum": out})

    return implement


def vyre(element: Element) -> Implementation:
    def implement(launcher: Any, data: Arrays) -> Run:
        x, out = data["x"], np.zeros(1, data["x"].dtype)
        total = launcher.bind(program_of(f"sum_{element}"), {"x": x, "sum": out}, (GROUPS,))

        def launch() -> None:
            out[0] = 0
            total()

        return Run(launch, {"sum": out})

    return implement


def numpy(np_: Any, data: Arrays) -> Run:
    x, out = data["x"], np.zeros(1, data["x"].dtype)

    def launch() -> None:
        out[0] = np_.sum(x, dtype=x.dtype)

    return Run(launch, {"sum": out})


def numba(nb: Any, data: Arrays) -> Run:
    scalar = getattr(nb, data["x"].dtype.name)

    @nb.njit(parallel=True)
    def total(x: Array) -> Any:
        s = scalar(0)
        for i in nb.prange(x.size):
            s += x[i]
        return scalar(s)

    x, out = data["x"], np.zeros(1, data["x"].dtype)

    def launch() -> None:
        out[0] = total(x)

    return Run(launch, {"sum": out})


def taichi(element: Element) -> Implementation:
    def implement(ti: Any, data: Arrays) -> Run:
        scalar = getattr(ti, element)
        vector = ti.types.ndarray(dtype=scalar, ndim=1)

        @ti.kernel
        def total(x: vector) -> scalar:
            s = ti.cast(0, scalar)
            for i in range(x.shape[0]):
                s += x[i]
            return s

        x, out = data["x"], np.zeros(1, data["x"].dtype)

        def launch() -> None:
            out[0] = total(x)

        return Run(launch, {"sum": out})

    return implement


def pyopencl(element: Element) -> Implementation:
    def implement(device: Any, data: Arrays) -> Run:
        x, out = data["x"], np.zeros(1, data["x"].dtype)
        partials = np.zeros(GROUPS, x.dtype)
        shared = device.buffer(partials)
        tree = device.cl.LocalMemory(GROUP * x.itemsize)
        kernel = device.kernel("reduction", f"sum_{element}", (GROUPS * GROUP,), (GROUP,))
        total = kernel(device.buffer(x), shared, np.uint32(x.size), tree)

        def launch() -> None:
            total()
            device.read((shared, partials))
            out[0] = partials.sum(dtype=x.dtype)

        return Run(launch, {"sum": out})

    return implement


def kernel(element: Element, data: Callable[[int], Arrays]) -> Kernel:
    return Kernel(
        name=f"sum_{element}",
        title=f"sum, {element}",
        sizes={"full": 1 << 24, "quick": 1 << 22, "tiny": 1 << 12},
        data=data,
        define=define,
        compare=exact if element == "u32" else close(1e-4),
        peers={
            "c": c(element),
            "vyre": vyre(element),
            "numpy": numpy,
            "numba": numba,
            "taichi": taichi(element),
            "pyopencl": pyopencl(element),
        },
        work=lambda n: 4.0 * n,
        unit="B/s",
        bound=1.05,
    )


KERNELS = (kernel("u32", data_u32), kernel("f32", data_f32))
