"""exp and sin over an f32 array: the price of a transcendental function."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any, Literal

import numpy as np

from benchmarks.compare import within_ulps
from benchmarks.kernel import Array, Arrays, Implementation, Kernel, Run, random
from benchmarks.programs import groups, program_of

Function = Literal["exp", "sin"]
RANGES: dict[Function, tuple[float, float]] = {"exp": (-80.0, 80.0), "sin": (-100.0, 100.0)}
ULPS = 4.0
"""What OpenCL grants its own exp and sin, and the widest any peer is given."""


def data(function: Function, n: int) -> Arrays:
    low, high = RANGES[function]
    return {"x": random().uniform(low, high, n).astype(np.float32)}


def define(function: Function, data: Arrays) -> Arrays:
    wide = getattr(np, function)(data["x"].astype(np.float64))
    return {"y": wide.astype(np.float32)}


def c(function: Function) -> Implementation:
    def implement(gcc: Any, data: Arrays) -> Run:
        out = np.zeros_like(data["x"])
        launch = gcc.function("elementary", f"{function}_f32")(data["x"], out, out.size)
        return Run(launch, {"y": out})

    return implement


def vyre(function: Function) -> Implementation:
    def implement(launcher: Any, data: Arrays) -> Run:
        out = np.zeros_like(data["x"])
        arrays = {"x": data["x"], "y": out}
        launch = launcher.bind(program_of(function), arrays, (groups(out.size, 256),))
        return Run(launch, {"y": out})

    return implement


def numpy(function: Function) -> Implementation:
    def implement(np_: Any, data: Arrays) -> Run:
        out = np.zeros_like(data["x"])
        compute = getattr(np_, function)
        return Run(lambda: compute(data["x"], out=out), {"y": out})

    return implement


def numba(function: Function) -> Implementation:
    def implement(nb: Any, data: Arrays) -> Run:
        compute = getattr(np, function)

        @nb.njit(parallel=True)
        def apply(x: Array, out: Array) -> None:
            for i in nb.prange(x.size):
                out[i] = compute(x[i])

        out = np.zeros_like(data["x"])
        return Run(lambda: apply(data["x"], out), {"y": out})

    return implement


def taichi(function: Function) -> Implementation:
    def implement(ti: Any, data: Arrays) -> Run:
        floats = ti.types.ndarray(dtype=ti.f32, ndim=1)
        compute = getattr(ti, function)

        @ti.kernel
        def apply(x: floats, out: floats):
            for i in range(x.shape[0]):
                out[i] = compute(x[i])

        out = np.zeros_like(data["x"])
        return Run(lambda: apply(data["x"], out), {"y": out})

    return implement


def pyopencl(function: Function) -> Implementation:
    def implement(device: Any, data: Arrays) -> Run:
        out = np.zeros_like(data["x"])
        target = device.buffer(out)
        kernel = device.kernel("elementary", f"{function}_f32", (out.size,), None)
        apply = kernel(device.buffer(data["x"]), target)

        def launch() -> None:
            apply()
            device.read((target, out))

        return Run(launch, {"y": out})

    return implement


def kernel(function: Function) -> Kernel:
    return Kernel(
        name=function,
        title=f"{function}, f32",
        sizes={"full": 1 << 24, "quick": 1 << 21, "tiny": 1 << 12},
        data=lambda n: data(function, n),
        define=lambda arrays: define(function, arrays),
        compare=within_ulps(ULPS),
        peers={
            "c": c(function),
            "vyre": vyre(function),
            "numpy": numpy(function),
            "numba": numba(function),
            "taichi": taichi(function),
            "pyopencl": pyopencl(function),
        },
        work=lambda n: float(n),
        unit="op/s",
        bound=0.5,
    )


KERNELS = (kernel("exp"), kernel("sin"))
