"""The kernels of the demonstration: a program, its data, and the same computed with numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vyre.cli import demo_source
from vyre.front import Specialisation, kernel_source
from vyre.ir import Program
from vyre.record import dataclass

Array = NDArray[Any]
Arrays = dict[str, Array]
Grid = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel. Everything follows from a size: how many elements or bytes it is about."""

    name: str
    what: str
    size: int
    """The size that is timed."""
    small: int
    """A size that any device runs in a moment."""
    make: Callable[[int], Arrays]
    expected: Callable[[Mapping[str, Array]], Arrays]
    """The same in numpy."""
    grid: Callable[[int], Grid]
    outputs: Callable[[int], Mapping[str, int]] = lambda _size: {}
    """Elements of the outputs whose size the program leaves open."""
    relative: float = 0.0
    """How far floats may be from numpy's, which rounds in another order."""
    ulps: float = 0.0
    """How far floats may be from the reference's: the bounds of the opcodes used."""

    def program(self) -> Program:
        """The program, translated anew from Python: nothing of it is compiled yet."""
        kernel = getattr(demo_source, self.name)
        fresh = kernel_source(kernel.__wrapped__, kernel.source.workgroup)
        return fresh.program(Specialisation())


def _floats(count: int, seed: int) -> Array:
    return np.random.default_rng(seed).standard_normal(count, dtype=np.float32)


def _bytes(count: int, below: int) -> Array:
    return np.random.default_rng(count).integers(0, below, count, dtype=np.uint8)


def _rows(size: int) -> int:
    """The side of a square of `size` elements."""
    return round(size**0.5)


def _side(size: int) -> Array:
    return np.array([_rows(size)], np.uint32)


def _saxpy(given: Mapping[str, Array]) -> Arrays:
    return {"out": given["a"][0] * given["x"] + given["y"]}


def _sum(given: Mapping[str, Array]) -> Arrays:
    return {"total": np.array([given["x"].sum(dtype=np.uint32)])}


def _histogram(given: Mapping[str, Array]) -> Arrays:
    return {"bins": np.bincount(given["x"], minlength=256).astype(np.uint32)}


def _mandelbrot(given: Mapping[str, Array]) -> Arrays:
    n = int(given["size"][0])
    three, side = np.float32(3.0), np.float32(n)
    steps = np.arange(n, dtype=np.float32)
    cx = np.broadcast_to(np.float32(-2.0) + three * steps / side, (n, n)).reshape(-1)
    cy = np.broadcast_to((np.float32(-1.5) + three * steps / side)[:, None], (n, n)).reshape(-1)
    counts = np.zeros(n * n, np.uint32)
    alive = np.arange(n * n)
    x, y = np.zeros(n * n, np.float32), np.zeros(n * n, np.float32)
    for _ in range(64):
        inside = x * x + y * y <= 4.0
        alive, x, y, cx, cy = alive[inside], x[inside], y[inside], cx[inside], cy[inside]
        x, y = x * x - y * y + cx, np.float32(2.0) * x * y + cy
        counts[alive] += 1
    return {"counts": counts}


def _byte_scan(given: Mapping[str, Array]) -> Arrays:
    text, needle = given["text"], given["needle"].view(np.uint8)
    hits = np.ones(text.size - 3, bool)
    for place, byte in enumerate(needle):
        hits &= text[place : text.size - 3 + place] == byte
    first = int(hits.argmax()) if hits.any() else 0xFFFF_FFFF
    return {"found": np.array([np.count_nonzero(hits), first], np.uint32)}


def _board(size: int) -> Array:
    n = _rows(size)
    return np.pad(_bytes(size, 2).reshape(n, n), 1).reshape(-1)


def _life(given: Mapping[str, Array]) -> Arrays:
    n = int(given["size"][0])
    board = given["before"].reshape(n + 2, n + 2)
    rows = board[:-2] + board[1:-1] + board[2:]
    mine = board[1:-1, 1:-1]
    near = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:] - mine
    return {"after": ((near == 3) | ((near == 2) & (mine == 1))).astype(np.uint8).reshape(-1)}


def _silu(given: Mapping[str, Array]) -> Arrays:
    x = given["x"]
    return {"out": x / (np.float32(1.0) + np.exp(-x))}


def _nbody(given: Mapping[str, Array]) -> Arrays:
    dx = given["px"] - given["px"][:, None]
    dy = given["py"] - given["py"][:, None]
    r = np.float32(1.0) / np.sqrt(dx * dx + dy * dy + np.float32(0.01))
    w = given["mass"] * r * r * r
    return {"ax": (w * dx).sum(axis=1), "ay": (w * dy).sum(axis=1)}


def _square_of(x: int, y: int) -> Callable[[int], Grid]:
    return lambda size: (-(-_rows(size) // x), -(-_rows(size) // y), 1)


def _blocks(most: int) -> Callable[[int], Grid]:
    return lambda size: (min(-(-size // 256), most), 1, 1)


def _row(size: int) -> Grid:
    return (-(-size // 256), 1, 1)


_MIB = 1 << 20

KERNELS: tuple[Kernel, ...] = (
    Kernel(
        "saxpy", "a·x + y of 4 Mi floats", 4 * _MIB, 1 << 16,
        lambda n: {"a": np.array([2.5], np.float32), "x": _floats(n, 1), "y": _floats(n, 2)},
        _saxpy, _row, lambda n: {"out": n},
    ),
    Kernel(
        "sum", "sum of 16 Mi integers", 16 * _MIB, 1 << 16,
        lambda n: {"x": np.arange(n, dtype=np.uint32)},
        _sum, _blocks(64), lambda _: {"total": 1},
    ),
    Kernel(
        "histogram", "256 bins of 16 MiB", 16 * _MIB, 1 << 16,
        lambda n: {"x": _bytes(n, 256)},
        _histogram, _blocks(64), lambda _: {"bins": 256},
    ),
    Kernel(
        "byte_scan", "4 bytes sought in 16 MiB", 16 * _MIB, 1 << 16,
        lambda n: {
            "text": _bytes(n, 16),
            "needle": np.array([1, 9, 0, 4], np.uint8).view(np.uint32),
            "found": np.array([0, 0xFFFF_FFFF], np.uint32),
        },
        _byte_scan, _row,
    ),
    Kernel(
        "silu", "activation of 4 Mi floats", 4 * _MIB, 1 << 16,
        lambda n: {"x": _floats(n, 3)},
        _silu, _row, lambda n: {"out": n}, relative=1e-5, ulps=8.0,
    ),
    Kernel(
        "life", "game of life, 2048 × 2048", 4 * _MIB, 1 << 14,
        lambda n: {"size": _side(n), "before": _board(n)},
        _life, _square_of(64, 4), lambda n: {"after": n},
    ),
    Kernel(
        "mandelbrot", "1024 × 1024, 64 rounds", _MIB, 1 << 14,
        lambda n: {"size": _side(n)},
        _mandelbrot, _square_of(16, 16), lambda n: {"counts": n},
    ),
    Kernel(
        "nbody", "2048 bodies, all pairs", 2048, 256,
        lambda n: {"px": _floats(n, 4), "py": _floats(n, 5), "mass": np.abs(_floats(n, 6))},
        _nbody, lambda n: (-(-n // 64), 1, 1), lambda n: {"ax": n, "ay": n}, relative=2e-3,
    ),
)  # fmt: skip
"""In the order in which they are shown."""
