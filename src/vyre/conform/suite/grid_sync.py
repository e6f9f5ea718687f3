"""Barriers over the whole grid, on devices that have them and on those where programs are split."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vyre.conform.suite import collectives, grid_loops, grid_tiles
from vyre.conform.suite.case import Trial
from vyre.conform.suite.texts import written

_AREA = "grid sync"
_GRIDS = ((1, 1, 1), (4, 1, 1), (31, 1, 1))


def trials() -> Iterator[Trial]:
    """The whole area."""
    for grid in _GRIDS:
        yield _reversed(grid)
        yield _survivors(grid)
        yield _rounds(grid)
        yield _returned(grid)
        yield _scratch(grid)
    yield _volume((4, 3, 2), (3, 2, 2))
    yield _volume((5, 1, 7), (1, 4, 3))
    yield _until_done()
    yield _private_arrays()
    yield _collectives()
    yield from grid_loops.trials()
    yield from grid_tiles.trials()
    yield from collectives.trials()


def _reversed(grid: tuple[int, int, int]) -> Trial:
    n = grid[0] * 32
    text = f"""
    program workgroup(32, 1, 1)

    buffer a: read_write u32[{n}] @0 output live_out
    buffer out: read_write u32[{n}] @1 output live_out

    a[gid.x] = gid.x * 3
    barrier grid_sync
    out[gid.x] = a[{n - 1} - gid.x]
    """
    expected = {"out": (np.arange(n, dtype=np.uint32) * 3)[::-1].copy()}
    return written(_AREA, f"reversed across workgroups, {grid}", text, {}, grid, expected)


def _survivors(grid: tuple[int, int, int]) -> Trial:
    """Variables live on, also those changed in a branch."""
    n = grid[0] * 32
    text = f"""
    program workgroup(32, 1, 1)

    buffer out: read_write u32[{n}] @0 output live_out
    buffer sum: read_write u32[1] @1 output live_out

    let mine = gid.x * 2
    let flag = gid.x % 3 == 0
    if flag {{
        mine = mine + 1
    }}
    eval atomic_add(sum[0], mine)
    barrier grid_sync
    let total = sum[0]
    barrier grid_sync
    out[gid.x] = total + mine + u32(flag)
    """
    gid = np.arange(n)
    mine = gid * 2 + (gid % 3 == 0)
    expected = {"out": (mine.sum() + mine + (gid % 3 == 0)).astype(np.uint32)}
    return written(_AREA, f"variables survive, {grid}", text, {}, grid, expected)


def _rounds(grid: tuple[int, int, int]) -> Trial:
    """A loop of rounds over the whole grid: everyone takes what the neighbour has."""
    n = grid[0] * 32
    text = f"""
    program workgroup(32, 1, 1)

    buffer a: read_write u32[{n}] @0 output live_out
    buffer b: read_write u32[{n}] @1 output live_out

    a[gid.x] = gid.x
    for k in 0..5 {{
        barrier grid_sync
        b[gid.x] = a[(gid.x + 1) % {n}] + k
        barrier grid_sync
        a[gid.x] = b[gid.x]
    }}
    """
    expected = {"a": ((np.arange(n) + 5) % n + 10).astype(np.uint32)}
    return written(_AREA, f"rounds in a loop, {grid}", text, {}, grid, expected)


def _returned(grid: tuple[int, int, int]) -> Trial:
    """Invocations that have returned take no part in later barriers."""
    n = grid[0] * 32
    text = f"""
    program workgroup(32, 1, 1)

    buffer out: read_write u32[{n}] @0 output live_out
    buffer count: read_write u32[1] @1 output live_out

    if gid.x % 2 == 1 {{
        out[gid.x] = 7
        return
    }}
    eval atomic_add(count[0], 1)
    barrier grid_sync
    out[gid.x] = count[0]
    """
    gid = np.arange(n)
    expected = {"out": np.where(gid % 2 == 1, 7, n // 2).astype(np.uint32)}
    return written(_AREA, f"after an early return, {grid}", text, {}, grid, expected)


def _scratch(grid: tuple[int, int, int]) -> Trial:
    """Scratch memory lives for the whole dispatch."""
    n = grid[0] * 32
    text = f"""
    program workgroup(32, 1, 1)

    buffer out: read_write u32[{n}] @0 output live_out
    buffer hidden: scratch u32[{n}]
    buffer other: scratch u32[{n}]

    hidden[gid.x] = hidden[gid.x] + gid.x + 1
    barrier grid_sync
    other[gid.x] = other[gid.x] + hidden[{n - 1} - gid.x]
    barrier grid_sync
    out[gid.x] = other[{n - 1} - gid.x] * 2
    """
    expected = {"out": ((np.arange(n) + 1) * 2).astype(np.uint32)}
    return written(_AREA, f"scratch memory, {grid}", text, {}, grid, expected)


def _volume(size: tuple[int, int, int], grid: tuple[int, int, int]) -> Trial:
    """Every invocation of a grid of three dimensions reads what its opposite wrote."""
    x, y, z = (s * g for s, g in zip(size, grid, strict=True))
    text = f"""
    program workgroup{size}

    buffer a: read_write u32[{x * y * z}] @0 output live_out
    buffer out: read_write u32[{x * y * z}] @1 output live_out

    let me = gid.x + (gid.y + gid.z * {y}) * {x}
    a[me] = me * 5
    barrier grid_sync
    out[me] = a[{x * y * z - 1} - me]
    """
    expected = {"out": (np.arange(x * y * z, dtype=np.uint32) * 5)[::-1].copy()}
    return written(_AREA, f"a volume of {size} in {grid}", text, {}, grid, expected)


def _until_done() -> Trial:
    """A while that ends when the data says so, the same for the whole grid."""
    text = """
    program workgroup(32, 1, 1)

    buffer rounds: uniform u32[1] @0
    buffer a: read_write u32[128] @1 output live_out

    let k = 0
    while k < rounds[0] {
        a[gid.x] = a[gid.x] + k
        barrier grid_sync
        k = k + 1
    }
    """
    expected = {"a": np.full(128, 0 + 1 + 2 + 3 + 4 + 5 + 6, np.uint32)}
    rounds = {"rounds": np.array([7], np.uint32)}
    return written(_AREA, "a while over the grid", text, rounds, (4, 1, 1), expected)


def _private_arrays() -> Trial:
    """Private arrays survive; workgroup memory begins anew."""
    text = """
    program workgroup(16, 1, 1)

    buffer out: read_write u32[64] @0 output live_out
    buffer mine: local u32[4]
    buffer tile: workgroup u32[16]

    for k in 0..4 {
        mine[k] = gid.x * 10 + k
    }
    tile[lid.x] = 5
    barrier acq_rel
    out[gid.x] = tile[15 - lid.x]
    barrier grid_sync
    tile[lid.x] = lid.x
    barrier acq_rel
    out[gid.x] = out[gid.x] + mine[gid.x % 4] + tile[15 - lid.x]
    """
    gid = np.arange(64)
    expected = {"out": (5 + gid * 10 + gid % 4 + 15 - gid % 16).astype(np.uint32)}
    return written(_AREA, "private arrays survive", text, {}, (4, 1, 1), expected)


def _collectives() -> Trial:
    """With one device they are the identity, or a copy."""
    text = """
    program workgroup(16, 1, 1)

    buffer a: read_write f32[64] @0 output live_out
    buffer b: read_write f32[64] @1 output live_out
    buffer c: read_write f32[48] @2 output live_out

    a[gid.x] = f32(gid.x) + 0.5f32
    all_reduce add a
    broadcast a from 0
    all_gather a -> b
    reduce_scatter add b -> c
    """
    a = np.arange(64, dtype=np.float32) + np.float32(0.5)
    expected = {"a": a, "b": a, "c": a[:48].copy()}
    return written(_AREA, "collectives of one device", text, {}, (4, 1, 1), expected)
