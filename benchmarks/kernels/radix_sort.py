"""Sort of u32 keys: a radix sort in four passes, where the peer brings no sort of its own."""
# pyright: standard, reportInvalidTypeForm=false

from typing import Any

import numpy as np

from benchmarks.compare import exact
from benchmarks.kernel import Array, Arrays, Kernel, Run, random
from benchmarks.programs import groups, program_of

BLOCKS = 64
DIGITS = 256


def data(n: int) -> Arrays:
    return {"keys": random().integers(0, 1 << 32, n, dtype=np.uint32)}


def define(data: Arrays) -> Arrays:
    return {"sorted": np.sort(data["keys"], kind="stable")}


def block_size(data: Arrays) -> int:
    return groups(data["keys"].size, BLOCKS)


def working(data: Arrays) -> tuple[Array, Array, Array]:
    """The keys to be sorted in place, a spare of the same size, and room for the counts."""
    keys = data["keys"]
    return np.zeros_like(keys), np.zeros_like(keys), np.zeros((BLOCKS, DIGITS), np.uint32)


def c(gcc: Any, data: Arrays) -> Run:
    keys, spare, counts = working(data)
    launch = gcc.function("radix_sort", "radix_sort")(
        keys, spare, counts, keys.size, block_size(data)
    )
    return Run(launch, {"sorted": keys}, lambda: np.copyto(keys, data["keys"]))


def vyre(launcher: Any, data: Arrays) -> Run:
    keys, spare, counts = working(data)
    grid, bind = (BLOCKS,), launcher.bind
    steps: list[Any] = []
    source, target = keys, spare
    for shift in (0, 8, 16, 24):
        now = np.array([shift, block_size(data)], np.uint32)
        arrays = {"keys": source, "counts": counts, "now": now}
        steps += [
            bind(program_of("sort_count"), arrays, grid),
            bind(program_of("sort_offsets"), {"counts": counts}, (1,)),
            bind(program_of("sort_scatter"), {**arrays, "spare": target}, grid),
        ]
        source, target = target, source

    def launch() -> None:
        for step in steps:
            step()

    return Run(launch, {"sorted": keys}, lambda: np.copyto(keys, data["keys"]))


def numpy(np_: Any, data: Arrays) -> Run:
    keys = np_.zeros_like(data["keys"])
    return Run(lambda: keys.sort(), {"sorted": keys}, lambda: np.copyto(keys, data["keys"]))


def numba(nb: Any, data: Arrays) -> Run:
    @nb.njit(parallel=True)
    def one_pass(keys: Array, spare: Array, counts: Array, shift: Any, block: int) -> None:
        n = keys.size
        mask = np.uint32(255)
        for b in nb.prange(counts.shape[0]):
            counts[b, :] = 0
            for i in range(b * block, min((b + 1) * block, n)):
                counts[b, (keys[i] >> shift) & mask] += np.uint32(1)
        total = np.uint32(0)
        for digit in range(256):
            for b in range(counts.shape[0]):
                count = counts[b, digit]
                counts[b, digit] = total
                total += count
        for b in nb.prange(counts.shape[0]):
            for i in range(b * block, min((b + 1) * block, n)):
                digit = (keys[i] >> shift) & mask
                spare[counts[b, digit]] = keys[i]
                counts[b, digit] += np.uint32(1)

    keys, spare, counts = working(data)
    block = block_size(data)

    def launch() -> None:
        source, target = keys, spare
        for shift in (0, 8, 16, 24):
            one_pass(source, target, counts, np.uint32(shift), block)
            source, target = target, source

    return Run(launch, {"sorted": keys}, lambda: np.copyto(keys, data["keys"]))


def taichi(ti: Any, data: Arrays) -> Run:
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)
    tables = ti.types.ndarray(dtype=ti.u32, ndim=2)

    @ti.kernel
    def one_pass(keys: words, spare: words, counts: tables, shift: ti.u32, block: ti.i32):
        for b in range(counts.shape[0]):
            for digit in range(DIGITS):
                counts[b, digit] = 0
            for i in range(b * block, ti.min((b + 1) * block, keys.shape[0])):
                digit = ti.cast((keys[i] >> shift) & 255, ti.i32)
                counts[b, digit] = counts[b, digit] + 1
        ti.loop_config(serialize=True)
        for _once in range(1):
            total = ti.u32(0)
            for digit in range(DIGITS):
                for b in range(counts.shape[0]):
                    count = counts[b, digit]
                    counts[b, digit] = total
                    total += count
        for b in range(counts.shape[0]):
            for i in range(b * block, ti.min((b + 1) * block, keys.shape[0])):
                digit = ti.cast((keys[i] >> shift) & 255, ti.i32)
                place = counts[b, digit]
                spare[ti.cast(place, ti.i32)] = keys[i]
                counts[b, digit] = place + 1

    keys, spare, counts = working(data)
    block = block_size(data)

    def launch() -> None:
        source, target = keys, spare
        for shift in (0, 8, 16, 24):
            one_pass(source, target, counts, shift, block)
            source, target = target, source

    return Run(launch, {"sorted": keys}, lambda: np.copyto(keys, data["keys"]))


def pyopencl(device: Any, data: Arrays) -> Run:
    keys, spare, _ = working(data)
    n, block = np.uint32(keys.size), np.uint32(block_size(data))
    source, target = device.buffer(keys), device.buffer(spare)
    counts = device.scratch(BLOCKS * DIGITS, np.uint32)
    steps: list[Any] = []
    for shift in (0, 8, 16, 24):
        digit = np.uint32(shift)
        steps += [
            device.kernel("radix_sort", "count", (BLOCKS,), None)(source, counts, digit, n, block),
            device.kernel("radix_sort", "scan", (1,), None)(counts, np.uint32(BLOCKS)),
            device.kernel("radix_sort", "scatter", (BLOCKS,), None)(
                source, target, counts, digit, n, block
            ),
        ]
        source, target = target, source

    def launch() -> None:
        for step in steps:
            step()
        device.read((source, keys))

    return Run(launch, {"sorted": keys}, lambda: np.copyto(keys, data["keys"]))


KERNELS = (
    Kernel(
        name="sort",
        title="sort, u32",
        sizes={"full": 4_000_000, "quick": 500_000, "tiny": 4_000},
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
        unit="op/s",
        notes={"numpy": "its own sort"},
    ),
)
