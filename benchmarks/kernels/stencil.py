"""One step of a five-point stencil: neighbours in two dimensions, bound by memory."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import close
from benchmarks.kernel import Array, Arrays, Kernel, Run, random
from benchmarks.programs import groups, program_of

FIFTH = np.float32(0.2)


def data(n: int) -> Arrays:
    return {"before": random().random((n, n), dtype=np.float32)}


def define(data: Arrays) -> Arrays:
    after = np.zeros_like(data["before"])
    step(data["before"], after)
    return {"after": after}


def step(before: Array, after: Array) -> None:
    """The inner points by slices."""
    across = before[1:-1, 1:-1] + before[:-2, 1:-1] + before[2:, 1:-1]
    after[1:-1, 1:-1] = FIFTH * (across + before[1:-1, :-2] + before[1:-1, 2:])


def clear_border(after: Array) -> None:
    """The border is nobody's to write; it is zero before the first launch."""
    after[[0, -1], :] = 0
    after[:, [0, -1]] = 0


def result(data: Arrays) -> Array:
    return np.zeros_like(data["before"])


def c(gcc: Any, data: Arrays) -> Run:
    after = result(data)
    launch = gcc.function("stencil", "stencil")(data["before"], after, after.shape[0])
    return Run(launch, {"after": after}, lambda: clear_border(after))


def vyre(launcher: Any, data: Arrays) -> Run:
    after = result(data)
    n = after.shape[0]
    arrays = {**data, "after": after, "size": np.array([n], np.uint32)}
    grid = (groups(n, 16), groups(n, 16))
    launch = launcher.bind(program_of("stencil"), arrays, grid)
    return Run(launch, {"after": after}, lambda: clear_border(after))


def numpy(np_: Any, data: Arrays) -> Run:
    after = result(data)
    return Run(lambda: step(data["before"], after), {"after": after}, lambda: clear_border(after))


def numba(nb: Any, data: Arrays) -> Run:
    fifth = FIFTH

    @nb.njit(parallel=True)
    def stencil(before: Array, after: Array) -> None:
        n = before.shape[0]
        for i in nb.prange(1, n - 1):
            for j in range(1, n - 1):
                across = before[i, j] + before[i - 1, j] + before[i + 1, j]
                after[i, j] = fifth * (across + before[i, j - 1] + before[i, j + 1])

    after = result(data)
    return Run(
        lambda: stencil(data["before"], after), {"after": after}, lambda: clear_border(after)
    )


def taichi(ti: Any, data: Arrays) -> Run:
    plane = ti.types.ndarray(dtype=ti.f32, ndim=2)

    @ti.kernel
    def stencil(before: plane, after: plane):
        for i, j in ti.ndrange((1, before.shape[0] - 1), (1, before.shape[1] - 1)):
            across = before[i, j] + before[i - 1, j] + before[i + 1, j]
            after[i, j] = 0.2 * (across + before[i, j - 1] + before[i, j + 1])

    after = result(data)
    return Run(
        lambda: stencil(data["before"], after), {"after": after}, lambda: clear_border(after)
    )


def pyopencl(device: Any, data: Arrays) -> Run:
    after = result(data)
    n = after.shape[0]
    target = device.buffer(after)
    kernel = device.kernel("stencil", "stencil", (n, n), None)
    stencil = kernel(device.buffer(data["before"]), target, np.uint32(n))

    def launch() -> None:
        stencil()
        device.read((target, after))

    return Run(launch, {"after": after}, lambda: clear_border(after))


KERNELS = (
    Kernel(
        name="stencil",
        title="five-point stencil, f32",
        sizes={"full": 4096, "quick": 1024, "tiny": 64},
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
        work=lambda n: 8.0 * n * n,
        unit="B/s",
    ),
)
