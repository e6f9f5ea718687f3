"""Workgroup memory in loops around barriers over the whole grid: these take it away, loops do not.

The memory is in use where a loop begins, goes on or ends, which is where a device that has no such
barriers gets the program in parts. Bounds come from a buffer, so that no pass unrolls the loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.conform.suite.texts import written
from vyre.semantics import Array

_AREA = "grid sync"
_GRID = (3, 1, 1)
_GID = np.arange(12, dtype=np.uint32)
_NEXT = _GID // 4 * 4 + (_GID + 1) % 4
"""For each invocation, the one whose element it looks at."""
_HEAD = """\
program workgroup(4, 1, 1)

buffer n: uniform u32[2] @0
buffer out: read_write u32[12] @1 output live_out
buffer tile: workgroup u32[4]

let i = gid.x
let k = lid.x
let next = (k + 1) % 4
"""


def trials() -> Iterator[Trial]:
    """Workgroup memory, by where it is used."""
    for iterations in (0, 1, 4):
        yield _into_the_loop(iterations)
        yield _from_round_to_round(iterations)
        yield _out_of_the_loop(iterations)
        yield _in_a_while(iterations)
        yield _left_early(iterations)
        yield _some_returned(iterations)
        yield _any_index(iterations)
        yield _copied(iterations)
    for iterations in ((2, 3), (3, 0), (0, 3)):
        yield _nested(iterations)


def _trial(name: str, iterations: Sequence[int], body: str, out: Array) -> Trial:
    n = np.array([*iterations, 0][:2], np.uint32)
    name = f"{name}, iterations {n.tolist()}"
    return written(_AREA, name, _HEAD + body, {"n": n}, _GRID, {"out": out.astype(np.uint32)})


def _into_the_loop(iterations: int) -> Trial:
    body = """
tile[k] = i + 1
barrier
for r in 0..n[0] {
    out[i] = out[i] * 100 + tile[next]
    barrier grid_sync
    tile[k] = i + r + 2
    barrier
}
"""
    out = np.zeros_like(_GID)
    for r in range(iterations):
        out = out * 100 + _NEXT + r + 1
    return _trial("workgroup memory from before a loop", [iterations], body, out)


def _from_round_to_round(iterations: int) -> Trial:
    """Elements that a round does not write are those of the round before, or zero."""
    body = """
for r in 0..n[0] {
    if k == r {
        tile[k] = i + 5
    }
    barrier
    out[i] = out[i] * 100 + tile[next]
    barrier
    if r % 2 == 0 {
        continue
    }
    barrier grid_sync
}
"""
    out, tile = np.zeros_like(_GID), np.zeros_like(_GID)
    for r in range(iterations):
        tile = np.where(r == _GID % 4, _GID + 5, tile)
        out = out * 100 + tile[_NEXT]
        tile = tile * (r % 2 == 0)
    return _trial("workgroup memory from round to round", [iterations], body, out)


def _out_of_the_loop(iterations: int) -> Trial:
    body = """
tile[k] = i + 7
for r in 0..n[0] {
    barrier grid_sync
    tile[k] = i * 10 + r
}
barrier
out[i] = tile[next]
"""
    out = _NEXT * 10 + iterations - 1 if iterations else _NEXT + 7
    return _trial("workgroup memory after a loop", [iterations], body, out)


def _in_a_while(iterations: int) -> Trial:
    body = """
let r = n[0]
tile[k] = 3
barrier
while r > 0 {
    eval atomic_add(tile[0], 1)
    barrier
    out[i] = out[i] * 7 + tile[k]
    r = r - 1
    barrier grid_sync
    tile[k] = r
    barrier
}
out[i] = out[i] * 7 + tile[next]
"""
    tile, out = np.full_like(_GID, 3), np.zeros_like(_GID)
    for r in reversed(range(iterations)):
        tile = np.where(_GID % 4 == 0, tile + 4, tile)
        out = out * 7 + tile
        tile = np.full_like(_GID, r)
    return _trial("workgroup memory in a while", [iterations], body, out * 7 + tile)


def _left_early(iterations: int) -> Trial:
    body = """
tile[k] = i
for r in 0..n[0] {
    tile[k] = tile[k] + r * 10
    if r == 2 {
        tile[k] = tile[k] + 1000
        break
    }
    barrier grid_sync
    tile[k] = i + 100
}
barrier
out[i] = tile[next]
"""
    tile = _GID
    for r in range(iterations):
        tile = tile + r * 10
        if r == 2:
            tile = tile + 1000
            break
        tile = _GID + 100
    return _trial("workgroup memory in a loop that is left", [iterations], body, tile[_NEXT])


def _some_returned(iterations: int) -> Trial:
    """Invocations that have returned leave their elements behind."""
    body = """
tile[k] = i + 9
barrier
if k == 1 {
    return
}
for r in 0..n[0] {
    out[i] = out[i] * 100 + tile[k] + tile[1]
    barrier grid_sync
    tile[k] = r
}
out[i] = out[i] * 100 + tile[k]
"""
    out, tile = np.zeros_like(_GID), _GID + 9
    alive = _GID % 4 != 1
    for r in range(iterations):
        out = out * 100 + tile + tile[_GID // 4 * 4 + 1]
        tile = np.where(alive, r, 0)
    return _trial(
        "workgroup memory of invocations that returned",
        [iterations],
        body,
        np.where(alive, out * 100 + tile, 0),
    )


def _any_index(iterations: int) -> Trial:
    """Indices of other types, and out of bounds: no other invocation's element is touched."""
    body = """
tile[k] = i + 1
barrier
for r in 0..n[0] {
    tile[k + 4] = 77
    tile[i32(k) - 4i32] = 78
    tile[u64(k) + 4294967296u64] = 79
    barrier
    out[i] = out[i] * 10 + tile[i64(next)] + tile[k + 4] + tile[i32(k) - 5i32]
    barrier grid_sync
    tile[u8(k)] = i % 5
    barrier
}
"""
    out, tile = np.zeros_like(_GID), _GID + 1
    for _ in range(iterations):
        out = out * 10 + tile[_NEXT]
        tile = _GID % 5
    return _trial("workgroup memory at any index", [iterations], body, out)


def _copied(iterations: int) -> Trial:
    """Copies into it and out of it, which reach over both ends."""
    body = """
buffer given: read_only u32[12] @2
buffer kept: read_write u32[12] @3 output live_out
""".lstrip()
    head = _HEAD.replace("\nlet i", body + "\nlet i", 1)
    code = """
async_load "in" tile[0] <- given[i32(wid.x) * 4i32 - 1i32], 3
async_wait "in"
for r in 0..n[0] {
    out[i] = out[i] * 100 + tile[next]
    async_store "out" kept[wid.x * 4] <- tile[1], 4
    async_wait "out"
    barrier grid_sync
    async_load "in" tile[2] <- given[10 - wid.x], 4
    async_wait "in"
}
"""
    given = np.arange(12, dtype=np.uint32) + 20
    padded = np.concatenate([given, np.zeros(8, np.uint32)])
    out, kept = np.zeros((3, 4), np.uint32), np.zeros((3, 4), np.uint32)
    first = [padded[[w * 4 - 1, w * 4, w * 4 + 1]] if w else [0, 20, 21] for w in range(3)]
    tile = np.array([[*three, 0] for three in first], np.uint32)
    for _ in range(iterations):
        out = out * 100 + np.roll(tile, -1, 1)
        kept = np.concatenate([tile[:, 1:], np.zeros((3, 1), np.uint32)], 1)
        tile = np.array([[0, 0, *padded[10 - w : 12 - w]] for w in range(3)], np.uint32)
    n = np.array([iterations, 0], np.uint32)
    expected = {"out": out.ravel().astype(np.uint32), "kept": kept.ravel().astype(np.uint32)}
    name = f"copies of workgroup memory that a loop goes on with, iterations {n.tolist()}"
    return written(_AREA, name, head + code, {"n": n, "given": given}, _GRID, expected)


def _nested(iterations: tuple[int, int]) -> Trial:
    body = """
for r in 0..n[0] {
    tile[k] = i + r
    barrier
    for s in 0..n[1] {
        out[i] = out[i] * 3 + tile[next]
        barrier grid_sync
        tile[k] = i * 10 + s
        barrier
    }
    out[i] = out[i] * 3 + tile[next]
    barrier
}
"""
    out, tile = np.zeros_like(_GID), np.zeros_like(_GID)
    for r in range(iterations[0]):
        tile = _GID + r
        for s in range(iterations[1]):
            out = out * 3 + tile[_NEXT]
            tile = _GID * 10 + s
        out = out * 3 + tile[_NEXT]
    return _trial("workgroup memory in nested loops", iterations, body, out)
