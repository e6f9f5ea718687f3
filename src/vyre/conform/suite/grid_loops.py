"""Private arrays in loops around barriers over the whole grid: they live as long as the invocation.

The bounds come from a buffer and the indices from ids, so that no pass unrolls the loops or takes
the arrays apart before a device sees them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.conform.suite.texts import written
from vyre.semantics import Array

_AREA = "grid sync"
_GRID = (3, 1, 1)
_GID = np.arange(24, dtype=np.uint32)
_HEAD = """\
program workgroup(8, 1, 1)

buffer n: uniform u32[2] @0
buffer out: read_write u32[24] @1 output live_out
buffer mine: local u32[3]

let i = gid.x
let k = gid.x % 3
"""


def trials() -> Iterator[Trial]:
    """Private arrays, by where they are used."""
    for iterations in (0, 1, 5):
        yield _in_the_loop_only(iterations)
        yield _before_and_in(iterations)
        yield _in_and_after(iterations)
        yield _in_a_while(iterations)
        yield _left_early(iterations)
    for iterations in ((2, 3), (3, 0), (0, 3)):
        yield _nested(iterations)


def _trial(name: str, iterations: Sequence[int], body: str, out: Array) -> Trial:
    n = np.array([*iterations, 0][:2], np.uint32)
    name = f"{name}, iterations {n.tolist()}"
    return written(_AREA, name, _HEAD + body, {"n": n}, _GRID, {"out": out.astype(np.uint32)})


def _in_the_loop_only(iterations: int) -> Trial:
    body = """
for r in 0..n[0] {
    mine[k] = mine[k] + i + r
    out[i] = mine[k]
    barrier grid_sync
}
"""
    out = _GID * iterations + sum(range(iterations))
    return _trial("a private array in one segment of a loop", [iterations], body, out)


def _before_and_in(iterations: int) -> Trial:
    body = """
mine[k] = i * 7
for r in 0..n[0] {
    barrier grid_sync
    mine[k] = mine[k] + r + 1
    out[i] = mine[k]
}
"""
    out = (_GID * 7 + sum(range(iterations + 1))) * (iterations > 0)
    return _trial("a private array before a loop and in it", [iterations], body, out)


def _in_and_after(iterations: int) -> Trial:
    body = """
for r in 0..n[0] {
    mine[k] = mine[k] + i
    barrier grid_sync
}
out[i] = mine[k] + 100
"""
    return _trial(
        "a private array in a loop and after it", [iterations], body, _GID * iterations + 100
    )


def _in_a_while(iterations: int) -> Trial:
    body = """
let r = 0
while r < n[0] {
    barrier grid_sync
    mine[k] = mine[k] * 3 + i
    out[i] = mine[k]
    r = r + 1
}
"""
    out = _GID * sum(3**r for r in range(iterations))
    return _trial("a private array in a while", [iterations], body, out)


def _left_early(iterations: int) -> Trial:
    """What an iteration wrote is kept when it is left by a break or a continue."""
    body = """
for r in 0..n[0] {
    mine[k] = mine[k] + i + 1
    if r == 1 {
        mine[k] = mine[k] + 1000
        continue
    }
    if r == 3 {
        mine[k] = mine[k] + 5000
        break
    }
    barrier grid_sync
    out[i] = mine[k]
}
out[i] = out[i] + mine[k]
"""
    mine, out = np.zeros_like(_GID), np.zeros_like(_GID)
    for r in range(iterations):
        mine = mine + _GID + 1 + {1: 1000, 3: 5000}.get(r, 0)
        if r == 3:
            break
        out = out if r == 1 else mine
    return _trial(
        "a private array in iterations that are left early", [iterations], body, out + mine
    )


def _nested(iterations: tuple[int, int]) -> Trial:
    """One array in the inner loop only, one in the outer only."""
    body = """
for r in 0..n[0] {
    other[k] = other[k] + 2
    for s in 0..n[1] {
        mine[k] = mine[k] + i * r + s + 1
        out[i] = mine[k]
        barrier grid_sync
    }
    out[i] = out[i] + other[k] * 10000
}
"""
    mine, out = np.zeros_like(_GID), np.zeros_like(_GID)
    for r in range(iterations[0]):
        for s in range(iterations[1]):
            mine = mine + _GID * r + s + 1
            out = mine
        out = out + 2 * (r + 1) * 10000
    head = "\nbuffer other: local u32[3]\n"
    trial = _HEAD.replace("\nlet i", head + "\nlet i", 1) + body
    n = np.array(iterations, np.uint32)
    name = f"private arrays in nested loops, iterations {n.tolist()}"
    return written(_AREA, name, trial, {"n": n}, _GRID, {"out": out.astype(np.uint32)})
