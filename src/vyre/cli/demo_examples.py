"""The examples as the demonstration runs them: sizes, arrays, and the same computed with numpy."""

# To a type checker, the parameters of generic kernels are not known.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.examples import (
    bfs,
    decode_scan,
    generic,
    histogram,
    life,
    mandelbrot,
    matmul,
    nbody,
    prefix_sum,
    radix_sort,
    reduction,
    saxpy,
    sha256,
)
from vyre.front.parameters import ArrayParameter, Mode
from vyre.ir import Program
from vyre.record import dataclass
from vyre.runtime import run
from vyre.runtime.kernel import Kernel, kernel

Array = NDArray[Any]
Arrays = dict[str, Array]

_MI = 1 << 20


@dataclass(frozen=True, slots=True)
class Call:
    """One run of an example on its arrays."""

    program: Callable[[], Program]
    """The program, translated anew from Python: nothing of it is compiled yet."""
    launch: Callable[[str], Arrays]
    """Runs it on a device, from host arrays to host arrays."""
    by_numpy: Callable[[], Arrays]
    """The same in numpy, or what else Python has for it."""
    nbytes: int
    """Inputs and outputs, each counted once."""
    restore: Callable[[], None] = lambda: None
    """Gives arrays that a run has changed their first contents again."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example. Everything follows from a size: elements, messages, rows or vertices."""

    name: str
    what: str
    size: int
    """The size that is timed."""
    small: int
    """A size that any device runs in a moment."""
    call: Callable[[int], Call]
    power: int = 1
    """The work grows with this power of the size."""
    against: str = "numpy"
    """What its speed is compared with."""
    relative: float = 0.0
    """How far floats may be from numpy's, which rounds in another order."""


def _of(
    made: Kernel[...],
    args: Sequence[Any],
    by_numpy: Callable[[], Arrays],
    grid: Sequence[int] | int | None = None,
    elements: int | None = None,
) -> Call:
    """A call of a kernel through the public interface."""
    arrays: Arrays = {}
    changed: list[tuple[Array, Array]] = []
    nbytes = 0
    for (name, parameter), value in zip(made.source.parameters.items(), args, strict=True):
        if isinstance(parameter, ArrayParameter):
            nbytes += value.nbytes * (2 if parameter.mode is Mode.INOUT else 1)
            if parameter.mode is not Mode.IN:
                arrays[name] = value
            if parameter.mode is Mode.INOUT:
                changed.append((value, value.copy()))

    def launch(device: str) -> Arrays:
        made(*args, device=device, grid=grid, elements=elements)
        return arrays

    def program() -> Program:
        again = kernel(workgroup=made.source.workgroup)(made.__wrapped__)
        return again.program(*args)

    def restore() -> None:
        for array, start in changed:
            np.copyto(array, start)

    return Call(program, launch, by_numpy, nbytes, restore)


def _floats(count: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(count, dtype=np.float32)


def _saxpy(n: int) -> Call:
    x, y = _floats(n, 1), _floats(n, 2)
    before = y.copy()
    return _of(saxpy.saxpy, (2.5, x, y), lambda: {"y": np.float32(2.5) * x + before})


def _reduction(n: int) -> Call:
    x, result = np.arange(n, dtype=np.uint32), np.zeros(1, np.uint32)
    return _of(
        reduction.total, (x, result), lambda: {"result": x.sum(dtype=np.uint32)[None]}, grid=64
    )


def _prefix_sum(n: int) -> Call:
    x = np.random.default_rng(0).integers(0, 1000, n, dtype=np.uint32)
    given = (x, np.zeros(prefix_sum.blocks(n), np.uint32), np.zeros_like(x))
    return _of(prefix_sum.prefix_sum, given, lambda: {"y": np.cumsum(x, dtype=np.uint32)})


def _histogram(n: int) -> Call:
    data = np.random.default_rng(0).integers(0, 256, n, dtype=np.uint8)
    counts = np.zeros(256, np.uint32)
    return _of(
        histogram.histogram,
        (data, counts),
        lambda: {"counts": np.bincount(data, minlength=256).astype(np.uint32)},
        grid=64,
    )


def _matmul(n: int) -> Call:
    a, b = _floats(n * n, 3).reshape(n, n), _floats(n * n, 4).reshape(n, n)
    return _of(matmul.matmul, (a, b, np.zeros_like(a)), lambda: {"c": a @ b})


def _mandelbrot(n: int) -> Call:
    limit, rounds = 64, np.zeros((n, n), np.uint32)
    given = (-2.2, 1.2, np.float32(2.4 / n), limit, rounds)
    return _of(mandelbrot.mandelbrot, given, lambda: {"rounds": mandelbrot.expected(n, n, limit)})


def _nbody(n: int) -> Call:
    mass, place, velocity = nbody.bodies(n)
    before = velocity.copy()

    def by_numpy() -> Arrays:
        moved, faster = nbody.expected(mass, place, before, 1)
        return {"moved": moved, "velocity": faster}

    given = (0.01, mass, place, velocity, np.zeros_like(place))
    return _of(nbody.step, given, by_numpy, elements=n)


def _life(n: int) -> Call:
    cells = np.random.default_rng(0).integers(0, 2, (n, n), dtype=np.uint8)
    old = np.pad(cells, 1).reshape(-1)

    def by_numpy() -> Arrays:
        return {"new": np.pad(life.expected(cells, 1), 1).reshape(-1)}

    return _of(life.life, (n, n, old, np.zeros_like(old)), by_numpy, grid=life.grid(n, n))


def _decode_scan(n: int) -> Call:
    text = decode_scan.base64_text(n)
    inputs = {"text": text, "wanted": np.array([10], np.uint32)}
    program = decode_scan.fused(n)

    def launch(device: str) -> Arrays:
        return run(program, inputs, elements=n, sizes={"found": n}, device=device)

    return Call(
        lambda: decode_scan.fused(n),
        launch,
        lambda: {"found": decode_scan.counted(text, 10)},
        text.nbytes + 4 * n,
    )


def _bfs(n: int) -> Call:
    first, edges = bfs.graph(n)
    levels = int(bfs.expected(first, edges).max())
    distance = np.full(n, bfs.FAR, np.uint32)
    distance[0] = 0
    given = (levels, first, edges, distance)
    return _of(bfs.distances, given, lambda: {"distance": bfs.expected(first, edges)})


def _radix_sort(n: int) -> Call:
    keys = np.random.default_rng(0).integers(0, 1 << 32, n, dtype=np.uint32)
    before = keys.copy()
    starts = np.zeros(radix_sort.DIGITS * -(-n // radix_sort.GROUP), np.uint32)
    given = (keys, np.zeros_like(keys), starts)
    return _of(radix_sort.radix_sort, given, lambda: {"keys": np.sort(before)}, elements=n)


def _sha256(n: int) -> Call:
    messages = [f"message {number}".encode() for number in range(n)]
    given = (
        sha256.ROUNDS, sha256.START, sha256.padded(messages), np.zeros((n, 8), np.uint32)
    )  # fmt: skip
    return _of(sha256.sha256, given, lambda: {"digest": sha256.expected(messages)})


def _generic(n: int) -> Call:
    x = np.arange(n, dtype=np.int16)
    return _of(generic.polynomial, (5, x, np.zeros_like(x)), lambda: {"y": generic.expected(5, x)})


EXAMPLES: tuple[Example, ...] = (
    Example("saxpy", "a·x + y of 4 Mi floats", 4 * _MI, 1 << 16, _saxpy),
    Example("reduction", "sum of 16 Mi integers", 16 * _MI, 1 << 16, _reduction),
    Example("prefix_sum", "running sums of 1 Mi integers", _MI, 1 << 16, _prefix_sum),
    Example("histogram", "256 bins of 16 MiB", 16 * _MI, 1 << 16, _histogram),
    Example("matmul", "512 × 512, in tiles", 512, 128, _matmul, power=3, relative=1e-3),
    Example("mandelbrot", "1024 × 1024, 64 rounds", 1024, 128, _mandelbrot, power=2),
    Example("nbody", "2048 bodies, all pairs", 2048, 256, _nbody, power=2, relative=1e-3),
    Example("life", "2048 × 2048 cells", 2048, 128, _life, power=2),
    Example("decode_scan", "base64, 4 MiB, and a search", _MI, 1 << 14, _decode_scan),
    Example("bfs", "graph of 64 Ki vertices", 1 << 16, 1 << 11, _bfs),
    Example("radix_sort", "64 Ki integers", 1 << 16, 1 << 12, _radix_sort),
    Example("sha256", "64 Ki messages", 1 << 16, 1 << 11, _sha256, against="hashlib"),
    Example("generic", "polynomials, 4 Mi of i16", 4 * _MI, 1 << 16, _generic),
)
"""In the order in which they are shown."""
