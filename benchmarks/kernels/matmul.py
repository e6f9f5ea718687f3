"""Square matrix product, f32: the textbook loops and the tiled ones.

The tiled kernel meets C twice: the same tiles as plain loops, and C tuned by hand for registers.
"""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any, Literal

import numpy as np

from benchmarks.compare import close
from benchmarks.kernel import Array, Arrays, Implementation, Kernel, Run, random
from benchmarks.programs import groups, program_of

Form = Literal["naive", "tiled"]
TILE = 16
BLOCK = 64


def data(n: int) -> Arrays:
    source = random()
    return {name: source.random((n, n), dtype=np.float32) for name in ("a", "b")}


def define(data: Arrays) -> Arrays:
    wide = data["a"].astype(np.float64) @ data["b"].astype(np.float64)
    return {"c": wide.astype(np.float32)}


def c(function: str) -> Implementation:
    def implement(gcc: Any, data: Arrays) -> Run:
        out = np.zeros_like(data["a"])
        launch = gcc.function("matmul", function)(data["a"], data["b"], out, out.shape[0])
        return Run(launch, {"c": out})

    return implement


def vyre(form: Form) -> Implementation:
    side = {"naive": 16, "tiled": 32}[form]

    def implement(launcher: Any, data: Arrays) -> Run:
        out = np.zeros_like(data["a"])
        n = out.shape[0]
        arrays = {**data, "c": out, "size": np.array([n], np.uint32)}
        grid = (groups(n, side), groups(n, side))
        return Run(launcher.bind(program_of(f"matmul_{form}"), arrays, grid), {"c": out})

    return implement


def numpy(np_: Any, data: Arrays) -> Run:
    out = np.zeros_like(data["a"])
    return Run(lambda: np_.matmul(data["a"], data["b"], out=out), {"c": out})


def numba_naive(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def product(a: Array, b: Array, c: Array) -> None:
        n = a.shape[0]
        for i in nb.prange(n):
            c[i, :] = 0
            for k in range(n):
                x = a[i, k]
                for j in range(n):
                    c[i, j] += x * b[k, j]

    out = np.zeros_like(data["a"])
    return Run(lambda: product(data["a"], data["b"], out), {"c": out})


def numba_tiled(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def product(a: Array, b: Array, c: Array, block: int) -> None:
        n = a.shape[0]
        side = (n + block - 1) // block
        for tile in nb.prange(side * side):
            top = tile // side * block
            left = tile % side * block
            c[top : top + block, left : left + block] = 0
            for near in range(0, n, block):
                for i in range(top, min(top + block, n)):
                    row = c[i, left : left + block]
                    for k in range(near, min(near + block, n)):
                        x = a[i, k]
                        other = b[k, left : left + block]
                        for j in range(row.size):
                            row[j] += x * other[j]

    out = np.zeros_like(data["a"])
    return Run(lambda: product(data["a"], data["b"], out, BLOCK), {"c": out})


def taichi_naive(ti: Any, data: Arrays) -> Run:
    matrix = ti.types.ndarray(dtype=ti.f32, ndim=2)

    @ti.kernel
    def product(a: matrix, b: matrix, c: matrix):
        for i, j in ti.ndrange(a.shape[0], a.shape[0]):
            s = 0.0
            for k in range(a.shape[0]):
                s += a[i, k] * b[k, j]
            c[i, j] = s

    out = np.zeros_like(data["a"])
    return Run(lambda: product(data["a"], data["b"], out), {"c": out})


def taichi_tiled(ti: Any, data: Arrays) -> Run:
    matrix = ti.types.ndarray(dtype=ti.f32, ndim=2)

    @ti.kernel
    def product(a: matrix, b: matrix, c: matrix, block: ti.i32):
        n = a.shape[0]
        side = (n + block - 1) // block
        for tile in range(side * side):
            top = tile // side * block
            left = tile % side * block
            for i in range(top, ti.min(top + block, n)):
                for j in range(left, ti.min(left + block, n)):
                    c[i, j] = 0.0
            for strip in range(side):
                near = strip * block
                for i in range(top, ti.min(top + block, n)):
                    for k in range(near, ti.min(near + block, n)):
                        x = a[i, k]
                        for j in range(left, ti.min(left + block, n)):
                            c[i, j] = c[i, j] + x * b[k, j]

    out = np.zeros_like(data["a"])
    return Run(lambda: product(data["a"], data["b"], out, BLOCK), {"c": out})


def pyopencl(form: Form) -> Implementation:
    def implement(device: Any, data: Arrays) -> Run:
        out = np.zeros_like(data["a"])
        n = out.shape[0]
        a, b, target = device.buffer(data["a"]), device.buffer(data["b"]), device.buffer(out)
        group = (TILE, TILE) if form == "tiled" else None
        product = device.kernel("matmul", form, (n, n), group)(a, b, target, np.uint32(n))

        def launch() -> None:
            product()
            device.read((target, out))

        return Run(launch, {"c": out})

    return implement


def kernel(name: str, title: str, bound: float | None, peers: dict[str, Implementation]) -> Kernel:
    return Kernel(
        name=f"matmul_{name}",
        title=title,
        sizes={"full": 1024, "quick": 512, "tiny": 64},
        data=data,
        define=define,
        compare=close(1e-5),
        peers={"c": c(name), **peers},
        work=lambda n: 2.0 * n**3,
        unit="op/s",
        bound=bound,
        notes={"numpy": "BLAS"} if "numpy" in peers else {},
    )


def peers(form: Form, numba: Implementation, taichi: Implementation) -> dict[str, Implementation]:
    return {
        "vyre": vyre(form),
        "numpy": numpy,
        "numba": numba,
        "taichi": taichi,
        "pyopencl": pyopencl(form),
    }


KERNELS = (
    kernel("tiled", "matrix product, tiled, f32", 0.8, peers("tiled", numba_tiled, taichi_tiled)),
    kernel("tuned", "the same, C tuned for registers", None, {"vyre": vyre("tiled")}),
    kernel("naive", "matrix product, naive, f32", 1.0, peers("naive", numba_naive, taichi_naive)),
)
