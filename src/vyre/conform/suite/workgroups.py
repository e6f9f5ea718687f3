"""Workgroup memory begins as zeros, barriers order it, and private arrays are private."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre.conform.suite.case import Trial
from vyre.conform.suite.texts import written
from vyre.ir.types import SCALAR_TYPES

_AREA = "workgroups"
_SIZES = (
    (1, 1, 1),
    (7, 1, 1),
    (32, 1, 1),
    (64, 1, 1),
    (65, 1, 1),
    (256, 1, 1),
    (4, 4, 4),
    (8, 3, 5),
)


_AGREED = ("u32", "i32", "f32", "u64", "i64", "u16", "i8")
"""Types of the elements that a workgroup agrees on."""


def trials() -> Iterator[Trial]:
    """The whole area."""
    for dtype in SCALAR_TYPES:
        yield _zeroed(str(dtype))
    for size in _SIZES:
        yield _reversed(size)
        yield _sums(size)
    for ordering in ("acquire", "release", "acq_rel", "seq_cst"):
        yield _ordered(ordering)
    yield _barrier_in_a_loop()
    yield _global_through_barrier()
    yield _uniform_branch()
    for size in _SIZES:
        yield _agreed_rounds(size)
    for dtype in _AGREED:
        yield _agreed_branch(dtype)
    yield _private()


def _zeroed(dtype: str) -> Trial:
    """Every workgroup finds zeros, though the one before it left something else."""
    text = f"""
    program workgroup(32, 1, 1)

    buffer out: read_write u32[256] @0 output live_out
    buffer tile: workgroup {dtype}[40]

    region "zeroed" {{
        let clean = bool(tile[lid.x]) | bool(tile[39 - lid.x])
        barrier acq_rel
        tile[lid.x] = {dtype}(1u32)
        tile[39 - lid.x] = {dtype}(1u32)
        barrier acq_rel
        out[gid.x] = u32(clean) * 100 + u32(bool(tile[lid.x]))
    }}
    """
    expected = {"out": np.ones(256, np.uint32)}
    name = f"workgroup memory of {dtype} begins as zeros"
    return written(_AREA, name, text, {}, (8, 1, 1), expected)


def _linear(size: tuple[int, int, int]) -> str:
    return f"(lid.x + lid.y * {size[0]} + lid.z * {size[0] * size[1]})"


def _reversed(size: tuple[int, int, int]) -> Trial:
    """Each invocation reads what another one wrote before the barrier."""
    n = size[0] * size[1] * size[2]
    text = f"""
    program workgroup{size}

    buffer out: read_write u32[{3 * n}] @0 output live_out
    buffer tile: workgroup u32[{n}]

    region "reversed" {{
        let me = {_linear(size)}
        tile[me] = me * 3 + wid.x
        barrier acq_rel
        out[wid.x * {n} + me] = tile[{n - 1} - me]
    }}
    """
    me = np.arange(n, dtype=np.uint32)[::-1]
    expected = {"out": np.concatenate([me * 3 + group for group in range(3)]).astype(np.uint32)}
    return written(_AREA, f"reversed through a barrier, {size}", text, {}, (3, 1, 1), expected)


def _sums(size: tuple[int, int, int]) -> Trial:
    """A tree of sums with a barrier per step."""
    n = size[0] * size[1] * size[2]
    reach = 1 << max(n - 1, 1).bit_length()
    text = f"""
    program workgroup{size}

    buffer v: read_only i32[{4 * n}] @0
    buffer out: read_write i32[4] @1 output live_out
    buffer tree: workgroup i32[{n}]

    region "sums" {{
        let me = {_linear(size)}
        let reach = {reach}
        tree[me] = v[wid.x * {n} + me]
        barrier acq_rel
        while reach > 0 {{
            if (me < reach) & (me + reach < {n}) {{
                tree[me] = tree[me] + tree[me + reach]
            }}
            barrier acq_rel
            reach = reach / 2
        }}
        if me == 0 {{
            out[wid.x] = tree[0]
        }}
    }}
    """
    v = np.arange(4 * n, dtype=np.int32) * 7 - 100
    expected = {"out": v.reshape(4, n).sum(axis=1, dtype=np.int32)}
    return written(_AREA, f"tree of sums, {size}", text, {"v": v}, (4, 1, 1), expected)


def _ordered(ordering: str) -> Trial:
    text = f"""
    program workgroup(64, 1, 1)

    buffer out: read_write u32[64] @0 output live_out
    buffer tile: workgroup u32[64]

    region "ordered" {{
        tile[lid.x] = lid.x + 1
        barrier {ordering}
        let mine = tile[(lid.x + 17) % 64]
        barrier {ordering}
        tile[63 - lid.x] = mine
        barrier {ordering}
        out[lid.x] = tile[lid.x]
    }}
    """
    lid = np.arange(64)
    expected = {"out": (((63 - lid) + 17) % 64 + 1).astype(np.uint32)}
    return written(_AREA, f"barrier {ordering}", text, {}, (1, 1, 1), expected)


def _barrier_in_a_loop() -> Trial:
    """A ring: every round, everyone takes what the neighbour has."""
    text = """
    program workgroup(48, 1, 1)

    buffer out: read_write u32[96] @0 output live_out
    buffer ring: workgroup u32[48]

    region "ring" {
        ring[lid.x] = lid.x
        for k in 0..13 {
            barrier acq_rel
            let next = ring[(lid.x + 1) % 48]
            barrier acq_rel
            ring[lid.x] = next + 1
        }
        barrier acq_rel
        out[gid.x] = ring[lid.x]
    }
    """
    row = (np.arange(48) + 13) % 48 + 13
    expected = {"out": np.tile(row, 2).astype(np.uint32)}
    return written(_AREA, "a barrier in a loop", text, {}, (2, 1, 1), expected)


def _global_through_barrier() -> Trial:
    """A barrier also makes writes to device memory visible within the workgroup."""
    text = """
    program workgroup(100, 1, 1)

    buffer a: read_write u32[300] @0 output live_out
    buffer out: read_write u32[300] @1 output live_out

    region "global" {
        a[gid.x] = gid.x * 5
        barrier seq_cst
        out[gid.x] = a[wid.x * 100 + 99 - lid.x]
    }
    """
    gid = np.arange(300)
    expected = {"out": ((gid // 100 * 100 + 99 - gid % 100) * 5).astype(np.uint32)}
    return written(_AREA, "device memory through a barrier", text, {}, (3, 1, 1), expected)


def _uniform_branch() -> Trial:
    """Whole workgroups may go different ways around a barrier."""
    text = """
    program workgroup(16, 1, 1)

    buffer out: read_write u32[64] @0 output live_out
    buffer tile: workgroup u32[16]

    region "branch" {
        if wid.x % 2 == 0 {
            tile[lid.x] = lid.x
            barrier acq_rel
            out[gid.x] = tile[15 - lid.x]
        } else {
            out[gid.x] = 100
        }
    }
    """
    even = np.arange(16)[::-1]
    expected = {"out": np.concatenate([even, [100] * 16, even, [100] * 16]).astype(np.uint32)}
    return written(_AREA, "a barrier in a uniform branch", text, {}, (4, 1, 1), expected)


def _agreed_rounds(size: tuple[int, int, int]) -> Trial:
    """A workgroup goes on until an element of its memory says that it is done."""
    n = size[0] * size[1] * size[2]
    text = f"""
    program workgroup{size}

    buffer out: read_write u32[{4 * n}] @0 output live_out
    buffer tile: workgroup u32[{n}]

    region "agreed" {{
        let me = {_linear(size)}
        tile[me] = me * 5 + wid.x * 9
        barrier acq_rel
        let left = tile[wid.x % {n}]
        let rounds = 0
        barrier acq_rel
        while left > 0 {{
            let next = tile[(me + 1) % {n}]
            barrier acq_rel
            tile[me] = (tile[me] + next) / 3
            barrier acq_rel
            left = tile[0] / 2
            rounds = rounds + 1
            barrier acq_rel
        }}
        out[wid.x * {n} + me] = tile[me] + rounds * 1000
    }}
    """
    expected: list[int] = []
    for group in range(4):
        tile = [me * 5 + group * 9 for me in range(n)]
        left, rounds = tile[group % n], 0
        while left > 0:
            tile = [(mine + tile[(me + 1) % n]) // 3 for me, mine in enumerate(tile)]
            left, rounds = tile[0] // 2, rounds + 1
        expected += [mine + rounds * 1000 for mine in tile]
    name = f"rounds that a workgroup agrees on, {size}"
    return written(_AREA, name, text, {}, (4, 1, 1), {"out": np.array(expected, np.uint32)})


def _agreed_branch(dtype: str) -> Trial:
    """A workgroup branches around a barrier as an element of its memory says."""
    text = f"""
    program workgroup(24, 1, 1)

    buffer out: read_write u32[96] @0 output live_out
    buffer tile: workgroup {dtype}[24]

    region "branch" {{
        tile[lid.x] = {dtype}(lid.x + wid.x)
        barrier acq_rel
        let chosen = tile[5]
        let mirrored = u32(tile[23 - lid.x])
        barrier acq_rel
        if u32(chosen) % 2 == 0 {{
            tile[lid.x] = {dtype}(u32(tile[lid.x]) * 3)
            barrier acq_rel
            out[gid.x] = u32(tile[23 - lid.x])
        }} else {{
            out[gid.x] = u32(chosen) * 100 + mirrored
        }}
    }}
    """
    rows = [np.arange(24)[::-1] + group for group in range(4)]
    rows = [row * 3 if g % 2 else (5 + g) * 100 + row for g, row in enumerate(rows)]
    expected = {"out": np.concatenate(rows).astype(np.uint32)}
    name = f"a branch that a workgroup agrees on by {dtype}"
    return written(_AREA, name, text, {}, (4, 1, 1), expected)


def _private() -> Trial:
    """Private arrays begin as zeros and belong to one invocation."""
    text = """
    program workgroup(32, 1, 1)

    buffer out: read_write u32[128] @0 output live_out
    buffer mine: local u32[9]

    region "private" {
        let before = 0
        for k in 0..9 {
            before = before + mine[k]
            mine[k] = gid.x * k
        }
        barrier acq_rel
        out[gid.x] = before * 1000 + mine[8] + mine[gid.x % 9]
    }
    """
    gid = np.arange(128)
    expected = {"out": (gid * 8 + gid * (gid % 9)).astype(np.uint32)}
    return written(_AREA, "private arrays", text, {}, (4, 1, 1), expected)
