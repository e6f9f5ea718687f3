"""Stream triad: a = b + s·c, bound by memory."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import close
from benchmarks.kernel import Array, Arrays, Kernel, Run, random
from benchmarks.programs import groups, program_of

SCALE = np.float32(3.0)


def data(n: int) -> Arrays:
    source = random()
    return {
        "b": source.random(n, dtype=np.float32),
        "c": source.random(n, dtype=np.float32),
    }


def define(data: Arrays) -> Arrays:
    return {"a": data["b"] + SCALE * data["c"]}


def c(gcc: Any, data: Arrays) -> Run:
    a = np.zeros_like(data["b"])
    launch = gcc.function("triad", "triad")(a, data["b"], data["c"], SCALE, a.size)
    return Run(launch, {"a": a})


def vyre(launcher: Any, data: Arrays) -> Run:
    a = np.zeros_like(data["b"])
    launch = launcher.bind(program_of("triad"), {"a": a, **data}, (groups(a.size, 256),))
    return Run(launch, {"a": a})


def numpy(np_: Any, data: Arrays) -> Run:
    a = np.zeros_like(data["b"])
    b, c = data["b"], data["c"]

    def launch() -> None:
        np_.multiply(c, SCALE, out=a)
        np_.add(a, b, out=a)

    return Run(launch, {"a": a})


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def triad(a: Array, b: Array, c: Array, s: np.float32) -> None:
        for i in nb.prange(a.size):
            a[i] = b[i] + s * c[i]

    a = np.zeros_like(data["b"])
    return Run(lambda: triad(a, data["b"], data["c"], SCALE), {"a": a})


def taichi(ti: Any, data: Arrays) -> Run:
    floats = ti.types.ndarray(dtype=ti.f32, ndim=1)

    @ti.kernel
    def triad(a: floats, b: floats, c: floats, s: ti.f32):
        for i in range(a.shape[0]):
            a[i] = b[i] + s * c[i]

    a = np.zeros_like(data["b"])
    return Run(lambda: triad(a, data["b"], data["c"], SCALE), {"a": a})


def pyopencl(device: Any, data: Arrays) -> Run:
    a = np.zeros_like(data["b"])
    out = device.buffer(a)
    b, c = device.buffer(data["b"]), device.buffer(data["c"])
    triad = device.kernel("triad", "triad", (a.size,), None)(out, b, c, SCALE)

    def launch() -> None:
        triad()
        device.read((out, a))

    return Run(launch, {"a": a})


KERNELS = (
    Kernel(
        name="triad",
        title="stream triad, f32",
        sizes={"full": 1 << 24, "quick": 1 << 22, "tiny": 1 << 12},
        data=data,
        define=define,
        compare=close(1e-6),
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
        bound=1.05,
    ),
)
